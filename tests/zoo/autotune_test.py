"""scripts/device-autotune without a GPU: it has the configurations that the program lists, and each of them compiles by the static
assertions of the example."""
import importlib.machinery
import importlib.util
import json
import pathlib
import re
import sys

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
loader = importlib.machinery.SourceFileLoader("device_autotune", str(ROOT / "scripts/device-autotune"))
trial = importlib.util.module_from_spec(importlib.util.spec_from_loader("device_autotune", loader))
loader.exec_module(trial)


def main():
    space = json.loads((trial.EXAMPLE / "gemm_space.json").read_text())
    found = list(trial.configurations(space))
    said = int(re.search(r"matrix multiply with (\d+) configurations", (ROOT / "docs/AUTOTUNE.md").read_text()).group(1))
    assert len(found) == said == len({trial.name_of(one) for one in found})
    assert space["default"] in found
    for one in found:
        threads = one["BM"] // one["TM"] * (one["BN"] // one["TN"])
        assert one["BM"] % one["TM"] == one["BN"] % one["TN"] == 0 and threads <= 1024, one
        assert one["BM"] * one["BK"] % (threads * one["VECTOR"]) == one["BK"] * one["BN"] % (threads * one["VECTOR"]) == 0, one
        assert one["BK"] % one["VECTOR"] == one["BN"] % one["VECTOR"] == 0 and 1024 % one["BM"] == 1024 % one["BN"] == 1024 % one["BK"] == 0, one
    print(f"{len(found)} configurations")


if __name__ == "__main__":
    main()
