"""The installed package finds the library by itself: in its own prefix, and says what to do where there is none."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

PRINT = "import rocm_perf; print(rocm_perf.library_path()); print(rocm_perf.__file__)"


class Installed(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.prefix = pathlib.Path(self.folder.name).resolve() / "prefix"
        subprocess.run([os.environ["PERFLAB_CMAKE"], "--install", os.environ["PERFLAB_BINARY_DIR"], "--prefix", self.prefix, "--component",
                        "python"], check=True, capture_output=True, env={**os.environ, "LD_PRELOAD": ""})
        self.site = self.prefix / "lib/python3/dist-packages"

    def tearDown(self):
        self.folder.cleanup()

    def said(self, **variables):
        """What a python3 says that knows the installed package alone."""
        environment = {name: value for name, value in os.environ.items() if name != "ROCM_PERF_LIBRARY"}
        environment |= {"PYTHONPATH": str(self.site), **variables}
        return subprocess.run([sys.executable, "-c", PRINT], env=environment, capture_output=True, text=True, check=False)

    def test_has_the_modules_and_nothing_else(self):
        source = pathlib.Path(__file__).resolve().parents[2] / "python"
        files = {file.relative_to(self.prefix) for file in self.prefix.rglob("*") if file.is_file()}
        self.assertEqual(files, {self.site.relative_to(self.prefix) / file.relative_to(source) for file in source.rglob("*.py")})

    def test_finds_the_library_of_its_prefix(self):
        built = pathlib.Path(os.environ["ROCM_PERF_LIBRARY"]).resolve()
        soname = built.name.rpartition(".")[0]  # librocm-perf-lab.so.0.1 of librocm-perf-lab.so.0.1.0
        shutil.copy(built, self.prefix / "lib" / soname)
        result = self.said()
        self.assertEqual(result.returncode, 0, result.stderr)
        library, package = result.stdout.split()
        self.assertEqual(library, str(self.prefix / "lib" / soname))
        self.assertTrue(package.startswith(str(self.site)))

    def test_the_variable_comes_first(self):
        result = self.said(ROCM_PERF_LIBRARY="/nowhere/librocm-perf-lab.so")
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("/nowhere/librocm-perf-lab.so", result.stderr)
        self.assertIn("name the library in $ROCM_PERF_LIBRARY", result.stderr)

    def test_an_older_library_is_refused(self):
        # Any library without our functions stands for one.
        result = self.said(ROCM_PERF_LIBRARY="libc.so.6")
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("perflab_version", result.stderr)


if __name__ == "__main__":
    unittest.main()
