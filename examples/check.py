#!/usr/bin/env python3
"""Judges the examples in C and CUDA: check.py BUILD_FOLDER

The commands come from examples/README.md. They run in an empty folder; this build's ropecheck replaces tools/run.
tests/docs compares the outputs on pages, tests/unit/ci runs the steps for CI. Exit codes: 0 all holds, 1 not so.
"""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "examples/README.md").read_text()
# Level quick is enough to look at reports and exit codes; my_kernel is judged once at level full.
QUICK = ("--level", "quick")
problems = []


def expect(holds, problem):
    if not holds:
        problems.append(problem)


def the_one(pattern, text, what):
    found = re.findall(pattern, text, re.MULTILINE)
    if len(found) != 1:
        sys.exit(f"check.py: expected one of {what}, found {len(found)}: {found}")
    return found[0]


def run(command, folder, build):
    path = f"{build}:{os.environ['PATH']}"
    return subprocess.run(command, shell=True, cwd=folder, capture_output=True, text=True, check=False,
                          env={**os.environ, "PATH": path})


def check_commands(compile_command):
    for kernel in ["my_kernel", "broken_kernel"]:
        command = compile_command.replace("my_kernel", kernel)
        expect(command in (ROOT / f"examples/{kernel}.c").read_text(), f"examples/{kernel}.c does not say {command}")


def judge(kernel, compile_command, verify_command, folder, build, *more):
    """Compiles the example and judges it, by the two commands of the page and `more`."""
    compiled = run(compile_command.replace("my_kernel", kernel), folder, build)
    expect(compiled.returncode == 0 and not compiled.stderr, f"{kernel}.c does not compile cleanly: {compiled.stderr}")
    verify = verify_command.replace("my_kernel", kernel).replace("tools/run", "ropecheck")
    return run(shlex.join([*shlex.split(verify), "--verbose", "--json", "report.json", *more]), folder, build)


def check_cuda(folder, build):
    """cuda_kernel compiles if nvcc is there, and conforms if a device is; otherwise a clear line says so."""
    command = the_one(r"^    (nvcc .*cuda_kernel.*)$", PAGE, "commands that compile cuda_kernel")
    expect(command in (ROOT / "examples/cuda_kernel.cu").read_text(), f"examples/cuda_kernel.cu does not say {command}")
    if shutil.which("nvcc") is None:
        print("examples: cuda_kernel was not compiled: there is no nvcc")
        return
    compiled = run(command, folder, build)
    expect(compiled.returncode == 0, f"cuda_kernel.cu does not compile: {compiled.stderr}")
    result = run("ropecheck verify ./cuda_kernel.so", folder, build)
    if result.returncode == 3 and "no CUDA d" in result.stderr:  # driver, device
        print(f"examples: cuda_kernel was not judged: {result.stderr.strip()}")
        return
    expect(result.returncode == 0, f"cuda_kernel does not conform: {result.stdout}{result.stderr}")


def main():
    build = Path(sys.argv[1]).resolve()
    compile_command = the_one(r"^    (cc .*my_kernel.*)$", PAGE, "commands that compile my_kernel")
    verify_command = the_one(r"^    (tools/run verify \./my_kernel\.so)$", PAGE, "commands that verify my_kernel")
    check_commands(compile_command)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for source in ["impls", "examples"]:
            (folder / source).symlink_to(ROOT / source)

        right = judge("my_kernel", compile_command, verify_command, folder, build)
        said = f"exit code {right.returncode}\n{right.stdout}{right.stderr}"
        expect(right.returncode == 0, f"my_kernel does not conform: {said}")

        check_cuda(folder, build)

        broken = judge("broken_kernel", compile_command, verify_command, folder, build, *QUICK)
        expect(broken.returncode == 1, f"broken_kernel is not rejected: exit code {broken.returncode}\n{broken.stderr}")
        subject = json.loads((folder / "report.json").read_text())["subjects"][0]
        failed = {r["id"]: r["failure"] for r in subject["requirements"] if r["verdict"] == "fail"}
        expect("ROT-01" in failed, f"ROT-01 does not reject broken_kernel; {list(failed)} do")
        for requirement, failure in failed.items():
            case = failure["case"]
            expect("in_place=1" in case, f"{requirement} rejects broken_kernel out of place: {case}")
            expect(failure["replay"] in broken.stdout, f"the text does not hold the replay line of {requirement}")

        replay = shlex.join([*shlex.split(failed["ROT-01"]["replay"])]) if "ROT-01" in failed else "false"
        fixed = run(replay.replace("broken_kernel", "my_kernel"), folder, build)
        expect(fixed.returncode == 0, f"my_kernel fails the case that broken_kernel fails: {replay}\n{fixed.stderr}")

    for problem in problems:
        print(f"check.py: {problem}", file=sys.stderr)
    print(f"examples: {len(problems)} not as the pages say")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
