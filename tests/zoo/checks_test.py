"""scripts/zoo_checks.py and zoo_scrub.py on a made-up recording: right ones pass, each planted mistake is found."""
import copy
import pathlib
import sqlite3
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path[:0] = [str(ROOT / "scripts"), str(ROOT / "examples/nvidia"), str(pathlib.Path(__file__).resolve().parent)]
import made_up  # noqa: E402
import said  # noqa: E402
import zoo_checks as checks  # noqa: E402
import zoo_scrub as scrub  # noqa: E402


class WithFolder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def made(self, **options):
        made = made_up.MadeUp(self.folder / "1_results.db", **options)
        self.addCleanup(made.db.close)
        return made

    def recording(self, made=None, **options):
        opened = checks.Recording((made or self.made()).path, **options)
        self.addCleanup(opened.close)
        return opened

    def one_fault(self, result, part):
        faults, _ = result
        self.assertEqual(len(faults), 1, faults)
        self.assertIn(part, faults[0])


class Counts(WithFolder):
    def test_right(self):
        recording = self.recording()
        self.assertEqual(checks.whole(recording), ([], {"kernels": 3}))
        self.assertEqual(checks.against_program([recording], [made_up.SAID])[0], [])
        self.assertEqual(checks.against_cupti([recording], [made_up.COUNTED])[0], [])

    def test_not_whole(self):
        self.one_fault(checks.whole(self.recording(self.made(extdata={"dropped_records": 4}))), "dropped_records is 4")

    def test_not_finished(self):
        self.one_fault(checks.whole(self.recording(self.made(extdata={"complete": False}))), "complete")

    def test_second_client(self):
        self.one_fault(checks.whole(self.recording(self.made(extdata={"second_client": "kineto"}))), "kineto")

    def test_kernel_without_a_time(self):
        made = self.made().change("UPDATE `{kernel_dispatch}` SET start = 0, end = 0 WHERE id = 1")
        self.one_fault(checks.whole(self.recording(made)), "1 rows of kernel_dispatch without a time")

    def test_launch_that_joins_nothing(self):
        made = self.made().change("UPDATE `{event}` SET stack_id = 99 WHERE id = (SELECT event_id FROM `{kernel_dispatch}` WHERE id = 1)")
        self.one_fault(checks.whole(self.recording(made)), "no recorded call launched")

    def test_every_number_counts(self):
        recording = self.recording()
        for group in ("did", "calls"):
            for name in made_up.SAID[group]:
                other = copy.deepcopy(made_up.SAID)
                other[group][name] += 1
                with self.subTest(name):
                    self.one_fault(checks.against_program([recording], [other]), name)

    def test_processes(self):
        other = copy.deepcopy(made_up.SAID)
        other["did"]["processes"] = 2
        self.one_fault(checks.against_program([self.recording()], [other]), "1 databases of 2")

    def test_calls_are_not_asked_for_where_none_were_recorded(self):
        made = self.made(extdata={"recorded": ["kernels"]}).change("DELETE FROM `{region}` WHERE event_id < 4")
        faults, _ = checks.against_program([self.recording(made)], [{"did": {"kernels": 3}, "calls": {"cudaLaunchKernel": 1}}])
        self.assertEqual(faults, [])

    def test_cupti_counts_more(self):
        recording = self.recording()
        other = copy.deepcopy(made_up.COUNTED)
        other["kernels"]["_Z3mulv"]["count"] = 3
        self.one_fault(checks.against_cupti([recording], [other]), "_Z3mulv: 2 instead of 3")
        other = copy.deepcopy(made_up.COUNTED)
        other["calls"]["cuLaunchKernel"] = 1
        self.one_fault(checks.against_cupti([recording], [other]), "cuLaunchKernel 0 instead of 1")
        other = copy.deepcopy(made_up.COUNTED)
        other["calls"] |= {"cuKernelGetName": 9, "cuLibraryUnload": 2}
        faults, figures = checks.against_cupti([recording], [other])
        self.assertEqual((faults, figures["apart"]), ([], {"cuLibraryUnload": [0, 2]}))


