"""Columns are the library's memory: nothing is copied, nothing can be written, and a column lives as long as it is looked at."""
import ctypes
import gc
import unittest
import weakref

import numpy
import pandas
import rocm_perf
from rocm_perf import _library
from support import SAMPLE, sample, sample_with_counters


def address_of(run, table, name):
    """Where the library says that a column is."""
    struct = _library.ColumnStruct()
    struct.size = ctypes.sizeof(struct)
    for index in range(len(list(run.table(table)))):
        run._handle.call("perflab_table_column", table.encode(), index, ctypes.byref(struct))
        if struct.name.decode() == name:
            return struct.data
    raise AssertionError(f"{table} has no {name}")


class NothingIsCopied(unittest.TestCase):
    def test_frames_are_the_memory_of_the_library(self):
        run = sample_with_counters()
        seen = 0
        for table in run.table_names:
            frame = run.table(table).frame
            for column in run.table(table):
                if len(frame) == 0:
                    continue
                values = frame[column.name]
                array = values.cat.codes.to_numpy() if column.names is not None else values.to_numpy()
                with self.subTest(table=table, column=column.name):
                    self.assertEqual(array.__array_interface__["data"][0], address_of(run, table, column.name))
                    self.assertEqual(array.strides, (array.itemsize,))
                seen += 1
        self.assertGreater(seen, 40)

    def test_two_frames_share_their_columns_but_not_themselves(self):
        run = sample()
        first, second = run.dispatches, run.dispatches
        self.assertTrue(numpy.shares_memory(first["start"].to_numpy(), second["start"].to_numpy()))
        first["duration"] = first["end"] - first["start"]
        self.assertNotIn("duration", second)
        self.assertNotIn("duration", run.dispatches)

    def test_columns_cannot_be_written(self):
        run = sample()
        before = int(run.dispatches["start"].iloc[0])
        with self.assertRaises(ValueError):
            run.dispatches["start"].to_numpy()[0] = 1
        with self.assertRaises(ValueError):
            run.table("dispatches")["kernel"].values[0] = 0
        self.assertEqual(int(run.dispatches["start"].iloc[0]), before)


class Lifetime(unittest.TestCase):
    def opened(self):
        """A recording of its own and a reference that tells when its memory is freed."""
        run = rocm_perf.open(SAMPLE)
        return run, weakref.ref(run._handle)

    def test_a_column_keeps_the_recording(self):
        run, handle = self.opened()
        view = run.dispatches["start"].to_numpy()[1:]
        expected = view.copy()
        del run
        gc.collect()
        self.assertIsNotNone(handle())
        # Where freed memory would be used again.
        filler = [rocm_perf.open(SAMPLE) for _ in range(3)]
        self.assertTrue((view == expected).all())
        del filler, view
        gc.collect()
        self.assertIsNone(handle())

    def test_a_name_column_keeps_the_recording(self):
        run, handle = self.opened()
        kernels = run.dispatches["kernel"]
        expected = kernels.value_counts().to_dict()
        del run
        gc.collect()
        self.assertIsNotNone(handle())
        self.assertEqual(kernels.value_counts().to_dict(), expected)
        del kernels
        gc.collect()
        self.assertIsNone(handle())

    def test_what_was_computed_keeps_nothing(self):
        run, handle = self.opened()
        frame = run.dispatches
        durations = (frame["end"] - frame["start"]).groupby(frame["kernel"]).sum()
        del run, frame
        gc.collect()
        self.assertIsNone(handle())
        self.assertGreater(durations.sum(), 0)


class Types(unittest.TestCase):
    def test_times_are_int64_and_names_are_categories(self):
        frame = sample().dispatches
        self.assertEqual(str(frame.dtypes["start"]), "int64")
        self.assertEqual(str(frame.dtypes["end"]), "int64")
        self.assertIsInstance(frame.dtypes["kernel"], pandas.CategoricalDtype)
        self.assertTrue(frame["kernel"].cat.categories.is_unique)
        self.assertEqual(set(frame["kernel"].unique()), set(frame["kernel"].cat.categories))
        column = sample().table("dispatches")["start"]
        self.assertEqual((column.unit, column.refers_to), ("ns", None))
        self.assertEqual(sample().table("dispatches")["track"].refers_to, "tracks")

    def test_rows_join_through_their_numbers(self):
        run = sample_with_counters()
        frame = run.dispatches.join(run.tracks, on="track")
        self.assertEqual(len(frame), len(run.dispatches))
        # The passes ran the same work again: only the recording without counters is timed.
        timed = frame[frame["timed"]]
        totals = run.document("analysis")["totals"]
        self.assertEqual(len(timed), totals["dispatches"])
        self.assertEqual(len(frame) - len(timed), totals["other_pass_dispatches"])
        self.assertGreater(totals["other_pass_dispatches"], 0)
        self.assertEqual(int((timed["end"] - timed["start"]).sum()), totals["kernel_time_ns"])

    def test_what_pandas_does_with_read_only_columns(self):
        frame = sample().dispatches
        self.assertTrue(frame.sort_values("end", ascending=False)["end"].is_monotonic_decreasing)
        self.assertEqual(len(frame.merge(frame[["dispatch_id"]], on="dispatch_id")), len(frame))
        self.assertEqual(frame.groupby("kernel")["dispatch_id"].count().sum(), len(frame))
        self.assertEqual(len(pandas.concat([frame, frame])), 2 * len(frame))
        self.assertEqual(len(frame.drop_duplicates("kernel")), len(frame["kernel"].cat.categories))
        self.assertEqual(len(frame.query("end > start")), int((frame["end"] > frame["start"]).sum()))
        self.assertEqual(frame.copy().assign(start=0)["start"].sum(), 0)


if __name__ == "__main__":
    unittest.main()
