"""The search of `rocm-perf autotune` as an object: it says which configuration to measure next, the caller measures."""
import ctypes
import json
import os
import threading
import typing

from . import _library


class Failed(Exception):
    """What a function of minimize() raises when a configuration does not work.

    outcome: "compile", "runtime", "timeout", "correctness" (a wrong result) or "device_limit"
    """

    def __init__(self, outcome="runtime"):
        super().__init__(outcome)
        self.outcome = outcome


class Best(typing.NamedTuple):
    """The best configuration so far, and its value: the median of the samples that were told."""

    configuration: dict
    value: float


def _plain(value):
    """Numbers of numpy as Python has them; of all else, its text."""
    return value.item() if hasattr(value, "item") else str(value)


class Search:
    """A search in a space. Iterating over it gives configurations until it is finished; tell each before the next:

        for configuration in search:
            search.tell(configuration, seconds(configuration))
        print(search.best, search.why_finished)

    space: a file, or its contents as a dict or a list: {"tune_params": {"BM": [16, 32]}, "restrictions": ["BM <= 32"]},
        [{"BM": 16}, {"BM": 32}] or another form of docs/AUTOTUNE.md
    seed: the same seed and the same values give the same search, that of `rocm-perf autotune`
    effort: when it stops: "quick", "auto" or "full"
    budget: configurations to tell, failing ones included; None: as many as the effort takes
    maximize: whether the largest value is the best
    architecture: "gfx942": its limits rule configurations out

    Threads may share it: calls wait for each other. Raises Error: (usage), (bad_input) the space cannot be used.
    """

    def __init__(self, space, *, seed=0, effort="auto", budget=None, maximize=False, architecture=None):
        self._pointer = None
        self._library = _library.load()[0]
        self._lock = threading.RLock()
        inputs = _library.SearchInputs(size=ctypes.sizeof(_library.SearchInputs), effort=effort.encode(), seed=seed,
                                       architecture=architecture.encode() if architecture else None, maximize=maximize)
        if budget is not None and budget < 1:
            raise _library.usage(f"a budget of {budget} configurations is none")
        inputs.budget = budget or 0
        if isinstance(space, (str, os.PathLike)):
            inputs.space_file = _library._path_list(space)[0]
        else:
            inputs.space = json.dumps(space, default=_plain).encode()
        self._pointer = self._library.perflab_search_open(ctypes.byref(inputs))
        if not self._pointer:
            raise MemoryError("rocm_perf: no memory left for the space")
        _library.check(self._library, self._library.perflab_search_error(self._pointer))

    def __del__(self):
        if self._pointer:
            self._library.perflab_search_close(self._pointer)
            self._pointer = None

    def _call(self, name, *arguments):
        if getattr(self._library, name)(self._pointer, *arguments):
            _library.check(self._library, self._library.perflab_search_error(self._pointer))

    def __len__(self):
        """How many configurations the space has."""
        return self._library.perflab_search_size(self._pointer)

    def __iter__(self):
        while (configuration := self.ask()) is not None:
            yield configuration

    def ask(self):
        """The next configuration as a dict; None when the search is finished. The first is the default."""
        several = self.ask_several(1)
        return several[0] if several else None

    def ask_several(self, count):
        """At most `count` configurations that are measured at once; none when the search is finished."""
        with self._lock:
            return [self._configuration(number) for number in self.ask_numbers(count)]

    def ask_numbers(self, count=1):
        """As ask_several(), as numbers: from 0; those of a list are its places, where no entry is twice in it."""
        numbers, asked = (ctypes.c_uint32 * count)(), ctypes.c_size_t()
        with self._lock:
            self._call("perflab_search_ask", count, numbers, ctypes.byref(asked))
        return list(numbers[:asked.value])

    def tell(self, configuration, value=None, *, outcome=None):
        """The result of a configuration that was asked for, or measured before.

        configuration: its parameters, or its number
        value: a number, or several of which the median counts, in any one unit; None: it did not work
        outcome: why it did not, as for Failed; None: "runtime"
        """
        samples = [] if value is None else list(value) if hasattr(value, "__iter__") else [value]
        if not samples and outcome is None:
            outcome = "runtime"
        with self._lock:
            number = configuration
            if isinstance(configuration, dict):
                number = ctypes.c_uint32()
                self._call("perflab_search_find", json.dumps(configuration, default=_plain).encode(), ctypes.byref(number))
            self._call("perflab_search_tell", number, outcome and outcome.encode(),
                       (ctypes.c_double * len(samples))(*samples), len(samples))

    @property
    def best(self):
        """The Best so far; None while no configuration has worked."""
        with self._lock:
            number, value = ctypes.c_uint32(), ctypes.c_double()
            if not self._library.perflab_search_best(self._pointer, ctypes.byref(number), ctypes.byref(value)):
                return None
            return Best(self._configuration(number), value.value)

    @property
    def why_finished(self):
        """Why there is nothing more to ask; "" while there is."""
        with self._lock:
            return self._library.perflab_search_why_finished(self._pointer).decode()

    def _configuration(self, number):
        text = self._library.perflab_search_configuration(self._pointer, number)
        if text is None:
            _library.check(self._library, self._library.perflab_search_error(self._pointer))
        return json.loads(text)


def minimize(function, space, **options):
    """Searches for the configuration with the least value of a function; returns the finished Search.

    function: takes a configuration (a dict), returns its time, or several of which the median counts; raises Failed when
        the configuration does not work. Other exceptions end the search.
    space, options: those of Search
    """
    search = Search(space, **options)
    for configuration in search:
        try:
            value = function(configuration)
        except Failed as failed:
            search.tell(configuration, outcome=failed.outcome)
        else:
            search.tell(configuration, value)
    return search
