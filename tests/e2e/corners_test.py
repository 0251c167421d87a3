"""Whatever the schema accepts runs to an end that the program tells: exit code 0, 1 or 2, never a signal."""
import json
import unittest

import balboa

# Sizes of the work, not of what does it; and one that changes nothing but how long a run takes.
OTHER = ("workload.", "sim.", "timing.")


def corners(parameter):
    """The outermost values of a parameter."""
    if "choices" in parameter:
        return parameter["choices"][0], parameter["choices"][-1]
    if parameter["type"] == "boolean":
        return "true", "false"
    return parameter["min"], parameter["max"]


class Corners(balboa.Case):
    def run_with(self, *settings):
        arguments = [text for setting in settings for text in ("--set", setting)]
        command = ["perf", "--quiet", "-s", 5000, "-n", 3, "-b", *arguments]
        code = self.program(*command).returncode
        self.assertIn(code, (0, 1, 2), f"{' '.join(map(str, command))}")

    def each_corner(self, *beside):
        schema = json.loads(self.balboa("config", "schema", "--json").stdout)
        set_already = {setting.split("=")[0] for setting in beside}
        for parameter in schema:
            if parameter["key"].startswith(OTHER) or parameter["key"] in set_already:
                continue
            for value in corners(parameter):
                with self.subTest(key=parameter["key"], value=value, beside=beside):
                    self.run_with(*beside, f"{parameter['key']}={value}")

    def test_each_parameter(self):
        self.each_corner()

    def test_without_any_latency(self):
        zero = [f"{key}=0" for key in ("pcie.read_latency_ns", "pcie.write_latency_ns", "pcie.credit_latency_ns",
                                       "host.post_ns", "host.poll_ns", "link.propagation_ns")]
        self.each_corner("pcie.unlimited=false", *zero)

    def test_with_the_slowest_clock(self):
        self.each_corner("nic.clock_hz=1000000")


if __name__ == "__main__":
    unittest.main()
