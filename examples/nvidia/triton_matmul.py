#!/usr/bin/env python3
"""A matrix multiply in Triton: FP16, tiles through shared memory, FP32 sums; compared with PyTorch's.

    rocm-perf profile -- python3 triton_matmul.py
    python3 triton_matmul.py --torch-profiler kernels.json   without us: kernels and their times
"""
import argparse

import torch
import triton
import triton.language as tl

import said


@triton.jit
def matmul(a, b, c, m, n, k, tile_m: tl.constexpr, tile_n: tl.constexpr, tile_k: tl.constexpr):
    rows = tl.program_id(0) * tile_m + tl.arange(0, tile_m)
    columns = tl.program_id(1) * tile_n + tl.arange(0, tile_n)
    inner = tl.arange(0, tile_k)
    total = tl.zeros((tile_m, tile_n), dtype=tl.float32)
    for first in range(0, k, tile_k):
        part_a = tl.load(a + rows[:, None] * k + first + inner[None, :])
        part_b = tl.load(b + (first + inner[:, None]) * n + columns[None, :])
        total = tl.dot(part_a, part_b, total)
    tl.store(c + rows[:, None] * n + columns[None, :], total.to(tl.float16))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", type=int, default=2048, help="of the square matrices, a multiple of 128")
    parser.add_argument("--launches", type=int, default=50)
    parser.add_argument("--torch-profiler", metavar="FILE", help="run under torch.profiler; kernels and times to FILE")
    options = parser.parse_args()
    size = options.size
    torch.manual_seed(1)
    a, b = (torch.randn(size, size, device="cuda", dtype=torch.float16) for _ in range(2))
    c = torch.empty_like(a)

    def launch():
        matmul[(size // 128, size // 128)](a, b, c, size, size, size, 128, 128, 32, num_warps=8, num_stages=3)

    launch()
    largest = (c.float() - torch.matmul(a.float(), b.float())).abs().max().item()
    if not largest < 0.5:
        raise SystemExit(f"wrong: largest difference {largest}")
    said.measured(lambda: [launch() for _ in range(options.launches)], options.torch_profiler)
    said.say({"matmuls": 1 + options.launches}, {"largest_difference": largest})


if __name__ == "__main__":
    main()
