"""What the Python programs here share: running under torch.profiler, and the line that says what was done (zoo.h)."""
import json
import os
import tempfile


def kernels_of_trace(trace):
    """Launches of each kernel in a Chrome trace of torch.profiler: {name: [durations in ns, in order of start]}."""
    found = []
    for event in trace["traceEvents"]:
        if event.get("cat") == "kernel":
            found.append((event["ts"], event["name"], round(event["dur"] * 1000)))
    by_name = {}
    for _, name, duration in sorted(found):
        by_name.setdefault(name, []).append(duration)
    return by_name


def measured(body, out):
    """Runs `body`. With `out`, under torch.profiler: leaves the kernels and their times there, as JSON."""
    import torch

    torch.cuda.synchronize()
    if not out:
        body()
        torch.cuda.synchronize()
        return
    from torch.profiler import ProfilerActivity, profile

    with profile(activities=[ProfilerActivity.CUDA]) as profiler:
        body()
        torch.cuda.synchronize()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "trace.json")
        profiler.export_chrome_trace(path)
        with open(path, encoding="utf-8") as file:
            kernels = kernels_of_trace(json.load(file))
    temporary = out + ".tmp"
    with open(temporary, "w", encoding="utf-8") as file:
        json.dump({"kernels": kernels}, file)
    os.replace(temporary, out)
    print(json.dumps({name: {"count": len(times), "median_ns": sorted(times)[len(times) // 2]} for name, times in kernels.items()}, indent=1))


def say(did, figures=None, expect=None):
    """The line "ZOO {...}" to standard output, and to the file $ZOO_SAY."""
    line = "ZOO " + json.dumps({"pid": os.getpid(), "did": did, "calls": {}, "figures": figures or {}, "expect": expect or []}) + "\n"
    print(line, end="", flush=True)
    if os.environ.get("ZOO_SAY"):
        with open(os.environ["ZOO_SAY"], "a", encoding="utf-8") as file:
            file.write(line)
