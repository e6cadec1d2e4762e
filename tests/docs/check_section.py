"""The section of docs/DEVELOPER_GUIDE.md is one: TypeScript's compiler says so, with the types that come from the schemas. And it says
so when a section reads a field that no document has.

    check_section.py ROOT
"""
import pathlib
import subprocess
import sys
import tempfile


def check(root, project):
    return subprocess.run(["node", str(root / "web/node_modules/typescript/bin/tsc"), "--noEmit", "-p", str(project)], capture_output=True, text=True)


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    if not (root / "web/src/generated/index.ts").is_file():
        subprocess.run(["node", str(root / "web/scripts/types.mjs")], check=True)
    right = check(root, root / "tests/docs/tsconfig.json")
    print(right.stdout + right.stderr)
    # The same text with a misspelt field, elsewhere.
    with tempfile.TemporaryDirectory() as folder:
        text = (root / "tests/docs/examples/runtime_section.ts").read_text().replace("../../../web", str(root / "web"))
        (pathlib.Path(folder) / "wrong.ts").write_text(text.replace("profile.runtime_ms", "profile.runtime_msec"))
        project = pathlib.Path(folder) / "tsconfig.json"
        project.write_text((root / "tests/docs/tsconfig.json").read_text().replace("../../web", str(root / "web")).replace("examples/*.ts", "*.ts"))
        wrong = check(root, project)
    if "runtime_msec" not in wrong.stdout:
        print("a field that no document has was not found:", wrong.stdout, wrong.stderr)
        return 1
    print("the section compiles, and does not with a field that is not there" if right.returncode == 0 else "it does not compile")
    return right.returncode


if __name__ == "__main__":
    sys.exit(main())
