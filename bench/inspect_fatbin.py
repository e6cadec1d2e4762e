#!/usr/bin/env python3
"""rocm-perf inspect on a fat binary with 2,000 kernels, next to llvm-readelf --notes of the same code objects.

Kernels are generated, compiled by clang 19 for gfx942 into a shared library with several bundles, and kept in FOLDER.
Usage: bench/inspect_fatbin.py [--program build/release/src/cli/rocm-perf] [--folder /tmp/rocm-perf-bench/fatbin]
"""
import argparse
import pathlib
import shutil
import struct
import subprocess
import time

UNITS, KERNELS_PER_UNIT = 8, 250
ROUNDS = 7
BODIES = [
    "y[i] = a * x[i] + y[i];",
    "y[i] = sqrtf(x[i]) * {n}.0f + a;",
    "float s = 0; for (int k = 0; k < n; k++) s += x[(i + k * {n}) % n] * a; y[i] = s;",
    "__shared__ float tile[{lds}]; tile[LANE] = x[i]; __syncthreads(); y[i] = tile[({n} + LANE) % {lds}] + a;",
]
SOURCE = """#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __device__ __attribute__((device))
#define __launch_bounds__(n) __attribute__((amdgpu_flat_work_group_size(1, n)))
#define __syncthreads() __builtin_amdgcn_s_barrier()
#define sqrtf __builtin_sqrtf
#define LANE __builtin_amdgcn_workitem_id_x()
{kernels}
"""
KERNEL = """__global__ __launch_bounds__({bound}) void kernel_{n}(const float* x, float* y, float a, int n) {{
  int i = __builtin_amdgcn_workgroup_id_x() * __builtin_amdgcn_workgroup_size_x() + __builtin_amdgcn_workitem_id_x();
  if (i < n) {{ {body} }}
}}
"""


def write_unit(folder, unit):
    kernels = []
    for n in range(unit * KERNELS_PER_UNIT, (unit + 1) * KERNELS_PER_UNIT):
        body = BODIES[n % len(BODIES)].format(n=n, lds=256)
        kernels.append(KERNEL.format(bound=256 if n % 3 else 1024, n=n, body=body))
    source = folder / f"unit_{unit}.hip"
    source.write_text(SOURCE.format(kernels="\n".join(kernels)))
    return source


def build(folder):
    """The library and its code objects, made once."""
    library = folder / "libkernels.so"
    if library.exists():
        return library
    folder.mkdir(parents=True, exist_ok=True)
    objects = []
    for unit in range(UNITS):
        target = folder / f"unit_{unit}.co"
        subprocess.run(["clang++-19", "-x", "hip", "--offload-arch=gfx942", "--cuda-device-only", "--no-gpu-bundle-output", "-nogpuinc",
                        "-nogpulib", "-fuse-cuid=none", "-O2", "-w", str(write_unit(folder, unit)), "-o", str(target)], check=True)
        objects.append(target)
    # One bundle per unit, as separate translation units link into one file.
    section = b""
    for target in objects:
        section += b"\0" * (-len(section) % 4096) + bundle(target.read_bytes())
    (folder / "fatbin").write_bytes(section)
    (folder / "fatbin.s").write_text(f'.section .hip_fatbin,"a",@progbits\n.p2align 12\n.incbin "{folder}/fatbin"\n')
    subprocess.run(["g++", "-shared", "-nostdlib", "-o", str(library), str(folder / "fatbin.s")], check=True)
    return library


def bundle(code):
    entries = [(b"host-x86_64-unknown-linux-gnu-", b""), (b"hipv4-amdgcn-amd-amdhsa--gfx942", code)]
    head = b"__CLANG_OFFLOAD_BUNDLE__" + struct.pack("<Q", len(entries))
    for name, data in entries:
        head += struct.pack("<QQQ", 4096, len(data), len(name)) + name
    return head + b"\0" * (4096 - len(head)) + code


def timed(command):
    start = time.perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - start


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="build/release/src/cli/rocm-perf")
    parser.add_argument("--folder", type=pathlib.Path, default=pathlib.Path("/tmp/rocm-perf-bench/fatbin"))
    options = parser.parse_args()
    for tool in ("clang++-19", "llvm-readelf-19", "llvm-objdump-19"):
        if not shutil.which(tool):
            raise SystemExit(f"{tool} is not there")
    library = str(build(options.folder))
    objects = [str(options.folder / f"unit_{unit}.co") for unit in range(UNITS)]
    commands = {
        "inspect": [options.program, "inspect", library],
        "inspect, one thread": [options.program, "inspect", library, "--threads", "1"],
        "llvm-readelf --notes": ["llvm-readelf-19", "--notes", *objects],
        "inspect --json": [options.program, "inspect", library, "--json"],
        "inspect --mix": [options.program, "inspect", library, "--mix"],
        "llvm-objdump -d": ["llvm-objdump-19", "-d", *objects],
    }
    best = {name: float("inf") for name in commands}
    for _ in range(ROUNDS):
        for name, command in commands.items():
            best[name] = min(best[name], timed(command))
    size = sum(pathlib.Path(o).stat().st_size for o in objects)
    print(f"{UNITS * KERNELS_PER_UNIT} kernels in {UNITS} code objects, {size / 1e6:.1f} MB; best of {ROUNDS}, alternating")
    for name, seconds in best.items():
        reference = best["llvm-objdump -d" if "mix" in name or "objdump" in name else "llvm-readelf --notes"]
        print(f"  {name:22s} {1e3 * seconds:8.1f} ms   {seconds / reference:5.2f}x")


if __name__ == "__main__":
    main()
