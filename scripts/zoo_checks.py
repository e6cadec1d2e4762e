"""What scripts/device-zoo holds a recording against: a program's own counts, CUPTI's, torch.profiler's times, plain SQL, the critical path.

Every check returns (list of faults, figures). Knows databases and documents, no device: tests/zoo/checks_test.py tries it on made-up ones.
"""
import contextlib
import json
import re
import sqlite3
import statistics

TICK_NS = 32  # kernel times come in this step (docs/facts: CUPTI on an H100): a difference of one is no difference


def document_in(output):
    """The document that a command with --json printed; None: there is none. It begins on a line of its own: what other lines say may have braces, too."""
    begin = re.search(r"^\{$", output, re.MULTILINE)
    return None if begin is None else json.JSONDecoder().raw_decode(output[begin.start():])[0]


class Recording:
    """One rocpd database, read through its physical tables: views may lack in a file that a kill left behind."""

    def __init__(self, path, write=False):
        self.path = str(path)
        self.db = sqlite3.connect(self.path if write else f"file:{self.path}?mode=ro", uri=not write)
        self.tables = {}
        for (name,) in self.db.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'rocpd_%'"):
            match = re.fullmatch(r"rocpd_(.*?)_?([0-9a-f]{8}_[0-9a-f]{4}_[0-9a-f]{4}_[0-9a-f]{4}_[0-9a-f]{12}|[0-9a-f]{32})", name)
            if match:
                self.tables[match.group(1)] = name

    def close(self):
        self.db.close()

    def rows(self, sql, *values):
        """SQL in which {kernel_dispatch} stands for that table."""
        return self.db.execute(sql.format(**self.tables), values).fetchall()

    def one(self, sql, *values):
        return self.rows(sql, *values)[0][0]

    def told(self):
        """extdata of the process."""
        return json.loads(self.rows("SELECT extdata FROM `{info_process}`")[0][0] or "{}")

    def kernels(self):
        return self.one("SELECT count(*) FROM `{kernel_dispatch}`")

    def kernel_counts(self):
        """Launches by mangled name."""
        return dict(self.rows("SELECT s.kernel_name, count(*) FROM `{kernel_dispatch}` d JOIN `{info_kernel_symbol}` s ON s.id = d.kernel_id GROUP BY 1"))

    def kernel_times(self):
        """Durations in ns by display name, in order of start."""
        times = {}
        for name, duration in self.rows("SELECT s.display_name, d.end - d.start FROM `{kernel_dispatch}` d"
                                        " JOIN `{info_kernel_symbol}` s ON s.id = d.kernel_id ORDER BY d.start"):
            times.setdefault(name, []).append(duration)
        return times

    def calls(self):
        """Calls by name."""
        return dict(self.rows("SELECT n.string, count(*) FROM `{region}` r JOIN `{event}` e ON e.id = r.event_id"
                              " JOIN `{string}` c ON c.id = e.category_id JOIN `{string}` n ON n.id = r.name_id"
                              " WHERE c.string IN ('CUDA_RUNTIME_API', 'CUDA_DRIVER_API') GROUP BY 1"))

    def did(self):
        """The numbers that a program says about itself (zoo.h)."""
        copies = dict(self.rows("SELECT n.string = 'MEMORY_SET', count(*) FROM `{memory_copy}` x JOIN `{string}` n ON n.id = x.name_id GROUP BY 1"))
        memory = dict(self.rows("SELECT type, count(*) FROM `{memory_allocate}` GROUP BY 1"))
        ordered = dict(self.rows("SELECT n.string, count(*) FROM `{arg}` a JOIN `{region}` r ON r.event_id = a.event_id"
                                 " JOIN `{string}` n ON n.id = r.name_id WHERE a.name = 'event_id' GROUP BY 1"))
        return {
            "kernels": self.kernels(),
            "copies": copies.get(0, 0),
            "fills": copies.get(1, 0),
            "allocations": memory.get("ALLOC", 0),
            "frees": memory.get("FREE", 0),
            "ranges": self.one("SELECT count(*) FROM `{region}` r JOIN `{event}` e ON e.id = r.event_id JOIN `{string}` c ON c.id = e.category_id"
                               " WHERE c.string = 'MARKER_CORE_RANGE_API'"),
            "marks": self.one("SELECT count(*) FROM `{sample}`"),
            "event_records": sum(n for name, n in ordered.items() if name.startswith(("cudaEventRecord", "cuEventRecord"))),
            "event_waits": sum(n for name, n in ordered.items() if name.startswith(("cudaStreamWaitEvent", "cuStreamWaitEvent"))),
            "graph_launches": self.calls().get("cudaGraphLaunch", 0),
        }


