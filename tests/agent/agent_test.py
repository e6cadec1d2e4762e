"""An agent that knows nothing but what `rocm-perf mcp` tells it, on six tasks: which kernel first? why? is this change a
regression? does this kernel spill? what would twice as fast attention gain? which of these two captures can be replayed?

    agent_test.py --program ROCM_PERF --make-rocpd P --make-inputs P --sample DB --passes FOLDER [--before ROCM_PERF]

Prints calls and bytes of each task; exit code 1 when an answer is wrong or too long. The right answers come from the inputs: from
SQL, from what was written, or from the command line's own documents. --before PROGRAM: an older program, whose tools answer with
full documents, is asked the same, for a comparison; it has to find the same answers.
"""
import argparse
import glob
import json
import pathlib
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import made_up_run  # noqa: E402  (its folder has to be known first)

MOST_BYTES = 16 << 10  # of an answer
MOST_LIST_BYTES = 26 << 10
arguments = None


class Client:
    """A connection, which counts what is called and what comes back."""

    def __init__(self, program, *options):
        self.process = subprocess.Popen([program, "mcp", *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.last_id = self.calls = self.bytes = self.longest = 0
        self.ask("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "agent", "version": "1"}})

    def ask(self, method, params):
        self.last_id += 1
        message = {"jsonrpc": "2.0", "id": self.last_id, "method": method, "params": params}
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        answer = json.loads(line)
        assert answer["id"] == self.last_id and "error" not in answer, line[:500]
        self.line_bytes = len(line)
        return answer["result"]

    def call(self, tool, **parameters):
        result = self.ask("tools/call", {"name": tool, "arguments": parameters})
        self.calls += 1
        self.bytes += self.line_bytes
        self.longest = max(self.longest, self.line_bytes)
        return result

    def end(self):
        self.process.stdin.close()
        self.process.stdout.close()
        assert self.process.wait() == 0


def document(result):
    assert not result["isError"], result
    return result["structuredContent"]


def follow(client, result, section):
    """A part of the documents of an answer, by the URI that it names."""
    uri = next(block["uri"] for block in result["content"] if block["type"] == "resource_link")
    return document(client.call("read_document", uri=uri, section=section))["value"]


def part(summary, name):
    return next(one for one in summary["parts"] if one["part"] == name)


class Brief:
    """What an agent does with answers that are summaries, and parts of documents."""

    def first_kernel(self, client, sample, passes):
        return part(document(client.call("analyze", TRACE=[sample])), "limit")["rows"][0]["name"]

    def why(self, client, sample, passes):
        row = part(document(client.call("analyze", TRACE=[sample], counters=passes)), "limit")["rows"][0]
        return row["name"], row["label"]

    def regression(self, client, before, after):
        result = client.call("compare", a=before, b=after, section="kernels")
        return sorted(one["name"] for one in document(result)["value"] if one["verdict"] == "SLOWER")

    def spills(self, client, file, kernel):
        found = document(client.call("inspect", FILE=file, kernel=kernel, section="/kernels/0/resources"))
        return found["value"]["vgpr_spills"]

    def gain(self, client, sample):
        return document(client.call("critical_path", TRACE=[sample], what_if=["attention=2x"], section="what_if"))["value"]["gain_share"]

    def replayable(self, client, captures):
        return [one for one in captures
                if not any(finding["severity"] == "error"
                           for finding in document(client.call("capture_check", DIR=one, section="findings"))["value"])]


class Full:
    """The same where every answer is a full document."""

    def analysis(self, client, sample, passes):
        return document(client.call("analyze", TRACE=[sample], **({"counters": passes} if passes else {})))

    def verdict(self, analysis):
        return max(analysis["bottlenecks"]["kernels"], key=lambda one: (one["bound"] or {}).get("end_to_end_share") or 0)

    def first_kernel(self, client, sample, passes):
        return self.verdict(self.analysis(client, sample, []))["name"]

    def why(self, client, sample, passes):
        verdict = self.verdict(self.analysis(client, sample, passes))
        return verdict["name"], verdict["label"]

    def regression(self, client, before, after):
        return sorted(one["name"] for one in document(client.call("compare", a=before, b=after))["kernels"] if one["verdict"] == "SLOWER")

    def spills(self, client, file, kernel):
        return document(client.call("inspect", FILE=file, kernel=kernel))["kernels"][0]["resources"]["vgpr_spills"]

    def gain(self, client, sample):
        return document(client.call("critical_path", TRACE=[sample], what_if=["attention=2x"]))["what_if"]["gain_share"]

    def replayable(self, client, captures):
        return [one for one in captures
                if not any(finding["severity"] == "error" for finding in document(client.call("capture_check", DIR=one))["findings"])]


class Agent(unittest.TestCase):
    figures = []

    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp())
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        subprocess.run([arguments.make_inputs, cls.folder], check=True)
        cls.passes = sorted(glob.glob(f"{arguments.passes}/*/*.db"))

    def ask(self, task, *inputs):
        """The answer to a task, in a session of its own."""
        answers = []
        asked = [("now", arguments.program, Brief())] + ([("before", arguments.before, Full())] if arguments.before else [])
        for when, program, agent in asked:
            client = Client(program)
            answers.append(getattr(agent, task)(client, *inputs))
            client.end()
            self.figures.append((task, when, client.calls, client.bytes))
            if when == "now":
                self.assertLessEqual(client.longest, MOST_BYTES)
        for other in answers[1:]:
            self.assertEqual(other, answers[0], "an older program has another answer")
        return answers[0]

    def record(self, name, scale_us, seed):
        """Seven runs in which the kernel takes so long, give or take 0.4 %."""
        return made_up_run.write(arguments.make_rocpd, self.folder / name, 7, scale_us, seed)

    def command_line(self, *words):
        return json.loads(subprocess.run([arguments.program, *words, "--json"], check=True, capture_output=True).stdout)

    def test_which_kernel_first(self):
        database = sqlite3.connect(f"file:{arguments.sample}?mode=ro", uri=True)
        symbol, = database.execute(
            "SELECT s.kernel_name FROM rocpd_kernel_dispatch d JOIN rocpd_info_kernel_symbol s ON d.kernel_id = s.id AND d.guid = s.guid"
            " GROUP BY s.kernel_name ORDER BY sum(d.end - d.start) DESC LIMIT 1").fetchone()
        database.close()
        self.assertEqual(self.ask("first_kernel", arguments.sample, self.passes), symbol.removesuffix(".kd"))

    def test_why(self):
        analysis = self.command_line("analyze", arguments.sample, "--counters", *self.passes)
        name, label = self.ask("why", arguments.sample, self.passes)
        self.assertEqual([one["label"] for one in analysis["bottlenecks"]["kernels"] if one["name"] == name], [label])
        self.assertNotEqual(label, "insufficient data")

    def test_is_this_change_a_regression(self):
        before = self.record("before", 50, 1)
        self.assertEqual(self.ask("regression", before, self.record("after", 60, 20)), ["scale(float*, float const*, float, int)"])
        self.assertEqual(self.ask("regression", before, self.record("same", 50, 40)), [])

    def test_does_this_kernel_spill(self):
        file = str(self.folder / "kernels.hsaco")
        kernels = self.command_line("inspect", file)["kernels"]
        spilling = [one["name"] for one in kernels if one["resources"]["vgpr_spills"]]
        self.assertEqual(len(spilling), 1)
        for name, spills in ((spilling[0], 12), (kernels[0]["name"], 0)):
            self.assertEqual(self.ask("spills", file, name.split("(")[0]), spills)

    def test_what_would_twice_as_fast_attention_gain(self):
        # All of them are on the path, one behind the other: the gains of each add up.
        kernels = self.command_line("critical-path", arguments.sample)["kernels"]
        alone = [gain["gain_share"] for one in kernels if "attention" in one["name"] for gain in one["gains"] if gain["factor"] == 2]
        self.assertGreater(len(alone), 1)
        self.assertAlmostEqual(self.ask("gain", arguments.sample), sum(alone), places=3)

    def test_which_capture_can_be_replayed(self):
        captures = [str(self.folder / "first.capture"), str(self.folder / "second.capture")]
        self.assertEqual(self.ask("replayable", captures), captures[:1])

    def test_an_error_leads_to_the_right_call(self):
        client = Client(arguments.program)
        result = client.call("analyze", TRACE=[str(self.folder / "kernels.hsaco")])
        self.assertTrue(result["isError"])
        instead = result["structuredContent"]["instead"][0]
        self.assertEqual(instead["tool"], "inspect")
        self.assertFalse(client.call(instead["tool"], **instead["arguments"])["isError"])
        client.end()

    def test_a_summary_leads_to_its_documents(self):
        client = Client(arguments.program)
        result = client.call("analyze", TRACE=[arguments.sample])
        row = part(document(result), "kernels")["rows"][1]
        self.assertEqual(follow(client, result, row["from"])["total_ns"], row["total_ns"])
        client.end()

    def test_the_list_of_tools_is_short(self):
        for options in ([], ["--allow-run"]):
            client = Client(arguments.program, *options)
            client.ask("tools/list", {})
            self.figures.append(("tools/list" + " with --allow-run" * len(options), "now", 1, client.line_bytes))
            client.end()
            self.assertLessEqual(client.line_bytes, MOST_LIST_BYTES)
            if arguments.before:
                client = Client(arguments.before, *options)
                client.ask("tools/list", {})
                self.figures.append(("tools/list" + " with --allow-run" * len(options), "before", 1, client.line_bytes))
                client.end()

    @classmethod
    def tearDownClass(cls):
        print(f"{'task':32} {'':6} {'calls':>6} {'bytes':>10}")
        for task, when, calls, size in cls.figures:
            print(f"{task:32} {when:6} {calls:6} {size:10}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("program", "make-rocpd", "make-inputs", "sample", "passes"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--before")
    arguments, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], *rest])
