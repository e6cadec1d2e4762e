"""rocm_perf.triton.autotune. Here with a double of Triton's interface (doubles/); installed_test.py runs the same with the package itself,
where it is installed. The kernel is ours, and so is the clock: no GPU is needed."""
import json
import math
import pathlib
import sys
import tempfile
import types
import unittest

if "triton" not in sys.modules:
    sys.path.insert(0, str(pathlib.Path(__file__).parent / "doubles"))
import triton

import rocm_perf.triton

CONFIGS = [triton.Config({"BM": bm, "BN": bn, "GROUP": group}, num_warps=warps, num_stages=stages)
           for bm in (32, 64, 128, 256) for bn in (32, 64, 128, 256) for group in (1, 4, 8) for warps in (4, 8) for stages in (2, 3, 4)]


class Tensor:
    dtype = "float16"

    def __init__(self):
        self.value = 0

    def zero_(self):
        self.value = 0

    def clone(self):
        return self.value

    def copy_(self, value):
        self.value = value


class Driver:
    """Of a GPU that is not here: an autotuner asks what it is."""

    device = "a GPU"

    def get_current_target(self):
        return types.SimpleNamespace(backend="cuda", arch=90, warp_size=32)

    def get_device_interface(self):
        return types.SimpleNamespace(get_device_name=lambda: self.device)


triton.runtime.driver.set_active(Driver())


def matmul(out, n, BM, BN, GROUP):  # noqa: N803: the names of Triton's parameters
    raise AssertionError("only a GPU runs it")


class Interpreted:
    """What triton.jit makes, as far as an autotuner sees it: it adds to its output, and knows what a launch takes."""

    arg_names = ["out", "n", "BM", "BN", "GROUP"]

    def __init__(self):
        self.fn, self.launches, self.warmed, self.milliseconds = matmul, [], 0, None

    def run(self, out, n, **given):
        self.launches.append(given)
        # A larger problem wants larger tiles.
        valley = abs(math.log2(given["BM"] * n / (128 * 1024))) + 0.5 * abs(math.log2(given["BN"] / 64)) + 0.1 * abs(given["GROUP"] - 4)
        self.milliseconds = math.exp(0.3 * valley + 0.1 * (given["num_warps"] == 4) + 0.05 * abs(given["num_stages"] - 3))
        out.value += 1

    def warmup(self, *arguments, **given):
        self.warmed += 1


class Kernel(Interpreted):
    """One that is compiled."""

    cache_key = "hash of the source"


def tuner(kernel, configs=CONFIGS, fails=lambda given: False, **options):
    """The kernel with our autotuner; its clock is the kernel's word."""
    def bench(call, quantiles):
        call()
        return [math.inf] * 3 if fails(kernel.launches[-1]) else [kernel.milliseconds] * 3  # as Triton says out of resources

    return rocm_perf.triton.autotune(configs=configs, key=["n"], do_bench=bench, **options)(kernel)