def added(mappings):
    """Sums of several {name: number}."""
    total = {}
    for mapping in mappings:
        for name, number in mapping.items():
            total[name] = total.get(name, 0) + number
    return total


def whole(recording):
    """Nothing dropped, finished, no record without an end, no id that leads nowhere."""
    told = recording.told()
    faults = []
    if told.get("complete") is not True:
        faults.append(f"complete is {told.get('complete')}")
    if told.get("dropped_records") != 0:
        faults.append(f"dropped_records is {told.get('dropped_records')}")
    if told.get("second_client"):
        faults.append(f"second client: {told['second_client']}")
    for table in ("kernel_dispatch", "memory_copy", "region"):
        bad = recording.one(f"SELECT count(*) FROM `{{{table}}}` WHERE start <= 0 OR end < start")
        if bad:
            faults.append(f"{bad} rows of {table} without a time")
    orphans = recording.one("SELECT count(*) FROM `{kernel_dispatch}` d LEFT JOIN `{event}` e ON e.id = d.event_id WHERE e.id IS NULL")
    if orphans:
        faults.append(f"{orphans} dispatches without an event")
    if "api" in told.get("recorded", []):
        alone = recording.one("SELECT count(*) FROM `{kernel_dispatch}` d JOIN `{event}` e ON e.id = d.event_id WHERE e.stack_id IS NULL"
                              " OR e.stack_id NOT IN (SELECT x.stack_id FROM `{event}` x JOIN `{region}` r ON r.event_id = x.id WHERE x.stack_id <> 0)")
        if alone:
            faults.append(f"{alone} dispatches that no recorded call launched")
    return faults, {"kernels": recording.kernels()}


def against_program(recordings, said):
    """Against what the programs said (lines "ZOO {...}"): all processes together."""
    did, calls = added(r.did() for r in recordings), added(r.calls() for r in recordings)
    want_did, want_calls = added(s["did"] for s in said), added(s["calls"] for s in said)
    faults = []
    for name, wanted in sorted(want_did.items()):
        if name == "processes":
            if len(recordings) != wanted:
                faults.append(f"{len(recordings)} databases of {wanted} processes")
        elif name in ("allocations", "frees"):  # the runtime has some of its own
            if did[name] < wanted:
                faults.append(f"{name} {did[name]} of {wanted}")
        elif name in did and did[name] != wanted:
            faults.append(f"{name} {did[name]} instead of {wanted}")
    if all("api" in r.told().get("recorded", []) for r in recordings):
        for name, wanted in sorted(want_calls.items()):
            if calls.get(name, 0) != wanted:
                faults.append(f"{name} {calls.get(name, 0)} instead of {wanted}")
    return faults, {name: did.get(name) for name in want_did if name in did}


# CUPTI's own call at every launch, which the recorder leaves out.
NOT_THE_PROGRAMS = {"cuKernelGetName"}
# Calls of the driver that the program's work is made of. Of others some may lie outside of what one library saw: before it, after it.
WORK_CALLS = ("cuda", "cuLaunch", "cuMem", "cuStream", "cuEvent", "cuGraph")


