"""What scripts/device-zoo and the other device-* take along to a machine with a GPU: rocm-perf, its library, and what they need."""
import shutil
import subprocess
import sys

# Seen on the device (Ubuntu 24.04), and so not carried.
THERE = ("libc.so", "libm.so", "libstdc++", "libgcc_s", "libpthread", "libdl.so", "librt.so", "ld-linux", "linux-vdso", "libsqlite3", "libz.so", "libzstd",
         "libcrypto", "libgomp")


def needed(path):
    """Shared libraries of a file, by ldd: {name: place}."""
    listed = subprocess.run(["ldd", str(path)], capture_output=True, text=True, check=True).stdout
    found = {}
    for line in listed.splitlines():
        words = line.split()
        if "=>" in words and len(words) > 2 and words[2].startswith("/"):
            found[words[0]] = words[2]
    return found


def pack(build, into, library="librocm_perf_record.so"):
    """The exit code: 1 where the library was not built."""
    into.mkdir(parents=True, exist_ok=True)
    program, libraries = build / "src/cli/rocm-perf", sorted(build.rglob(library))
    for source in [program, *libraries[:1]]:
        target = into / source.name
        subprocess.run(["strip", "-o", str(target), str(source)], check=True)
        for name, place in needed(source).items():
            if not name.startswith(THERE):
                shutil.copy(place, into / name)
    if not libraries:
        print(f"no {library} under {build}", file=sys.stderr)
    total = sum(path.stat().st_size for path in into.iterdir())
    print(f"{into}: {total / 1e6:.1f} MB: {' '.join(sorted(path.name for path in into.iterdir()))}")
    return 0 if libraries else 1
