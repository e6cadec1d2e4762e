"""scripts/rank_checks.py on a made-up ranks.json: the right one passes, each planted mistake is found; and the launcher of scripts/device-ranks."""
import copy
import pathlib
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "scripts"))
import rank_checks as checks  # noqa: E402

ROUNDS, DELAY = 6, 20_000_000
SAID = [{"expect": [{"rank": rank, "stayed_ns": 1_000_000 + rank * DELAY} for _ in range(ROUNDS)]} for rank in (1, 0)]


def operation(number, wait):
    return {"operation": number, "last": 0 if wait else None,
            "members": [{"rank": 0, "entry_ns": number * 50_000_000 + wait, "wait_ns": 0},
                        {"rank": 1, "entry_ns": number * 50_000_000, "wait_ns": wait}]}


def made_up():
    """Rank 1 stands first, as it may; the worst operation, too."""
    operations = [operation(number, DELAY + 100 * number if number else 3_000) for number in range(ROUNDS + 1)]
    return {"job": {"ranks": 2, "size": 2, "missing_rank_count": 0, "unmatched": [], "violations": 0, "largest_violation_ns": 0, "operations": ROUNDS + 1,
                    "decided": ROUNDS},
            "path": {"what_if": [{"text": "transfer=2x", "gain_ns": 5}, {"text": "rank:1=median", "gain_ns": round(0.98 * ROUNDS * DELAY)}]},
            "ranks": [{"rank": 1}, {"rank": 0}], "operations": operations[::-1],
            "stragglers": {"pattern": "persistent", "doubt": None, "rank": 0, "sentence": "Persistent: it is rank 1",
                           "causes": [{"rank": 0, "cause": "slow_kernel", "kernel": {"name": "spin_step"}}]}}


class Late(unittest.TestCase):
    def late(self, document, **options):
        return checks.late_rank(document, checks.known_delays(SAID), ["slow_kernel"], "spin_step", **options)

    def test_right(self):
        faults, figures = self.late(made_up())
        self.assertEqual(faults, [])
        self.assertEqual((figures["delay_ns"], figures["apart_ns"]), (DELAY, {"least": 100, "median": 350, "most": 600}))

    def test_each_mistake(self):
        def planted(change):
            document = made_up()
            change(document)
            return document

        for change, part in ((lambda d: d["stragglers"].update(pattern="rotating", rank=None), "rotating, rank None, instead"),
                             (lambda d: d["ranks"].reverse(), "instead of persistent, rank 1"),
                             (lambda d: d["stragglers"]["causes"].clear(), "cause None instead of slow_kernel"),
                             (lambda d: d["stragglers"]["causes"][0].update(cause="idle"), "cause idle instead"),
                             (lambda d: d["stragglers"]["causes"][0].update(kernel={"name": "gemm"}), "kernel gemm instead"),
                             (lambda d: d["operations"][2]["members"][1].update(wait_ns=DELAY + 5_001), "waits 20005001 ns instead of 20000000"),
                             (lambda d: d["operations"][2].update(last=None), "round 3: last is None"),
                             (lambda d: d["job"].update(size=4), "ranks [0, 1] of 4"),
                             (lambda d: d["job"].update(unmatched=[{"reason": "no_partner", "operations": 1}]), "no_partner"),
                             (lambda d: d["path"]["what_if"][1].update(gain_ns=24_000_000), "gains 24000000 ns instead of 120000000"),
                             (lambda d: d["path"]["what_if"].pop(), "gains None ns"),
                             (lambda d: d["job"].update(violations=1), "1 violations")):
            with self.subTest(part):
                faults, _ = self.late(planted(change))
                self.assertTrue(any(part in fault for fault in faults), faults)

    def test_of_each_round_the_last_counts(self):
        document = made_up()
        for number in range(1, ROUNDS + 1):
            other = operation(number, 2_000)
            for member in other["members"]:
                member["entry_ns"] -= 10_000_000
            document["operations"].append(other)
        document["job"]["operations"] += ROUNDS
        self.assertEqual(self.late(document, each=2)[0], [])
        self.assertNotEqual(self.late(document)[0], [])

    def test_operations_that_are_not_listed(self):
        document = made_up()
        document["job"]["operations"] += 1
        with self.assertRaises(ValueError):
            self.late(document)

    def test_what_the_programs_said(self):
        with self.assertRaises(ValueError):
            checks.known_delays(SAID[:1])
        other = copy.deepcopy(SAID)
        other[0]["expect"].pop()
        with self.assertRaises(ValueError):
            checks.known_delays(other)


class Even(unittest.TestCase):
    def test_nobody(self):
        document = made_up()
        document["operations"] = [operation(number, 900 * number) for number in range(ROUNDS + 1)]
        document["stragglers"] = {"pattern": "undecided", "doubt": "few_operations", "rank": None, "sentence": "", "causes": []}
        delays = [900 * number - 10 for number in range(1, ROUNDS + 1)]
        faults, figures = checks.nobody_late(document, delays)
        self.assertEqual((faults, figures["longest_wait_ns"], figures["apart_ns"]["median"]), ([], 5400, 10))
        self.assertIn("round 1: 1800 ns instead of -4000", checks.nobody_late(document, [900, -4000, *delays[2:]])[0], faults)
        document["operations"][-1] = operation(ROUNDS, 30_000)
        self.assertEqual(checks.nobody_late(document, [*delays[:-1], 30_000])[0], ["waits of up to 30000 ns"])
        self.assertIn("persistent", checks.nobody_late(made_up(), delays)[0][0])


class Each(unittest.TestCase):
    def test_variables_words_and_exit_code(self):
        script = 'echo "$RANK of $WORLD_SIZE on $LOCAL_RANK: $*"; exit $((3 * RANK))'
        ran = subprocess.run([sys.executable, ROOT / "scripts/device-ranks", "each", "2", "--", "sh", "-c", script, "x", "--", "y"], capture_output=True,
                             text=True, check=False, timeout=60)
        self.assertEqual((ran.returncode, sorted(ran.stdout.splitlines())), (3, ["0 of 2 on 0: -- y", "1 of 2 on 1: -- y"]), ran.stderr)


if __name__ == "__main__":
    unittest.main()
