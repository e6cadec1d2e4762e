#!/usr/bin/env python3
"""A PyTorch program with a CUDA kernel of its own: layer norms by layer_norm.so (layer_norm.cu), compared with PyTorch's.

    python3 layer_norm.py ./layer_norm.so [LAUNCHES]     prints PASS or FAIL, exit code 0 or 1
"""
import ctypes
import sys

import torch

ROWS, COLUMNS, EPSILON = 2048, 1024, 1e-5

library = ctypes.CDLL(sys.argv[1])
launch = library.launch_layer_norm
launch.argtypes = [ctypes.c_void_p] * 4 + [ctypes.c_int] * 2 + [ctypes.c_float, ctypes.c_void_p]

torch.manual_seed(1)
values = torch.randn(ROWS, COLUMNS, device="cuda")
weight, bias = torch.randn(COLUMNS, device="cuda"), torch.randn(COLUMNS, device="cuda")
output = torch.empty_like(values)
for _ in range(int(sys.argv[2]) if len(sys.argv) > 2 else 50):
    failed = launch(values.data_ptr(), weight.data_ptr(), bias.data_ptr(), output.data_ptr(), ROWS, COLUMNS, EPSILON,
                    torch.cuda.current_stream().cuda_stream)
    if failed:
        sys.exit(f"the launch failed: {failed}")
wanted = torch.nn.functional.layer_norm(values, (COLUMNS,), weight, bias, EPSILON)
difference = (output - wanted).abs().max().item()
print("PASS" if difference < 1e-4 else "FAIL", f"largest difference {difference:.2g}")
sys.exit(0 if difference < 1e-4 else 1)