class Times(unittest.TestCase):
    OURS = {"void f<int, 2>(float *)": [9000, 5000, 5010, 4990, 5000, 5000], "g": [64] * 6}

    def test_the_last_launches_count(self):
        faults, figures = checks.times_agree([self.OURS], [{"void f<int,2>(float*)": [5020] * 5, "g": [96] * 2}])
        self.assertEqual(faults, [])  # 0.4 %, and one tick
        self.assertEqual(figures["kernels"], 1)
        faults, figures = checks.times_agree([{"g": [64] * 6}], [{"g": [96] * 6}], share=0.5)
        self.assertEqual((faults, figures["kernels"], figures["worst_share"]), ([], 1, 0.0))

    def test_two_percent(self):
        faults, _ = checks.times_agree([self.OURS], [{"void f<int, 2>(float *)": [5100] * 5}])
        self.assertEqual(len(faults), 2, faults)  # the kernel, and all together
        self.assertIn("-1.96 %", faults[0])

    def test_runs_stand_against_runs(self):
        def runs(*medians):
            return [{"f": [median] * 5} for median in medians]
        faults, figures = checks.times_agree(runs(5000, 5200), runs(5100, 5300))
        self.assertEqual((faults, figures["worst_share"], figures["all_share"]), ([], 0.0, 0.0))
        faults, figures = checks.times_agree(runs(5000, 5100), runs(5200, 5300))
        self.assertEqual(len(faults), 1, faults)  # as far apart as theirs among themselves; all kernels are not excused
        self.assertIn("all kernels", faults[0])
        faults, figures = checks.times_agree(runs(5000, 5100), runs(5200, 5260))
        self.assertEqual(len(faults), 2, faults)
        self.assertIn("5130 ns instead of 5230 ns (-1.91 %)", faults[0])
        faults, _ = checks.times_agree(runs(5200, 5300), runs(5000, 5160))
        self.assertEqual(faults, [])  # 0.8 %

    def test_launches_that_lack(self):
        faults, _ = checks.times_agree([{"g": [64] * 5}], [{"g": [64] * 6}])
        self.assertIn("[5] launches instead of 6", faults[0])

    def test_nothing(self):
        self.assertIn("nothing to compare", checks.times_agree([{}], [{}])[0])

    def test_a_chrome_trace(self):
        trace = {"traceEvents": [{"cat": "kernel", "name": "b", "ts": 2.0, "dur": 1.5}, {"cat": "kernel", "name": "b", "ts": 1.0, "dur": 0.864},
                                 {"cat": "cpu_op", "name": "c", "ts": 0, "dur": 9}, {"ph": "M", "name": "process_name"}]}
        self.assertEqual(said.kernels_of_trace(trace), {"b": [864, 1500]})


class Path(unittest.TestCase):
    DAG = {"critical_path_ns": 100,
           "attribution": {"kernel": {"time_ns": 60}, "copy": {"time_ns": 5}, "launch_latency": {"time_ns": 5}, "idle": {"time_ns": 10},
                           "host": {"time_ns": 20, "share": 0.2, "calls": {"time_ns": 12}, "sync_return": {"time_ns": 3}, "code": {"time_ns": 5}}},
           "graph": {"edges": 4, "rules": [{"rule": "launch", "edges": 4, "contradicted": 0}]}}

    def test_right(self):
        self.assertEqual(checks.adds_up(self.DAG)[0], [])

    def test_wrong(self):
        for change, part in ((lambda d: d["attribution"]["copy"].update(time_ns=9), "parts 104"),
                             (lambda d: d["attribution"]["host"]["code"].update(time_ns=9), "host's parts 24"),
                             (lambda d: d["graph"]["rules"][0].update(contradicted=2), "'launch': 2")):
            dag = copy.deepcopy(self.DAG)
            change(dag)
            faults, _ = checks.adds_up(dag)
            self.assertEqual(len(faults), 1, faults)
            self.assertIn(part, faults[0])


class Views(WithFolder):
    def test_right(self):
        faults, figures = checks.views_equal(self.recording())
        self.assertEqual(faults, [])
        self.assertEqual(figures["busy"], (2500.0,))
        self.assertEqual(figures["top_kernels"], (3.0, 2.0))

    def test_a_view_that_loses_rows(self):
        made = self.made().change("DROP VIEW kernels").change("CREATE VIEW kernels AS SELECT 1000 AS duration")
        self.one_fault(checks.views_equal(self.recording(made)), "kernels: (1, 1000.0) instead of (3, 2000.0)")

    def test_a_view_that_lacks(self):
        self.one_fault(checks.views_equal(self.recording(self.made().change("DROP VIEW busy"))), "no view busy")

    def test_views_of_another_database(self):
        definitions = {name: f"CREATE VIEW `{name}` AS {sql}" for name, sql in made_up.VIEWS.items()}
        recording = self.recording()
        self.assertEqual(checks.views_equal(recording, definitions)[0], [])
        definitions["regions"] = "CREATE VIEW regions AS SELECT absent FROM rocpd_region"
        self.one_fault(checks.views_equal(recording, definitions), "no such column")


