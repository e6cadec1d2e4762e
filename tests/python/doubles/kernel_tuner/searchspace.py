"""The valid configurations, as tuples in the order of the parameters."""
import itertools


class Searchspace:
    def __init__(self, tune_params, restrictions, max_threads):
        self.tune_params = tune_params
        self.list = [row for row in itertools.product(*tune_params.values())
                     if all(eval(text, {}, dict(zip(tune_params, row))) for text in restrictions)]  # of the tests
        self.size = len(self.list)

    def is_param_config_valid(self, row):
        return row in self.list
