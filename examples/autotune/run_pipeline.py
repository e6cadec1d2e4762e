#!/usr/bin/env python3
"""Builds pipeline.hip with a configuration file of `rocm-perf autotune-app` and runs it.

    python3 autotune/run_pipeline.py tuned/configurations.json nvcc -x cu -O3 -std=c++17 -arch=sm_90 -I cuda     # or hipcc -O3; in the folder of examples

Each kernel is compiled with its own configuration as macros. What is built stays beside the configuration file, in a folder named by what it
holds, so that the same configuration is built once.
"""
import concurrent.futures
import hashlib
import json
import pathlib
import subprocess
import sys

EXAMPLES = pathlib.Path(__file__).resolve().parent.parent
KERNELS = {"convolution": "autotune/convolution.hip", "gemm": "autotune/gemm.hip", "softmax": "softmax.hip"}


def main():
    file, compiler = pathlib.Path(sys.argv[1]), sys.argv[2:]
    configurations = json.loads(file.read_text())
    what = json.dumps([configurations, compiler], sort_keys=True)
    folder = file.parent / ("pipeline_" + hashlib.sha256(what.encode()).hexdigest()[:12])
    program = folder / "pipeline"
    if not program.exists():
        folder.mkdir(exist_ok=True)
        compiler += ["-I", EXAMPLES]

        def built(part):
            source, macros = part
            out = folder / (pathlib.Path(source).stem + ".o")
            subprocess.run([*compiler, *macros, "-c", EXAMPLES / source, "-o", out], check=True)
            return out

        parts = [(source, ["-DPART_OF_PIPELINE", *(f"-D{knob}={value}" for knob, value in configurations[name].items())])
                 for name, source in KERNELS.items()]
        with concurrent.futures.ThreadPoolExecutor() as pool:
            objects = list(pool.map(built, [("autotune/pipeline.hip", []), *parts]))
        linker = [word for word in compiler if word not in ("-x", "cu")]  # what is linked is no source
        subprocess.run([*linker, *objects, "-o", folder / "pipeline.new"], check=True)
        (folder / "pipeline.new").rename(program)
    return subprocess.run([program]).returncode


if __name__ == "__main__":
    sys.exit(main())