class Kill(WithFolder):
    def test_kept(self):
        self.assertEqual(checks.kept_after_kill(self.recording(), [(3, 10.0), (9, 12.0)], 13.0, 2.0)[0], [])

    def test_lost(self):
        self.one_fault(checks.kept_after_kill(self.recording(), [(3, 10.0), (9, 12.0)], 14.5, 2.0), "3 kernels kept of 9")

    def test_said_nothing(self):
        self.one_fault(checks.kept_after_kill(self.recording(), [], 14.5, 2.0), "before it had said anything")

    def test_a_transaction_that_a_kill_left_is_rolled_back(self):
        made = self.made()
        made.db.execute(f"DELETE FROM `rocpd_kernel_dispatch{made_up.SUFFIX}`")  # open, never committed
        made.db.rollback()
        self.assertEqual(self.recording(made, write=True).kernels(), 3)


class Rest(WithFolder):
    def test_counters(self):
        made = self.made()
        event = made.db.execute(f"SELECT event_id FROM `rocpd_kernel_dispatch{made_up.SUFFIX}` WHERE id = 1").fetchone()[0]
        made.add("pmc_event", pmc_id=made.add("info_pmc", name="flops.sum"), event_id=event, value=1010.0)
        made.db.commit()
        recording = self.recording(made)
        wanted = {"kernel": "add", "metric": "flops.sum", "value": 1000, "tolerance": 0.0, "above": 0}
        self.one_fault(checks.counter_agrees(recording, wanted), "1010 instead of 1000")
        self.assertEqual(checks.counter_agrees(recording, wanted | {"above": 10})[0], [])
        self.assertEqual(checks.counter_agrees(recording, wanted | {"tolerance": 0.01})[0], [])
        self.one_fault(checks.counter_agrees(recording, wanted | {"metric": "other"}), "0 values")

    def test_overhead(self):
        rounds = [{"none": 4.0, "kernels": 5.2}, {"none": 5.0, "kernels": 6.1}, {"none": 4.0, "kernels": 9.0}]
        faults, figures = checks.overhead(rounds, "none", {"kernels": 1.5})
        self.assertEqual((faults, figures["kernels"]["more_us"]), ([], 1.2))
        self.assertIn("1.20 us more", checks.overhead(rounds, "none", {"kernels": 1.0})[0][0])
        for bare, good in [(4.95, True), (4.85, False)]:
            alone = [one | {"cupti": bare} for one in rounds]
            self.assertEqual(checks.overhead(alone, "none", {"kernels": 1.0}, "cupti")[0] == [], good)

    def test_verdicts(self):
        analysis = {"bottlenecks": {"kernels": [{"name": "limit_copy(float4 const*)", "verdict": "memory-bandwidth-bound"}]}}
        self.assertEqual(checks.verdicts(analysis, {"limit_copy": ["memory-bandwidth-bound"]})[0], [])
        self.assertEqual(len(checks.verdicts(analysis, {"limit_copy": ["latency-bound"], "limit_fma": ["latency-bound"]})[0]), 2)


class Scrub(WithFolder):
    NAMES = scrub.names_here("big-node-17", "anna", "/home/anna", ["/home/anna/lab", "/home/anna/venv"], "0123abcd0123abcd")

    def test_nothing_is_left(self):
        made = self.made()
        made.add("info_kernel_symbol", kernel_name="_Z4annav", display_name="banna()")
        made.db.commit()
        scrub.scrub(made.path, self.NAMES)
        raw = pathlib.Path(made.path).read_bytes()
        for word in (b"big-node-17", b"/home", b"0123abcd"):
            self.assertNotIn(word, raw)
        db = sqlite3.connect(made.path)
        self.addCleanup(db.close)
        self.assertEqual(db.execute("SELECT command FROM rocpd_info_process").fetchone()[0], "./bin/python3 ./decode.py")
        self.assertEqual(db.execute("SELECT hostname, hash FROM rocpd_info_node").fetchone(), ("gpu-host", 1))
        self.assertEqual(db.execute("SELECT kernel_name, display_name FROM rocpd_info_kernel_symbol WHERE id = 3").fetchone(), ("_Z4annav", "banna()"))
        self.assertEqual(checks.whole(self.recording(made))[0], [])

    def test_what_it_does_not_know_is_said(self):
        made = self.made().change("UPDATE `{info_process}` SET command = '/home/ben/app'")
        with self.assertRaisesRegex(scrub.Left, "/home/ben"):
            scrub.scrub(made.path, self.NAMES)


if __name__ == "__main__":
    unittest.main()
