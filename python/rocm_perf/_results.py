"""Verdicts and the critical path as objects, made from the documents and from nothing else.

Fields have the names of the documents; docs/FORMATS.md and `rocm-perf schema analysis`, `dag` say what they mean.
"""
import dataclasses

import pandas


@dataclasses.dataclass(frozen=True)
class Missing:
    """A figure that could not be computed, and why."""

    field: str
    reason: str
    remedy: str  # "" when nothing would get it

    @classmethod
    def of(cls, entry):
        return cls(entry["field"], entry["reason"], entry["remedy"] or "")


@dataclasses.dataclass(frozen=True)
class Evidence:
    """A figure that was held against a threshold."""

    rule: str
    feature: str
    label: str
    value: float
    unit: str  # shares are 0 to 1
    comparison: str  # "at_least" or "below"
    threshold: float
    source: str

    @classmethod
    def of(cls, entry):
        return cls(**{field.name: entry[field.name] for field in dataclasses.fields(cls)})

    def __str__(self):
        relation = "is at least" if self.comparison == "at_least" else "is below"
        unit = f" {self.unit}" if self.unit else ""
        return f"{self.label}: {self.value:.4g}{unit} {relation} {self.threshold:.4g}"


@dataclasses.dataclass(frozen=True)
class Verdict:
    """What limits a kernel, by fixed rules."""

    kernel: str
    verdict: str  # "memory-bandwidth-bound", ...; "insufficient-data"
    label: str  # the verdict for people
    score: int
    confidence: str  # "low", "medium", "high"
    confidence_reasons: tuple
    summary: str  # one sentence
    evidence: tuple  # of Evidence: what holds for it
    against: tuple  # of Evidence: what speaks against it
    runner_up: str | None
    kernel_factor: float | None  # the kernel is at most so many times faster
    end_to_end_ns: int | None  # the run is at most so much shorter
    next_command: str | None  # the cheapest measurement that would settle a doubt
    advice: tuple  # sentences
    document: dict = dataclasses.field(repr=False)  # all of it, as analysis.json has it

    @classmethod
    def of(cls, entry):
        same = ("verdict", "label", "score", "confidence", "summary", "runner_up")
        return cls(kernel=entry["name"],
                   **{name: entry[name] for name in same},
                   confidence_reasons=tuple(entry["confidence_reasons"]),
                   evidence=tuple(map(Evidence.of, entry["evidence"])),
                   against=tuple(map(Evidence.of, entry["against"])),
                   kernel_factor=entry["bound"]["kernel_factor"],
                   end_to_end_ns=entry["bound"]["end_to_end_ns"],
                   next_command=entry["next"]["command"] if entry["next"] else None,
                   advice=tuple(advice["text"] for advice in entry["advice"]),
                   document=entry)


def scalars(entries):
    """A DataFrame of the members of objects that are values: numbers, texts, null. Without rows it has no columns."""
    return pandas.DataFrame([{name: value for name, value in entry.items() if not isinstance(value, (dict, list))}
                             for entry in entries])


@dataclasses.dataclass(frozen=True)
class CriticalPath:
    """The longest path through the run: what it was spent on, and what a faster kernel would gain. Times are ns."""

    length_ns: int
    attribution: dict  # ns by part: kernel, copy, launch_latency, host, idle; they add up to length_ns
    kernels: pandas.DataFrame = dataclasses.field(repr=False)  # by name, most path time first
    gains: pandas.DataFrame = dataclasses.field(repr=False)  # what the run gains by kernel and factor
    segments: pandas.DataFrame = dataclasses.field(repr=False)  # stretches in time order, with what each was spent on
    bubbles: pandas.DataFrame = dataclasses.field(repr=False)  # the longest stretches with no GPU busy
    parallelism: pandas.DataFrame = dataclasses.field(repr=False)  # time by how many ran side by side
    document: dict = dataclasses.field(repr=False)  # all of it, as dag.json has it

    @classmethod
    def of(cls, document):
        segments = document["path"]["segments"]
        gains = [{"kernel": kernel["name"], **gain} for kernel in document["kernels"] for gain in kernel["gains"] or []]
        return cls(length_ns=document["critical_path_ns"],
                   attribution={part: figures["time_ns"] for part, figures in document["attribution"].items()},
                   kernels=scalars(document["kernels"]),
                   gains=scalars(gains),
                   segments=scalars([{**segment, **segment["spent"]} for segment in segments]),
                   bubbles=scalars(document["bubbles"]["longest"]),
                   parallelism=scalars(document["parallelism"]["levels"]),
                   document=document)
