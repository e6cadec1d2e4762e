"""Tables of a recording as numpy arrays, pandas columns and Arrow streams, over the library's own memory.

Types and codes are those of perflab_column in perflab/perflab.h; what numpy, pandas and Arrow want: docs/facts/arrow.md.
"""
import ctypes
import functools

import numpy
import pandas

from ._library import ColumnStruct

# PERFLAB_INT8 and so on, as numpy writes types.
_TYPES = {1: "|i1", 2: "<i2", 3: "<i4", 4: "<i8", 5: "|b1", 6: "<u4", 7: "<u8", 8: "<f8"}


class _Memory:
    """Memory of the library for numpy. An array over it keeps this object, and this the recording, alive."""

    def __init__(self, handle, struct):
        self.handle = handle
        self.__array_interface__ = {"version": 3, "typestr": _TYPES[struct.type], "shape": (struct.length,),
                                    "data": (struct.data, True)}  # True: read only


def _names(struct):
    """The list of names of a column."""
    offsets = (ctypes.c_int32 * (struct.name_count + 1)).from_address(struct.name_offsets)[:]
    text = ctypes.string_at(struct.name_bytes, offsets[-1])
    return [text[begin:end].decode() for begin, end in zip(offsets, offsets[1:])]


class Column:
    """One column.

    name, unit ("ns", "bytes", ...; "" without one)
    refers_to: name of the table whose row numbers the values are; None: they are none
    may_be_none: -1 stands for none
    values: numpy array over the library's memory, read only; of a column of names their codes
    names: the names that the values are codes of, a pandas.Index; None: they are no codes
    """

    def __init__(self, handle, struct):
        self.name = struct.name.decode()
        self.unit = struct.unit.decode()
        self.refers_to = struct.refers_to.decode() if struct.refers_to else None
        self.may_be_none = bool(struct.may_be_none)
        if struct.length:
            self.values = numpy.asarray(_Memory(handle, struct))
        else:
            self.values = numpy.empty(0, _TYPES[struct.type])
            self.values.flags.writeable = False
        self.names = pandas.Index(_names(struct), dtype=object) if struct.name_offsets else None

    def __repr__(self):
        return f"<Column {self.name}: {len(self.values)} x {'names' if self.names is not None else self.values.dtype}>"

    @functools.cached_property
    def pandas(self):
        """What stands in a DataFrame: `values`, or a pandas.Categorical over them."""
        if self.names is None:
            return self.values
        # The codes have the type that pandas wants for so many names: it takes them as they are.
        return pandas.Categorical.from_codes(self.values, categories=self.names)


class Table:
    """Rows of one kind: dispatches, API calls, copies, ...

    Usable as it is wherever an Arrow stream is (polars.DataFrame(table), pyarrow.table(table)). Made by Run.table().
    """

    def __init__(self, handle, name):
        self.name = name
        self._handle = handle
        rows, columns = ctypes.c_size_t(), ctypes.c_size_t()
        handle.call("perflab_table_size", name.encode(), ctypes.byref(rows), ctypes.byref(columns))
        self._rows = rows.value
        self._columns = {}
        for index in range(columns.value):
            struct = ColumnStruct()
            struct.size = ctypes.sizeof(ColumnStruct)
            handle.call("perflab_table_column", name.encode(), index, ctypes.byref(struct))
            column = Column(handle, struct)
            self._columns[column.name] = column

    def __len__(self):
        return self._rows

    def __iter__(self):
        return iter(self._columns.values())

    def __getitem__(self, name):
        """A Column by its name."""
        return self._columns[name]

    def __repr__(self):
        return f"<Table {self.name}: {self._rows} rows of {', '.join(self._columns)}>"

    @property
    def frame(self):
        """A new DataFrame whose columns are this table's memory: adding columns to it changes no other frame."""
        return pandas.DataFrame({name: column.pandas for name, column in self._columns.items()}, copy=False)

    def __arrow_c_stream__(self, requested_schema=None):
        """The Arrow PyCapsule interface: a stream of one record batch. Its one schema is given whatever is requested."""
        stream = ArrowArrayStream()
        self._handle.call("perflab_table_stream", self.name.encode(), ctypes.byref(stream))
        address = ctypes.addressof(stream)
        _streams[address] = stream
        return _new_capsule(address, _CAPSULE, _DESTRUCTOR)


class ArrowArrayStream(ctypes.Structure):
    """The struct of the Arrow C stream interface; only its release is called here."""

    _fields_ = [("get_schema", ctypes.c_void_p), ("get_next", ctypes.c_void_p), ("get_last_error", ctypes.c_void_p),
                ("release", ctypes.CFUNCTYPE(None, ctypes.c_void_p)), ("private_data", ctypes.c_void_p)]


_CAPSULE = b"arrow_array_stream"  # the capsule keeps the pointer: this must stay
_streams = {}  # by address: the structs of living capsules
# Prototypes of our own: attributes of ctypes.pythonapi belong to everybody.
_new_capsule = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p,
                                 ctypes.c_void_p)(("PyCapsule_New", ctypes.pythonapi))
_capsule_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p,
                                     ctypes.c_char_p)(("PyCapsule_GetPointer", ctypes.pythonapi))


# The capsule comes as an address: a reference to what is being destroyed must not be made. What the function needs is bound to it, and it
# is never freed: a capsule can outlive this module when python3 ends.
@ctypes.PYFUNCTYPE(None, ctypes.c_void_p)
def _release_capsule(capsule, streams=_streams, pointer_of=_capsule_pointer, name=_CAPSULE, address_of=ctypes.addressof):
    stream = streams.pop(pointer_of(capsule, name), None)
    if stream is not None and stream.release:  # null: a consumer has moved the stream out
        stream.release(address_of(stream))


ctypes.pythonapi.Py_IncRef(ctypes.py_object(_release_capsule))
_DESTRUCTOR = ctypes.cast(_release_capsule, ctypes.c_void_p)
