#!/usr/bin/env python3
"""Holds README.md to what it says of the examples: check.py BUILD_FOLDER

The commands are taken from README.md and run as they stand there, in a folder beside which nothing else lies; only the
name of the kernel and, for tools/run, the ropecheck of this build are put in. Exit codes: 0 all holds, 1 not so.
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
README = (ROOT / "README.md").read_text()
# What only looks at reports and exit codes needs no more; my_kernel is judged once at the level of README.md's command.
QUICK = ("--level", "quick")
problems = []


def expect(holds, problem):
    if not holds:
        problems.append(problem)


def the_one(pattern, text, what):
    found = re.findall(pattern, text, re.MULTILINE)
    if len(found) != 1:
        sys.exit(f"check.py: README.md has {len(found)} {what} where one is expected: {found}")
    return found[0]


def run(command, folder, build):
    path = f"{build}:{os.environ['PATH']}"
    return subprocess.run(command, shell=True, cwd=folder, capture_output=True, text=True, check=False,
                          env={**os.environ, "PATH": path})


def check_texts(compile_command):
    excerpt = the_one(r"^```c\n((?:.*\n)*?)```", README, "excerpts of C")
    expect(excerpt in (ROOT / "examples/my_kernel.c").read_text(), "README.md's C is not what examples/my_kernel.c has")
    for file in ["examples/README.md", "examples/my_kernel.c"]:
        text = (ROOT / file).read_text()
        expect(compile_command in text, f"{file} gives another command than README.md: {compile_command}")
    broken = compile_command.replace("my_kernel", "broken_kernel")
    expect(broken in (ROOT / "examples/broken_kernel.c").read_text(), f"examples/broken_kernel.c does not say {broken}")


def judge(kernel, compile_command, verify_command, folder, build, *more):
    """Compiles the example and judges it, by the two commands of README.md and `more`."""
    compiled = run(compile_command.replace("my_kernel", kernel), folder, build)
    expect(compiled.returncode == 0 and not compiled.stderr, f"{kernel}.c does not compile cleanly: {compiled.stderr}")
    verify = verify_command.replace("my_kernel", kernel).replace("tools/run", "ropecheck")
    return run(shlex.join([*shlex.split(verify), "--json", "report.json", *more]), folder, build)


def check_cuda(folder, build):
    """cuda_kernel compiles where nvcc is, and conforms where a device is; elsewhere there is a clear line."""
    command = the_one(r"^    (nvcc .*cuda_kernel.*)$", README, "commands that compile cuda_kernel")
    for file in ["examples/README.md", "examples/cuda_kernel.cu"]:
        expect(command in (ROOT / file).read_text(), f"{file} gives another command than README.md: {command}")
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


def check_python():
    """README.md's Python is what the examples have; tests/unit/python judges them."""
    for excerpt in re.findall(r"^```python\n((?:.*\n)*?)```", README, re.MULTILINE):
        array = re.search(r'array="(\w+)"', excerpt).group(1)
        file = ROOT / f"examples/python/{array}_kernel.py"
        expect(excerpt in file.read_text(), f"README.md's Python for {array} is not what {file.name} has")


def check_ci(folder, build):
    """The step for CI judges my_kernel, writes both reports, and fails where the list expects too much."""
    step = " ".join(the_one(r"^```yaml\n((?:.*\n)*?)```", README, "excerpts of YAML").split())
    command = re.findall(r"run: > (ropecheck/tools/run verify .*?) - uses:", step)[0]
    command = command.replace("ropecheck/tools/run", "ropecheck").replace("build/", "./")
    command = command.replace("verify", " ".join(["verify", *QUICK]), 1)
    command = f"GITHUB_STEP_SUMMARY=summary.md; {command}"
    expected = folder / "rope_expected.txt"
    for listed, exit_code, said in [("# nothing\n", 0, "my_kernel: conforms"),
                                    (the_one(r"^```text\n((?:.*\n)*?)```", README, "lists").replace("build/", "./"),
                                     1, "UNEXPECTED PASS")]:
        expected.write_text(listed)
        result = run(command, folder, build)
        expect(result.returncode == exit_code and said in result.stdout,
               f"README.md's step for CI: exit code {result.returncode}\n{result.stdout}{result.stderr}")
        for name in ["rope.xml", "summary.md"]:
            expect((folder / name).is_file(), f"README.md's step for CI leaves no {name}")
            (folder / name).unlink(missing_ok=True)


def main():
    build = Path(sys.argv[1]).resolve()
    compile_command = the_one(r"^    (cc .*my_kernel.*)$", README, "commands that compile my_kernel")
    verify_command = the_one(r"^    (tools/run verify \./my_kernel\.so)$", README, "commands that verify my_kernel")
    check_texts(compile_command)
    check_python()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for source in ["impls", "examples"]:
            (folder / source).symlink_to(ROOT / source)

        right = judge("my_kernel", compile_command, verify_command, folder, build)
        said = f"exit code {right.returncode}\n{right.stdout}{right.stderr}"
        expect(right.returncode == 0, f"my_kernel does not conform: {said}")

        check_ci(folder, build)
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

        replay = the_one(r"^ +replay +(ropecheck replay .*)$", README, "replay lines")
        replayed = run(replay, folder, build)
        expect(replayed.returncode == 1, f"README.md's replay line shows no failure: {replay}\n{replayed.stderr}")
        fixed = run(replay.replace("broken_kernel", "my_kernel"), folder, build)
        expect(fixed.returncode == 0, f"my_kernel fails the case of README.md: {shlex.split(replay)}\n{fixed.stderr}")

    for problem in problems:
        print(f"check.py: {problem}", file=sys.stderr)
    print(f"examples: {len(problems)} not as README.md says")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
