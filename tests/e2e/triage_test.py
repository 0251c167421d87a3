"""balboa triage from its command line: the sample capture, standard input, tables, and inputs that are wrong."""
import json
import subprocess

import balboa
from balboa import SAMPLE


class Triage(balboa.Case):
    def triage(self, *arguments, code=0):
        return self.balboa("triage", *arguments, code=code)

    def test_sample(self):
        run = self.triage(SAMPLE)
        self.assertIn("10.77.0.2", run.stdout)
        self.assertIn("5 write", run.stdout)
        self.assertIn("nothing broke", run.stdout)

    def test_json_is_the_same_from_standard_input(self):
        from_file = json.loads(self.triage("--json", SAMPLE).stdout)
        with open(SAMPLE, "rb") as stream:
            command = [balboa.PROGRAM, "triage", "--json", "-"]
            run = subprocess.run(command, stdin=stream, capture_output=True, check=True)
        from_input = json.loads(run.stdout)
        self.assertEqual(from_file.pop("files"), [str(SAMPLE)])
        self.assertEqual(from_input.pop("files"), ["-"])
        self.assertEqual(from_file, from_input)
        connection = from_file["connections"][0]
        self.assertEqual(connection["operations"]["write"], 5)
        self.assertEqual(connection["request_packets"], 80)
        self.assertEqual(connection["response_packets"], 5)
        self.assertEqual(connection["end"], "alive")

    def test_cut_capture_gives_what_it_holds(self):
        cut = self.folder / "cut.pcap"
        cut.write_bytes(SAMPLE.read_bytes()[:-10])
        run = self.triage(cut, code=2)
        self.assertIn("10.77.0.2", run.stdout)
        self.assert_one_line(run.stderr, str(cut))

    def test_a_stamp_before_the_first_one(self):
        content = bytearray(balboa.SAMPLE.read_bytes())
        seconds = 24  # of the first packet's stamp, behind the file header
        content[seconds : seconds + 4] = (int.from_bytes(content[seconds : seconds + 4], "little") + 1).to_bytes(4, "little")
        file = self.folder / "early.pcap"
        file.write_bytes(content)
        self.assertNotIn("left out", self.balboa("triage", file).stdout)
        self.assertIn("84 packets", self.balboa("triage", file, "--from", 0).stdout)

    def test_windows(self):
        for window in (("--from", 2, "--to", 1), ("--from", "nan"), ("--to", -1)):
            run = self.balboa("triage", balboa.SAMPLE, *window, code=2)
            self.assertEqual(run.stderr.count("\n"), 1, run.stderr)

    def test_bad_input(self):
        empty = self.folder / "empty.pcap"
        empty.write_bytes(b"")
        text = self.folder / "table"
        text.write_text("no table\n")
        cases = [
            (["/none.pcap"], "/none.pcap"),
            ([empty], "empty.pcap"),
            (["--mr-table", text, SAMPLE], "line 1"),
            (["--qp-table", text, SAMPLE], "ADDRESS=FILE"),
            (["--qp-table", f"10.0.0.1={text}", SAMPLE], "JSON"),
            (["--pmtu", "1000", SAMPLE], "--pmtu"),
            (["--qp", "0x1000000", SAMPLE], "--qp"),
            (["--from", "-1", SAMPLE], "--from"),
            (["--from", "99999", SAMPLE], "no RoCEv2 packet"),
        ]
        for arguments, part in cases:
            with self.subTest(part):
                run = self.triage(*arguments, code=2)
                self.assertEqual(run.stdout, "")
                self.assert_one_line(run.stderr, part)

    def assert_one_line(self, text, part):
        self.assertEqual(text.count("\n"), 1, text)
        self.assertIn(part, text)
