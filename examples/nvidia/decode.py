#!/usr/bin/env python3
"""Decodes with a small transformer in PyTorch: a prefill of the prompt, then one token per step. Every step and layer is an NVTX range.

    rocm-perf profile -- python3 decode.py --steps 8
    python3 decode.py --torch-profiler kernels.json      without us: kernels and their times

The weights are random: the tokens mean nothing, the kernels are those of a real model.
"""
import argparse
import contextlib

import torch
import torch.nn.functional as F

import said

RANGES = [0]


@contextlib.contextmanager
def marked(name):
    torch.cuda.nvtx.range_push(name)
    RANGES[0] += 1
    try:
        yield
    finally:
        torch.cuda.nvtx.range_pop()


def turned(x, cos, sin):
    """Rotary position embedding: pairs of the head dimension, turned by the position."""
    first, second = x.chunk(2, dim=-1)
    return torch.cat((first * cos - second * sin, first * sin + second * cos), dim=-1)


class Layer:
    """Attention with a cache of keys and values, and a gated feed-forward part."""

    def __init__(self, options, make):
        self.heads, self.width = options.heads, options.width
        self.head = options.width // options.heads
        self.norm_1, self.norm_2 = (torch.ones(options.width, device="cuda", dtype=torch.bfloat16) for _ in range(2))
        self.qkv, self.out = make(3 * options.width, options.width), make(options.width, options.width)
        self.gate_up, self.down = make(8 * options.width, options.width), make(options.width, 4 * options.width)
        shape = (options.batch, options.heads, options.prompt + options.steps + 1, self.head)
        self.keys, self.values = (torch.zeros(shape, device="cuda", dtype=torch.bfloat16) for _ in range(2))

    def __call__(self, x, at, cos, sin):
        batch, length, _ = x.shape
        with marked("attention"):
            qkv = F.linear(F.rms_norm(x, (self.width,), self.norm_1), self.qkv)
            q, k, v = (part.view(batch, length, self.heads, self.head).transpose(1, 2) for part in qkv.chunk(3, dim=-1))
            self.keys[:, :, at:at + length] = turned(k, cos, sin)
            self.values[:, :, at:at + length] = v
            mixed = F.scaled_dot_product_attention(turned(q, cos, sin), self.keys[:, :, :at + length], self.values[:, :, :at + length],
                                                   is_causal=length > 1)
            x = x + F.linear(mixed.transpose(1, 2).reshape(batch, length, self.width), self.out)
        with marked("feed forward"):
            gate, up = F.linear(F.rms_norm(x, (self.width,), self.norm_2), self.gate_up).chunk(2, dim=-1)
            return x + F.linear(F.silu(gate) * up, self.down)


class Model:
    def __init__(self, options):
        torch.manual_seed(1)

        def make(rows, columns):
            return torch.randn(rows, columns, device="cuda", dtype=torch.bfloat16) * columns**-0.5

        self.layers = [Layer(options, make) for _ in range(options.layers)]
        self.embedding = make(options.vocabulary, options.width)
        self.norm = torch.ones(options.width, device="cuda", dtype=torch.bfloat16)
        head = options.width // options.heads
        angles = torch.outer(torch.arange(options.prompt + options.steps + 1, device="cuda"),
                             10000.0 ** (-torch.arange(0, head, 2, device="cuda") / head))
        self.cos, self.sin = angles.cos().to(torch.bfloat16), angles.sin().to(torch.bfloat16)
        self.width = options.width

    def __call__(self, tokens, at):
        """The next token of each sequence, from tokens [batch, length] at position `at`; on the host."""
        on_device = tokens.contiguous().pin_memory().to("cuda", non_blocking=True)
        length = tokens.shape[1]
        x = F.embedding(on_device, self.embedding)
        cos, sin = self.cos[at:at + length], self.sin[at:at + length]
        for number, layer in enumerate(self.layers):
            with marked(f"layer {number}"):
                x = layer(x, at, cos, sin)
        with marked("sample"):
            logits = F.linear(F.rms_norm(x[:, -1:], (self.width,), self.norm), self.embedding)
            return logits.argmax(dim=-1).cpu()


def decode(model, prompt, options):
    with marked("prefill"):
        tokens = model(prompt, 0)
    for step in range(options.steps):
        with marked("decode step"):
            tokens = model(tokens, options.prompt + step)
    return tokens


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--layers", type=int, default=6)
    parser.add_argument("--width", type=int, default=2048)
    parser.add_argument("--heads", type=int, default=16)
    parser.add_argument("--vocabulary", type=int, default=32000)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--prompt", type=int, default=256, help="tokens of the prompt")
    parser.add_argument("--steps", type=int, default=8, help="tokens to decode")
    parser.add_argument("--torch-profiler", metavar="FILE", help="run under torch.profiler; kernels and times to FILE")
    options = parser.parse_args()
    with torch.inference_mode():
        model = Model(options)
        prompt = torch.randint(0, options.vocabulary, (options.batch, options.prompt), generator=torch.Generator().manual_seed(2))
        with marked("warm up"):
            model(prompt, 0)
            model(prompt[:, :1], options.prompt)
        said.measured(lambda: decode(model, prompt, options), options.torch_profiler)
    said.say({"ranges": RANGES[0]})


if __name__ == "__main__":
    main()
