"""The Arrow streams, read as their specification says and with nothing of the package: structs, bits, dictionaries, release.

Origin: docs/facts/arrow.md "C data interface" and "Streams and capsules".
"""
import ctypes
import gc
import os
import subprocess
import sys
import unittest
import weakref

import rocm_perf
from support import SAMPLE, sample, sample_with_counters

POINTER = ctypes.c_void_p


class Schema(ctypes.Structure):
    pass


class Array(ctypes.Structure):
    pass


class Stream(ctypes.Structure):
    pass


Schema._fields_ = [("format", ctypes.c_char_p), ("name", ctypes.c_char_p), ("metadata", POINTER), ("flags", ctypes.c_int64),
                   ("n_children", ctypes.c_int64), ("children", ctypes.POINTER(ctypes.POINTER(Schema))),
                   ("dictionary", ctypes.POINTER(Schema)), ("release", ctypes.CFUNCTYPE(None, ctypes.POINTER(Schema))),
                   ("private_data", POINTER)]
Array._fields_ = [("length", ctypes.c_int64), ("null_count", ctypes.c_int64), ("offset", ctypes.c_int64),
                  ("n_buffers", ctypes.c_int64), ("n_children", ctypes.c_int64), ("buffers", ctypes.POINTER(POINTER)),
                  ("children", ctypes.POINTER(ctypes.POINTER(Array))), ("dictionary", ctypes.POINTER(Array)),
                  ("release", ctypes.CFUNCTYPE(None, ctypes.POINTER(Array))), ("private_data", POINTER)]
Stream._fields_ = [("get_schema", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(Stream), ctypes.POINTER(Schema))),
                   ("get_next", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(Stream), ctypes.POINTER(Array))),
                   ("get_last_error", ctypes.CFUNCTYPE(ctypes.c_char_p, ctypes.POINTER(Stream))),
                   ("release", ctypes.CFUNCTYPE(None, ctypes.POINTER(Stream))), ("private_data", POINTER)]

FORMATS = {b"c": ctypes.c_int8, b"s": ctypes.c_int16, b"i": ctypes.c_int32, b"l": ctypes.c_int64, b"C": ctypes.c_uint8,
           b"I": ctypes.c_uint32, b"L": ctypes.c_uint64, b"g": ctypes.c_double}
NULLABLE = 2
capsule_pointer = ctypes.PYFUNCTYPE(POINTER, ctypes.py_object, ctypes.c_char_p)(("PyCapsule_GetPointer", ctypes.pythonapi))


def stream_of(capsule):
    return Stream.from_address(capsule_pointer(capsule, b"arrow_array_stream"))


def texts_of(array):
    """Values of a utf8 array: 32-bit offsets and bytes."""
    assert array.n_buffers == 3 and array.null_count == 0 and array.offset == 0
    offsets = (ctypes.c_int32 * (array.length + 1)).from_address(array.buffers[1])[:]
    text = ctypes.string_at(array.buffers[2], offsets[-1])
    return [text[a:b].decode() for a, b in zip(offsets, offsets[1:])]