class Autotune(unittest.TestCase):
    def test_finds_the_best_of_each_key_in_few_measurements(self):
        kernel = Kernel()
        tuned = tuner(kernel, seed=1)
        for n, rows in ((1024, 128), (2048, 64), (1024, 128)):
            before = len(kernel.launches)
            tuned.run(Tensor(), n)
            self.assertEqual(tuned.best_config.kwargs, {"BM": rows, "BN": 64, "GROUP": 4})
            self.assertEqual([tuned.best_config.num_warps, tuned.best_config.num_stages], [8, 3])
            launches = len(kernel.launches) - before
        self.assertEqual(launches, 1)  # the choice was kept
        self.assertLess(len(kernel.launches), len(CONFIGS))  # for both keys
        self.assertEqual(len(tuned.cache), 2)

    def test_keeps_to_the_budget_and_begins_with_the_first(self):
        kernel = Kernel()
        tuned = tuner(kernel, budget=12, effort="full")
        tuned.run(Tensor(), 1024)
        self.assertEqual(len(tuned.measured), 12)
        self.assertEqual(len({str(given) for given in kernel.launches}), 12)
        self.assertEqual(kernel.launches[0], CONFIGS[0].all_kwargs())
        self.assertEqual(tuned.best_config, min(tuned.configs_timings, key=tuned.configs_timings.get))

    def test_configurations_that_fail(self):
        fails = lambda given: given["BM"] * given["BN"] >= 128 * 64  # noqa: E731
        tuned = tuner(Kernel(), fails=fails)
        tuned.run(Tensor(), 1024)
        self.assertEqual(tuned.best_config.kwargs["BM"] * tuned.best_config.kwargs["BN"], 64 * 64)
        tuned = tuner(Kernel(), CONFIGS[:5], fails=lambda given: True)
        tuned.run(Tensor(), 1024)  # Triton launches one of them all the same, and says what it says
        self.assertIn(tuned.best_config, CONFIGS[:5])

    def test_arguments_are_as_the_caller_left_them(self):
        out = Tensor()
        tuner(Kernel(), reset_to_zero=["out"]).run(out, 1024)
        self.assertEqual(out.value, 1)  # of the launch alone
        out.value = 5
        tuner(Kernel(), restore_value=["out"]).run(out, 1024)
        self.assertEqual(out.value, 6)

    def test_searches_what_pruning_leaves(self):
        kernel = Kernel()
        early = {"early_config_prune": lambda configs, named, **options: [each for each in configs if each.kwargs["BM"] == 32]}
        tuner(kernel, prune_configs_by=early).run(Tensor(), 1024)
        self.assertEqual({given["BM"] for given in kernel.launches}, {32})

    def test_warmup_compiles_all(self):
        kernel = Kernel()
        tuned = tuner(kernel)
        tuned.warmup(Tensor(), 1024)
        self.assertEqual([kernel.warmed, kernel.launches], [len(CONFIGS), []])
        tuned.run(Tensor(), 1024)
        self.assertLess(len(tuned.configs_timings), len(CONFIGS) / 2)

    def test_configurations_with_different_names(self):
        tiles = {"BM": 64, "BN": 64, "GROUP": 1}
        configs = [triton.Config({"BM": 32}), triton.Config(tiles, maxnreg=64), triton.Config(tiles), triton.Config(tiles)]
        rows = [rocm_perf.triton._row(config, configs) for config in configs]
        self.assertEqual([rows[0]["BN"], rows[1]["maxnreg"], rows[2]["maxnreg"]], ["none", 64, "none"])
        kernel = Kernel()
        tuner(kernel, configs[1:]).run(Tensor(), 1024)
        self.assertEqual(len({str(given) for given in kernel.launches}), 2)


class CacheFile(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.file = pathlib.Path(self.folder.name, "made/choices.jsonl")

    def tearDown(self):
        self.folder.cleanup()

    def launches(self, n=1024, kernel=None, **options):
        """Launches of a new process, so to say."""
        kernel = kernel or Kernel()
        self.tuned = tuner(kernel, cache_file=self.file, **options)
        self.tuned.run(Tensor(), n)
        return len(kernel.launches)

    def test_keeps_choices(self):
        self.assertGreater(self.launches(), 10)
        best = self.tuned.best_config
        self.assertLessEqual(self.launches(), 2)  # Triton before 3.8 measures the one that is left
        self.assertEqual(self.tuned.best_config, best)
        self.assertGreater(self.launches(n=2048), 10)  # of another key
        entries = [json.loads(line) for line in self.file.read_text().splitlines()]
        self.assertEqual([entry["place"]["key"] for entry in entries], [["1024", "float16"], ["2048", "float16"]])
        self.assertEqual(entries[0]["config"], str(best))

    def test_searches_again_for_what_changed(self):
        self.launches()
        others = [config for config in CONFIGS if config != self.tuned.best_config]
        self.assertGreater(self.launches(configs=others), 10)  # the choice is none of them
        self.file.write_text(self.file.read_text().replace("hash of the source", "another"))
        self.assertGreater(self.launches(), 10)
        triton.runtime.driver.active.device = "another GPU"
        self.assertGreater(self.launches(), 10)

    def test_a_damaged_line_is_left_out(self):
        self.launches()
        self.file.write_text('{"place": \n[1]\n' + self.file.read_text())
        self.assertLessEqual(self.launches(), 2)  # Triton before 3.8 measures the one that is left

    def test_hooks_and_what_is_interpreted_are_not_kept(self):
        self.launches(kernel=Interpreted())
        hooked = [triton.Config(each.kwargs, each.num_warps, each.num_stages, pre_hook=print) for each in CONFIGS[:2]]
        self.launches(configs=CONFIGS[2:] + hooked)
        self.assertFalse(self.file.exists())


if __name__ == "__main__":
    unittest.main()
