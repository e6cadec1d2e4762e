"""A run of two kernels that nobody measured, as make-rocpd writes it: ./bench calls scale and sums eight times each. What a recording
has to be like for a comparison is up to its caller: `scale_us` is the time of the first kernel, `seed` makes runs differ."""
import json
import pathlib
import subprocess


def kernel(symbol, display, microseconds):
    return {"symbol": symbol, "display": display, "code_object": 1, "groups": [64, 1, 1], "workgroup": [256, 1, 1], "sgpr": 16,
            "vgpr": [8, 0], "kernarg": 24, "fixed_us": microseconds, "why": "made up"}


def description(scale_us, seed):
    """One run of ./bench: eight times two kernels."""
    return {
        "synthetic": "made up for a test", "guid": f"0000decd-57e9-7000-8000-{seed:012d}", "creation_time": "2026-01-01 00:00:00",
        "seed": seed, "clock_start_ns": 86400000000000, "process": {"pid": 11, "ppid": 1, "command": "./bench"},
        "agents": ["host", "mi300x"], "gpu": 1, "streams": [{"name": "Default Stream", "queue": "Queue 0", "handle": "0x0"}],
        "timing": {"why": "made up", "call_us": 3.1, "between_calls_us": 1.5, "start_us": 4.5, "kernel_gap_us": 0.9, "wake_us": 6.0,
                   "jitter_permille": 5, "tail_every": 1000000, "tail_permille": 1},
        "copies": {}, "code_objects": [{"uri": "memory://11#offset=1&size=2", "bytes": 2}],
        "kernels": {"scale": kernel("_Z5scalePfPKffi", "scale(float*, float const*, float, int)", scale_us),
                    "sums": kernel("_Z4sumsPfPKfi", "sums(float*, float const*, int)", 80)},
        "program": [{"repeat": 8, "do": ["scale", "sums"]}, {"synchronize": 0}],
    }


def write(make_rocpd, place, runs, scale_us, seed):
    """So many recordings beside each other, PLACE_0.db and so on, in which the kernel takes so long, give or take 0.4 %. Their names."""
    written = [f"{place}_{run}.db" for run in range(runs)]
    said = pathlib.Path(f"{place}.json")
    for run, file in enumerate(written):
        said.write_text(json.dumps(description(scale_us * (1 + 0.002 * (run % 5 - 2)), seed + run)))
        subprocess.run([make_rocpd, "--description", said, "--out", file], check=True, stdout=subprocess.DEVNULL)
    return written
