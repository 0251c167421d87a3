"""timeline.json against the trace-event schema, waves.vcd against what the streams allow and GTKWave's converter, and
the packet ladder against the capture of the same run."""
import itertools
import json
import re
import shutil
import subprocess
import unittest

from balboa import ROOT, Case, scenario

ARGUMENTS = ("perf", "-n", 20, "-t", 4, "-s", 6000, "-q", 2)


class Timeline(Case):
    def timeline(self, *arguments):
        self.balboa(*ARGUMENTS, "--timeline", "--quiet", "-o", "out", *arguments)
        return json.loads((self.folder / "out/timeline.json").read_text())["traceEvents"]

    def test_it_follows_the_schema(self):
        try:
            import jsonschema
        except ImportError:
            raise unittest.SkipTest("needs python3-jsonschema")
        schema = json.loads((ROOT / "tests/e2e/trace_event.schema.json").read_text())
        validator = jsonschema.Draft7Validator(schema)
        validator.check_schema(schema)
        for op, test in itertools.product(("write", "read", "send"), ("bw", "lat")):
            self.balboa("perf", "--op", op, "--test", test, "-n", 20, "-s", 6000, "--timeline", "--quiet", "-o", "out",
                        "--trace-from", 2, "--trace-to", 6)
            events = json.loads((self.folder / "out/timeline.json").read_text())["traceEvents"]
            self.assertTrue([e for e in events if e["ph"] == "X"], op)
            validator.validate({"displayTimeUnit": "ns", "traceEvents": events})
        with self.assertRaises(jsonschema.ValidationError):
            validator.validate({"traceEvents": events + [{"ph": "X", "name": "without a time", "pid": 1, "tid": 1}]})

    def test_slices_of_a_stage_do_not_overlap(self):
        ends = {}
        slices = [e for e in self.timeline() if e["ph"] == "X"]
        for e in sorted(slices, key=lambda e: e["ts"]):
            track = (e["pid"], e["tid"])
            self.assertGreaterEqual(e["ts"] + 1e-9, ends.get(track, 0), e)
            ends[track] = e["ts"] + e["dur"]

    def test_every_packet_has_a_begin_an_end_and_an_arrow(self):
        for op, packets in (("write", 2), ("send", 2), ("read", 3)):  # a READ: the request and its responses
            with self.subTest(op=op):
                self.check_packets(self.timeline("--op", op), packets)

    def check_packets(self, events, packets):
        self.assertEqual({e["args"]["name"] for e in events if e["name"] == "process_name"}, {"nic0", "nic1"})
        begins = {e["id"] for e in events if e["ph"] == "b"}
        self.assertEqual(begins, {e["id"] for e in events if e["ph"] == "e"})
        self.assertEqual(len(begins), packets * 20 * 2 * 2)  # seen by both nodes
        sent = {e["id"]: e for e in events if e["ph"] == "s"}
        taken = {e["id"]: e for e in events if e["ph"] == "f"}
        self.assertEqual(sent.keys(), taken.keys())
        self.assertEqual(len(sent), 20 * 2)  # the last packet of a message is acknowledged
        slices = {(e["pid"], e["tid"], e["ts"]) for e in events if e["ph"] == "X"}
        spans = [(e["pid"], e["tid"], e["ts"], e["ts"] + e["dur"]) for e in events if e["ph"] == "X"]
        for e in [*sent.values(), *taken.values()]:
            inside = (e["pid"], e["tid"], e["ts"]) in slices or any(
                p == e["pid"] and t == e["tid"] and a <= e["ts"] < b for p, t, a, b in spans)
            self.assertTrue(inside, e)
        for name, s in sent.items():
            self.assertLess(s["ts"], taken[name]["ts"])

    def test_counters_end_at_zero(self):
        last = {}
        for e in self.timeline():
            if e["ph"] == "C":
                last[e["name"]] = e["args"]["tokens"]
        self.assertIn("nic1.rx.payload_in", last)
        self.assertEqual(set(last.values()), {0})

    def test_timeline_window_and_filter(self):
        events = self.timeline("--trace-from", 3, "--trace-to", 3.5, "--trace-stages", "nic1.rx.*")
        timed = [e for e in events if "ts" in e]
        self.assertTrue(timed)
        self.assertTrue(all(3 <= e["ts"] <= 3.504 for e in timed))
        self.assertEqual({e["pid"] for e in timed}, {2})
        self.assertTrue(all(e["name"].startswith("nic1.rx.") for e in timed if e["ph"] == "C"))

    def test_it_is_bounded(self):
        run = self.balboa("perf", "-n", 100, "-s", 65536, "--profile", "ideal", "--timeline", "--quiet", "-o", "out")
        self.assertIn("timeline.json is full from", run.stderr)
        self.assertLess((self.folder / "out/timeline.json").stat().st_size, 100e6)


