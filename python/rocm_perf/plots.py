"""The roofline and the critical path, drawn with matplotlib from the documents.

roofline.json (`chart`) and dag.json (`path`) hold everything that is drawn: nothing is computed here.
"""
from ._library import Error, usage

# What a stretch of the path was spent on: dag.json's member, for people, and a colour of matplotlib's default cycle.
SPENT = {
    "kernel_ns": ("kernel", "tab:blue"),
    "copy_ns": ("copy", "tab:orange"),
    "launch_latency_ns": ("launch latency", "tab:green"),
    "host_call_ns": ("API call", "tab:red"),
    "sync_return_ns": ("return of a wait", "tab:purple"),
    "host_code_ns": ("host code", "tab:brown"),
    "idle_ns": ("idle", "tab:gray"),
}
DASHES = {"memory": "-", "compute": "-", "mix": "--"}
MARKERS = {"hbm": "o", "l2": "s", "lds": "^"}


def _axes(ax):
    if ax is not None:
        return ax
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise Error("missing_tool", 4, f"matplotlib cannot be imported: {error}", "install python3-matplotlib") from error
    return pyplot.subplots(figsize=(9, 6), layout="constrained")[1]


def _legend(ax):
    """Below the axes, where it hides nothing."""
    if ax.get_legend_handles_labels()[0]:
        ax.legend(fontsize="x-small", loc="upper center", bbox_to_anchor=(0.5, -0.12), frameon=False)


def _reason(run, field):
    """Why a figure of the run is missing: text and remedy."""
    for missing in run.missing:
        if missing.field == field:
            return missing.reason, missing.remedy
    return "this run has none", ""


def _short(name):
    """A kernel's name as a legend has room for it."""
    return name if len(name) <= 70 else name[:69] + "…"


def _title(document, text):
    return f"{text} (SYNTHETIC)" if document["synthetic"] else text


def roofline(run, ax=None, gpu=0):
    """Draws roofs and kernels of GPU `gpu`; returns the axes. x is FLOP per byte, y GFLOP/s.

    A kernel has a mark per level: a disc for memory, a square for L2, a triangle for LDS.

    Error: (usage) the run has no roofline, or no such GPU; (missing_tool) there is no matplotlib.
    """
    if "roofline" not in run.documents:
        reason, remedy = _reason(run, "roofline")
        raise usage(f"there is no roofline: {reason}", remedy)
    document = run.document("roofline")
    charts = document["chart"]["gpus"]
    if not charts:
        left = document["chart"]["without_mark"]
        raise usage(f"no kernel has a place in the roofline: {left[0]['reason'] if left else 'there is none'}",
                    "record the counters: rocm-perf profile --roofline")
    if not 0 <= gpu < len(charts):
        raise usage(f"there is no GPU {gpu} in the roofline", f"it has {len(charts)} from 0")
    chart = charts[gpu]
    ax = _axes(ax)
    ax.set(xscale="log", yscale="log", xlim=(chart["x"]["min"], chart["x"]["max"]), ylim=(chart["y"]["min"], chart["y"]["max"]),
           xlabel=chart["x"]["unit"], ylabel=chart["y"]["unit"],
           title=_title(document, f"Roofline of {chart['product'] or chart['architecture'] or 'an unknown GPU'}"))
    for roof in chart["roofs"]:
        ax.plot([roof["start"]["x"], roof["end"]["x"]], [roof["start"]["y"], roof["end"]["y"]], color="0.5", lw=1,
                ls=DASHES[roof["kind"]])
        if roof["kind"] == "compute":
            ax.annotate(roof["label"], (roof["end"]["x"], roof["end"]["y"]), ha="right", va="bottom", fontsize="x-small")
        elif roof["kind"] == "memory":  # below the line, where it begins
            ax.annotate(roof["label"], (roof["start"]["x"], roof["start"]["y"]), textcoords="offset points", xytext=(14, 2), va="top",
                        fontsize="x-small")
    for mark in chart["marks"]:
        name = document["kernels"][mark["kernel"]]["name"]
        label = f"{mark['letter']}  {_short(name)}" if mark["level"] == "hbm" else None
        ax.scatter(mark["x"], mark["y"], marker=MARKERS[mark["level"]], color=f"C{mark['kernel'] % 10}", label=label, zorder=3)
        if label:
            ax.annotate(mark["letter"], (mark["x"], mark["y"]), textcoords="offset points", xytext=(4, 4), fontsize="small")
    _legend(ax)
    return ax


def _lane(segment):
    """Where a stretch stands, as the label of its lane."""
    place = segment["place"].replace("_", " ")
    return place if segment["id"] is None else f"{place} {segment['id']}"


def path(run, ax=None):
    """Draws the stretches of the critical path over time, one lane per place, coloured by what took most of each.

    Returns the axes; x is ms since the earliest start. Error: (usage) the run has no critical path; (missing_tool) there
    is no matplotlib.
    """
    if run.critical_path is None:
        reason, remedy = _reason(run, "critical_path")
        raise usage(f"there is no critical path: {reason}", remedy)
    document = run.critical_path.document
    ax = _axes(ax)
    lanes = {}
    shown = set()
    for segment in document["path"]["segments"]:
        lane = lanes.setdefault((segment["process"], _lane(segment)), len(lanes))
        most = max(SPENT, key=lambda part: segment["spent"][part])
        label, colour = SPENT[most]
        ax.broken_barh([(segment["from_ns"] / 1e6, (segment["to_ns"] - segment["from_ns"]) / 1e6)], (lane - 0.4, 0.8),
                       facecolors=colour, label=None if most in shown else label)
        shown.add(most)
    ax.set_yticks(range(len(lanes)), [name for _, name in lanes])
    ax.set(xlabel="ms", title=_title(document, f"Critical path, {document['critical_path_ns'] / 1e6:.3f} ms"))
    _legend(ax)
    return ax
