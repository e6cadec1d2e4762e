"""Options of a strategy, and its cost function: negative where the objective is maximized, huge where a configuration failed."""
import sys

from kernel_tuner.util import StopCriterionReached


def get_options(given, known, unsupported=()):
    for name in given:
        if name not in known and name not in {"max_fevals", "time_limit", "x0"} - set(unsupported):
            raise ValueError(f"Unrecognized option {name} in strategy_options")
    return [given.get(name, default) for name, (_, default) in known.items()]


class CostFunc:
    def __init__(self, searchspace, tuning_options, runner, *, scaling=False, snap=True):
        assert not scaling and not snap, "of the double: configurations come as they are in the list"
        self.searchspace, self.options, self.runner, self.results = searchspace, tuning_options, runner, []

    def __call__(self, row, check_restrictions=True):
        self.options.budget.raise_exception_if_done()
        result, = self.runner.run([row], self.options)
        if result is not None:
            self.results.append(result)
        self.options.budget.raise_exception_if_done()
        if result is None:
            raise StopCriterionReached("not all were evaluated")
        if "__error__" in result:
            return sys.float_info.max
        (name,), (larger,) = self.options.objective, self.options.objective_higher_is_better
        return -result[name] if larger else result[name]
