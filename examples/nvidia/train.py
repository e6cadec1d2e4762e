#!/usr/bin/env python3
"""Trains a small transformer encoder in PyTorch for a few steps: forward, backward, AdamW, each an NVTX range.

    rocm-perf profile -- python3 train.py
    python3 train.py --torch-profiler kernels.json       without us: kernels and their times
"""
import argparse

import torch
from torch import nn

import said


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--torch-profiler", metavar="FILE", help="run under torch.profiler; kernels and times to FILE")
    options = parser.parse_args()
    torch.manual_seed(1)
    layer = nn.TransformerEncoderLayer(512, 8, 2048, dropout=0.0, batch_first=True, norm_first=True)
    model = nn.Sequential(nn.TransformerEncoder(layer, 4, enable_nested_tensor=False), nn.Linear(512, 1000)).cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    inputs = torch.randn(16, 256, 512, device="cuda")
    targets = torch.randint(0, 1000, (16 * 256,), device="cuda")
    ranges = 0
    losses = []

    def step():
        nonlocal ranges
        torch.cuda.nvtx.range_push("training step")
        optimizer.zero_grad(set_to_none=True)
        torch.cuda.nvtx.range_push("forward")
        with torch.autocast("cuda", dtype=torch.bfloat16):
            loss = nn.functional.cross_entropy(model(inputs).flatten(0, 1), targets)
        torch.cuda.nvtx.range_pop()
        torch.cuda.nvtx.range_push("backward")
        loss.backward()
        torch.cuda.nvtx.range_pop()
        torch.cuda.nvtx.range_push("update")
        optimizer.step()
        torch.cuda.nvtx.range_pop()
        losses.append(loss.item())
        torch.cuda.nvtx.range_pop()
        ranges += 4

    for _ in range(3):
        step()
    said.measured(lambda: [step() for _ in range(options.steps)], options.torch_profiler)
    if not losses[-1] < losses[0]:
        raise SystemExit(f"the loss did not fall: {losses[0]} to {losses[-1]}")
    said.say({"ranges": ranges}, {"first_loss": losses[0], "last_loss": losses[-1]})


if __name__ == "__main__":
    main()
