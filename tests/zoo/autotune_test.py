"""scripts/device-autotune without a GPU: it has the configurations that the program lists, and each of them compiles by the static
assertions of the example."""
import importlib.machinery
import importlib.util
import pathlib
import re
import sys

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
loader = importlib.machinery.SourceFileLoader("device_autotune", str(ROOT / "scripts/device-autotune"))
trial = importlib.util.module_from_spec(importlib.util.spec_from_loader("device_autotune", loader))
loader.exec_module(trial)


def gemm(one):
    threads = one["BM"] // one["TM"] * (one["BN"] // one["TN"])
    assert one["BM"] % one["TM"] == one["BN"] % one["TN"] == 0 and threads <= 1024, one
    assert one["BM"] * one["BK"] % (threads * one["VECTOR"]) == one["BK"] * one["BN"] % (threads * one["VECTOR"]) == 0, one
    assert one["BK"] % one["VECTOR"] == one["BN"] % one["VECTOR"] == 0 and 1024 % one["BM"] == 1024 % one["BN"] == 1024 % one["BK"] == 0, one


def convolution(one):
    assert one["BX"] * one["BY"] <= 1024 and 1024 % (one["BX"] * one["TX"]) == 1024 % (one["BY"] * one["TY"]) == 0, one


def main():
    documented = (ROOT / "docs/AUTOTUNE.md").read_text() + (ROOT / "examples/README.md").read_text()
    for kernel, compiles in {"gemm": gemm, "convolution": convolution}.items():
        space = trial.space_of(kernel)
        found = list(trial.configurations(space))
        assert 500 <= len(found) <= 2000 and len(found) == len({trial.name_of(one) for one in found})
        assert re.search(rf"\b{len(found)} configurations", documented), f"{kernel} has {len(found)}, which no document says"
        assert space["default"] in found
        for one in found:
            compiles(one)
        print(f"{kernel}: {len(found)} configurations")
    assert set(trial.KERNELS) == {"gemm", "convolution"}


if __name__ == "__main__":
    main()
