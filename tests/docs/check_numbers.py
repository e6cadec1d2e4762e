"""Figures that the documents give for constants of the program are those of the sources.

    check_numbers.py ROOT [--self-test]    exit code 1 and a line for each that differs, or is not found any more
"""
import pathlib
import re
import sys

AUTOTUNE, COMPARE, PAPER = "docs/AUTOTUNE.md", "docs/COMPARE.md", "docs/WHITEPAPER.md"
TIMES, CODE, COUNTED = "docs/models/times.md", "docs/models/code_objects.md", "docs/models/counters.md"
BOTTLENECK, TUNING, DECISION = "docs/models/bottleneck.md", "docs/models/autotuning.md", "docs/models/autotuning_decision.md"
TRACE, COVERAGE = "docs/models/thread_trace.md", "docs/models/thread_trace_coverage.md"
ROOFLINE, GUIDE, OPTIMIZER, REPLAY = "docs/ROOFLINE_DESIGN.md", "docs/DEVELOPER_GUIDE.md", "docs/OPTIMIZER.md", "docs/REPLAY.md"
TGP, JOB = "src/tune/model/tgp.cpp", "src/tune/evaluate/job.h"
CONFIDENCE, CHECKS = "src/analyze/thread_trace/confidence.h", "src/analyze/counters/counter_checks.cpp"
COMPARISON = "src/stats/comparison.cpp"
PERCENT, MINUTES, MIB, KIB, PARTS = 0.01, 60_000, 1 << 20, 1 << 10, 2

