"""Checks the links of the documents: files exist, anchors too, nothing points out of the repository but http(s).

    check_links.py ROOT        exit code 1 and a line for each link that leads nowhere"""
import pathlib
import sys

import documents


def check(root):
    root = pathlib.Path(root).resolve()
    texts = documents.documents(root)
    anchors = {name: documents.anchors_of(text) for name, text in texts.items()}
    problems, links = [], 0
    for name, text in texts.items():
        folder = (root / name).parent
        for line, target in documents.links_of(text):
            links += 1
            where = f"{name}:{line}: {target}: "
            if target.startswith(("http://", "https://")):
                continue
            path, _, anchor = target.partition("#")
            to = (folder / path).resolve() if path else root / name
            if not to.is_relative_to(root):
                problems.append(where + "leads out of the repository")
            elif not to.exists() and to.relative_to(root).as_posix() not in texts:
                problems.append(where + "there is no such file")
            elif anchor:
                of = to.relative_to(root).as_posix()
                if anchor not in anchors.get(of, set()):
                    problems.append(where + f"{of} has no such heading")
    return problems, links


if __name__ == "__main__":
    found, count = check(sys.argv[1])
    print("\n".join(found) or f"{count} links lead somewhere")
    sys.exit(1 if found or count == 0 else 0)
