#!/usr/bin/env python3
"""How `rocm-perf autotune-app` shares a budget: three applications of three recorded spaces each, on the sample's critical path.

    python3 bench/autotune_app.py [BUILD]        # build/release; --seeds 30, --budget 90

The kernels of the sample (gemm, attention, norm: 51, 20 and 3 % of the run) stand for recorded search spaces of
../shared/data/autotune; each default is the configuration of median time. Score: the makespan that the what-if predicts with what was
found, over that with the optimum of every space. Its columns: mean, median and worst over the seeds, and mean evaluations by kernel.
"""
import argparse
import concurrent.futures
import gzip
import json
import os
import pathlib
import statistics
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
DATA = ROOT / "../shared/data/autotune"
PATTERNS = {"gemm": "Cijk", "attention": "attention", "norm": "norm"}
APPLICATIONS = {
    "A": ("nvidia/gemm_cltune__RTX_3090", "nvidia/convolution__RTX_3090", "amd/dedispersion_milo__MI250X"),
    "B": ("nvidia/convolution_milo__A100", "nvidia/pnpoly__RTX_3090", "nvidia/gemm_cltune__RTX_Titan"),
    "C": ("amd/dedispersion_milo__MI250X", "nvidia/gemm_cltune__RTX_3090", "nvidia/convolution__RTX_3090"),
}


def kernel_of(name, space):
    """The kernel of an application file, and how many times faster than its default the optimum is."""
    file = (DATA / f"{space}.json.gz").resolve()
    recorded = json.loads(gzip.decompress(file.read_bytes()))
    rows = sorted((row for row in recorded["cache"].values() if isinstance(row.get("time"), (int, float))), key=lambda row: row["time"])
    default = rows[len(rows) // 2]
    kernel = {"name": name, "kernel": PATTERNS[name], "simulate": str(file),
              "default": {parameter: default[parameter] for parameter in recorded["tune_params_keys"]}}
    return kernel, default["time"] / rows[0]["time"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path, nargs="?", default=ROOT / "build/release")
    parser.add_argument("--seeds", type=int, default=30)
    parser.add_argument("--budget", type=int, default=90)
    options = parser.parse_args()
    program, sample = options.build / "src/cli/rocm-perf", options.build / "share/decode_step.db"

    def document(*words):
        return json.loads(subprocess.run([program, *map(str, words), "--json"], check=True, capture_output=True, text=True).stdout)

    with tempfile.TemporaryDirectory() as scratch, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for title, spaces in APPLICATIONS.items():
            kernels = [kernel_of(name, space) for name, space in zip(PATTERNS, spaces)]
            file = pathlib.Path(scratch, f"{title}.json")
            file.write_text(json.dumps({"kernels": [kernel for kernel, _ in kernels]}))
            what_if = [word for kernel, faster in kernels for word in ("--what-if", f"{kernel['kernel']}={faster:.6f}x")]
            optimum = document("critical-path", sample, *what_if)["what_if"]["makespan_ns"]
            for split in ("adaptive", "worth", "equal"):
                def run(seed):
                    return document("autotune-app", file, "--recording", sample, "--split", split, "--seed", seed, "--budget",
                                    options.budget, "--out", pathlib.Path(scratch, f"{title}{split}{seed}"))
                runs = list(pool.map(run, range(1, options.seeds + 1)))
                over = [found["predicted"]["makespan_ns"] / optimum - 1 for found in runs]
                spent = [statistics.mean(found["kernels"][i]["evaluations"] for found in runs) for i in range(len(kernels))]
                print(f"| {title} | {split} | {statistics.mean(over):.1%} | {statistics.median(over):.1%} | {max(over):.1%} | "
                      f"{' / '.join(f'{count:.0f}' for count in spent)} |", flush=True)


if __name__ == "__main__":
    main()
