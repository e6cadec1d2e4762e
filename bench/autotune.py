"""How few measurements the autotuner needs, on fully recorded search spaces.

    python3 bench/autotune.py [--seeds 30] [--first-seed 0] [--jobs 2] [--noisy] [--race] [--repeats N] [--model tgp|polynomial] [--effort full|auto|quick] [--batch N] [--priors others|shuffled] [--budget N] [--only NAME,NAME]

Needs the target bench_autotune of a release build (PERFLAB_BUILD, default build/release) and the recordings in ../shared/data/autotune. Nothing is measured: a
configuration's result is its recorded time. The search begins with the declared default (first configuration where there is none). Score: mean over seeds of
optimum / recorded time of the best configuration found; with --noisy a run sees one random recorded repeat; budgets count runs: one of each
configuration, or as many as --repeats says; with --race the likely best ones run again. Seconds are CPU time of a whole search.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import statistics
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = pathlib.Path(os.environ.get("PERFLAB_BUILD", ROOT / "build/release"))
DATA = ROOT.parent / "shared/data/autotune"
BUDGETS = (25, 50, 100, 200)
SPACES = {  # name: recording, definition with the default
    "conv_MI250X": ("amd/convolution_milo__MI250X", "convolution_milo"),
    "conv_W6600": ("amd/convolution_milo__W6600", "convolution_milo"),
    "dedisp_MI250X": ("amd/dedispersion_milo__MI250X", "dedispersion_milo"),
    "dedisp_W7800": ("amd/dedispersion_milo__W7800", "dedispersion_milo"),
    "hotspotslab_W7800": ("amd/hotspot_milo_PARTIAL__W7800", None),
    "conv_A100": ("nvidia/convolution_milo__A100", "convolution_milo"),
    "conv_A6000": ("nvidia/convolution_milo__A6000", "convolution_milo"),
    "dedisp_A100": ("nvidia/dedispersion_milo__A100", "dedispersion_milo"),
    "dedisp_A4000": ("nvidia/dedispersion_milo__A4000", "dedispersion_milo"),
    "gemm_3090": ("nvidia/gemm_cltune__RTX_3090", None),
    "gemm_Titan": ("nvidia/gemm_cltune__RTX_Titan", None),
    "kconv_2080Ti": ("nvidia/convolution__RTX_2080_Ti", "convolution"),
    "kconv_3060": ("nvidia/convolution__RTX_3060_laptop", "convolution"),
    "kconv_3090": ("nvidia/convolution__RTX_3090", "convolution"),
    "pnpoly_3090": ("nvidia/pnpoly__RTX_3090", "pnpoly"),
}


def run(name, arguments):
    """All seeds of one space: the program's JSON."""
    command = [BUILD / "bench/bench_autotune", "--seeds", str(arguments.seeds), "--first-seed", str(arguments.first_seed), "--model", arguments.model, "--effort", arguments.effort, "--batch", str(arguments.batch)]
    if arguments.priors != "none" and name != "written":
        kernel = SPACES[name][0].split("/")[1].split("__")[0]
        for other, (recording, _) in SPACES.items():
            if other != name and recording.split("/")[1].split("__")[0] == kernel:
                command += ["--prior", DATA / f"{recording}.json.gz"]
        if arguments.priors == "shuffled":
            command.append("--shuffled")
    command += ["--budget", str(arguments.budget)]
    command += ["--repeats", str(arguments.repeats)]
    if arguments.race:
        command.append("--race")
    if arguments.noisy:
        command.append("--noisy")
    if name == "written":
        command.append("written")
    else:
        recording, definition = SPACES[name]
        command.append(DATA / f"{recording}.json.gz")
        if definition:
            command += ["--definition", DATA / f"T1/{definition}.json"]
        if "hotspot" in recording:
            command.append("--hotspot-slab")
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def at_budget(searches, index):
    """Ratio of every seed at a budget; a search that stopped earlier keeps its last one."""
    return [search[min(index, len(search) - 2)] for search in searches]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=30)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--budget", type=int, default=200)
    parser.add_argument("--priors", default="none", choices=("none", "others", "shuffled"), help="recordings of the same kernel on the other GPUs; shuffled: with the times of other configurations")
    parser.add_argument("--noisy", action="store_true")
    parser.add_argument("--race", action="store_true")
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--model", default="tgp")
    parser.add_argument("--effort", default="full")
    parser.add_argument("--only", default="")
    arguments = parser.parse_args()
    names = [n for n in [*SPACES, "written"] if not arguments.only or n in arguments.only.split(",")]
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        results = dict(zip(names, pool.map(lambda name: run(name, arguments), names)))

    print("| space | configurations | " + " | ".join(f"mean @{b}" for b in BUDGETS) + " | " + " | ".join(f"median @{b}" for b in BUDGETS) + " | evaluations | CPU s | longest |")
    print("|" + "---|" * (5 + 2 * len(BUDGETS)))
    means = {b: [] for b in BUDGETS}
    for name, result in results.items():
        searches = result["runs"]
        ratios = [at_budget(searches, i) for i in range(len(BUDGETS))]
        scores = [statistics.mean(1 / r for r in one) for one in ratios]
        if name in SPACES:
            for b, score in zip(BUDGETS, scores):
                means[b].append(score)
        medians = [statistics.median(one) for one in ratios]
        print(f"| {name} | {result['size']} | " + " | ".join(f"{s:.3f}" for s in scores) + " | " + " | ".join(f"{m:.3f}" for m in medians)
              + f" | {statistics.mean(s[-1] for s in searches):.0f} | {result['mean_s']:.2f} | {result['longest_s']:.2f} |")
    if means[BUDGETS[0]]:
        print(f"| **mean of {len(means[BUDGETS[0]])}** | | " + " | ".join(f"**{statistics.mean(means[b]):.4f}**" for b in BUDGETS) + " |" + " |" * (len(BUDGETS) + 3))


if __name__ == "__main__":
    main()
