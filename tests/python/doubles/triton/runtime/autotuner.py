"""Config, Autotuner, autotune: all configurations of a key are measured, the best one is kept."""


class OutOfResources(Exception):
    pass


class Config:
    def __init__(self, kwargs, num_warps=4, num_stages=3, num_ctas=1, maxnreg=None, pre_hook=None):
        self.kwargs, self.num_warps, self.num_stages, self.num_ctas = kwargs, num_warps, num_stages, num_ctas
        self.maxnreg, self.pre_hook = maxnreg, pre_hook

    def all_kwargs(self):
        own = {"num_warps": self.num_warps, "num_ctas": self.num_ctas, "num_stages": self.num_stages, "maxnreg": self.maxnreg}
        return self.kwargs | {name: value for name, value in own.items() if value is not None}

    def __str__(self):
        return ", ".join(f"{name}: {value}" for name, value in self.all_kwargs().items())

    def __hash__(self):
        return hash((*self.all_kwargs().items(), self.pre_hook))

    def __eq__(self, other):
        return (self.all_kwargs(), self.pre_hook) == (other.all_kwargs(), other.pre_hook)


class Autotuner:
    def __init__(self, fn, configs, key, prune_configs_by, reset_to_zero, restore_value, do_bench, cache_results):
        self.fn, self.configs, self.keys, self.do_bench = fn, configs, key, do_bench
        self.arg_names, self.base_fn, self.cache, self.cache_results = fn.arg_names, fn.fn, {}, cache_results
        self.prune, self.reset_to_zero, self.restore_value = prune_configs_by or {}, reset_to_zero or [], restore_value or []

    def pre_hook(self, arguments, reset_only=False):
        for name in self.reset_to_zero:
            arguments[name].zero_()

    def _bench(self, *arguments, config, **options):
        def call():
            self.pre_hook({**self.nargs, **options})
            copies = {name: self.nargs[name].clone() for name in self.restore_value}
            self.fn.run(*arguments, **options, **config.all_kwargs())
            for name, value in copies.items():
                self.nargs[name].copy_(value)
        try:
            return self.do_bench(call, quantiles=(0.5, 0.2, 0.8))
        except OutOfResources:
            return [float("inf")] * 3

    def prune_configs(self, options):
        configs = self.configs
        if early := self.prune.get("early_config_prune"):
            configs = early(configs, self.nargs, **options)
        return configs

    def run(self, *arguments, **options):
        self.nargs = dict(zip(self.arg_names, arguments))
        given = self.nargs | options
        key = tuple([given[name] for name in self.keys] + [str(each.dtype) for each in given.values() if hasattr(each, "dtype")])
        if key not in self.cache:
            configs = self.prune_configs(options)
            if len(configs) > 1:
                self.configs_timings = {config: self._bench(*arguments, config=config, **options) for config in configs}
                configs = [min(self.configs_timings, key=self.configs_timings.get)]
                self.pre_hook({**self.nargs, **options}, reset_only=True)
            self.cache[key], = configs
        self.best_config = self.cache[key]
        self.fn.run(*arguments, **options, **self.best_config.all_kwargs())

    def warmup(self, *arguments, **options):
        self.nargs = dict(zip(self.arg_names, arguments))
        return [self.fn.warmup(*arguments, **options, **config.all_kwargs()) for config in self.prune_configs(options)]


def autotune(configs, key, prune_configs_by=None, reset_to_zero=None, restore_value=None, do_bench=None, cache_results=False):
    return lambda fn: Autotuner(fn, configs, key, prune_configs_by, reset_to_zero, restore_value, do_bench, cache_results)
