"""librocm-perf-lab.so: where it is, its functions, and what owns one of its objects.

Structs and functions are those of perflab/perflab.h, which says what each means.
"""
import ctypes
import ctypes.util
import os
import pathlib
import sysconfig
import threading

NAME = "librocm-perf-lab.so"
VARIABLE = "ROCM_PERF_LIBRARY"


class Error(Exception):
    """Why something could not be done.

    code: "usage", "bad_input", "missing_tool", "internal", ... as the exit codes of rocm-perf are called
    status: that exit code
    remedy: what to do about it; "" when nothing is known
    """

    def __init__(self, code, status, text, remedy=""):
        super().__init__(text)
        self.code = code
        self.status = status
        self.remedy = remedy

    def __str__(self):
        text = super().__str__()
        return f"{text}\n{self.remedy}" if self.remedy else text

    def __reduce__(self):
        return Error, (self.code, self.status, super().__str__(), self.remedy)


def usage(text, remedy=""):
    """An Error of the caller."""
    return Error("usage", 2, text, remedy)


class Inputs(ctypes.Structure):
    """perflab_inputs."""

    _fields_ = [("size", ctypes.c_size_t)] + [
        field for name, count in (("traces", "trace_count"), ("counters", "counter_count"),
                                  ("thread_traces", "thread_trace_count"), ("code", "code_count"))
        for field in ((name, ctypes.POINTER(ctypes.c_char_p)), (count, ctypes.c_size_t))
    ] + [("threads", ctypes.c_uint)]


class ColumnStruct(ctypes.Structure):
    """perflab_column."""

    _fields_ = [("size", ctypes.c_size_t), ("name", ctypes.c_char_p), ("unit", ctypes.c_char_p), ("type", ctypes.c_int),
                ("may_be_none", ctypes.c_int), ("data", ctypes.c_void_p), ("length", ctypes.c_size_t),
                ("refers_to", ctypes.c_char_p), ("name_offsets", ctypes.c_void_p), ("name_bytes", ctypes.c_void_p),
                ("name_count", ctypes.c_size_t)]


class SearchInputs(ctypes.Structure):
    """perflab_search_inputs."""

    _fields_ = [("size", ctypes.c_size_t), ("space", ctypes.c_char_p), ("space_file", ctypes.c_char_p),
                ("effort", ctypes.c_char_p), ("architecture", ctypes.c_char_p), ("seed", ctypes.c_uint64),
                ("budget", ctypes.c_uint64), ("maximize", ctypes.c_int)]


_HANDLE = ctypes.c_void_p
_TEXT = ctypes.c_char_p
_FUNCTIONS = {
    "perflab_version": (_TEXT, []),
    "perflab_open": (_HANDLE, [ctypes.POINTER(Inputs)]),
    "perflab_status": (ctypes.c_int, [_HANDLE]),
    "perflab_error_name": (_TEXT, [_HANDLE]),
    "perflab_error_text": (_TEXT, [_HANDLE]),
    "perflab_remedy": (_TEXT, [_HANDLE]),
    "perflab_document_name": (_TEXT, [_HANDLE, ctypes.c_size_t]),
    "perflab_document_text": (_TEXT, [_HANDLE, _TEXT]),
    "perflab_page": (_TEXT, [_HANDLE]),
    "perflab_schema": (_TEXT, [_TEXT]),
    "perflab_free": (None, [_HANDLE]),
    "perflab_table_name": (_TEXT, [_HANDLE, ctypes.c_size_t]),
    "perflab_table_size": (ctypes.c_int,
                           [_HANDLE, _TEXT, ctypes.POINTER(ctypes.c_size_t), ctypes.POINTER(ctypes.c_size_t)]),
    "perflab_table_column": (ctypes.c_int, [_HANDLE, _TEXT, ctypes.c_size_t, ctypes.POINTER(ColumnStruct)]),
    "perflab_table_stream": (ctypes.c_int, [_HANDLE, _TEXT, ctypes.c_void_p]),
    "perflab_search_open": (_HANDLE, [ctypes.POINTER(SearchInputs)]),
    "perflab_search_error": (_HANDLE, [_HANDLE]),
    "perflab_search_size": (ctypes.c_size_t, [_HANDLE]),
    "perflab_search_ask": (ctypes.c_int,
                           [_HANDLE, ctypes.c_size_t, ctypes.POINTER(ctypes.c_uint32), ctypes.POINTER(ctypes.c_size_t)]),
    "perflab_search_why_finished": (_TEXT, [_HANDLE]),
    "perflab_search_configuration": (_TEXT, [_HANDLE, ctypes.c_uint32]),
    "perflab_search_find": (ctypes.c_int, [_HANDLE, _TEXT, ctypes.POINTER(ctypes.c_uint32)]),
    "perflab_search_tell": (ctypes.c_int,
                            [_HANDLE, ctypes.c_uint32, _TEXT, ctypes.POINTER(ctypes.c_double), ctypes.c_size_t]),
    "perflab_search_best": (ctypes.c_size_t,
                            [_HANDLE, ctypes.POINTER(ctypes.c_uint32), ctypes.POINTER(ctypes.c_double)]),
    "perflab_search_close": (None, [_HANDLE]),
}


