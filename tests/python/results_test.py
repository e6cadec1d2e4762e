"""Documents, verdicts, critical path, page and errors: what the program says, byte for byte, and the objects made from it."""
import json
import os
import pathlib
import pickle
import subprocess
import tempfile
import unittest

import rocm_perf
from support import SAMPLE, sample, sample_passes, sample_with_counters


class Documents(unittest.TestCase):
    @unittest.skipUnless(os.path.exists(os.environ["PERFLAB_PROGRAM"]), "rocm-perf was not built")
    def test_are_those_of_the_program(self):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([os.environ["PERFLAB_PROGRAM"], "analyze", SAMPLE, "--out", folder, "--html", f"{folder}/page.html",
                            "--counters", *sample_passes()], check=True, capture_output=True, env={**os.environ, "LD_PRELOAD": ""})
            run = sample_with_counters()
            written = {file.stem: file.read_text() for file in pathlib.Path(folder).glob("*.json")}
        self.assertEqual({name: run.documents.text(name) for name in run.documents}, written)

    def test_are_dicts_by_name(self):
        run = sample()
        self.assertIn("analysis", list(run.documents))
        self.assertEqual(run.document("analysis"), json.loads(run.documents.text("analysis")))
        self.assertEqual(run.document("analysis")["document"], "analysis")
        with self.assertRaises(KeyError):
            run.documents["nothing"]
        self.assertEqual(json.loads(rocm_perf.schema("analysis"))["properties"]["document"], {"const": "analysis"})

    def test_the_page_holds_them(self):
        page = sample().page()
        self.assertTrue(page.lower().startswith("<!doctype html>"))
        self.assertIn('id="documents"', page)

    def test_kernels_are_those_of_the_dispatches(self):
        run = sample()
        frame = run.dispatches
        totals = (frame["end"] - frame["start"]).groupby(frame["kernel"]).sum()
        self.assertEqual(dict(zip(run.kernels["name"], run.kernels["total_ns"])), totals.to_dict())


class Verdicts(unittest.TestCase):
    def test_say_what_the_document_says(self):
        verdicts = sample_with_counters().verdicts
        entries = sample_with_counters().document("analysis")["bottlenecks"]["kernels"]
        self.assertEqual([(v.kernel, v.verdict, v.score, v.confidence, v.summary) for v in verdicts],
                         [(e["name"], e["verdict"], e["score"], e["confidence"], e["summary"]) for e in entries])
        decided = [verdict for verdict in verdicts if verdict.verdict != "insufficient-data"]
        self.assertTrue(decided)
        for verdict in decided:
            self.assertTrue(verdict.evidence)
            for evidence in verdict.evidence:
                held = evidence.value >= evidence.threshold if evidence.comparison == "at_least" else evidence.value < evidence.threshold
                self.assertTrue(held, evidence)
                self.assertIn(evidence.label, str(evidence))


class CriticalPath(unittest.TestCase):
    def test_adds_up(self):
        path = sample().critical_path
        self.assertGreater(path.length_ns, 0)
        self.assertEqual(set(path.attribution), {"kernel", "copy", "launch_latency", "host", "idle"})
        self.assertEqual(sum(path.attribution.values()), path.length_ns)
        self.assertEqual(int((path.segments["to_ns"] - path.segments["from_ns"]).sum()), path.length_ns)
        self.assertEqual(int(path.segments["kernel_ns"].sum()), path.attribution["kernel"])
        self.assertEqual(int(path.parallelism["time_ns"].sum()), path.length_ns)
        self.assertEqual(set(path.gains["kernel"]), {k["name"] for k in path.document["kernels"] if k["gains"]})

    def test_is_none_with_a_reason(self):
        run = rocm_perf.open(sample_passes()[0])  # under counters nobody knows who waits for whom
        self.assertIsNone(run.critical_path)
        self.assertIn("critical_path", [missing.field for missing in run.missing])


class Errors(unittest.TestCase):
    def raised(self, *arguments, **named):
        with self.assertRaises(rocm_perf.Error) as context:
            rocm_perf.open(*arguments, **named)
        return context.exception

    def test_a_file_that_is_not_there(self):
        error = self.raised("no such file.db")
        self.assertEqual((error.code, error.status), ("bad_input", 3))
        self.assertIn("no such file.db", str(error))

    def test_nothing_to_read(self):
        error = self.raised()
        self.assertEqual((error.code, error.status), ("usage", 2))
        self.assertTrue(error.remedy)
        self.assertTrue(str(error).endswith(error.remedy))
        again = pickle.loads(pickle.dumps(error))
        self.assertEqual((again.code, again.status, again.remedy, str(again)), (error.code, error.status, error.remedy, str(error)))

    def test_a_file_that_is_no_recording(self):
        with tempfile.NamedTemporaryFile(suffix=".db") as file:
            file.write(b"not a database at all, " * 50)
            file.flush()
            self.assertEqual(self.raised(file.name).code, "bad_input")

    def test_names_that_are_not_there(self):
        for call in (lambda: sample().table("nothing"), lambda: sample().document("nothing"), lambda: rocm_perf.schema("nothing"),
                     lambda: rocm_perf.open("a\0b")):
            with self.assertRaises(rocm_perf.Error) as context:
                call()
            self.assertEqual(context.exception.code, "usage")

    def test_several_paths(self):
        twice = self.raised([SAMPLE, pathlib.Path(SAMPLE)])
        self.assertEqual(twice.code, "bad_input")
        self.assertIn("name every database once", twice.remedy)


if __name__ == "__main__":
    unittest.main()
