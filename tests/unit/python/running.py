"""Shared by the tests in Python: the ropecheck of this build, and its answers."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
PACKAGE = ROOT / "tools" / "python"
SMALL = ["--head-dim", "8", "--level", "quick", "--no-diagnosis"]


def use(build):
    """Call it before importing the package: selects the source tree's package and the build folder's programs."""
    os.environ["ROPECHECK_PROGRAM"] = str(Path(build).resolve() / "ropecheck")
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    # The arrays are small, and ctest runs two tests at a time: threads of torch and OpenBLAS would only wait for each
    # other.
    os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
    for folder in (str(PACKAGE), str(HERE)):
        if folder not in sys.path:
            sys.path.insert(0, folder)


def ropecheck(*words, cwd=HERE, python=sys.executable, variables=None):
    """Runs the command; returns exit code, stdout, stderr."""
    environment = {**os.environ, "ROPECHECK_PYTHON": python, **(variables or {})}
    return subprocess.run([os.environ["ROPECHECK_PROGRAM"], *words], cwd=cwd, env=environment, capture_output=True,
                          text=True, timeout=300)


def judge(kernel, *words, level=SMALL, **how):
    """The requirements of a kernel by id, and the finished process."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        done = ropecheck("verify", f"python:{kernel}", *level, "--json", str(report), *words, **how)
        subjects = json.loads(report.read_text())["subjects"] if report.exists() else []
    found = subjects[0] if subjects else None
    return found, done


def judge_here(kernel, only, convention=None, device=None, dtypes=(), head_dim=8, **spec):
    """The report on a function of this process. Packages are imported once for all tests of a file. Array libraries,
    conventions and results are the same code as in a worker. There are no guard pages, and a crash ends the test. With
    head_dim=None it judges everything that the kernel claims."""
    import ropecheck

    rope = {"head_dim": head_dim, **spec} if head_dim else None
    return ropecheck.verify(kernel, only=only, convention=convention, device=device, dtypes=dtypes, spec=rope,
                            diagnosis=False, isolate=False)


def failures(found):
    """Kind and message of each failure, by requirement."""
    return {one["id"]: (one["failure"]["kind"], one["failure"]["message"])
            for one in found["requirements"] if one["verdict"] == "fail"}
