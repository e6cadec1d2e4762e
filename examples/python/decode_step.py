#!/usr/bin/env python3
"""A notebook of cells over the sample recording (SYNTHETIC: nothing in it was measured on a GPU): which kernels, why, and what then.

    decode_step.py [RUN.db [COUNTERS.db...]]     by default what `cmake --install` or a package put beside this file

Editors run the cells one by one (VS Code, Spyder, PyCharm; jupytext makes a notebook of it). docs/PYTHON.md explains the package.
"""
# %% Open the recording and its counter passes
import pathlib
import sys

import matplotlib
import rocm_perf

matplotlib.use("Agg")  # into files: leave this out in a notebook
sample = pathlib.Path(__file__).resolve().parents[2] / "decode_step.db" if len(sys.argv) < 2 else pathlib.Path(sys.argv[1])
passes = sys.argv[2:] or sorted(map(str, (sample.parent / "decode_step_counters").rglob("*.db")))
run = rocm_perf.open(sample, counters=passes)
print(run)

# %% Kernels by time, as the recording without counters has them
dispatches = run.dispatches.join(run.tracks, on="track")
dispatches = dispatches[dispatches["timed"]]
durations = dispatches["end"] - dispatches["start"]
kernels = durations.groupby(dispatches["kernel"], observed=True).agg(["count", "sum", "median", "max"])
print(kernels.sort_values("sum", ascending=False).head(5))

# %% The same by stream: does work overlap?
print(durations.groupby(dispatches["stream"], observed=True).agg(["count", "sum"]))
span = dispatches["end"].max() - dispatches["start"].min()
print(f"{durations.sum() / 1e6:.3f} ms of kernels in {span / 1e6:.3f} ms")

# %% What the host did: the most expensive API calls
calls = run.api_calls
calls["duration"] = calls["end"] - calls["start"]
print(calls.groupby("name", observed=True)["duration"].agg(["count", "sum"]).sort_values("sum", ascending=False).head(5))

# %% What limits the kernels with most time, with the evidence
for verdict in run.verdicts[:3]:
    print(f"{verdict.kernel}: {verdict.verdict} ({verdict.confidence} confidence)")
    for evidence in verdict.evidence:
        print(f"    {evidence}")

# %% Where the time of the run goes, and what a faster kernel would gain
path = run.critical_path
for part, time in path.attribution.items():
    print(f"{part:15} {time / path.length_ns:6.1%}")
print(path.gains.sort_values("gain_ns", ascending=False).head(3))

# %% The roofline and the path as pictures, the report as a page
run.plot_roofline().figure.savefig("roofline.png", dpi=150)
run.plot_path().figure.savefig("path.png", dpi=150)
pathlib.Path("report.html").write_text(run.page())
