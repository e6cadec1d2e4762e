"""Builds the folder in which the commands of the documents run: every file that a document names, and stand-ins for what a machine
without a GPU lacks.

    playground.py OUT --build BUILD --program ROCM_PERF

    OUT/bin      on PATH: rocm-perf, make-rocpd, hipcc, rocprofv3, a compiler that builds for the stand-in runtime, and
                 g++, which builds programs that count work instead of time
    OUT/files    copied for each document, which then runs in its copy: the examples (also as examples/), traces, counter
                 passes, a thread trace, a capture, ./app, spaces, recordings
    OUT/variables.json   environment of the commands; {folder} is the document's copy

Traces are the synthetic sample (examples/decode_step.json) and variants of it. rocprofv3 is tests/collect/fake_rocprofv3, the GPU is
tests/hsa_sim, hipcc compiles a kernel for that runtime and leaves a program that launches it."""
import argparse
import gzip
import json
import os
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
COUNTED_CLOCK = ROOT / "tests/support/counted_clock.cpp"

# hipcc SOURCE... -o OUT: the kernel as a code object of the stand-in, and a program that launches it with arguments as they are.
# Sources that need more of HIP than tests/hsa_sim has (barriers) are compiled for gfx942 only: the program says so and ends with 2.
HIPCC = """#!/bin/sh
out=a.out source= flags=
while [ $# -gt 0 ]; do
  case $1 in
    -o) out=$2; shift ;;
    -*) flags="$flags $1" ;;
    *) source=$1 ;;
  esac
  shift
done
kernel=$(sed -n 's/^__global__.* \\([a-z_]*\\)(.*/\\1/p' "$source" | head -n 1)
case $flags in *--genco*) exec "@sim_hipcc@" "$source" -o "$out" --kernel "$kernel" ;; esac
if grep -q '__syncthreads\\|block_reduce\\|__shared__' "$source"; then
  clang++-19 -x hip --offload-arch=gfx942 --cuda-device-only -nogpulib -emit-llvm $flags -c "$source" -o /dev/null || exit 1
  printf '#!/bin/sh\\necho "no GPU here" >&2\\nexit 2\\n' >"$out"
else
  "@sim_hipcc@" "$source" -o "$out.hsaco" --kernel "$kernel" || exit 1
  printf '#!/bin/sh\\nexec "@app@" "%s.hsaco" %s 3\\n' "$(realpath "$out")" "$kernel" >"$out"
fi
chmod +x "$out"
"""

# What ROCM_PERF_CLANG names while a capture is optimised: code objects for gfx942 become those of the stand-in.
SIM_CLANG = """#!/bin/sh
out= source= build=
for word; do
  [ "$before" = -o ] && out=$word
  case $word in --no-gpu-bundle-output) build=1 ;; -*) ;; *) [ "$before" = -o ] || source=$word ;; esac
  before=$word
done
case $* in *-\\#\\#\\#*) build= ;; esac
[ -n "$build" ] || exec clang++-19 "$@"
kernel=$(sed -n 's/^__global__.* \\([a-z_]*\\)(.*/\\1/p' "$source" | head -n 1)
exec "@sim_hipcc@" "$source" -o "$out" --kernel "$kernel" "-I@files@" "-I@files@/optimize"
"""

# g++ for programs whose times decide something: they count work instead of time, the same on a busy machine as on an idle one.
GXX = """#!/bin/sh
case " $* " in *" -shared "*) exec "@gxx@" "$@" ;; esac  # a kernel for the stand-in runtime
exec "@gxx@" -fsanitize-coverage=trace-pc "$@" "@clock@"
"""

# A program to tune, without a compiler: its time depends on its options alone.
KERNEL = """#!/bin/sh
bm=16 bn=16
while [ $# -gt 1 ]; do
  case $1 in --bm) bm=$2 ;; --bn) bn=$2 ;; esac
  shift 2
done
echo "time_ms: $((100 + (bm - 64) * (bm - 64) / 64 + (bn - 32) * (bn - 32) / 32)).5"
echo "watts: $((150 + 2 * bm))"
"""

SPACE = {"tune_params": {"BLOCK_M": [16, 32, 64, 128], "BLOCK_N": [16, 32, 64]}, "restrictions": ["BLOCK_M * BLOCK_N <= 4096"],
         "default": {"BLOCK_M": 16, "BLOCK_N": 16}}