class Waves(Case):
    def waves(self, *arguments):
        """{name: [(time, value)]} of waves.vcd."""
        self.balboa(*ARGUMENTS, "--vcd", "--quiet", "-o", "out", *arguments)
        scope, names, changes, time = [], {}, {}, 0
        for line in (self.folder / "out/waves.vcd").read_text().splitlines():
            words = line.split()
            if words[0] == "$scope":
                scope.append(words[2])
            elif words[0] == "$upscope":
                scope.pop()
            elif words[0] == "$var":
                names[words[3]] = ".".join([*scope, words[4]])
            elif line[0] == "#":
                self.assertGreater(int(line[1:]), time)
                time = int(line[1:])
            elif line[0] in "01b":
                value, name = (line[0], line[1:]) if line[0] != "b" else (words[0][1:], words[1])
                changes.setdefault(names[name], []).append((time, int(value, 2)))
        self.assertEqual(scope, [])
        return changes

    def test_gtkwaves_converter_reads_it(self):
        if not shutil.which("vcd2fst"):
            raise unittest.SkipTest("needs gtkwave")
        self.waves()
        subprocess.run(["vcd2fst", "waves.vcd", "waves.fst"], cwd=self.folder / "out", check=True, capture_output=True)
        self.assertGreater((self.folder / "out/waves.fst").stat().st_size, 1000)

    def test_signals_fit_together(self):
        waves = self.waves()
        for name in [n[:-len(".fill")] for n in waves if n.endswith(".fill")]:
            fill, ready, valid = (dict(waves[f"{name}.{s}"]) for s in ("fill", "ready", "valid"))
            state = {"fill": 0, "ready": 1, "valid": 0}
            for time in sorted({*fill, *ready, *valid}):
                state = {"fill": fill.get(time, state["fill"]), "ready": ready.get(time, state["ready"]),
                         "valid": valid.get(time, state["valid"])}
                self.assertFalse(state["valid"] and state["fill"] == 0, (name, time))
                self.assertFalse(not state["ready"] and state["fill"] == 0, (name, time))
                self.assertTrue(time % 4000 == 0, (name, time))
            self.assertEqual(state, {"fill": 0, "ready": 1, "valid": 0}, name)

    def test_a_token_is_valid_its_depth_after_it_was_written(self):
        waves = self.waves()
        written = next(t for t, active in waves["nic0.tx.arbiter.active"] if active)
        valid = next(t for t, v in waves["nic0.tx.connection_in.valid"] if v)
        fill = next(t for t, v in waves["nic0.tx.connection_in.fill"] if v)
        self.assertEqual((valid - written, fill - written), (2 * 4000, 4000))

    def test_waves_window_and_filter(self):
        whole = self.waves("--trace-stages", "nic1.rx.icrc_in")
        part = self.waves("--trace-stages", "nic1.rx.icrc_in", "--trace-from", 3, "--trace-to", 4)
        self.assertEqual({n.rsplit(".", 1)[0] for n in part}, {"nic1.rx.icrc_in"})
        for name, changes in part.items():
            inside = [c for c in whole[name] if 3000000 <= c[0] <= 4000000]
            self.assertEqual([c for c in changes if c[0] != 0], inside, name)


class Ladder(Case):
    def test_it_tells_every_packet_and_every_loss(self):
        text = scenario({"nic": {"timeout": 5}, "workload": {"size": 6000, "iterations": 3, "tx_depth": 3}}, forward=[2])
        self.write("lost.toml", text)
        lines = self.balboa("run", "lost.toml", "--ladder").stdout.splitlines()
        rungs = [line for line in lines if re.search(r"\|.*\|", line)]
        self.assertEqual(sum("X lost" in line for line in rungs), 1)
        self.assertIn("psn 257", next(line for line in rungs if "X lost" in line))
        self.assertGreaterEqual(sum("WRITE_LAST" in line.upper() for line in rungs), 3)
        self.assertTrue(any("NAK" in line for line in rungs))

    def test_it_agrees_with_the_capture(self):
        run = self.balboa(*ARGUMENTS, "--ladder", "-o", "out")
        rungs = [line for line in run.stdout.splitlines() if re.search(r"\|.*\|", line)]
        sent = sum(json.loads((self.folder / "out/result.json").read_text())["results"][0]["counters"][nic]["mac.tx.frames"]
                   for nic in ("nic0", "nic1"))
        self.assertEqual(len(rungs), sent)
        for line in rungs:
            left, right = re.match(r" *([0-9.]+) .* ([0-9.]+)$", line).groups()
            delay = float(right) - float(left) if ">|" in line else float(left) - float(right)
            self.assertAlmostEqual(delay, 0.05, places=6)


class Options(Case):
    def test_files_need_a_folder(self):
        for option in ("--timeline", "--vcd"):
            self.assertIn("-o", self.balboa("perf", option, code=2).stderr)

    def test_a_window_that_ends_before_it_begins_is_refused(self):
        run = self.balboa("perf", "-n", 1, "--ladder", "--trace-from", 2, "--trace-to", 1, code=2)
        self.assertIn("--trace-to 1: ends before --trace-from 2", run.stderr)


if __name__ == "__main__":
    unittest.main()
