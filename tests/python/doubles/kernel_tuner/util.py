"""Errors in the place of figures, and the budget."""


class ErrorConfig(str):
    pass


class InvalidConfig(ErrorConfig):
    pass


class CompilationFailedConfig(ErrorConfig):
    pass


class RuntimeFailedConfig(ErrorConfig):
    pass


class StopCriterionReached(Exception):
    pass


class TuningBudget:
    def __init__(self, time_limit=None, max_fevals=None):
        self.max_fevals, self.spent = max_fevals, 0

    def add_evaluations(self, count=1):
        self.spent += count

    def is_done(self):
        return self.max_fevals is not None and self.spent >= self.max_fevals

    def raise_exception_if_done(self):
        if self.is_done():
            raise StopCriterionReached("max_fevals reached")
