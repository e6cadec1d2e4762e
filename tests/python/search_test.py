"""rocm_perf.Search: the configurations of `rocm-perf autotune` with the same seed, on a space that is written here and on recorded ones."""
import gzip
import json
import math
import os
import pathlib
import pickle
import random
import subprocess
import tempfile
import threading
import unittest

import numpy

import rocm_perf

SPACE = {"tune_params": {"BM": [16, 32, 64, 128, 256], "BN": [16, 32, 64, 128, 256], "UNROLL": list(range(1, 9)), "LAYOUT": ["row", "col"]},
         "restrictions": ["BM * BN <= 16384"], "default": {"BM": 32, "BN": 32, "UNROLL": 1, "LAYOUT": "row"}}
RECORDINGS = pathlib.Path(os.environ["PERFLAB_SHARED"]) / "data/autotune"


def seconds(of):
    """What a configuration takes; None: it fails."""
    if of["BM"] == 256 and of["UNROLL"] > 6:
        return None
    valley = 0.3 * abs(math.log2(of["BM"] / 64)) + 0.2 * abs(math.log2(of["BN"] / 128)) + 0.05 * abs(of["UNROLL"] - 4)
    return math.exp(valley + 0.2 * (of["LAYOUT"] == "row"))


def all_configurations():
    """Of SPACE."""
    return list(rocm_perf.Search(SPACE, effort="full"))


def t4_of(configurations):
    """A recording of SPACE, as Kernel Tuner writes results."""
    results = []
    for configuration in configurations:
        value = seconds(configuration)
        measured = [{"name": "time", "value": value, "unit": "s"}] if value else []
        results.append({"configuration": configuration, "invalidity": "correct" if value else "runtime", "measurements": measured,
                        "objectives": ["time"]})
    return {"schema_version": "1.0.0", "results": results}


class AsTheProgram(unittest.TestCase):
    def simulated(self, folder, space, recording, *options):
        """autotune.json of `rocm-perf autotune --simulate`."""
        subprocess.run([os.environ["PERFLAB_PROGRAM"], "autotune", "--space", space, "--simulate", recording, "--out", "out", *options],
                       cwd=folder, check=True, capture_output=True, env={**os.environ, "LD_PRELOAD": ""})
        return json.loads(pathlib.Path(folder, "out/autotune.json").read_text())

    def compared(self, space, recording, **options):
        """A search that is told what the document has is asked for the same configurations; how many."""
        with tempfile.TemporaryDirectory() as folder:
            named = [text for name, value in options.items() for text in (f"--{name}", str(value))]
            document = self.simulated(folder, space, recording, *named)
        search = rocm_perf.Search(space, **options)
        for step in document["history"]:
            self.assertEqual(search.ask(), step["configuration"], f"evaluation {step['order']}")
            if step["outcome"] == "correct":
                search.tell(step["configuration"], step["value"])
            else:
                search.tell(step["configuration"], outcome=step["outcome"])
        self.assertIsNone(search.ask())
        self.assertEqual(search.why_finished, document["stopped_because"])
        self.assertEqual(search.best.value, min(step["value"] for step in document["history"] if step["value"]))
        return len(document["history"])

    def test_on_a_written_space(self):
        with tempfile.TemporaryDirectory() as folder:
            space, recording = pathlib.Path(folder, "space.json"), pathlib.Path(folder, "recording.json")
            space.write_text(json.dumps(SPACE))
            recording.write_text(json.dumps(t4_of(all_configurations())))
            self.assertEqual(self.compared(space, recording, seed=3, budget=25, effort="full"), 25)
            self.assertLess(self.compared(space, recording, seed=4, budget=300, effort="quick"), 100)

    def test_on_recorded_spaces(self):
        pairs = [("amd/convolution_milo__MI250X", "convolution_milo"), ("nvidia/pnpoly__RTX_3090", "pnpoly")]
        for name, definition in pairs:
            recording, space = RECORDINGS / f"{name}.json.gz", RECORDINGS / f"T1/{definition}.json"
            if not recording.exists():
                self.skipTest(f"{recording} is not here")
            with self.subTest(name):
                self.assertEqual(self.compared(space, recording, seed=11, budget=40, effort="full"), 40)


