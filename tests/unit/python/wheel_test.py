"""The wheel, in an environment with nothing else, from another folder: python3 wheel_test.py BUILD.

It takes the programs of the build folder, so that nothing is compiled twice. Exit code 77: pip cannot reach packages.
"""

import os
import re
import subprocess
import sys
import tempfile
import unittest
import venv
import zipfile
from pathlib import Path

import environment
from environment import ROOT, pip

KERNEL = ROOT / "examples" / "python" / "numpy_kernel.py"
REPOSITORY_FILE = re.compile(rb"(?<![\w/.])(?:docs|examples|golden|impls|reference|tests|tools)/[\w./-]+\.(?:md|h|json|c|py)"
                             rb"(?!\w)")
RIGHT = ["verify", "python:my_kernel:rope", "--head-dim", "8", "--level", "quick", "--only", "ROT,GLD-01"]


class Wheel(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        here = Path(cls.folder.name)
        try:
            venv.create(here / "venv", with_pip=True)
        except subprocess.CalledProcessError:
            environment.leave_out("no virtual environment with pip can be made here (Debian package python3-venv)")
        cls.python = here / "venv" / "bin" / "python"
        cls.work = here / "work"
        cls.work.mkdir()
        (cls.work / "my_kernel.py").write_text(KERNEL.read_text())
        built = pip(cls.python, "wheel", "--no-deps", "--wheel-dir", str(here), "--config-settings",
                    f"build-dir={here / 'build'}", "--config-settings",
                    f"cmake.define.ROPECHECK_PREBUILT={BUILD}", str(ROOT))
        if built.returncode != 0 and "scikit-build-core" in built.stderr and "No matching distribution" in built.stderr:
            environment.leave_out("pip cannot reach packages: scikit-build-core cannot be had")
        assert built.returncode == 0, built.stdout + built.stderr
        (cls.wheel,) = here.glob("ropecheck-*.whl")
        installed = pip(cls.python, "install", str(cls.wheel))
        assert installed.returncode == 0, installed.stderr

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def run_in_work(self, *words):
        names = ("ROPECHECK_PYTHON", "ROPECHECK_PROGRAM", "ROPECHECK_GOLDEN", "PYTHONPATH", "VIRTUAL_ENV")
        variables = {name: value for name, value in os.environ.items() if name not in names}
        return subprocess.run(words, cwd=self.work, env=variables, capture_output=True, text=True, timeout=120)

    def command(self, *words):
        return self.run_in_work(str(self.python.parent / "ropecheck"), *words)

    def test_what_it_carries(self):
        names = zipfile.ZipFile(self.wheel).namelist()
        self.assertLessEqual({"ropecheck/py.typed", "ropecheck/bin/ropecheck", "ropecheck/bin/ropecheck_host",
                              "ropecheck/bin/ropecheck_sandbox",
                              "ropecheck/bin/libropecheck_faults.so", "ropecheck/bin/golden/manifest.json",
                              "ropecheck/conventions/huggingface.py"}, set(names))
        self.assertTrue(any(name.startswith("ropecheck-") and name.endswith("LICENSE") for name in names))
        strangers = [name for name in names if not name.startswith(("ropecheck/", "ropecheck-"))]
        self.assertEqual(strangers, [])
        self.assertIn("-py3-none-", self.wheel.name)

    def test_a_wheel_that_is_compiled_carries_the_same(self):
        installed = Path(self.folder.name) / "installed"
        done = subprocess.run(["cmake", "--install", str(BUILD), "--component", "python", "--prefix", str(installed)],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        compiled = {str(path.relative_to(installed)) for path in installed.rglob("*") if path.is_file()}
        prebuilt = {name for name in zipfile.ZipFile(self.wheel).namelist()
                    if name.startswith(("ropecheck/bin/", "ropecheck/share/"))}
        self.assertEqual(compiled, prebuilt)

    def test_it_holds_what_its_messages_name(self):
        with zipfile.ZipFile(self.wheel) as wheel:
            names = set(wheel.namelist())
            texts = [wheel.read(name) for name in sorted(names) if name.startswith("ropecheck/bin/")]
            pages = {name: wheel.read(name).decode() for name in names if name.endswith(".md") and "/share/" in name}
        named = {path.decode() for text in texts for path in REPOSITORY_FILE.findall(text)}
        self.assertIn("tools/worker/protocol/PROTOCOL.md", named)
        here = {name.split("/", 2)[2] for name in names if name.startswith(("ropecheck/bin/", "ropecheck/share/"))}
        only_in_a_clone = "golden/regenerate/bootstrap.py"  # the message says so
        self.assertEqual(sorted(named - here), [only_in_a_clone])
        for page in pages:  # what is in these folders, a page may name
            for link in re.findall(r"\]\((\.\./(?:docs|examples|impls/include)/[^)#]+)", pages[page]):
                path = os.path.normpath(os.path.join(os.path.dirname(page), link))
                self.assertIn(path, names, page)

    def test_nothing_points_to_where_it_was_built(self):
        with zipfile.ZipFile(self.wheel) as wheel:
            for name in wheel.namelist():
                for folder in (ROOT, BUILD):
                    self.assertNotIn(os.fsencode(f"{folder}/"), wheel.read(name), name)
        done = self.command("golden", "regenerate", "--with", "nonsense")
        self.assertEqual(done.returncode, 2)
        self.assertIn("only a checkout of ropecheck holds the programs that make golden files", done.stderr)
        self.assertIn("ropecheck/bin/golden: all as the manifest says", self.command("golden", "check-files").stdout)

    def test_a_kernel_in_c_with_what_the_wheel_holds(self):
        script = ("import json, ropecheck, subprocess\n"
                  "source = ropecheck.get_path('examples/my_kernel.c')\n"
                  "subprocess.run(['cc', '-shared', '-fPIC', '-I', ropecheck.get_include(), '-o', 'in_c.so', source,"
                  " '-lm'], check=True)\n"
                  "assert ropecheck.verify('./in_c.so', only='ROT-01')\n"
                  "json.loads(ropecheck.get_path('tools/report/report.schema.json').read_text())\n"
                  "assert ropecheck.get_path('golden/manifest.schema.json').is_file()\n"
                  "print(ropecheck.__version__)\n")
        done = self.run_in_work(str(self.python), "-c", script)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout, self.command("--version").stdout)
    def test_the_command_for_ci(self):
        done = self.run_in_work("bash", "-c", 'PATH="$0:$PATH" ropecheck-ci half_split --only ROT-01,GLD-01',
                                str(self.python.parent))
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_the_kernel_for_cuda_where_it_was_built(self):
        is_built = (BUILD / "libropecheck_cuda.so").is_file()
        names = zipfile.ZipFile(self.wheel).namelist()
        self.assertEqual("ropecheck/bin/libropecheck_cuda.so" in names, is_built)
        done = self.command("verify", "cuda", "--level", "quick", "--only", "ROT-01")
        if done.returncode == 0:
            return  # there is a device
        self.assertEqual(done.returncode, 3)
        self.assertIn("no CUDA" if is_built else "nvcc", done.stderr)

    def test_the_command(self):
        self.assertRegex(self.command("--version").stdout, r"^\d+\.\d+\.\d+\n$")
        done = self.command("verify", "half_split", "--level", "quick", "--only", "ROT-01,GLD-01")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertNotIn("no golden files", done.stdout)

    def test_a_kernel_of_the_current_folder_runs_in_the_environments_python(self):
        done = self.command(*RIGHT)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        (self.work / "which.py").write_text("import sys\nraise ImportError(sys.executable)\n")
        self.assertIn(str(self.python), self.command("verify", "python:which:rope").stderr)

    def test_another_interpreter_without_the_package(self):
        bare = self.work.parent / "bare"
        venv.create(bare, with_pip=False)
        done = self.command("verify", "python:my_kernel:rope", "--python", str(bare / "bin" / "python"))
        self.assertEqual(done.returncode, 3)
        self.assertIn("has no package ropecheck; install it there", done.stderr)

    def test_the_package(self):
        script = ("import my_kernel, ropecheck\n"
                  "report = ropecheck.verify(my_kernel.rope, only='ROT-01')\n"
                  "assert report.isolated and report, report\n"
                  "assert ropecheck.verify(lambda call: my_kernel.rope(call), only='ROT-01').isolated is False\n"
                  "print(ropecheck.__file__)\n")
        done = self.run_in_work(str(self.python), "-c", script)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("site-packages", done.stdout)

    def test_conventions(self):
        self.assertIn("huggingface", self.command("list", "conventions").stdout)


if __name__ == "__main__":
    BUILD = Path(sys.argv.pop(1)).resolve()
    unittest.main()
