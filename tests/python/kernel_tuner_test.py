"""The strategy for Kernel Tuner. Here with a double of Kernel Tuner's interface (doubles/); installed_test.py runs the same with the
package itself, where it is installed."""
import contextlib
import io
import math
import pathlib
import sys
import unittest

if "kernel_tuner" not in sys.modules:
    sys.path.insert(0, str(pathlib.Path(__file__).parent / "doubles"))
from kernel_tuner import util
from kernel_tuner.interface import Options
from kernel_tuner.searchspace import Searchspace

import rocm_perf.kernel_tuner

PARAMETERS = {"block_size_x": [16, 32, 64, 128, 256], "block_size_y": [1, 2, 4, 8], "unroll": [1, 2, 3, 4, 5, 6], "order": ["xy", "yx"]}
RESTRICTIONS = ["block_size_x * block_size_y <= 512"]


def milliseconds(of):
    """What a configuration takes, or what Kernel Tuner puts in its place."""
    if of["block_size_x"] == 256 and of["unroll"] == 6:
        return util.CompilationFailedConfig()
    valley = 0.3 * abs(math.log2(of["block_size_x"] / 64)) + 0.2 * abs(math.log2(of["block_size_y"] / 4)) + 0.05 * abs(of["unroll"] - 3)
    return math.exp(valley + 0.2 * (of["order"] == "xy"))


class Runner:
    """Of Kernel Tuner's runners: configurations in, results out."""

    def __init__(self, metric="time"):
        self.metric, self.seen = metric, []

    def run(self, rows, tuning_options):
        return [self.one(dict(zip(PARAMETERS, row)), tuning_options) for row in rows]

    def one(self, configuration, tuning_options):
        if tuning_options.budget.is_done():
            return None
        tuning_options.budget.add_evaluations(1)
        self.seen.append(configuration)
        time = milliseconds(configuration)
        figure = {"__error__": time} if isinstance(time, util.ErrorConfig) else {"time": time, "GFLOP/s": 100 / time}
        return configuration | figure

    def add_strategy_time(self, time):
        pass


def tuned(options, metric="time", objectives=1):
    """Results of a tuning, and the runner."""
    runner = Runner(metric)
    space = Searchspace(PARAMETERS, RESTRICTIONS, 1024)
    results = rocm_perf.kernel_tuner.tune(space, runner, Options(
        strategy_options=Options(options), objective=[metric] * objectives, objective_higher_is_better=[metric != "time"] * objectives,
        budget=util.TuningBudget(max_fevals=options.get("max_fevals")), verbose=True))
    return results, runner


class Strategy(unittest.TestCase):
    def test_finds_the_best_and_evaluates_nothing_twice(self):
        results, runner = tuned({"seed": 1})
        best = min((result for result in results if "time" in result), key=lambda result: result["time"])
        self.assertEqual(best["time"], 1)
        self.assertEqual(len(results), len(runner.seen))
        self.assertLess(len(results), 100)
        self.assertEqual(len({tuple(each[name] for name in PARAMETERS) for each in results}), len(results))

    def test_is_the_search_of_the_library(self):
        results, _ = tuned({"seed": 5, "effort": "quick"})
        rows = [dict(zip(PARAMETERS, row)) for row in Searchspace(PARAMETERS, RESTRICTIONS, 1024).list]
        search = rocm_perf.Search({"configurations": rows}, seed=5, effort="quick")
        for result in results:
            configuration = search.ask()
            self.assertEqual(configuration, {name: result[name] for name in PARAMETERS})
            search.tell(configuration, result.get("time"), outcome=None if "time" in result else "compile")
        self.assertIsNone(search.ask())

    def test_keeps_to_the_budget(self):
        with contextlib.redirect_stdout(io.StringIO()) as said:
            results, runner = tuned({"max_fevals": 10})
        self.assertEqual([len(results), len(runner.seen)], [10, 10])
        self.assertIn("max_fevals", said.getvalue())

    def test_begins_where_it_is_told(self):
        first = (128, 2, 5, "yx")
        results, _ = tuned({"x0": first, "effort": "quick"})
        self.assertEqual(tuple(results[0][name] for name in PARAMETERS), first)

    def test_maximizes(self):
        results, _ = tuned({"seed": 2}, metric="GFLOP/s")
        self.assertEqual(max(result.get("GFLOP/s", 0) for result in results), 100)

    def test_refuses_what_it_cannot_do(self):
        with self.assertRaisesRegex(rocm_perf.Error, "one objective"):
            tuned({}, objectives=2)
        with self.assertRaisesRegex(ValueError, "colour"):
            tuned({"colour": "red"})

    def test_is_what_strategy_takes(self):
        self.assertTrue(callable(rocm_perf.kernel_tuner.tune) and hash(rocm_perf.kernel_tuner))


if __name__ == "__main__":
    unittest.main()
