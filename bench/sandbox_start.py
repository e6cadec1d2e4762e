#!/usr/bin/env python3
"""What a start in the sandbox of `optimize` costs: /usr/bin/true alone, and behind bubblewrap with the words of src/base/system/sandbox.cpp."""
import os
import statistics
import subprocess
import tempfile
import time

TURNS = 500

with tempfile.TemporaryDirectory() as folder:
    words = "bwrap --unshare-all --die-with-parent --cap-drop ALL --ro-bind / / --dev /dev --dev-bind-try /dev/kfd /dev/kfd --proc /proc".split()
    for place in ("/home", "/root", "/run", "/tmp", "/var/tmp"):
        words += ["--tmpfs", place]
    words += ["--ro-bind", folder, folder]
    own = os.path.join(folder, "own")
    os.mkdir(own)
    words += ["--bind", own, own, "--setenv", "TMPDIR", "/tmp", "--"]
    times = {"alone": [], "in the sandbox": []}
    for _ in range(TURNS):
        for name, command in (("alone", ["true"]), ("in the sandbox", [*words, "true"])):
            begin = time.perf_counter()
            subprocess.run(command, check=True)
            times[name].append((time.perf_counter() - begin) * 1e3)
    for name, samples in times.items():
        quantiles = statistics.quantiles(samples, n=10)
        print(f"{name}: median {statistics.median(samples):.2f} ms, a tenth below {quantiles[0]:.2f} ms, a tenth above {quantiles[8]:.2f} ms")
