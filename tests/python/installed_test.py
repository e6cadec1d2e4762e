"""The tests of the adapters with the packages that they are for, instead of the doubles: skipped, with the reason, where neither Kernel
Tuner nor Triton is installed."""
import importlib
import json
import pathlib
import sys
import tempfile
import unittest

FOUND = {}
for name in ("kernel_tuner", "triton"):
    try:
        FOUND[name] = importlib.import_module(name)
    except Exception as error:  # what is half installed fails in many ways
        print(f"skipped: {name}: {type(error).__name__}: {error}")
if not FOUND:
    sys.exit(77)

if "kernel_tuner" in FOUND:
    import rocm_perf
    from kernel_tuner_test import *  # noqa: F403
    from kernel_tuner_test import PARAMETERS, RESTRICTIONS, milliseconds, util

    class WholePackage(unittest.TestCase):
        def test_tune_kernel_takes_the_module(self):
            """In its simulation mode, which needs no GPU: results come from a cache."""
            cache = {}
            for row in Searchspace(PARAMETERS, RESTRICTIONS, 1024).list:  # noqa: F405
                result = dict(zip(PARAMETERS, row))
                time = milliseconds(result)
                times = {"__error__": str(time)} if isinstance(time, util.ErrorConfig) else {"time": time, "times": [time]}
                cache[",".join(map(str, row))] = result | times | dict.fromkeys(
                    ("compile_time", "verification_time", "benchmark_time", "strategy_time", "framework_time"), 1) | {"timestamp": ""}
            with tempfile.TemporaryDirectory() as folder:
                file = pathlib.Path(folder, "cache.json")
                file.write_text(json.dumps({"device_name": "none", "kernel_name": "add", "problem_size": 1024, "objective": "time",
                                            "tune_params_keys": list(PARAMETERS), "tune_params": PARAMETERS, "cache": cache}))
                results, _ = FOUND["kernel_tuner"].tune_kernel(
                    "add", "__global__ void add() {}", 1024, [], PARAMETERS, restrictions=RESTRICTIONS, lang="CUDA", cache=str(file),
                    simulation_mode=True, strategy=rocm_perf.kernel_tuner, strategy_options={"seed": 1, "max_fevals": 60})
            self.assertEqual(min(result.get("time", 9) for result in results), 1)
            self.assertLessEqual(len(results), 60)

if "triton" in FOUND:
    from triton_test import *  # noqa: F403

if __name__ == "__main__":
    unittest.main()