class Searching(unittest.TestCase):
    def test_finds_the_best(self):
        asked = []

        def function(configuration):
            asked.append(configuration)
            value = seconds(configuration)
            if value is None:
                raise rocm_perf.Failed("compile")
            return [value, value, 2 * value]  # the median counts

        search = rocm_perf.minimize(function, SPACE, seed=1)
        self.assertEqual(search.best, ({"BM": 64, "BN": 128, "UNROLL": 4, "LAYOUT": "col"}, 1.0))
        self.assertEqual(asked[0], SPACE["default"])
        self.assertLess(len(asked), 100)
        self.assertEqual(search.why_finished, "the expected gain stayed below 0.1 %")
        self.assertEqual(len({json.dumps(each, sort_keys=True) for each in asked}), len(asked))

    def test_same_seed_same_search(self):
        def configurations(seed):
            found = []
            rocm_perf.minimize(lambda each: found.append(each) or random.Random(str(each)).random(), SPACE, seed=seed, budget=20)
            return found

        self.assertEqual(configurations(5), configurations(5))
        self.assertNotEqual(configurations(5), configurations(6))

    def test_spaces_of_every_kind(self):
        listed = [{"A": numpy.int64(value)} for value in (1, 2, 3)]
        self.assertEqual(sorted(rocm_perf.Search(listed), key=lambda each: each["A"]), [{"A": 1}, {"A": 2}, {"A": 3}])
        self.assertEqual(len(rocm_perf.Search({"tune_params": {"A": "[2**i for i in range(5)]"}})), 5)
        self.assertEqual(len(rocm_perf.Search({"tune_params": {"threads": [512, 4096]}}, architecture="gfx942")), 1)
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, "space.json.gz")
            file.write_bytes(gzip.compress(json.dumps(SPACE).encode()))
            self.assertEqual(len(rocm_perf.Search(file)), len(all_configurations()))

    def test_larger_is_better(self):
        search = rocm_perf.Search({"tune_params": {"A": [1, 2, 3]}}, maximize=True)
        self.assertIsNone(search.best)
        for configuration in search:
            search.tell(configuration, numpy.array([10.0 * configuration["A"]]))
        self.assertEqual(search.best, ({"A": 3}, 30))

    def test_several_at_once_by_threads(self):
        search = rocm_perf.Search(SPACE, budget=30)
        told = []
        while configurations := search.ask_several(4):
            workers = [threading.Thread(target=lambda each=each: (search.tell(each, seconds(each)), told.append(each))) for each in configurations]
            for worker in workers:
                worker.start()
            for worker in workers:
                worker.join()
        self.assertEqual(len(told), 30)
        self.assertEqual(search.why_finished, "the budget of 30 evaluations was used")

    def test_errors(self):
        def refused(code, call):
            with self.assertRaises(rocm_perf.Error) as caught:
                call()
            self.assertEqual(caught.exception.code, code)
            self.assertEqual(str(pickle.loads(pickle.dumps(caught.exception))), str(caught.exception))
            return str(caught.exception)

        self.assertIn("no such", refused("bad_input", lambda: rocm_perf.Search("no such file")))
        self.assertIn("B > 1", refused("bad_input", lambda: rocm_perf.Search({"tune_params": {"B": [0, 1]}, "restrictions": ["B > 1"]})))
        self.assertIn("lazy", refused("usage", lambda: rocm_perf.Search(SPACE, effort="lazy")))
        self.assertIn("budget", refused("usage", lambda: rocm_perf.Search(SPACE, budget=0)))
        search = rocm_perf.Search(SPACE)
        configuration = search.ask()
        self.assertIn("infinite", refused("usage", lambda: search.tell(configuration, math.inf)))
        self.assertIn("no outcome", refused("usage", lambda: search.tell(configuration, outcome="tired")))
        self.assertIn("no configuration", refused("usage", lambda: search.tell({**configuration, "BM": 17}, 1)))
        search.tell(configuration, 1)
        self.assertIn("told before", refused("usage", lambda: search.tell(configuration, 1)))

    def test_what_a_function_raises_ends_it(self):
        with self.assertRaises(ZeroDivisionError):
            rocm_perf.minimize(lambda configuration: 1 / 0, SPACE)


if __name__ == "__main__":
    unittest.main()
