#!/usr/bin/env python3
"""The matrix multiply of triton_matmul.py, tuned by rocm_perf.triton.autotune: some configurations are measured instead of all.

    python3 triton_autotune.py --budget 40 --kept choices.jsonl
    python3 triton_autotune.py --all     then triton.autotune: every configuration is measured, those above are compiled already
"""
import argparse
import itertools
import time

import torch
import triton

import rocm_perf.triton
import said
from triton_matmul import matmul

CONFIGS = [triton.Config({"tile_m": m, "tile_n": n, "tile_k": k}, num_warps=warps, num_stages=stages)
           for m, n, k, warps, stages in itertools.product((64, 128, 256), (64, 128, 256), (32, 64), (4, 8), (2, 3, 4))]


def tuned(decorator, a, b, c):
    """Tunes the kernel and multiplies: seconds until the first product was there, the kernel, milliseconds of a product."""
    size = len(a)
    kernel = decorator(matmul)

    def launch():
        kernel[lambda given: (size // given["tile_m"], size // given["tile_n"])](a, b, c, size, size, size)

    began = time.time()
    launch()
    torch.cuda.synchronize()
    seconds = time.time() - began
    largest = (c.float() - torch.matmul(a.float(), b.float())).abs().max().item()
    if not largest < 0.5:
        raise SystemExit(f"wrong: largest difference {largest}")
    return seconds, kernel, triton.testing.do_bench(launch)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", type=int, default=2048, help="of the square matrices, a multiple of 256")
    parser.add_argument("--budget", type=int, help="configurations to measure (default: as many as the effort takes)")
    parser.add_argument("--effort", choices=["quick", "auto", "full"], default="auto")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kept", metavar="FILE", help="choices are kept in it, and not searched again")
    parser.add_argument("--all", action="store_true", help="triton.autotune beside it")
    options = parser.parse_args()
    torch.manual_seed(1)
    a, b = (torch.randn(options.size, options.size, device="cuda", dtype=torch.float16) for _ in range(2))
    c = torch.empty_like(a)
    named = {"configs": CONFIGS, "key": ["m", "n", "k"]}
    decorators = {"search": rocm_perf.triton.autotune(**named, budget=options.budget, effort=options.effort, seed=options.seed,
                                                      cache_file=options.kept)}
    if options.all:
        decorators["all"] = triton.autotune(**named)
    figures = {"configurations": len(CONFIGS)}
    for name, decorator in decorators.items():
        seconds, kernel, milliseconds = tuned(decorator, a, b, c)
        measured = len(kernel.configs_timings) if name == "all" else len(getattr(kernel, "measured", ()))  # none: it was kept
        figures[name] = {"best": str(kernel.best_config), "measured": measured, "seconds": seconds,
                         "milliseconds": milliseconds, "tflops": 2e-9 * options.size**3 / milliseconds}
    said.say({}, figures)


if __name__ == "__main__":
    main()
