"""A small recording of a program on an NVIDIA GPU, made up: the tables, columns and ids that docs/facts say, no device."""
import json
import sqlite3

GUID = "01234567-89ab-7cde-8123-456789abcdef"
SUFFIX = "_" + GUID.replace("-", "_")
TABLES = {
    "string": "string TEXT",
    "info_node": "hash INTEGER, machine_id TEXT, system_name TEXT, hostname TEXT, release TEXT, version TEXT, hardware_name TEXT, domain_name TEXT",
    "info_process": "nid INTEGER, pid INTEGER, command TEXT, environment JSONB, extdata JSONB",
    "info_agent": "type TEXT, product_name TEXT",
    "info_kernel_symbol": "kernel_name TEXT, display_name TEXT",
    "info_pmc": "name TEXT",
    "event": "category_id INTEGER, stack_id INTEGER, extdata JSONB",
    "region": "name_id INTEGER, event_id INTEGER, start INTEGER, end INTEGER",
    "sample": "event_id INTEGER",
    "arg": "event_id INTEGER, name TEXT, value TEXT",
    "kernel_dispatch": "kernel_id INTEGER, event_id INTEGER, start INTEGER, end INTEGER",
    "memory_copy": "name_id INTEGER, size INTEGER, start INTEGER, end INTEGER",
    "memory_allocate": "type TEXT, level TEXT, size INTEGER",
    "pmc_event": "pmc_id INTEGER, event_id INTEGER, value REAL",
}
VIEWS = {
    "kernels": "SELECT d.*, d.end - d.start AS duration FROM rocpd_kernel_dispatch d",
    "memory_copies": "SELECT x.*, x.end - x.start AS duration FROM rocpd_memory_copy x",
    "regions": "SELECT r.*, r.end - r.start AS duration FROM rocpd_region r",
    "memory_allocations": "SELECT * FROM rocpd_memory_allocate",
    "top_kernels": "SELECT s.display_name AS name, count(*) AS total_calls, sum(d.end - d.start) / 1000.0 AS total_duration"
                   " FROM rocpd_kernel_dispatch d JOIN rocpd_info_kernel_symbol s ON s.id = d.kernel_id GROUP BY 1",
    "busy": "SELECT sum(end - start) AS GpuTime FROM (SELECT start, end FROM rocpd_kernel_dispatch UNION ALL SELECT start, end FROM rocpd_memory_copy)",
    "counters_collection": "SELECT value FROM rocpd_pmc_event",
}
FIRST = 2**33  # ids of events that are no calls


class MadeUp:
    """One launch of `add` in a call, two of `mul` from a graph, a copy, a fill, an event recorded and waited for, a range, a mark."""

    def __init__(self, path, extdata=None):
        self.path = str(path)
        self.db = sqlite3.connect(self.path)
        self.db.execute("PRAGMA synchronous = OFF")
        for name, columns in TABLES.items():
            self.db.execute(f"CREATE TABLE `rocpd_{name}{SUFFIX}` (id INTEGER PRIMARY KEY, {columns})")
            self.db.execute(f"CREATE VIEW `rocpd_{name}` AS SELECT * FROM `rocpd_{name}{SUFFIX}`")
        for name, sql in VIEWS.items():
            self.db.execute(f"CREATE VIEW `{name}` AS {sql}")
        self.strings = {}
        told = {"complete": True, "dropped_records": 0, "second_client": None, "recorded": ["kernels", "api", "memory", "ranges", "sync"]}
        self.add("info_node", hash=77, machine_id="0123abcd0123abcd", system_name="Linux", hostname="big-node-17", release="6.1", version="#1")
        self.add("info_process", nid=1, pid=4242, command="/home/anna/venv/bin/python3 /home/anna/lab/decode.py", environment="{}",
                 extdata=json.dumps(told | (extdata or {})))
        self.add("info_agent", type="GPU", product_name="NVIDIA H200")
        self.add("info_kernel_symbol", id=1, kernel_name="_Z3addv", display_name="add()")
        self.add("info_kernel_symbol", id=2, kernel_name="_Z3mulv", display_name="mul()")
        self.call(1, "cudaLaunchKernel")
        self.kernel(1, 1, 1000, 2000)
        self.call(2, "cudaGraphLaunch")
        self.kernel(2, 2, 3000, 3500)
        self.kernel(2, 2, 4000, 4500)
        self.call(3, "cudaMemcpyAsync")
        self.add("memory_copy", name_id=self.string("MEMORY_COPY_HOST_TO_DEVICE"), size=4096, start=500, end=900)
        self.add("memory_copy", name_id=self.string("MEMORY_SET"), size=64, start=5000, end=5100)
        for number, name in ((4, "cudaEventRecord"), (5, "cudaStreamWaitEvent")):
            self.call(number, name)
            self.add("arg", event_id=number, name="event_id", value="7")
            self.add("arg", event_id=number, name="stream_id", value="13")
        self.add("memory_allocate", type="ALLOC", level="REAL", size=4096)
        event = self.event("MARKER_CORE_RANGE_API", 0, {"message": "decode step"})
        self.add("region", name_id=self.string("nvtxRangePushA"), event_id=event, start=100, end=6000)
        self.add("sample", event_id=self.event("MARKER_CORE_RANGE_API", 0, {"message": "half"}))
        self.db.commit()

    def add(self, table, **values):
        names = ", ".join(values)
        marks = ", ".join("?" * len(values))
        return self.db.execute(f"INSERT INTO `rocpd_{table}{SUFFIX}` ({names}) VALUES ({marks})", tuple(values.values())).lastrowid

    def string(self, text):
        if text not in self.strings:
            self.strings[text] = self.add("string", string=text)
        return self.strings[text]

    def event(self, category, stack, extdata=None):
        self.last = getattr(self, "last", FIRST) + 1
        return self.add("event", id=self.last, category_id=self.string(category), stack_id=stack, extdata=json.dumps(extdata or {}))

    def call(self, number, name):
        self.add("event", id=number, category_id=self.string("CUDA_RUNTIME_API"), stack_id=number, extdata="{}")
        self.add("region", name_id=self.string(name), event_id=number, start=10 * number, end=10 * number + 5)

    def kernel(self, symbol, launch, start, end):
        return self.add("kernel_dispatch", kernel_id=symbol, event_id=self.event("KERNEL_DISPATCH", launch), start=start, end=end)

    def change(self, sql):
        """SQL in which {table} stands for a physical table."""
        self.db.execute(sql.format(**{name: f"rocpd_{name}{SUFFIX}" for name in TABLES}))
        self.db.commit()
        return self


SAID = {"did": {"kernels": 3, "copies": 1, "fills": 1, "allocations": 1, "ranges": 1, "marks": 1, "event_records": 1, "event_waits": 1, "graph_launches": 1},
        "calls": {"cudaLaunchKernel": 1, "cudaGraphLaunch": 1, "cudaMemcpyAsync": 1}}
COUNTED = {"kernels": {"_Z3addv": {"count": 1, "median_ns": 1000}, "_Z3mulv": {"count": 2, "median_ns": 500}},
           "calls": {"cudaLaunchKernel": 1, "cudaGraphLaunch": 1, "cudaMemcpyAsync": 1, "cudaEventRecord": 1, "cudaStreamWaitEvent": 1},
           "did": {"copies": 1, "fills": 1, "allocations": 1, "ranges": 1, "marks": 1, "dropped": 0}}