def against_cupti(recordings, counts):
    """Against CUPTI's own count of the same program in another run (cupti_count.cpp): kernels by name, calls, copies, ..."""
    faults = []
    kernels = added(r.kernel_counts() for r in recordings)
    wanted = added({name: entry["count"] for name, entry in c["kernels"].items()} for c in counts)
    for name in sorted(set(kernels) | set(wanted)):
        if kernels.get(name, 0) != wanted.get(name, 0):
            faults.append(f"kernel {name}: {kernels.get(name, 0)} instead of {wanted.get(name, 0)}")
    did, want_did = added(r.did() for r in recordings), added(c["did"] for c in counts)
    for name, number in sorted(want_did.items()):
        if name in did and name not in ("event_records", "event_waits") and did[name] != number:
            faults.append(f"{name} {did[name]} instead of {number}")
    calls, want_calls = added(r.calls() for r in recordings), added(c["calls"] for c in counts)
    apart = {}
    for name in sorted((set(calls) | set(want_calls)) - NOT_THE_PROGRAMS):
        if calls.get(name, 0) != want_calls.get(name, 0):
            if name.startswith(WORK_CALLS):
                faults.append(f"{name} {calls.get(name, 0)} instead of {want_calls.get(name, 0)}")
            else:
                apart[name] = [calls.get(name, 0), want_calls.get(name, 0)]
    return faults, {"kernels": sum(wanted.values()), "calls": sum(want_calls.values()), **want_did, "apart": apart}


def plain_name(name):
    """Without spaces: demanglers differ there."""
    return re.sub(r"\s+", "", name)


def middle_mean(values):
    """The mean without the tenth at each end: a median would keep the clock's step, a plain mean the outliers."""
    ordered = sorted(values)
    cut = len(ordered) // 10
    return statistics.fmean(ordered[cut:len(ordered) - cut])


def gap(ours, theirs):
    """How far two sets of figures lie apart: the distance of their ranges, 0 where these overlap. Positive: ours are higher."""
    return max(0.0, min(ours) - max(theirs)) - max(0.0, min(theirs) - max(ours))


def times_agree(ours, theirs, share=0.01, least=5):
    """Medians per kernel over the same number of launches, the last ones of ours: {name: [ns, ...]} of several runs each.

    Runs of one program differ among themselves by more than a percent, so that runs stand against runs: a kernel agrees when the ranges of
    their medians are at most `share` and one tick (what rounding adds) apart, or as far as their own runs are among themselves; all kernels
    together have `share` alone. Those with fewer than `least` launches are counted only.
    """
    def gathered(runs):
        return [{plain_name(name): times for name, times in run.items()} for run in runs]

    ours, theirs = gathered(ours), gathered(theirs)
    faults, worst, compared = [], 0.0, 0
    totals = [[0.0] * len(ours), [0.0] * len(theirs)]
    for name in sorted(set().union(*theirs)):
        launches = max(len(run.get(name, [])) for run in theirs)
        mine = [run.get(name, [])[-launches:] for run in ours]
        if any(len(times) < launches for times in mine):
            faults.append(f"{name[:80]}: {[len(times) for times in mine]} launches instead of {launches}")
            continue
        other = [run[name] for run in theirs if run.get(name)]
        for sums, runs in zip(totals, (mine, other)):
            for i, times in enumerate(runs):
                sums[i] += launches * middle_mean(times)
        if launches < least:
            continue
        compared += 1
        medians = [statistics.median(times) for times in other]
        b = statistics.median(medians)
        apart = gap([statistics.median(times) for times in mine], medians)
        worst = max(worst, abs(apart) / b if abs(apart) > TICK_NS else 0.0)
        if abs(apart) > max(share * b + TICK_NS, max(medians) - min(medians)):
            faults.append(f"{name[:80]}: {b + apart:.0f} ns instead of {b:.0f} ns ({100 * apart / b:+.2f} %), {launches} launches")
    total = [statistics.median(sums) for sums in totals] if ours and theirs else [0.0, 0.0]
    off = abs(gap(*totals)) / total[1] if total[1] else 1.0
    if off > share:
        faults.append(f"all kernels {total[0] / 1e3:.1f} us instead of {total[1] / 1e3:.1f} us")
    if not compared:
        faults.append("nothing to compare")
    return faults, {"kernels": compared, "worst_share": round(worst, 5), "all_share": round(off, 5), "ns": [round(t) for t in total]}


