#!/usr/bin/env python3
"""Offers a kernel with its sum split over 2, 4, then 8 accumulators: an example of an exec: proposer."""
import json
import re
import sys

task = json.load(sys.stdin)
if task["format"] != 1:
    sys.exit("this proposer knows format 1 only")
if task["round"] > 3 or task["compiler_text"]:
    sys.exit(0)  # nothing on stdout: no more proposals

ways = 2 ** task["round"]
loop = re.search(r"for \(int (\w+) = 0; \1 < (\w+); (?:\+\+\1|\1\+\+)\) (\w+) \+= ([^;]+);", task["kernel_source"])
if loop is None:
    sys.exit(0)
index, bound, total, term = loop.groups()


def term_at(step):
    return re.sub(rf"\b{index}\b", f"({index} + {step})", term)


parts = [f"{total}_{k}" for k in range(1, ways)]
text = "".join(f"float {part} = 0.0F;\n  " for part in parts)
text += f"int {index} = 0;\n  for (; {index} + {ways - 1} < {bound}; {index} += {ways}) {{\n    {total} += {term};\n"
text += "".join(f"    {part} += {term_at(k)};\n" for k, part in enumerate(parts, start=1))
text += f"  }}\n  for (; {index} < {bound}; ++{index}) {total} += {term};\n"
text += "".join(f"  {total} += {part};\n" for part in parts)

kernel = task["kernel_source"].replace(loop.group(0), text.rstrip())
sys.stdout.write(task["source"].replace(task["kernel_source"], kernel))
print(f"sum over {ways} accumulators", file=sys.stderr)  # the last line on stderr is the summary
