"""How the critical path scales, next to reading the same file and doing nothing more.

    python3 bench/critical_path_scale.py [--millions 1,2,4,7,10] [--runs 3] [--folder /tmp/rocm-perf-bench] [--plot docs/critical_path_scale.svg]

Needs `make release` and the targets make_rocpd and bench_critical_path of that build. Databases: make-rocpd --events, one process, 8 streams,
a launch per dispatch, events with waits across streams, synchronisations. Both programs alternate, the best of --runs counts. Targets: load and
path together at most 2x the load alone, at most 200 bytes per dispatch in all at the largest size, linear growth. The plot is an SVG with the figures in it.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys

from analyze_scale import BUILD, ROOT

WIDTH, HEIGHT, MARGIN = 640, 360, 60


def run(mode, database):
    """One run of the program; its JSON line."""
    out = subprocess.run([BUILD / "bench/bench_critical_path", mode, database], check=True, capture_output=True, text=True).stdout
    return json.loads(out)


def bench(millions, runs, folder):
    database = folder / f"critical_path_{millions}M.db"
    if not database.exists():
        subprocess.run([BUILD / "tests/support/make-rocpd", "--dispatches", str(millions * 1_000_000), "--queues", "8", "--processes", "1",
                        "--events", "--out", database], check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["cat", database], stdout=subprocess.DEVNULL, check=True)  # into the page cache
    loads, paths, peak = [], [], 0
    for _ in range(runs):
        loads.append(run("load", database)["load_s"])
        whole = run("path", database)
        paths.append(whole["path_s"])
        loads.append(whole["load_s"])
        peak = max(peak, whole["peak"])
    return {"millions": millions, "load": min(loads), "path": min(paths), "peak": peak}


def plot(results, file):
    """Seconds over millions of dispatches: load, and load + path."""
    most_x = max(r["millions"] for r in results)
    most_y = max(r["load"] + r["path"] for r in results) * 1.1

    def at(x, y):
        return f"{MARGIN + (WIDTH - 2 * MARGIN) * x / most_x:.1f},{HEIGHT - MARGIN - (HEIGHT - 2 * MARGIN) * y / most_y:.1f}"

    def text(x, y, words, anchor="middle"):
        return f'<text x="{x}" y="{y}" text-anchor="{anchor}">{words}</text>'

    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" font-family="sans-serif" font-size="12">',
             f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
             f'<path d="M{at(0, most_y)} L{at(0, 0)} L{at(most_x, 0)}" fill="none" stroke="#444"/>',
             text(WIDTH / 2, HEIGHT - 15, "million dispatches, 8 streams, launches, events and waits"),
             text(MARGIN, 30, "seconds (2 cores)", "start")]
    for values, colour, name in (([r["load"] for r in results], "#888", "reading the database"),
                                 ([r["load"] + r["path"] for r in results], "#c33", "reading + graph, slack, path, gains, bubbles")):
        points = [at(r["millions"], value) for r, value in zip(results, values)]
        parts.append(f'<polyline points="{" ".join([at(0, 0), *points])}" fill="none" stroke="{colour}" stroke-width="2"/>')
        for point, value in zip(points, values):
            x, y = point.split(",")
            parts.append(f'<circle cx="{x}" cy="{y}" r="3" fill="{colour}"/>' + text(float(x), float(y) - 8, f"{value:.1f}"))
        parts.append(f'<rect x="{MARGIN + 20}" y="{44 if colour == "#c33" else 62}" width="12" height="3" fill="{colour}"/>')
        parts.append(text(MARGIN + 40, 50 if colour == "#c33" else 68, name, "start"))
    for r in results:
        x, y = at(r["millions"], 0).split(",")
        parts.append(text(x, float(y) + 16, r["millions"]))
    file.write_text("\n".join([*parts, "</svg>"]) + "\n")


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--millions", default="1,2,4,7,10")
    arguments.add_argument("--runs", type=int, default=3)
    arguments.add_argument("--folder", type=pathlib.Path, default=pathlib.Path("/tmp/rocm-perf-bench"))
    arguments.add_argument("--plot", type=pathlib.Path, default=ROOT / "docs/critical_path_scale.svg")
    options = arguments.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    print(f"{os.cpu_count()} cores; best of {options.runs}, alternating")
    print("  million dispatches   load s   path s   ratio   peak MB   bytes/dispatch")
    results = [bench(int(millions), options.runs, options.folder) for millions in options.millions.split(",")]
    good = True
    for r in results:
        ratio = (r["load"] + r["path"]) / r["load"]
        per_dispatch = r["peak"] / (r["millions"] * 1e6)
        good = good and ratio <= 2 and (r is not results[-1] or per_dispatch <= 200)  # small runs: fixed costs
        print(f"{r['millions']:20d} {r['load']:8.2f} {r['path']:8.2f} {ratio:7.2f} {r['peak'] / 1e6:9.0f} {per_dispatch:16.1f}")
    first, last = results[0], results[-1]
    growth = ((last["load"] + last["path"]) / (first["load"] + first["path"])) / (last["millions"] / first["millions"])
    good = good and growth <= 1.1
    print(f"{last['millions'] / first['millions']:.0f}x the dispatches: {growth * last['millions'] / first['millions']:.1f}x the time")
    plot(results, options.plot)
    print("targets hold" if good else "a target is missed")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