def _places():
    """Where the library may be, best first: where the variable says, the prefix of this package, the loader's places."""
    named = os.environ.get(VARIABLE)
    if named:
        return [named]
    places = []
    lib = pathlib.Path(__file__).resolve().parents[3]  # PREFIX/lib/python3/dist-packages/rocm_perf
    for folder in (lib, lib / str(sysconfig.get_config_var("MULTIARCH")), lib.parent / "lib64"):
        places += sorted((str(file) for file in folder.glob(NAME + ".*")), key=len)
    found = ctypes.util.find_library("rocm-perf-lab")
    return places + [found] if found else places


def _load():
    tried = []
    for place in _places():
        try:
            library = ctypes.CDLL(place)
            for name, (result, arguments) in _FUNCTIONS.items():
                function = getattr(library, name)
                function.restype, function.argtypes = result, arguments
            return library, place
        except (OSError, AttributeError) as error:  # not there, not loadable, or of an older version
            tried.append(f"{place}: {error}")
    text = "; ".join(tried) or f"there is no {NAME} beside this package and none that the loader knows"
    raise Error("missing_tool", 4, text, f"install rocm-perf-lab, or name the library in ${VARIABLE}")


_lock = threading.Lock()
_loaded = None


def load():
    """The library and where it was found; opened at the first call. Error (missing_tool): there is none that has all functions."""
    global _loaded
    with _lock:
        if _loaded is None:
            _loaded = _load()
        return _loaded


def library_path():
    """The librocm-perf-lab.so that is used, as the loader was given it."""
    return load()[1]


def library_version():
    """Its version, as documents carry it."""
    return load()[0].perflab_version().decode()


def schema(name):
    """The JSON Schema of a kind of document, as text. Error (usage): there is none of that name."""
    text = load()[0].perflab_schema(str(name).encode())
    if text is None:
        raise usage(f"there is no schema of the name {name!r}", "rocm-perf schema lists them")
    return text.decode()


def _path_list(paths):
    """One path or several as names for the library."""
    if isinstance(paths, (str, bytes, os.PathLike)):
        paths = [paths]
    names = []
    for path in paths:
        name = os.fsencode(path)
        if b"\0" in name:
            raise usage(f"{path!r} is not a path: it holds a zero byte")
        names.append(name)
    return names


def check(library, pointer):
    """Raises the Error of an object, where it has one."""
    status = library.perflab_status(pointer)
    if status:
        raise Error(library.perflab_error_name(pointer).decode(), status,
                    library.perflab_error_text(pointer).decode(errors="replace"),
                    library.perflab_remedy(pointer).decode(errors="replace"))


class Handle:
    """Owns an object of perflab_open(). Whatever points into it keeps a reference; the last one frees it.

    The library wants one caller at a time: `lock` is held for every call.
    """

    def __init__(self, traces, counters, thread_traces, code, threads):
        self.pointer = None
        self.library = load()[0]
        self.lock = threading.RLock()
        inputs = Inputs()
        inputs.size = ctypes.sizeof(Inputs)
        kept = []  # the arrays live as long as the call
        for member, count, paths in (("traces", "trace_count", traces), ("counters", "counter_count", counters),
                                     ("thread_traces", "thread_trace_count", thread_traces), ("code", "code_count", code)):
            names = _path_list(paths)
            array = (ctypes.c_char_p * len(names))(*names)
            kept.append(array)
            setattr(inputs, member, ctypes.cast(array, ctypes.POINTER(ctypes.c_char_p)))
            setattr(inputs, count, len(names))
        inputs.threads = threads
        self.pointer = self.library.perflab_open(ctypes.byref(inputs))
        if not self.pointer:
            raise MemoryError("rocm_perf: no memory left for the recording")
        self.check()

    def __del__(self):
        if self.pointer:
            self.library.perflab_free(self.pointer)
            self.pointer = None

    def check(self):
        """Raises the object's Error, where it has one."""
        check(self.library, self.pointer)

    def call(self, name, *arguments):
        """A function that returns a status, with this object. Error (usage, internal): what it told."""
        with self.lock:
            status = getattr(self.library, name)(self.pointer, *arguments)
        if status == 2:
            raise usage(f"{name}: there is no table or column of this name")
        if status:
            raise Error("internal", status, f"{name}: no memory left")

    def text(self, name, *arguments):
        """A function that returns text, with this object; None for NULL."""
        with self.lock:
            text = getattr(self.library, name)(self.pointer, *arguments)
            return None if text is None else text.decode()

    def listed(self, name):
        """What a function returns for 0, 1, ... up to NULL."""
        found = []
        while (text := self.text(name, len(found))) is not None:
            found.append(text)
        return found
