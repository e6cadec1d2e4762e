"""The search of rocm-perf as a strategy of Kernel Tuner 1.x: the module is what `strategy` takes.

    import rocm_perf.kernel_tuner
    kernel_tuner.tune_kernel(..., strategy=rocm_perf.kernel_tuner, strategy_options={"max_fevals": 100, "seed": 1})

strategy_options: `max_fevals`, `time_limit` and `x0` (the configuration to begin with) as for every strategy, and those of
OPTIONS. Kernel Tuner compiles, measures, caches and counts the budget.
"""
import math

from . import _library, _search

OPTIONS = {"seed": ("the same seed and the same values give the same search", 0),
           "effort": ("when it stops before the budget is used: quick, auto or full", "auto")}
#: Outcomes of what Kernel Tuner puts into a result where the figure would be, by its class.
OUTCOMES = {"CompilationFailedConfig": "compile", "RuntimeFailedConfig": "runtime", "InvalidConfig": "device_limit"}


def tune(searchspace, runner, tuning_options):
    """What Kernel Tuner calls: evaluates configurations by its CostFunc, returns all results.

    Raises Error (usage): there are several objectives.
    """
    from kernel_tuner.strategies import common
    from kernel_tuner.util import ErrorConfig, StopCriterionReached

    seed, effort = common.get_options(tuning_options.strategy_options, OPTIONS)
    maximize = tuning_options.objective_higher_is_better
    if isinstance(maximize, (list, tuple)):  # one for each objective, from 1.4 on
        if len(maximize) != 1:
            raise _library.usage("the search has one objective", "name one, or combine them in a metric")
        maximize = maximize[0]
    rows = list(searchspace.list)
    names = list(searchspace.tune_params)
    space = {"configurations": [dict(zip(names, row)) for row in rows]}
    if first := tuning_options.strategy_options.get("x0"):
        space["default"] = dict(zip(names, first))
    search = _search.Search(space, seed=seed, effort=effort, maximize=maximize)
    if len(search) != len(rows):
        raise _library.usage("two configurations of the space are the same to the search", "True and 1 are the same value")
    cost_of = common.CostFunc(searchspace, tuning_options, runner, scaling=False, snap=False)
    try:
        while numbers := search.ask_numbers():
            cost = cost_of(rows[numbers[0]], check_restrictions=False)
            failed = [value for value in cost_of.results[-1].values() if isinstance(value, ErrorConfig)]
            if failed or not math.isfinite(cost):
                search.tell(numbers[0], outcome=OUTCOMES.get(type(failed[0]).__name__) if failed else None)
            else:
                search.tell(numbers[0], -cost if maximize else cost)  # what it minimizes
    except StopCriterionReached as reached:
        if tuning_options.verbose:
            print(reached)
    return cost_of.results
