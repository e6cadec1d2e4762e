#!/usr/bin/env python3
"""Kernels of PyTorch to be captured: a layer norm of its own, and a matrix multiply of cuBLAS.

    python3 captures.py layer_norm
    rocm-perf isolate --kernel layer_norm --stop --out norm.capture -- python3 captures.py layer_norm
"""
import argparse

import torch


def layer_norm():
    x = torch.randn(4096, 4096, device="cuda", dtype=torch.float16)
    weight, bias = (torch.randn(4096, device="cuda", dtype=torch.float16) for _ in range(2))
    return torch.nn.functional.layer_norm(x, (4096,), weight, bias)


def gemm():
    a, b = (torch.randn(2048, 2048, device="cuda", dtype=torch.float16) for _ in range(2))
    return torch.matmul(a, b)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["layer_norm", "gemm"])
    options = parser.parse_args()
    torch.manual_seed(1)
    made = {"layer_norm": layer_norm, "gemm": gemm}[options.what]()
    torch.cuda.synchronize()
    if not bool(torch.isfinite(made).all()):
        raise SystemExit("wrong: not finite")
    print("right")


if __name__ == "__main__":
    main()
