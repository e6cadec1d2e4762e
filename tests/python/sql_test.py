"""Counts and sums of pandas are those of SQL on the same database: the sample's, and every recorded one under $PERFLAB_SHARED.

Origin of the tables and of what a reader leaves out: docs/facts/rocpd.md. A row counts when 0 < start <= end.
"""
import pathlib
import unittest

import rocm_perf
from support import SAMPLE, SHARED, query, sample_passes

FINISHED = "t.start > 0 AND t.end >= t.start"
OF = "o.id = t.{key} AND o.guid = t.guid"
KERNELS = f"""SELECT o.display_name, COUNT(*), SUM(t.end - t.start) FROM rocpd_kernel_dispatch t
              JOIN rocpd_info_kernel_symbol o ON {OF.format(key='kernel_id')} WHERE {FINISHED} GROUP BY t.guid, o.id"""
API_CALLS = f"""SELECT o.string, COUNT(*), SUM(t.end - t.start) FROM rocpd_region t
                JOIN rocpd_string o ON {OF.format(key='name_id')} WHERE {FINISHED} GROUP BY t.guid, o.id"""
COPIES = f"""SELECT o.string, COUNT(*), SUM(t.end - t.start), SUM(t.size) FROM rocpd_memory_copy t
             JOIN rocpd_string o ON {OF.format(key='name_id')} WHERE {FINISHED} GROUP BY t.guid, o.id"""
# Without the derived counters, of which every instance has the same ratio.
COUNTERS = f"""SELECT o.symbol, COUNT(*), SUM(e.value) FROM rocpd_kernel_dispatch t
               JOIN rocpd_pmc_event e ON e.event_id = t.event_id AND e.guid = t.guid
               JOIN rocpd_info_pmc o ON o.id = e.pmc_id AND o.guid = e.guid WHERE {FINISHED} GROUP BY t.guid, o.id"""


def without_kd(name):
    for tail in (" [clone .kd]", ".kd"):
        name = name.removesuffix(tail)
    return name


def added_up(rows):
    """Rows of one name, which several recordings of a file can have, as one."""
    sums = {}
    for name, *figures in rows:
        name = without_kd(name)
        sums[name] = tuple(a + b for a, b in zip(sums.get(name, (0,) * len(figures)), figures))
    return sums


def by_name(frame, name, *columns):
    """{name: (count, sum of end - start, sums of columns)} as pandas says it."""
    groups = frame.assign(duration=frame["end"] - frame["start"]).groupby(name, observed=True)
    sums = groups[["duration", *columns]].sum()
    return {key: (int(count), *(int(value) for value in sums.loc[key])) for key, count in groups.size().items()}


class Figures(unittest.TestCase):
    def compare(self, file):
        """Compares one database; returns how many rows of each kind it was about."""
        kernels = added_up(query(file, KERNELS))
        if not kernels:
            with self.assertRaisesRegex(rocm_perf.Error, "no (finished )?kernel dispatch"):
                rocm_perf.open(file)
            return [0] * 4
        run = rocm_perf.open(file)
        self.assertEqual(by_name(run.dispatches, "kernel"), kernels)
        api_calls, copies = added_up(query(file, API_CALLS)), added_up(query(file, COPIES))
        self.assertEqual(by_name(run.api_calls, "name"), api_calls)
        self.assertEqual(by_name(run.copies, "kind", "bytes"), copies)
        counters = added_up(query(file, COUNTERS))
        sums = run.counters.groupby("counter", observed=True)[["instances", "sum"]].sum()
        self.assertEqual(set(sums.index), set(counters))
        for name, (instances, value) in counters.items():
            self.assertEqual(int(sums.loc[name, "instances"]), instances, name)
            self.assertAlmostEqual(sums.loc[name, "sum"], value, delta=1e-9 * abs(value), msg=name)
        # What was read is in the tables or in the document's list of what was left out, nothing in between.
        analysis = run.document("analysis")
        for base, table in (("kernel_dispatch", "dispatches"), ("region", "api_calls"), ("memory_copy", "copies")):
            self.assertEqual(len(run.table(table)), analysis["rows_read"].get(base, 0), base)
        return [sum(figures[0] for figures in rows.values()) for rows in (kernels, api_calls, copies, counters)]

    def test_the_sample(self):
        rows = self.compare(SAMPLE)
        self.assertTrue(all(many > 0 for many in rows[:3]), rows)

    def test_counter_passes_of_the_sample(self):
        passes = sample_passes()
        self.assertTrue(passes)
        for file in passes:
            with self.subTest(file=file):
                self.assertGreater(self.compare(file)[3], 0)

    @unittest.skipUnless(SHARED.is_dir(), f"{SHARED} is not there")
    def test_recorded_databases(self):
        files = sorted(SHARED.rglob("*.db"))
        self.assertTrue(files)
        total = [0] * 4
        for file in files:
            with self.subTest(file=str(pathlib.Path(file).relative_to(SHARED))):
                total = [a + b for a, b in zip(total, self.compare(file))]
        self.assertTrue(all(many > 0 for many in total), total)
        print(f"{len(files)} databases: {total[0]} dispatches, {total[1]} API calls, {total[2]} copies, {total[3]} counter rows")


if __name__ == "__main__":
    unittest.main()
