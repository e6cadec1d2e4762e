"""Our search as a strategy of Kernel Tuner beside Kernel Tuner's own, inside Kernel Tuner, on recorded search spaces.

    PYTHONPATH=python ROCM_PERF_LIBRARY=... python3 bench/beside_kernel_tuner.py [--seeds 10] [--budget 100] [--only NAME,NAME]

Needs Kernel Tuner 1.4, and the recordings in ../shared/data/autotune. Nothing is measured: a result is the recorded one. A strategy gets the
budget as max_fevals and all else by its own defaults: what a user of tune_kernel gets. Some end before it is used. Prints for each space and
strategy the mean over seeds of optimum / best after 25, 50 and 100 different configurations, how many there were, and the processor seconds.
"""
import argparse
import gzip
import importlib
import json
import pathlib
import random
import statistics
import time

import numpy
from kernel_tuner import util
from kernel_tuner.interface import Options
from kernel_tuner.searchspace import Searchspace

DATA = pathlib.Path(__file__).resolve().parent.parent.parent / "shared/data/autotune"
SPACES = ("amd/convolution_milo__MI250X", "amd/dedispersion_milo__W7800", "nvidia/gemm_cltune__RTX_3090", "nvidia/pnpoly__RTX_3090")
STRATEGIES = ("rocm_perf.kernel_tuner", *("kernel_tuner.strategies." + name for name in
                                          ("simulated_annealing", "genetic_algorithm", "pso", "random_sample")))
BUDGETS = (25, 50, 100)


class Recorded:
    """A runner: results out of a recording. A configuration that was asked for before costs nothing, 20 times the budget at most."""

    def __init__(self, names, times, budget):
        self.names, self.times, self.budget = names, times, budget
        self.seen, self.calls = {}, 0

    def run(self, rows, options):
        return [self.result(tuple(row), options) for row in rows]

    def result(self, row, options):
        self.calls += 1
        if options.budget.is_done() or self.calls > 20 * self.budget:
            return None
        if row not in self.seen:
            options.budget.add_evaluations(1)
            self.seen[row] = self.times[row]
        value = self.times[row]
        return dict(zip(self.names, row)) | ({"__error__": util.RuntimeFailedConfig()} if value is None else {"time": value})

    def add_strategy_time(self, seconds):
        pass


def search(module, recording, times, budget, seed):
    """Optimum / best time after each of BUDGETS, and how many configurations were evaluated."""
    names = recording["tune_params_keys"]
    random.seed(seed)
    numpy.random.seed(seed)
    space = Searchspace(None, None, None, from_cache=recording)
    options = {"max_fevals": budget} | ({"seed": seed, "effort": "full"} if module.__name__.startswith("rocm_perf") else {})
    runner = Recorded(names, times, budget)
    module.tune(space, runner, Options(strategy_options=Options(options), max_fevals=budget, objective=["time"], verbose=False,
                                       objective_higher_is_better=[False], budget=util.TuningBudget(max_fevals=budget)))
    optimum = min(value for value in times.values() if value)
    found = [optimum / value if value else 0 for value in runner.seen.values()]
    return [max(found[:each], default=0) for each in BUDGETS] + [len(found)]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--budget", type=int, default=BUDGETS[-1])
    parser.add_argument("--only", default=",".join(SPACES))
    arguments = parser.parse_args()
    for name in arguments.only.split(","):
        recording = json.loads(gzip.decompress((DATA / f"{name}.json.gz").read_bytes()))
        names = recording["tune_params_keys"]
        times = {tuple(one[name] for name in names): one["time"] if isinstance(one["time"], (int, float)) else None
                 for one in recording["cache"].values()}
        for strategy in STRATEGIES:
            module, began = importlib.import_module(strategy), time.process_time()
            scores = [search(module, recording, times, arguments.budget, seed) for seed in range(arguments.seeds)]
            seconds = (time.process_time() - began) / arguments.seeds
            *means, evaluated = map(statistics.mean, zip(*scores))
            print(f"{name:34} {strategy.rpartition('.')[2] if 'strategies' in strategy else 'rocm_perf':20}",
                  *(f"{mean:.3f}" for mean in means), f"{evaluated:.0f} {seconds:.2f} s", flush=True)


if __name__ == "__main__":
    main()
