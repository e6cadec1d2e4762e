#!/usr/bin/env python3
"""What a launch costs under each recorder: empty kernels from flow.cu's loop, in a process that has PyTorch.

    python3 storm.py ./libflow.so 200000 [--torch-profiler]
"""
import argparse
import ctypes
import os

import torch

import said


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("library", help="libflow.so, made of flow.cu")
    parser.add_argument("launches", type=int)
    parser.add_argument("--torch-profiler", action="store_true", help="run under torch.profiler")
    options = parser.parse_args()
    torch.zeros(1, device="cuda")
    library = ctypes.CDLL(os.path.abspath(options.library))
    library.us_per_launch.restype = ctypes.c_double
    library.us_per_launch.argtypes = [ctypes.c_long]
    library.us_per_launch(1000)
    figures = {}
    if options.torch_profiler:  # only the time counts: its trace of so many launches is not read
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]):
            figures["us_per_launch"] = library.us_per_launch(options.launches)
    else:
        figures["us_per_launch"] = library.us_per_launch(options.launches)
    said.say({}, figures)


if __name__ == "__main__":
    main()