def adds_up(dag):
    """Attribution of dag.json: the parts are the whole, the host's parts are the host's."""
    attribution, faults = dag["attribution"], []
    parts = sum(part["time_ns"] for part in attribution.values())
    if abs(parts - dag["critical_path_ns"]) > 1:
        faults.append(f"parts {parts} ns, path {dag['critical_path_ns']} ns")
    host = attribution["host"]
    inside = sum(part["time_ns"] for part in host.values() if isinstance(part, dict))
    if abs(inside - host["time_ns"]) > 1:
        faults.append(f"host's parts {inside} ns, host {host['time_ns']} ns")
    graph = dag["graph"]
    contradicted = {rule["rule"]: rule["contradicted"] for rule in graph["rules"] if rule["contradicted"]}
    if contradicted:
        faults.append(f"orders denied: {contradicted}")
    shares = {name: round(part["time_ns"] / max(1, dag["critical_path_ns"]), 4) for name, part in attribution.items()}
    return faults, {"path_ns": dag["critical_path_ns"], "edges": graph["edges"], "contradicted": contradicted, "shares": shares,
                    "rules": {rule["rule"]: rule["edges"] for rule in graph["rules"] if rule["edges"]}}


# A view, and plain SQL over the tables that must give the same sums.
VIEWS = {
    "kernels": ("SELECT count(*), total(duration) FROM kernels", "SELECT count(*), total(end - start) FROM `{kernel_dispatch}`"),
    "memory_copies": ("SELECT count(*), total(duration), total(size) FROM memory_copies",
                      "SELECT count(*), total(end - start), total(size) FROM `{memory_copy}`"),
    "regions": ("SELECT count(*), total(duration) FROM regions", "SELECT count(*), total(end - start) FROM `{region}`"),
    "memory_allocations": ("SELECT count(*), total(size) FROM memory_allocations",
                           "SELECT count(*), total(size) FROM `{memory_allocate}` WHERE level <> 'SCRATCH'"),
    "top_kernels": ("SELECT total(total_calls), total(total_duration) FROM top_kernels",
                    "SELECT count(*), total(end - start) / {unit} FROM `{kernel_dispatch}`"),
    "busy": ("SELECT total(GpuTime) FROM busy",
             "SELECT (SELECT total(end - start) FROM `{kernel_dispatch}`) + (SELECT total(end - start) FROM `{memory_copy}`)"),
    "counters_collection": ("SELECT total(value) FROM counters_collection", "SELECT total(value) FROM `{pmc_event}`"),
}


def views_equal(recording, definitions=None):
    """The views of the file, or those that `definitions` ({name: CREATE VIEW ...} of AMD's own database) make, against plain SQL."""
    faults, figures = [], {}
    names = dict(recording.rows("SELECT name, sql FROM sqlite_master WHERE type = 'view'"))
    with contextlib.closing(sqlite3.connect(":memory:")) as db:
        db.execute("ATTACH ? AS recorded", (recording.path,))
        for name in (n for n in names if n.startswith("rocpd_")):
            db.execute(f"CREATE TEMP VIEW `{name}` AS SELECT * FROM recorded.`{recording.tables[name[6:]]}`")
        for name, sql in (definitions or names).items():
            if not name.startswith("rocpd_"):
                db.execute(re.sub(r"(?i)^\s*CREATE\s+VIEW", "CREATE TEMP VIEW", sql, count=1))
        made = definitions or names
        for view, (through, plain) in VIEWS.items():
            if view not in made:
                faults.append(f"no view {view}")
                continue
            unit = "1000.0"  # top_kernels is in microseconds
            try:
                got = db.execute(through).fetchone()
            except sqlite3.Error as error:
                faults.append(f"{view}: {error}")
                continue
            want = recording.rows(plain.replace("{unit}", unit))[0]
            figures[view] = got
            if any(abs(a - b) > 1e-9 * max(1.0, abs(b)) for a, b in zip(got, want)):
                faults.append(f"{view}: {got} instead of {want}")
    return faults, figures


