"""examples/ci from outside: a small repository, a recorded baseline, and gate.sh on changes that leave everything as it was, make it
faster, make it slower, spill registers, or break something. Recordings are written by make-rocpd and delivered by the stand-in for
rocprofv3; kernels are compiled by the clang that rocm-perf finds.

    gate_test.py --program ROCM_PERF --make-rocpd MAKE_ROCPD      exit code 1 when something is not as it should be"""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))
import made_up_run  # noqa: E402  (its folder has to be known first)

CI = ROOT / "examples/ci"
RUNS = 7

KERNEL = """// Scales a vector.
__attribute__((global)) void scale(float* out, const float* in, float factor, int n) {
  const int i = (int)(__builtin_amdgcn_workgroup_id_x() * 256u + __builtin_amdgcn_workitem_id_x());
  if (i < n) out[i] = factor * in[i];
}
"""

# Keeps 32 values across a barrier, in registers that it does not have.
SPILLING = """__attribute__((global)) __attribute__((amdgpu_num_vgpr(8)))
void scale(float* out, const float* in, float factor, int n) {
  const int i = (int)(__builtin_amdgcn_workgroup_id_x() * 256u + __builtin_amdgcn_workitem_id_x());
  float kept[32];
#pragma unroll
  for (int j = 0; j < 32; ++j) kept[j] = in[i + j * n];
  __builtin_amdgcn_s_barrier();
  float sum = 0;
#pragma unroll
  for (int j = 0; j < 32; ++j) sum += kept[j] * kept[31 - j];
  out[i] = factor * sum;
}
"""


