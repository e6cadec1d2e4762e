"""The plots show what the documents hold: roofs and marks of the chart, stretches of the path; and say why there is nothing to show."""
import os
import sys
import tempfile
import unittest

import rocm_perf
from support import SAMPLE, sample, sample_passes, sample_with_counters

try:
    from matplotlib import pyplot
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)


class Plots(unittest.TestCase):
    def saved(self, ax):
        """The plot as a file: everything in it can be drawn."""
        with tempfile.TemporaryDirectory() as folder:
            ax.figure.savefig(f"{folder}/plot.png")
            self.assertGreater(os.path.getsize(f"{folder}/plot.png"), 5000)
        pyplot.close(ax.figure)

    def test_the_roofline(self):
        run = sample_with_counters()
        chart = run.document("roofline")["chart"]["gpus"][0]
        ax = run.plot_roofline()
        self.assertEqual(len(ax.lines), len(chart["roofs"]))
        self.assertEqual(len(ax.collections), len(chart["marks"]))
        self.assertEqual((ax.get_xscale(), ax.get_yscale()), ("log", "log"))
        drawn = sorted(tuple(map(float, points.get_offsets()[0])) for points in ax.collections)
        self.assertEqual(drawn, sorted((mark["x"], mark["y"]) for mark in chart["marks"]))
        self.assertIn("SYNTHETIC", ax.get_title())
        self.saved(ax)
        with self.assertRaisesRegex(rocm_perf.Error, "no GPU 7"):
            run.plot_roofline(gpu=7)

    def test_the_path(self):
        run = sample()
        segments = run.document("dag")["path"]["segments"]
        ax = pyplot.subplots()[1]
        self.assertIs(run.plot_path(ax), ax)
        self.assertEqual(len(ax.collections), len(segments))
        lanes = {(segment["process"], segment["place"], segment["id"]) for segment in segments}
        self.assertEqual(len(ax.get_yticks()), len(lanes))
        self.saved(ax)

    def test_nothing_to_show_is_an_error(self):
        with self.assertRaisesRegex(rocm_perf.Error, "no roofline"):
            sample().plot_roofline()
        with self.assertRaisesRegex(rocm_perf.Error, "no kernel has a place"):
            rocm_perf.open(SAMPLE, counters=sample_passes()[:1]).plot_roofline()
        with self.assertRaisesRegex(rocm_perf.Error, "under counters"):
            rocm_perf.open(sample_passes()[0]).plot_path()


if __name__ == "__main__":
    unittest.main()