# (document, its sentence with the figure in brackets, wherever its lines break, source file, the constant, what one unit of the document is of the source's)
NUMBERS = [
    (TIMES, r"CV of the runs' kernel totals .* at most ([\d.]+) \| stable", "src/stats/summary.cpp", r"kStableCv = ([\d.]+)", 1),
    (TIMES, r"at most ([\d.]+) \| moderate \| \| above that \| unstable", "src/stats/summary.cpp", r"kModerateCv = ([\d.]+)", 1),
    (PAPER, r"at most ([\d.]+) stable", "src/stats/summary.cpp", r"kStableCv = ([\d.]+)", 1),
    (CODE, r"More than (\d+) kernels are disassembled only with", "src/analyze/inspect/inspection.h", r"kMostKernelsForMix = (\d+)", 1),
    (COUNTED, r"Fewer than (\d+) % or more than 105 % of the launched waves", CHECKS, r"kFewestWaves = ([\d.]+)", PERCENT),
    (COUNTED, r"more than (\d+) % of the launched waves were counted", CHECKS, r"kMostWaves = ([\d.]+)", PERCENT),
    (COUNTED, r"More cycles were counted than ([\d.]+) times the highest clock", CHECKS, r"kHighestClock = ([\d.]+)", 1),
    (ROOFLINE, r"waves within (\d+) to 105 %", CHECKS, r"kFewestWaves = ([\d.]+)", PERCENT),
    (ROOFLINE, r"waves within 98 to (\d+) %", CHECKS, r"kMostWaves = ([\d.]+)", PERCENT),
    (ROOFLINE, r"and ([\d.]+) times what the highest clock gives", CHECKS, r"kHighestClock = ([\d.]+)", 1),
    (ROOFLINE, r"more than (\d+) % above the plain", "src/analyze/roofline/ceilings.cpp", r"kPackedFrom = 1([.\d]+)", PERCENT),
    (BOTTLENECK, r"Kernels beyond the (\d+) with the most time get no verdict", "src/analyze/bottleneck/bottleneck.h", r"kMostBottlenecks = (\d+)", 1),
    (BOTTLENECK, r"the one with the highest score of (\d+) or more", "src/analyze/bottleneck/score.h", r"kEnoughScore = (\d+)", 1),
    (COVERAGE, r"in (\d+) equal bins of the longest engine", "src/analyze/thread_trace/cycle_figures.h", r"kOccupancyBins = (\d+)", 1),
    (COVERAGE, r"than the longest of them lived and (\d+) cycles", "src/analyze/thread_trace/occupancy_over_time.h", r"kShortestPause = (\d+)", 1),
    (COVERAGE, r"fewer than (\d+) waves - less than 2 % of", CONFIDENCE, r"kEnoughWaves = (\d+)", 1),
    (COVERAGE, r"less than (\d+) % of the dispatch's waves", CONFIDENCE, r"kEnoughSeen = ([\d.]+)", PERCENT),
    (COVERAGE, r"more than (\d+) % of the waits on memory without a known cause", CONFIDENCE, r"kMostUnexplained = ([\d.]+)", PERCENT),
    (TRACE, r"at most (\d+) for each engine", "src/analyze/thread_trace/state_bins.h", r"kMostStateBins = (\d+)", 1),
    (TRACE, r"a wave with more than (\d+) changes of state", "src/analyze/thread_trace/state_bins.h", r"kMostRuns = (\d+)", 1),
    (TRACE, r"those of each (\d+)th of its life", "src/analyze/thread_trace/state_bins.h", r"kRunStretches = (\d+)", 1),
    (TUNING, r"most (\d+) results \(of more", TGP, r"kFitPoints = (\d+)", 1),
    (TUNING, r"of more, the best (\d+) and 80", TGP, r"kFitPoints = (\d+)", PARTS),
    (TUNING, r"([\d,]+) configurations the candidates are a pool", TGP, r"kMostListed = ([\d']+)", 1),
    (TUNING, r"The seed takes, of (\d+) random candidates", "src/tune/search/search.cpp", r"kSeedCandidates = (\d+)", 1),
    (TUNING, r"\(width ([\d.]+) per coordinate", "src/tune/model/feasibility.cpp", r"kVoteWidth = ([\d.]+)", 1),
    (TUNING, r"P\(valid\) < ([\d.]+)", TGP, r"kLeastValid = ([\d.]+)", 1),
    (TUNING, r"mean - (\d+) sd above", TGP, r"kPruneDeviations = (\d+)", 1),
    (TUNING, r"Jansen's estimator, (\d+) fixed pairs", "src/tune/model/importance.cpp", r"kPairs = (\d+)", 1),
    (DECISION, r"at least (\w+) rounds and at most 20", "src/tune/run/last_comparison.h", r"kFewestRounds = (\d+)", 1),
    (DECISION, r"rounds and at most (\d+); what is surely worse", "src/tune/run/tuning.h", r"final_rounds = (\d+)", 1),
    (AUTOTUNE, r"CV at most ([\d.]+)\)", JOB, r"steady_cv = ([\d.]+)", 1),
    (AUTOTUNE, r"Above a CV of ([\d.]+) it is unstable", JOB, r"unstable_cv = ([\d.]+)", 1),
    (AUTOTUNE, r"at most `--repeats` \((\d+)\) times", JOB, r"most_runs = (\d+)", 1),
    (AUTOTUNE, r"`full` spends the `--budget` \((\d+)\)", "src/tune/run/tuning.h", r"budget = (\d+)", 1),
    (COMPARE, r"outliers \(farther than (\d+) x", COMPARISON, r"kOutlierDistance = (\d+)", 1),
    (COMPARE, r"above (\d+) % over the measurement and significant", COMPARISON, r"kLeastDrift = ([\d.]+)", PERCENT),
    (COMPARE, r"of more than (\d+) samples, the", COMPARISON, r"kMostForDrift = (\d+)", 1),
    (PAPER, r"looks at growing samples \(at most (\d+)\)", "src/stats/comparison.h", r"looks = (\d+)", 1),
    (PAPER, r"With (\d+) samples a percentile interval", "src/stats/comparison.h", r"fewest = (\d+)", 1),
    (OPTIMIZER, r"`--min-gain` \(default (\d+) %\)", "src/optimize/rounds/candidate.h", r"min_gain = ([\d.]+)", PERCENT),
    (GUIDE, r"At most (\d+) MiB, and 10 minutes", "src/llm/proposer.h", r"kMostProposalBytes = std::size_t\{1\} << (\d+)", "MiB of a shift"),
    (GUIDE, r"At most 1 MiB, and (\d+) minutes", "src/llm/exec_proposer.h", r"time_limit\{([\d']+)\}", MINUTES),
    (REPLAY, r"then up to (\w+) times with fresh randomisation", "src/replay/addresses/placeholders.h", r"then up\s+(?:///\s+)?to (\w+) times with new random ones", 1),
    (REPLAY, r"frames of (\d+) pages compressed", "src/capture/blob.h", r"kFramePages = (\d+)", 1),
]
WORDS = {"one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6}


def number(text):
    text = text.replace(",", "").replace("'", "")
    return float(WORDS.get(text, text))


def differences(root, numbers):
    for document, sentence, source, constant, unit in numbers:
        said = re.search(sentence, " ".join((root / document).read_text().split()))
        found = re.search(constant, (root / source).read_text())
        if said is None or found is None:
            where = f"{document}: {sentence}" if said is None else f"{source}: {constant}"
            yield f"{where} is not there any more: mend this table"
            continue
        have = number(said.group(1))
        if unit == "MiB of a shift":
            is_there = 2 ** number(found.group(1)) / MIB
        else:
            is_there = number(found.group(1)) / unit
        if abs(have - is_there) > 1e-9 * max(1, abs(have)):
            yield f"{document}: says {have:g} where {source} has {is_there:g} ({constant})"


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    numbers = NUMBERS
    if "--self-test" in sys.argv:  # a figure that differs, and a sentence that is gone
        numbers = [(TUNING, r"P\(valid\) < ([\d.]+)", TGP, r"kFitPoints = (\d+)", 1), (TUNING, r"no such sentence (\d)", TGP, r"(\d)", 1)]
    found = list(differences(root, numbers))
    print("\n".join(found) + ("\n" if found else "") + f"{len(found)} of {len(numbers)} figures differ")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