class Playground:
    def __init__(self, out, build, program):
        self.out, self.build, self.program = pathlib.Path(out), pathlib.Path(build), pathlib.Path(program)
        self.bin, self.files = self.out / "bin", self.out / "files"
        self.sim = self.build / "hsa_sim"
        self.share = self.build / "share"
        self.environment = {"LD_LIBRARY_PATH": str(self.sim)}

    def run(self, *words, **more):
        done = subprocess.run([str(word) for word in words], cwd=self.files, capture_output=True, text=True,
                              env={**os.environ, **self.environment}, **more)
        if done.returncode != 0:
            sys.exit(f"playground: {words[0]} ended with {done.returncode}\n{done.stdout}{done.stderr}")
        return done

    def tool(self, *names):
        """A program of the build."""
        return self.build.joinpath("tests", *names)

    def script(self, path, text):
        for name, value in {"sim_hipcc": self.sim / "sim_hipcc", "app": self.tool("docs", "playground_app"),
                            "files": self.files, "gxx": shutil.which("g++"), "clock": COUNTED_CLOCK}.items():
            text = text.replace(f"@{name}@", str(value))
        path.write_text(text)
        path.chmod(0o755)

    def make_programs(self):
        self.bin.mkdir(parents=True)
        self.script(self.bin / "hipcc", HIPCC)
        self.script(self.bin / "sim-clang", SIM_CLANG)
        self.script(self.bin / "g++", GXX)
        for name, to in {"rocm-perf": self.program, "make-rocpd": self.tool("support", "make-rocpd"),
                         "rocprofv3": ROOT / "tests/collect/fake_rocprofv3"}.items():
            (self.bin / name).symlink_to(to)
        decoder = self.out / "decoder"
        decoder.mkdir()
        (decoder / "librocprof-trace-decoder.so").write_text("a stand-in\n")

    def make_traces(self):
        sample = self.share / "decode_step.db"
        for name in ("decode_step.db", "run.db", "before.db", "host/1234_results.db"):
            to = self.files / name
            to.parent.mkdir(exist_ok=True)
            shutil.copyfile(sample, to)
        # As rocprofv3 lays them out: a folder for each pass, in it one for the machine.
        for database in self.share.glob("decode_step_counters/pass_*/*.db"):
            to = self.files / database.parent.name / "host" / database.name
            to.parent.mkdir(parents=True)
            shutil.copyfile(database, to)
        # The same program after somebody made its attention faster.
        description = json.loads((ROOT / "examples/decode_step.json").read_text())
        for kernel in description["kernels"].values():
            if "paged_attention<" in kernel.get("display", ""):
                kernel["tb_per_s"] *= 1.25
        (self.out / "after.json").write_text(json.dumps(description))
        self.run(self.bin / "make-rocpd", "--description", self.out / "after.json", "--out", "after.db")
        # And a recording of the tutorial's program, as far as names go.
        text = (ROOT / "examples/decode_step.json").read_text().replace("triton_poi_fused_mul_silu_2", "softmax_rows")
        (self.out / "softmax.json").write_text(text)
        self.run(self.bin / "make-rocpd", "--description", self.out / "softmax.json", "--out", self.out / "softmax.db",
                 "--passes", self.out / "softmax_counters")
        self.run(self.bin / "make-rocpd", "--ranks", "8", "--late", "3", "--out", "traces")
        self.run(self.tool("support", "make-pc-samples"), "--out", "pc", "--kernel", "copy,matrix", "--dispatches", "12", "--ticks", "6",
                 "--form", "json")
        self.run(self.tool("docs", "playground_trace"), "att")
        shutil.copytree(self.files / "att/ui_output_agent_1_dispatch_2", self.files / "ui_output_agent_1_dispatch_2")
        self.run(self.tool("support", "make-pc-samples"), "--out", self.out / "pc_samples", "--dispatches", "20")
        (self.files / "roofline.csv").write_text("device,HBMBw\n0,4321\n")

    def make_kernels(self):
        shutil.copytree(ROOT / "examples", self.files, dirs_exist_ok=True)
        shutil.copytree(ROOT / "examples", self.files / "examples")
        # A clone as `make release` leaves it.
        built = self.files / "build/release"
        (built / "src/cli").mkdir(parents=True)
        (built / "src/cli/rocm-perf").symlink_to(self.program)
        (built / "share").symlink_to(self.share)
        rows = (self.files / "optimize/softmax_rows.hip").read_text()
        softmax = rows.replace("softmax_rows", "softmax").replace("../example.h", "example.h")
        (self.files / "softmax.hip").write_text(softmax)
        self.run(self.bin / "hipcc", "softmax.hip", "-o", "app")
        answer = self.run(sys.executable, self.files / "optimize/softmax_ideas.py",
                          input=json.dumps({"round": 2, "source": "KERNEL", "kernel_source": "KERNEL"})).stdout
        answer = answer.replace("softmax_rows", "softmax")
        (self.out / "llm_answer.txt").write_text(f"One division per row:\n\n```cpp\n{answer}\n```\n")
        begin, end = softmax.index("__global__"), softmax.index("namespace {")
        (self.files / "faster.hip").write_text(softmax[:begin] + answer + "\n\n" + softmax[end:])
        self.run(self.sim / "sim_hipcc", "faster.hip", "-o", "faster.hsaco", "--kernel", "softmax")
        self.run(self.program, "isolate", "--kernel", "softmax", "--dispatch", "3", "--out", "softmax.capture", "--", "./app")
        self.run(self.tool("support", "make-code-object"), "--kernels", "3", "--out", "libkernels.so")
        for name in ("old.so", "new.so"):
            shutil.copyfile(self.files / "libkernels.so", self.files / name)

    def make_searches(self):
        (self.files / "space.json").write_text(json.dumps(SPACE))
        self.script(self.files / "kernel", KERNEL)
        keys = list(SPACE["tune_params"])
        cache = {}
        for m in SPACE["tune_params"]["BLOCK_M"]:
            for n in SPACE["tune_params"]["BLOCK_N"]:
                time = 100.5 + (m - 64) ** 2 // 64 + (n - 32) ** 2 // 32
                cache[f"{m},{n}"] = {"BLOCK_M": m, "BLOCK_N": n, "time": time, "times": [time, time + 0.1, time]}
        recording = {"device_name": "none", "kernel_name": "kernel", "problem_size": "1", "tune_params_keys": keys,
                     "tune_params": SPACE["tune_params"], "objective": "time", "cache": cache}
        with gzip.GzipFile(self.files / "cache.json.gz", "wb", mtime=0) as file:
            file.write(json.dumps(recording).encode())

        application = {"kernels": [
            {"name": "attention", "kernel": "paged_attention", "space": "space.json", "metric_regex": "ms: ([0-9.]+)",
             "command": "./kernel --bm {BLOCK_M} --bn {BLOCK_N}"},
            {"name": "norm", "kernel": "norm", "simulate": "cache.json.gz", "default": {"BLOCK_M": 16, "BLOCK_N": 16}}],
            "command": "./application --config {config}"}
        (self.files / "app.json").write_text(json.dumps(application))
        self.script(self.files / "application", "#!/bin/sh\ncat \"$2\"\n")

    def make_kineto(self):
        """A step as torch.profiler writes it, of two kernels (docs/facts/kineto.md)."""
        def event(category, name, pid, tid, start, length, **args):
            return {"ph": "X", "cat": category, "name": name, "pid": pid, "tid": tid, "ts": start, "dur": length, "args": args}
        events = [event("user_annotation", "ProfilerStep#1", 70, 70, 100, 900)]
        for i, name in enumerate(["gemm(float*)", "relu(float*)"]):
            events.append(event("cuda_runtime", "hipLaunchKernel", 70, 70, 110 + 10 * i, 5, correlation=i + 1))
            events.append(event("kernel", name, 0, 0, 120.5 + 100 * i, 90.25, correlation=i + 1, device=0, stream=0,
                                grid=[64, 1, 1], block=[256, 1, 1]))
        device = {"id": 0, "name": "AMD Instinct MI300X", "computeMajor": 9, "computeMinor": 4, "warpSize": 64, "numSms": 304,
                  "maxThreadsPerMultiprocessor": 2048}
        trace = {"schemaVersion": 1, "deviceProperties": [device], "distributedInfo": {"rank": 0, "world_size": 1},
                 "traceEvents": events}
        with gzip.GzipFile(self.files / "worker0.pt.trace.json.gz", "wb", mtime=0) as file:
            file.write(json.dumps(trace).encode())

    def passes_in(self, folder):
        """The databases of counter passes, for fake_rocprofv3."""
        folders = sorted(folder.glob("pass_*"), key=lambda path: int(path.name.split("_")[1]))
        return "|".join(str(next(each.rglob("*.db"))) for each in folders)

    def make_variables(self):
        variables = {
            **self.environment,
            "PATH": f"{self.bin}:{os.environ['PATH']}",
            "HOME": "{folder}/../home",
            "COLUMNS": "100",
            "FAKE_ROCPROFV3_DB": str(self.share / "decode_step.db"),
            "FAKE_ROCPROFV3_PASS_DB": self.passes_in(self.share / "decode_step_counters"),
            "SOFTMAX_PASSES": self.passes_in(self.out / "softmax_counters"),
            "FAKE_ROCPROFV3_ATT": f"1={self.files / 'att'}",
            "FAKE_ROCPROFV3_PC": str(self.out / "pc_samples"),
            "ROCPROF_ATT_LIBRARY_PATH": str(self.out / "decoder"),
            "ROCM_PERF_LLM_KEY": "a-key-of-the-playground",
        }
        (self.out / "variables.json").write_text(json.dumps(variables, indent=1))

    def make(self):
        if self.out.exists():
            shutil.rmtree(self.out)
        self.files.mkdir(parents=True)
        self.make_programs()
        self.make_traces()
        self.make_kernels()
        self.make_searches()
        self.make_kineto()
        self.make_variables()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out")
    parser.add_argument("--build", required=True)
    parser.add_argument("--program", required=True)
    arguments = parser.parse_args()
    Playground(pathlib.Path(arguments.out).absolute(), pathlib.Path(arguments.build).absolute(),
               pathlib.Path(arguments.program).absolute()).make()


if __name__ == "__main__":
    main()
