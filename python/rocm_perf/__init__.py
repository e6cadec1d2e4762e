"""rocm_perf: recordings of rocprofv3 as pandas tables, with the verdicts of rocm-perf, and the search of its autotuner.

    import rocm_perf
    run = rocm_perf.open("run.db")
    run.dispatches.groupby("kernel").size()
    rocm_perf.minimize(time_of, "space.json").best

docs/PYTHON.md has the whole of it. Facts come from the C interface, perflab/perflab.h.
"""
from ._library import Error, library_path, library_version, schema
from ._results import CriticalPath, Evidence, Missing, Verdict
from ._run import Run, open
from ._search import Best, Failed, Search, minimize
from ._tables import Column, Table

__all__ = ["Best", "Column", "CriticalPath", "Error", "Evidence", "Failed", "Missing", "Run", "Search", "Table", "Verdict",
           "library_path", "library_version", "minimize", "open", "schema"]