def kept_after_kill(recording, progress, killed_at, slack_s):
    """What was finished `slack_s` before the kill is in the file. progress: [(kernels finished, when)], the kill's clock."""
    faults = []
    state = recording.rows("PRAGMA integrity_check")[0][0]
    if state != "ok":
        faults.append(f"integrity: {state}")
    kept = recording.kernels()
    due = max((finished for finished, when in progress if when <= killed_at - slack_s), default=0)
    if kept < due:
        faults.append(f"{kept} kernels kept of {due} that were finished {slack_s} s before")
    if due == 0:
        faults.append("the program was killed before it had said anything")
    return faults, {"kept": kept, "due": due, "launched": max((f for f, _ in progress), default=0)}


def counter_agrees(recording, wanted):
    """A counter of a kernel of known work: {"kernel", "metric", "value", "tolerance", "above"}; the kernel ran once."""
    found = recording.rows("SELECT v.value FROM `{pmc_event}` v JOIN `{info_pmc}` i ON i.id = v.pmc_id"
                           " JOIN `{kernel_dispatch}` d ON d.event_id = v.event_id JOIN `{info_kernel_symbol}` s ON s.id = d.kernel_id"
                           " WHERE i.name = ? AND s.kernel_name LIKE '%' || ? || '%'", wanted["metric"], wanted["kernel"])
    if len(found) != 1:
        return [f"{wanted['metric']} of {wanted['kernel']}: {len(found)} values"], {}
    value, expected = found[0][0], wanted["value"]
    slack = wanted["tolerance"] * expected
    faults = []
    if not expected - slack <= value <= expected + slack + wanted["above"]:
        faults.append(f"{wanted['metric']} of {wanted['kernel']}: {value:.0f} instead of {expected:.0f}")
    return faults, {wanted["metric"]: value, "off": round((value - expected) / expected, 6)}


OVER_BARE_US = 0.3  # that a recorder may take per launch beside what CUPTI itself takes


def overhead(rounds, base, limits, bare=None):
    """What each mode costs above `base`, from rounds [{mode: us per launch}]: between the quickest rounds, since what else a machine does only adds.
    Where `bare`, the profiler's library without a recorder, takes more than a limit by itself, the limit is what it takes and OVER_BARE_US."""
    faults, figures = [], {}
    for mode in rounds[0]:
        values = [r[mode] for r in rounds]
        figures[mode] = {"median_us": round(statistics.median(values), 3), "min_us": round(min(values), 3)}
        if mode == base:
            continue
        more = min(values) - min(r[base] for r in rounds)
        figures[mode]["more_us"] = round(more, 3)
        if mode not in limits:
            continue
        own = min(r[bare] for r in rounds) - min(r[base] for r in rounds) + OVER_BARE_US if bare else 0
        limit = max(limits[mode], own)
        if more > limit:
            faults.append(f"{mode}: {more:.2f} us more per launch, at most {limit:.2f}")
    return faults, figures


def verdicts(analysis, wanted):
    """Verdicts of analysis.json by kernel: {part of a name: allowed verdicts}."""
    faults, figures = [], {}
    entries = {entry["name"]: entry for entry in analysis["bottlenecks"]["kernels"]}
    for part, allowed in wanted.items():
        verdict = next((entry["verdict"] for name, entry in entries.items() if part in name), None)
        figures[part] = verdict
        if verdict not in allowed:
            faults.append(f"{part}: {verdict} instead of {' or '.join(allowed)}")
    return faults, figures
