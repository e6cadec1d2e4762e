"""triton.autotune with the search of rocm-perf: it measures some of the configurations instead of all.

    import rocm_perf.triton

    @rocm_perf.triton.autotune(configs=[triton.Config(...), ...], key=["m", "n", "k"], budget=40)
    @triton.jit
    def matmul(...):

Triton compiles, measures and keeps the choice of each key, as with its own decorator (Triton 3).
"""
import json
import os
import pathlib
import time

import triton

from . import _search

#: Where choices are kept with cache_results=True, and no cache_file.
CACHE_FILE = pathlib.Path(os.environ.get("TRITON_CACHE_DIR", "~/.triton/cache")).expanduser() / "rocm_perf.autotune.jsonl"


def autotune(configs, key, *arguments, budget=None, effort="auto", seed=0, cache_file=None, **options):
    """A decorator that takes the place of triton.autotune, with all its arguments.

    budget: configurations to measure for each key; None: as many as the effort takes. The first of `configs` is always
        one of them.
    effort: when a search stops: "quick", "auto" or "full" (the whole budget)
    seed: the same seed and the same times give the same search
    cache_file: JSON lines, to which every choice is appended, with the kernel's hash, the device and the key; what is in
        it is not searched again. cache_results=True: CACHE_FILE

    What prune_configs_by leaves is searched; reset_to_zero, restore_value and hooks do what they do there. A configuration
    that cannot be compiled or launched counts as measured. The kernel's attribute `measured` has the times of its last
    search, by configuration; before the first there is none.
    """
    def decorator(function):
        tuner = triton.autotune(configs, key, *arguments, **options)(function)
        searching = _Searching(tuner, {"budget": budget, "effort": effort, "seed": seed}, cache_file)
        tuner.prune_configs, tuner.warmup = searching.prune_configs, searching.warmup
        return tuner

    return decorator


class _Searching:
    """Stands between Triton's Autotuner and its choice: what prune_configs() leaves is the one that the search found."""

    def __init__(self, tuner, options, cache_file):
        self.tuner, self.options = tuner, options
        self.given_configs, self.compile_all = tuner.prune_configs, tuner.warmup
        self.cache_file = cache_file or (CACHE_FILE if getattr(tuner, "cache_results", False) else None)
        tuner.cache_results = False  # of Triton: it would keep the one configuration that is left

    def warmup(self, *arguments, **options):
        """Compiles all configurations and measures none, as Triton's."""
        self.tuner.prune_configs = self.given_configs
        try:
            return self.compile_all(*arguments, **options)
        finally:
            self.tuner.prune_configs = self.prune_configs

    def prune_configs(self, options):
        """What Triton asks for a key that it has no choice for: a list with the best configuration."""
        configs = list(dict.fromkeys(self.given_configs(options)))
        if len(configs) == 1:
            return configs
        # A hook cannot be told apart from another in a file.
        place = self._place(options) if self.cache_file and not any(config.pre_hook for config in configs) else None
        if chosen := self._kept(place, configs):
            return [chosen]
        tuner, began, timings = self.tuner, time.time(), {}
        search = _search.Search([_row(config, configs) for config in configs], **self.options)
        while numbers := search.ask_numbers():
            config = configs[numbers[0]]
            timings[config] = times = tuner._bench(*tuner.nargs.values(), config=config, **options)
            median = times[0] if isinstance(times, (list, tuple)) else times
            search.tell(numbers[0], None if median == float("inf") else median)  # out of resources, does not compile
        tuner.bench_time, tuner.configs_timings, tuner.measured = time.time() - began, timings, timings
        best = min(timings, key=timings.get)
        tuner.pre_hook({**tuner.nargs, **options, **best.all_kwargs()}, reset_only=True)  # measuring wrote to arguments
        if place and search.best:
            self._keep(place, best, search)
        return [best]

    def _place(self, options):
        """What a choice belongs to: the kernel as it is compiled, the device, and Triton's key; None: it is interpreted."""
        tuner = self.tuner
        given = {name: value for name, value in {**tuner.nargs, **options}.items() if name in tuner.arg_names}
        key = [given[name] for name in tuner.keys if name in given]
        key += [value.dtype for value in given.values() if hasattr(value, "dtype")]
        kernel = tuner.fn
        while not hasattr(type(kernel), "cache_key"):
            if not hasattr(kernel, "fn"):
                return None
            kernel = kernel.fn
        driver = triton.runtime.driver.active
        return {"kernel": tuner.base_fn.__name__, "hash": kernel.cache_key, "triton": triton.__version__,
                "target": str(driver.get_current_target()),
                "device": driver.get_device_interface().get_device_name(), "key": [str(value) for value in key]}

    def _kept(self, place, configs):
        """The configuration that the file has for a place, the last one if several; None: there is none."""
        if not place or not os.path.exists(self.cache_file):
            return None
        named = {str(config): config for config in configs}
        chosen = None
        with open(self.cache_file, encoding="utf-8") as file:
            for line in file:
                try:
                    entry = json.loads(line)
                except ValueError:
                    continue  # of a process that was killed while it wrote
                if isinstance(entry, dict) and entry.get("place") == place:
                    chosen = named.get(entry.get("config"), chosen)
        return chosen

    def _keep(self, place, config, search):
        pathlib.Path(self.cache_file).parent.mkdir(parents=True, exist_ok=True)
        entry = {"place": place, "config": str(config), "ms": search.best.value, "finished": search.why_finished}
        with open(self.cache_file, "a", encoding="utf-8") as file:
            file.write(json.dumps(entry) + "\n")  # one write: lines of several processes do not mix


def _row(config, configs):
    """A configuration as the search reads it. All have the same names: what one lacks is "none" there."""
    names = dict.fromkeys(name for each in configs for name in each.all_kwargs())
    hooks = list(dict.fromkeys(each.pre_hook for each in configs))
    row = {name: config.all_kwargs().get(name, "none") for name in names}
    return {**row, "pre_hook": hooks.index(config.pre_hook)}
