"""What the end-to-end tests share: a case runs the program in a folder of its own and reads what it leaves there.

BALBOA_PROGRAM names the program. BALBOA_SHARED may name the folder of captures and oracles that come from elsewhere;
tests that need it are skipped where it is absent.
"""
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

PROGRAM = os.environ.get("BALBOA_PROGRAM", "build/balboa")
ROOT = pathlib.Path(__file__).resolve().parents[2]
SHARED = pathlib.Path(os.environ.get("BALBOA_SHARED", ROOT.parent / "shared"))
SAMPLE = ROOT / "traces/samples/pt_write_bw.pcap"
SAMPLE_SERVER = "10.77.0.1"


def shared(path):
    """The path of a shared file; skips the test where it is absent."""
    file = SHARED / path
    if not file.exists():
        raise unittest.SkipTest(f"needs {path}")
    return file


class Case(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory(prefix="balboa_e2e_")
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)

    def program(self, *arguments):
        """Runs the program in the case's folder."""
        command = [PROGRAM, *map(str, arguments)]
        return subprocess.run(command, cwd=self.folder, capture_output=True, text=True, check=False)

    def balboa(self, *arguments, code=0):
        """The same, and checks its exit code."""
        run = self.program(*arguments)
        self.assertEqual(run.returncode, code, f"{' '.join(map(str, run.args))}\n{run.stdout}{run.stderr}")
        return run

    def simulate(self, *arguments, output="out", code=0):
        """The same with a run folder; returns result.json."""
        self.balboa(*arguments, "--quiet", "-o", output, code=code)
        return self.read_json(output)

    def perf(self, *arguments, **options):
        """`balboa perf` of one size; returns its result."""
        return self.simulate("perf", *arguments, **options)["results"][0]

    def read_json(self, output="out"):
        return json.loads((self.folder / output / "result.json").read_text())

    def write(self, name, text):
        path = self.folder / name
        path.write_text(text)
        return path


def scenario(sections, forward=(), backward=()):
    """The text of a scenario file; `forward` and `backward` are the frames that the two directions lose."""
    lines = []
    for name, values in sections.items():
        lines.append(f"[{name}]")
        lines += [f"{key} = {json.dumps(value)}" for key, value in values.items()]
    for link, frames in (("nic0-nic1", forward), ("nic1-nic0", backward)):
        for frame in frames:
            lines += ["[[fault]]", f'link = "{link}"', f"frame = {frame}", 'type = "drop"']
    return "\n".join(lines) + "\n"
