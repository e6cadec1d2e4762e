"""examples/autotune/pipeline_app.json and run_pipeline.py without a GPU. The program reads the file up to its first capture, which is not
there; a compiler that only writes down its words is given each kernel's own macros, once, and what it makes is run."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
EXAMPLES = ROOT / "examples"
COMPILER = """#!/bin/sh
echo "$@" >> words.log
while [ "$1" != -o ]; do shift; done
printf '#!/bin/sh\\necho PASS pipeline 0.5 ms\\n' > "$2"
chmod +x "$2"
"""


def main():
    program = sys.argv[1]
    application = json.loads((EXAMPLES / "autotune/pipeline_app.json").read_text())
    spaces = {kernel["name"]: json.loads((EXAMPLES / "autotune" / kernel["space"]).read_text()) for kernel in application["kernels"]}
    for kernel in application["kernels"]:
        named = set(spaces[kernel["name"]]["tune_params"])
        assert all(f"-D{knob}={{{knob}}}" in kernel["build"] for knob in named), kernel["build"]
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        refused = subprocess.run([program, "autotune-app", EXAMPLES / "autotune/pipeline_app.json", "--out", work / "out"], cwd=work, capture_output=True,
                                 text=True)
        assert refused.returncode == 3 and "convolution.capture" in refused.stderr, refused

        compiler = work / "compiler"
        compiler.write_text(COMPILER)
        compiler.chmod(0o755)
        configuration = work / "configurations.json"
        command = application["command"].replace("autotune/run_pipeline.py", str(EXAMPLES / "autotune/run_pipeline.py"))
        words = command.replace("{config}", str(configuration)).replace("nvcc", str(compiler)).split()

        def run():
            return subprocess.run(words, cwd=work, env=os.environ, check=True, capture_output=True, text=True).stdout

        configuration.write_text(json.dumps({name: space["default"] for name, space in spaces.items()}))
        assert "pipeline 0.5 ms" in run()
        said = (work / "words.log").read_text().splitlines()
        assert len(said) == len(spaces) + 2, said  # the kernels, main(), linking
        for name, space in spaces.items():
            line = next(line for line in said if f"{name}.hip" in line)
            assert "-DPART_OF_PIPELINE" in line and all(f"-D{knob}={value}" in line for knob, value in space["default"].items()), line
        run()
        assert len((work / "words.log").read_text().splitlines()) == len(said), "the same configuration was built twice"
        configuration.write_text(configuration.read_text().replace("256", "512"))
        run()
        assert len((work / "words.log").read_text().splitlines()) == 2 * len(said)
    print(f"{len(spaces)} kernels")


if __name__ == "__main__":
    main()
