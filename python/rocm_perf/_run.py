"""A recording that was read and analysed once: its tables and its documents."""
import collections.abc
import functools
import json

from . import _library, _results, _tables


def open(recordings=(), *, counters=(), code=(), att=(), threads=0):
    """Reads and analyses a recording, as `rocm-perf analyze` does; returns a Run.

    recordings: rocpd databases, the processes of one run: a path or several
    counters: counter passes of the same command: databases, or counter_collection.csv (--counters)
    code: binaries or code objects that hold the kernels (--code)
    att: thread traces of the same command, also without recordings (--att)
    threads: to read with; 0: all cores. The result does not depend on it.

    Raises Error: (usage) there is nothing to read; (bad_input) a file cannot be used; (missing_tool) the library is
    missing.
    """
    return Run(_library.Handle(recordings, counters, att, code, threads))


class Documents(collections.abc.Mapping):
    """The documents by name, parsed when they are first asked for."""

    def __init__(self, handle):
        self._handle = handle
        self._names = handle.listed("perflab_document_name")
        self._parsed = {}

    def __getitem__(self, name):
        if name not in self._parsed:
            if name not in self._names:
                raise KeyError(name)
            self._parsed[name] = json.loads(self.text(name))
        return self._parsed[name]

    def __iter__(self):
        return iter(self._names)

    def __len__(self):
        return len(self._names)

    def __repr__(self):
        return f"<Documents {', '.join(self._names)}>"

    def text(self, name):
        """The text of a document, byte for byte what `rocm-perf analyze --out` writes."""
        return self._handle.text("perflab_document_text", name.encode())


class Run:
    """One recording. Made by rocm_perf.open().

    Columns, frames and streams stay valid as long as anything refers to them, also after the Run is gone: each keeps
    the recording in memory.
    """

    def __init__(self, handle):
        self._handle = handle
        self._tables = {}
        self.documents = Documents(handle)
        self.table_names = tuple(handle.listed("perflab_table_name"))

    def __repr__(self):
        totals = self.document("analysis")["totals"]
        return f"<Run: {totals['dispatches']} dispatches of {totals['kernels']} kernels>"

    def table(self, name):
        """A Table by its name, one of `table_names`. Error (usage): there is none of that name."""
        if name not in self._tables:
            if name not in self.table_names:
                raise _library.usage(f"there is no table {name!r}", f"the tables are {', '.join(self.table_names)}")
            self._tables[name] = _tables.Table(self._handle, name)
        return self._tables[name]

    # Tables of the recording, as it was read: a new DataFrame each time, over the same memory.

    @property
    def dispatches(self):
        """Every dispatch, counter passes included (column `track`, tracks.timed: whose times count)."""
        return self.table("dispatches").frame

    @property
    def api_calls(self):
        """Every API call and user range of the host."""
        return self.table("api_calls").frame

    @property
    def copies(self):
        """Every memory copy."""
        return self.table("copies").frame

    @property
    def counters(self):
        """Counter values: a row per dispatch and counter, over all instances of the hardware."""
        return self.table("counters").frame

    @property
    def tracks(self):
        """Where dispatches and copies ran: agent, queue, stream, process; one row each. Join on `track`."""
        return self.table("tracks").frame

    # What was concluded from it.

    @property
    def kernels(self):
        """Kernels by name, most time first: the figures of analysis.json that are single values."""
        return _results.scalars(self.document("analysis")["kernels"])

    @functools.cached_property
    def verdicts(self):
        """One Verdict per kernel, most time first."""
        return [_results.Verdict.of(entry) for entry in self.document("analysis")["bottlenecks"]["kernels"]]

    @functools.cached_property
    def critical_path(self):
        """The CriticalPath; None where the times do not tell one: `missing` says why."""
        return _results.CriticalPath.of(self.document("dag")) if "dag" in self.documents else None

    @property
    def missing(self):
        """Figures of the run that could not be computed, with the reason and the remedy."""
        return [_results.Missing.of(entry) for entry in self.document("analysis")["missing"]]

    @property
    def warnings(self):
        """What a person should know beside the figures, in sentences."""
        return list(self.document("analysis")["warnings"])

    def document(self, name):
        """A document as a dict ("analysis", "profile", "dag", ...). Error (usage): this run has none of that name."""
        if name not in self.documents:
            raise _library.usage(f"this run has no document {name!r}", f"it has {', '.join(self.documents)}")
        return self.documents[name]

    def page(self):
        """The report as one self-contained HTML page, as `rocm-perf analyze --html` writes it."""
        text = self._handle.text("perflab_page")
        if text is None:
            self._handle.check()
            raise MemoryError("rocm_perf: no memory left for the page")
        return text

    # Plots, for which matplotlib is imported.

    def plot_roofline(self, ax=None, gpu=0):
        """The roofline of one of the GPUs (plots.roofline)."""
        from . import plots
        return plots.roofline(self, ax, gpu)

    def plot_path(self, ax=None):
        """The critical path over time (plots.path)."""
        from . import plots
        return plots.path(self, ax)
