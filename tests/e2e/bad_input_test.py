"""Bad input: exit code 2, one line that says where, what and what is allowed, and nothing lost that was there."""
import json
import subprocess
import time
import unittest

import balboa

GOOD = {"test": "bw", "size": 64, "iterations": 2}


class BadInput(balboa.Case):
    def refuse(self, *arguments, says=()):
        run = self.balboa(*arguments, code=2)
        self.assertEqual(len(run.stderr.splitlines()), 1, run.stderr)
        self.assertTrue(run.stderr.startswith("balboa: "), run.stderr)
        for text in says:
            self.assertIn(text, run.stderr)
        self.assertEqual(run.stdout, "")

    def refuse_scenario(self, text, *says):
        file = self.write("bad.toml", text)
        self.refuse("run", file, says=[str(file), *says])

    def test_parameters(self):
        good = self.write("good.toml", balboa.scenario({"workload": GOOD}))
        for command in (("perf",), ("run", good), ("config", "show")):
            for setting, says in {
                "nic.qp_cuont=4": ["nic.qp_cuont", "nic.qp_count?"],
                "nothing.like.it=4": ["nothing.like.it", "config schema"],
                "nic.qp_count=many": ["nic.qp_count", "many"],
                "nic.qp_count=0": ["nic.qp_count = 0", "1 to"],
                "nic.qp_count=-1": ["nic.qp_count = -1"],
                "nic.qp_count=99999999999999999999": ["nic.qp_count"],
                "nic.pmtu=1500": ["nic.pmtu = 1500", "256, 512, 1024, 2048"],
                "nic.timeout=32": ["nic.timeout = 32", "31"],
                "nic.icrc_check=1": ["nic.icrc_check = 1", "true or false"],
                "workload.test=tp": ["workload.test", "bw"],
                "nic.qp_count": ["KEY=VALUE"],
                "=4": ["KEY=VALUE"],
            }.items():
                with self.subTest(command=command, setting=setting):
                    self.refuse(*command, "--set", setting, says=says)

    def test_profile(self):
        for command in (("perf",), ("config", "show")):
            self.refuse(*command, "--profile", "idael", says=["idael", "roce, ideal"])

    def test_parameter_files(self):
        bad = self.write("bad.toml", "[nic]\nqp_count = 4\npmtu = 100\n")
        broken = self.write("broken.toml", "[nic]\npmtu = = 4\n")
        for command in (("perf", "--config"), ("config", "show"), ("run",)):
            with self.subTest(command=command):
                self.refuse(*command, bad, says=[f"{bad}:3:", "nic.pmtu = 100"])
                self.refuse(*command, broken, says=[f"{broken}:2:"])
                self.refuse(*command, "absent.toml", says=["absent.toml", "No such file"])
                self.refuse(*command, self.folder, says=[str(self.folder)])

    def test_faults(self):
        for fault, says in {
            'link = "nic0-nic1"\nframe = 1\ntype = "drop"\nhow = 3': ["fault.how", "connection, copy, frame, kind, link"],
            'link = "nic0-nic2"\nframe = 1\ntype = "drop"': ["fault.link", '"nic0-nic1", "nic1-nic0"'],
            'link = "nic0-nic1"\nframe = 1\ntype = "eat"': ["fault.type", '"drop"'],
            'link = "nic0-nic1"\nframe = 0\ntype = "drop"': ["fault.frame", "from 1"],
            'link = "nic0-nic1"\nframe = -3\ntype = "drop"': ["fault.frame"],
            'link = "nic0-nic1"\nframe = "3"\ntype = "drop"': ["fault.frame"],
            'link = "nic0-nic1"\ntype = "drop"': ["fault.frame"],
            'frame = 1\ntype = "drop"': ["fault.link"],
        }.items():
            with self.subTest(fault=fault):
                self.refuse_scenario(f"[[fault]]\n{fault}\n", *says)
        self.refuse_scenario('[fault]\nlink = "nic0-nic1"\n', "[[fault]]")
        self.refuse_scenario("fault = [1]\n", "[[fault]]")
        self.refuse_scenario("[faults]\nlink = 1\n", "faults")

    def test_expectations(self):
        for text, says in {
            "[expect]\nmesages = 1\n": ["expect.mesages", "messages"],
            '[expect]\nmessages = "1"\n': ["expect.messages"],
            "[expect]\nerrors = -1\n": ["expect.errors"],
            "[expect]\nmemory_equal = 1\n": ["expect.memory_equal", "true or false"],
            "[expect]\ncounters = 3\n": ["expect.counters"],
            '[expect.counters]\n"nic0.rx.bth.packets" = 1.5\n': ["expect.counters.nic0.rx.bth.packets"],
            "expect = 1\n": ["expect"],
        }.items():
            with self.subTest(text=text):
                self.refuse_scenario(text, *says)

    def test_a_fault_that_never_happens_is_warned_about(self):
        run = self.balboa("run", self.write("late.toml", balboa.scenario({"workload": GOOD}, forward=[1, 1000])), "--quiet")
        self.assertIn("1 of 2 faults did not happen", run.stderr)

    def test_a_counter_that_does_not_exist(self):
        """Told before the run, with its place in the file and nothing left behind."""
        text = balboa.scenario({"workload": GOOD, "expect.counters": {}}) + '"nic0.rx.bth.pakets" = 2\n'
        file = self.write("counter.toml", text)
        self.refuse("run", file, "-o", "out",
                    says=[f"{file}:{text.count(chr(10))}:1: expect.counters.nic0.rx.bth.pakets", "did you mean nic0.rx.bth.packets?"])
        self.assertEqual([path.name for path in self.folder.iterdir()], ["counter.toml"])
        self.refuse_scenario('[expect.counters]\n"x" = 2\n', ":2:1: expect.counters.x", "counters.txt")

    def test_traces(self):
        for arguments, says in {
            ("--trace-from", "1"): ["--trace-from", "--timeline, --vcd or --ladder"],
            ("--account", "--trace-to", "1"): ["--trace-to", "--timeline, --vcd or --ladder"],
            ("--ladder", "--trace-stages", "*"): ["--trace-stages", "--timeline or --vcd"],
            ("--ladder", "--trace-from", "nan"): ["--trace-from nan", "from 0 to"],
            ("--ladder", "--trace-to", "nan"): ["--trace-to nan", "from 0 to"],
            ("--ladder", "--trace-to", "inf"): ["--trace-to inf"],
            ("--ladder", "--trace-from", "-1"): ["--trace-from -1"],
            ("--ladder", "--trace-from", "2", "--trace-to", "1"): ["--trace-to 1", "--trace-from 2"],
            ("--vcd", "--trace-stages", "nic7.*", "-o", "out"): ["--trace-stages nic7.*", "nic0.rx.*"],
            ("--vcd", "--trace-stages", "", "-o", "out"): ["--trace-stages", "no stage"],
        }.items():
            with self.subTest(arguments=arguments):
                self.refuse("perf", "-s", 64, "-n", 2, *arguments, says=says)
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_a_window_in_which_nothing_happens(self):
        run = self.balboa("perf", "-s", 64, "-n", 2, "--vcd", "--timeline", "--ladder", "-o", "out", "--quiet",
                          "--trace-from", 900000)
        self.assertEqual([line.split(" is empty")[0] for line in run.stderr.splitlines()],
                         [f"balboa: warning: {what}" for what in ("the ladder", "timeline.json", "waves.vcd")])

    def test_card_memory_under_the_buffers(self):
        for base, size in ((1 << 40, 1 << 40), (0, 1 << 33), (1 << 40, 4096)):
            self.refuse("perf", "-n", 2, "--set", f"card.base={base}", "--set", f"card.bytes={size}",
                        says=[f"card.base: {base}", f"{1 << 32} to {(1 << 46) - 1}"])

    def test_a_folder_of_a_run_under_way(self):
        with subprocess.Popen([balboa.PROGRAM, "perf", "-n", "20000", "-o", "out", "--quiet"], cwd=self.folder) as first:
            while not (self.folder / "out.partial" / "config.toml").exists():
                time.sleep(0.001)
            self.refuse("perf", "-n", 2, "-o", "out", says=["out.partial: another run writes there"])
            first.kill()
        self.balboa("perf", "-n", 2, "-o", "out", "--quiet")

    def test_names_that_are_empty(self):
        for arguments in (("perf", "-o", ""), ("perf", "--profile", ""), ("perf", "--config", ""), ("run", ""),
                          ("replay", "", "--as", "10.0.0.1"), ("diff", "", "x"), ("extract", "", "-o", "x"),
                          ("extract", balboa.SAMPLE, "-o", "")):
            with self.subTest(arguments=arguments):
                self.refuse(*arguments, says=["is empty"])

    def test_options_that_the_test_would_ignore(self):
        self.refuse("perf", "-n", 2, "-H", says=["-H", "--test lat"])
        self.refuse("perf", "-n", 2, "--test", "lat", "--report_gbits", says=["--report_gbits", "--test bw"])

    def test_an_output_that_takes_nothing(self):
        """A full device: the run is told to have failed, whatever was printed."""
        for arguments in (("perf", "-s", 64, "-n", 2), ("perf", "-s", 64, "-n", 2, "--json"), ("config", "schema"),
                          ("config", "show"), ("--help",), ("--version",)):
            with self.subTest(arguments=arguments), open("/dev/full", "w", encoding="ascii") as full:
                run = subprocess.run([balboa.PROGRAM, *map(str, arguments)], stdout=full, stderr=subprocess.PIPE,
                                     text=True, check=False)
                self.assertEqual(run.returncode, 1)
                # The address sanitizer adds lines of its own when an exception ends a simulation.
                lines = [line for line in run.stderr.splitlines() if line.startswith("balboa: ")]
                self.assertEqual(len(lines), 1, run.stderr)

    def test_usage(self):
        for arguments in (
            [],
            ["fly"],
            ["perf", "--fly"],
            ["perf", "-s", "-1"],
            ["perf", "-s", 2**31 + 1],
            ["perf", "-s", "64k"],
            ["perf", "-n", "0"],
            ["perf", "-q", "0"],
            ["perf", "-t", "0"],
            ["perf", "-t", "32769"],
            ["perf", "--op", "atomic"],
            ["perf", "--test", "tp"],
            ["perf", "-a", "-s", "64"],
            ["perf", "--pcap"],
            ["perf", "--test", "lat", "--set", "workload.first_size=100"],
            ["run"],
            ["replay", balboa.SAMPLE],
            ["extract", balboa.SAMPLE],
            ["config"],
        ):
            with self.subTest(arguments=arguments):
                self.refuse(*arguments)

    def test_more_than_the_nic_holds(self):
        self.refuse("perf", "-q", 501, says=["workload.qps: 501", "1 to 500"])
        self.refuse("perf", "--test", "lat", "-q", 2, says=["workload.qps: 2", "1 to 1"])
        self.refuse("perf", "--test", "lat", "-s", 0, says=["workload.size"])
        self.refuse("perf", "-m", "1500", says=["nic.pmtu = 1500"])

    def test_what_was_there_before_stays(self):
        file = self.write("notes.txt", "mine")
        (self.folder / "mine").mkdir()
        (self.folder / "mine" / "notes.txt").write_text("mine")
        for taken in ("notes.txt", "mine"):
            self.refuse("perf", "-s", 64, "-n", 2, "-o", taken, says=[taken, "not a run folder"])
        self.assertEqual(file.read_text(), "mine")
        self.assertEqual((self.folder / "mine" / "notes.txt").read_text(), "mine")

    def test_an_earlier_run_outlives_a_bad_one(self):
        before = json.dumps(self.simulate("perf", "-s", 64, "-n", 2))
        self.refuse("perf", "-s", 64, "-n", 2, "-q", 501, "-o", "out")
        self.refuse("perf", "-o", "out", "--set", "nic.pmtu=1")
        self.refuse("replay", balboa.SAMPLE, "--as", "10.9.9.9", "-o", "out")
        self.assertEqual(json.dumps(self.read_json()), before)


if __name__ == "__main__":
    unittest.main()