class Gate(unittest.TestCase):
    program = make_rocpd = None

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        self.repository = self.folder / "repository"
        (self.repository / "kernels").mkdir(parents=True)
        (self.repository / "perf").mkdir()
        shutil.copy(CI / "gate.sh", self.repository / "perf/gate.sh")
        self.write("kernels/scale.hip", KERNEL)
        self.write("perf/budget.txt", "# file and limits\n\nkernels/scale.hip  --arch gfx942 --no-spills --max-vgpr 16\n")
        self.write("perf/gate.conf", f'BENCHMARK="true --rows 10"\nRUNS={RUNS}\nTHRESHOLD=3%\n')
        self.git("init", "--quiet", "--initial-branch", "main")
        self.commit("the first kernel")

    def write(self, name, text):
        (self.repository / name).write_text(text)

    def git(self, *arguments):
        subprocess.run(["git", "-c", "user.name=T", "-c", "user.email=t@example.com", *arguments], cwd=self.repository, check=True,
                       capture_output=True)

    def commit(self, message):
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", message)

    def change(self, name, text):
        """A branch with another file."""
        self.git("checkout", "--quiet", "-b", "change", "main")
        self.write(name, text)
        self.commit("a change")

    def gate(self, *arguments, **variables):
        environment = {**os.environ, "ROCM_PERF": str(self.program), "ROCPROFV3": str(ROOT / "tests/collect/fake_rocprofv3"), **variables}
        for name in ("GITHUB_STEP_SUMMARY", "BASE", "JUNIT"):
            if name not in variables:
                environment.pop(name, None)
        return subprocess.run(["perf/gate.sh", *arguments], cwd=self.repository, env=environment, capture_output=True, text=True)

    def record(self, name, scale_us, seed):
        """`gate.sh record` of seven runs in which the kernel takes so long, give or take 0.4 %."""
        runs = made_up_run.write(self.make_rocpd, self.folder / name, RUNS, scale_us, seed)
        folder = self.folder / name
        done = self.gate("record", str(folder), FAKE_ROCPROFV3_DB="|".join(runs))
        self.assertEqual((done.returncode, done.stdout), (0, f"{folder}\n"), done.stderr)
        return str(folder)

    def check(self, exit_code, *arguments, **variables):
        done = self.gate("check", *arguments, **variables)
        self.assertEqual(done.returncode, exit_code, done.stdout + done.stderr)
        return done.stdout

    def baseline(self):
        return self.record("baseline", 50, 1)

    def test_an_unchanged_kernel_passes(self):
        summary = self.check(0, self.baseline(), self.record("new", 50, 20))
        self.assertTrue(summary.startswith("## Performance: nothing failed\n"), summary)
        self.assertIn("| `kernels/scale.hip` | `--arch gfx942 --no-spills --max-vgpr 16` | within budget |", summary)
        self.assertIn("the baseline (A): no regression shown", summary)
        self.assertRegex(summary, r"\| `scale\(float\*, [^\n]*\| SAME \|")
        self.assertNotIn("FAILED", summary)

    def test_a_faster_kernel_passes(self):
        summary = self.check(0, self.baseline(), self.record("new", 40, 40))
        self.assertRegex(summary, r"\| `scale\(float\*, .* 0\.[78]\d\d \|.*\| FASTER \|")
        self.assertNotIn("FAILED", summary)

    def test_a_slower_kernel_fails_wherever_the_recordings_lie(self):
        baseline, new = self.baseline(), self.record("new", 60, 60)
        shutil.move(baseline, self.folder / "cached")
        shutil.rmtree(self.repository / ".rocpd_profile")
        junit, page = self.folder / "perf.xml", self.folder / "summary.md"
        summary = self.check(1, str(self.folder / "cached"), new, JUNIT=str(junit), GITHUB_STEP_SUMMARY=str(page))
        self.assertTrue(summary.startswith("## Performance: **FAILED**\n"), summary)
        self.assertRegex(summary, r"\| `scale\(float\*, .* 1\.(19|20)\d \|.*\| \*\*SLOWER\*\* \|")
        self.assertRegex(summary, r"\| `sums\(float\*, .*\| SAME \|")  # it takes more of the time, and is compared too
        self.assertIn("within budget", summary)
        self.assertIn("<failure", junit.read_text())
        self.assertEqual(page.read_text(), summary)

    def test_a_spilling_kernel_fails_without_a_gpu(self):
        self.change("kernels/scale.hip", SPILLING)
        summary = self.check(1)
        self.assertTrue(summary.startswith("## Performance: **FAILED**\n"), summary)
        self.assertIn("--max-vgpr 16` | **FAILED** |", summary)
        self.assertRegex(summary, r"FAILED no_spills: 1 of 1 kernel\n +scale\(float\*, [^\n]* VGPRs and 0 SGPRs spilled")
        self.assertNotIn("Times", summary)

    def test_more_spills_than_the_base_commit_fail_even_within_the_budget(self):
        self.write("perf/budget.txt", "kernels/scale.hip --arch gfx942\nkernels/later.hip --arch gfx942\n")
        self.write("kernels/later.hip", KERNEL)
        self.git("add", "--all")
        self.change("kernels/scale.hip", SPILLING)
        self.check(0)
        summary = self.check(1, BASE="main")
        self.assertIn("| `kernels/scale.hip` | `--arch gfx942` | **FAILED** |", summary)
        self.assertIn("resources.vgpr_spills went from 0 to", summary)
        self.assertIn("| `kernels/later.hip` | `--arch gfx942` | within budget |", summary)  # the base has none

    def test_a_call_that_could_not_tell_is_no_pass_and_no_regression(self):
        self.change("kernels/scale.hip", "this is no kernel\n")
        summary = self.check(3)
        self.assertIn("**no answer** (exit code 3)", summary)
        self.assertIn("error:", summary)
        self.git("checkout", "--quiet", "main")
        summary = self.check(3, "nowhere", "nowhere_else")
        self.assertIn("within budget", summary)
        self.assertIn("nowhere: cannot be opened", summary)
        self.check(127, ROCM_PERF="no-such-program")

    def test_what_is_missing_is_said(self):
        for settings, arguments, words in ((("perf/gate.conf", ""), ["record", "x"], "BENCHMARK is not set"),
                                           (("perf/budget.txt", "# none\n"), ["check"], "names no kernel file"),
                                           (None, ["record", "perf"], "perf is there already"),
                                           (None, ["check", "one"], "usage: gate.sh"),
                                           (None, [], "usage: gate.sh")):
            if settings:
                self.write(*settings)
            done = self.gate(*arguments)
            self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
            self.assertIn(words, done.stderr)
            self.git("checkout", "--quiet", ".")
        (self.repository / "perf/budget.txt").unlink()
        self.assertIn("budget.txt is missing", self.gate("check").stderr)


class Files(unittest.TestCase):
    def test_the_workflow_calls_what_the_script_takes(self):
        text = (CI / "rocm-perf.yml").read_text()
        calls = re.findall(r"gate\.sh\"? (record|check|\S+)((?: \S+)*)$", text, re.MULTILINE)
        self.assertGreaterEqual(len(calls), 4)
        for word, arguments in calls:
            self.assertIn((word, len(arguments.split())), {("record", 1), ("check", 0), ("check", 2)})

    def test_the_workflow_is_yaml(self):
        try:
            import yaml
        except ImportError:
            self.skipTest("python3-yaml is not installed")
        workflow = yaml.safe_load((CI / "rocm-perf.yml").read_text())
        for job in workflow["jobs"].values():
            for step in job["steps"]:
                self.assertEqual(len({"uses", "run"} & step.keys()), 1, step)

    def test_the_readme_is_short(self):
        self.assertLessEqual(len((CI / "README.md").read_text().splitlines()), 60)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--make-rocpd", required=True)
    said, rest = parser.parse_known_args()
    Gate.program, Gate.make_rocpd = said.program, said.make_rocpd
    unittest.main(argv=[__file__, *rest], verbosity=1)