def values_of(schema, array):
    """Values of a column with None for null."""
    assert array.n_buffers == 2 and array.offset == 0 and array.n_children == 0
    values = list((FORMATS[schema.format] * array.length).from_address(array.buffers[1])) if array.length else []
    if array.buffers[0]:
        bits = ctypes.string_at(array.buffers[0], (array.length + 7) // 8)
        values = [value if bits[at // 8] >> at % 8 & 1 else None for at, value in enumerate(values)]
        assert schema.flags & NULLABLE
    assert values.count(None) == array.null_count
    if schema.dictionary:
        assert schema.dictionary.contents.format == b"u"
        names = texts_of(array.dictionary.contents)
        values = [None if value is None else names[value] for value in values]
    return values


def read(table):
    """{column: values} of everything in a table's stream, and how many batches that was."""
    capsule = table.__arrow_c_stream__()
    stream = stream_of(capsule)
    schema, columns, batches = Schema(), {}, 0
    assert stream.get_schema(stream, schema) == 0 and schema.format == b"+s"
    while True:
        batch = Array()
        assert stream.get_next(stream, batch) == 0, stream.get_last_error(stream)
        if not batch.release:
            break
        batches += 1
        assert batch.n_children == schema.n_children and batch.n_buffers == 1 and batch.null_count == 0
        for at in range(schema.n_children):
            child_schema, child = schema.children[at].contents, batch.children[at].contents
            assert child.length == batch.length
            columns.setdefault(child_schema.name.decode(), []).extend(values_of(child_schema, child))
        batch.release(batch)
        assert not batch.release
    schema.release(schema)
    assert not schema.release
    return columns, batches


class Streams(unittest.TestCase):
    def test_hold_what_the_frames_hold(self):
        run, nulls, names = sample_with_counters(), 0, 0
        for table in map(run.table, run.table_names):
            with self.subTest(table=table.name):
                columns, batches = read(table)
                self.assertEqual(batches, 1)
                self.assertEqual(list(columns), [column.name for column in table])
                for column in table:
                    expected = column.values.tolist()
                    if column.names is not None:
                        expected = [None if code < 0 else column.names[code] for code in expected]
                        names += len(expected)
                    elif column.may_be_none:
                        expected = [None if value == -1 else value for value in expected]
                    nulls += expected.count(None)
                    self.assertEqual(columns[column.name], expected, column.name)
        self.assertGreater(nulls, 0)
        self.assertGreater(names, 0)

    def test_values_are_not_copied(self):
        table = sample().table("dispatches")
        stream = stream_of(capsule := table.__arrow_c_stream__())
        batch = Array()
        self.assertEqual(stream.get_next(stream, batch), 0)
        for at, column in enumerate(table):
            self.assertEqual(batch.children[at].contents.buffers[1], column.values.__array_interface__["data"][0], column.name)
        batch.release(batch)
        del capsule

    def test_an_unread_capsule_is_released(self):
        run = rocm_perf.open(SAMPLE)
        handle, capsule = weakref.ref(run._handle), run.table("dispatches").__arrow_c_stream__()
        stream, calls = stream_of(capsule), []
        release = type(stream.release)(ctypes.cast(stream.release, POINTER).value)  # the field itself is changed below

        @type(release)
        def counted(released):
            calls.append(ctypes.addressof(released.contents))
            release(released)

        stream.release = counted
        address = ctypes.addressof(stream)
        del run, capsule
        gc.collect()
        self.assertEqual(calls, [address])
        self.assertIsNone(handle())

    def test_a_batch_outlives_stream_and_recording(self):
        run = rocm_perf.open(SAMPLE)
        expected = run.dispatches["start"].tolist()
        stream = stream_of(capsule := run.table("dispatches").__arrow_c_stream__())
        batch = Array()
        self.assertEqual(stream.get_next(stream, batch), 0)
        del stream, capsule, run
        gc.collect()
        filler = [rocm_perf.open(SAMPLE) for _ in range(3)]  # where freed memory would be used again
        start = batch.children[0].contents
        self.assertEqual(list((ctypes.c_int64 * start.length).from_address(start.buffers[1])), expected)
        batch.release(batch)
        del filler

    def test_a_stream_that_a_consumer_took_is_left_alone(self):
        capsule = sample().table("copies").__arrow_c_stream__()
        stream, taken = stream_of(capsule), Stream()
        ctypes.memmove(ctypes.byref(taken), ctypes.byref(stream), ctypes.sizeof(Stream))
        stream.release = type(stream.release)()  # moved: the consumer releases it
        del capsule, stream
        gc.collect()
        batch = Array()
        self.assertEqual(taken.get_next(taken, batch), 0)
        self.assertEqual(batch.length, len(sample().copies))
        batch.release(batch)
        taken.release(taken)
        self.assertFalse(taken.release)

    def test_a_capsule_may_outlive_the_package(self):
        code = f"import builtins, rocm_perf; builtins.kept = rocm_perf.open({SAMPLE!r}).table('dispatches').__arrow_c_stream__()"
        result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, env=dict(os.environ))
        self.assertEqual((result.returncode, result.stderr), (0, ""))


if __name__ == "__main__":
    unittest.main()
