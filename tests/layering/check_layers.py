"""Checks the include graph of src/. Folders stand on floors, and the rooms of a folder on floors of their own: a file includes from
its own room, from rooms below it and from folders below its own. A unit (x.h and x.cpp) is in no circle of includes."""
import pathlib
import re
import sys

FLOORS = {
    "base": 1,
    "stats": 2, "hal": 2, "sensors": 2, "hsa": 2, "cuda": 2, "code": 2, "trace": 2, "att": 2, "pc_sampling": 2, "capture": 2, "llm": 2, "mcp": 2, "slurm": 2,
    "collect": 3, "analyze": 3, "tune": 3, "isolate": 3, "record": 3, "replay": 3,
    "calibrate": 4, "compare": 4, "measure": 4, "ranks": 4,
    "report": 5,
    "optimize": 6, "api": 6,
    "doctor": 7,
    "cli": 8,
}
# From the bottom up; "." is the folder itself. Rooms of one line stand on one floor.
ROOMS = {
    "base": [["."], ["text"], ["system"], ["sqlite_pages"]],
    "calibrate": [["."], ["programs"]],
    "hal": [["."], ["installed"]],
    "code": [["elf"], ["object", "tools"], ["files", "instructions"], ["cubin"]],
    "trace": [["."], ["counter_csv", "kineto", "rocpd", "rocprofv3_json"], ["trace_csv"], ["read"]],
    "analyze": [["scope", "inspect"], ["kernels"], ["counters", "critical_path", "thread_trace"],
                ["activity", "pc_sampling", "roofline", "segments", "timeline"], ["bottleneck"], ["."]],
    "tune": [["values"], ["space", "evaluate"], ["records", "model"], ["priors", "table"], ["search"], ["run"]],
    "isolate": [["protocol", "machine"], ["code", "."], ["tool", "cuda"]],
    "record": [["."], ["database"], ["activity", "counters"], ["pc_samples"], ["tool"]],
    "replay": [["."], ["addresses", "elements"], ["hsa", "cuda"], ["session"], ["verify"], ["inputs"]],
    "measure": [["."], ["tuning"]],
    "ranks": [["values"], ["contract", "match"], ["rank", "clocks"], ["figures", "path"], ["."]],
    "report": [["kit"], ["code", "comparison", "critical_path", "bottleneck", "replay", "tuning", "page", "ranks", "calibration"],
               ["pc_sampling", "perfetto", "roofline", "thread_trace"], ["analysis", "excerpt"], ["answers"],
               ["summary"]],
    "optimize": [[".", "ast"], ["flow"], ["model"], ["guards", "transform"], ["objects"], ["workshop"], ["rounds"], ["run"]],
    "doctor": [["."], ["self_test"]],
    "cli": [["kit"], ["recordings", "kernels", "tuning", "program"], ["."]],
}
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)
MOST_LINES = 600
MOST_UNITS = 16  # of a room


def room_of(path):
    parts = path.split("/")
    return parts[1] if len(parts) > 2 else "."


def floor_of(path):
    folder, room = path.split("/")[0], room_of(path)
    for floor, rooms in enumerate(ROOMS.get(folder, [["."]])):
        if room in rooms:
            return floor
    return None


def upward(path, included):
    """What is wrong with an include, or None."""
    here, there = path.split("/")[0], included.split("/")[0]
    if here != there:
        return None if FLOORS[there] < FLOORS[here] else f"{here} (floor {FLOORS[here]}) includes from {there} (floor {FLOORS[there]})"
    if room_of(path) == room_of(included) or floor_of(included) < floor_of(path):
        return None
    return f"room {room_of(path)} of {here} includes from its room {room_of(included)}, which does not stand below it"


def circles(needs):
    """Sets of units that include each other, each found from its first member."""
    def reached(start):
        seen, todo = set(), [start]
        while todo:
            for unit in needs.get(todo.pop(), ()):
                if unit not in seen:
                    seen.add(unit)
                    todo.append(unit)
        return seen
    reach = {unit: reached(unit) for unit in needs}
    return sorted({tuple(sorted(other for other in reach[unit] if unit in reach.get(other, ()))) for unit in needs if unit in reach[unit]})


def problems(root):
    files = {str(p.relative_to(root)): p.read_text() for p in sorted(root.rglob("*")) if p.suffix in {".h", ".cpp"}}
    needs, units = {}, {}
    for path, text in files.items():
        if path.split("/")[0] not in FLOORS or floor_of(path) is None:
            yield f"{path}: its folder or room has no floor"
            continue
        unit = path.rsplit(".", 1)[0]
        units.setdefault((path.split("/")[0], room_of(path)), set()).add(unit)
        if text.count("\n") > MOST_LINES:
            yield f"{path}: longer than {MOST_LINES} lines"
        for included in INCLUDE.findall(text):
            if included in files and (wrong := upward(path, included)):
                yield f"{path}: {wrong}"
            if included in files and included.rsplit(".", 1)[0] != unit:
                needs.setdefault(unit, set()).add(included.rsplit(".", 1)[0])
    for (folder, room), found in units.items():
        if len(found) > MOST_UNITS:
            yield f"{folder}/{room}: {len(found)} units in one room"
    for circle in circles(needs):
        yield f"a circle: {', '.join(circle)}"


def main():
    root = pathlib.Path(sys.argv[1])
    files = [p for p in root.rglob("*") if p.suffix in {".h", ".cpp"}]
    found = list(problems(root))
    print("\n".join(found) or f"{len(files)} files, every include goes down")
    return 1 if found or not files else 0


if __name__ == "__main__":
    sys.exit(main())
