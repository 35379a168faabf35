#!/usr/bin/env python3
"""Every built-in kernel conforms, judged as README does it, five times while two other processes keep the CPUs busy:
builtin_kernels_test.py PROGRAM SOURCE. A kernel whose calls share something is wrong only now and then, and more often
where threads are interrupted."""

import os
import subprocess
import sys

RUNS = 5
BUSY = [sys.executable, "-c", "while True: pass"]


def main() -> int:
    program, source = sys.argv[1:]
    environment = {**os.environ, "ROPECHECK_GOLDEN": f"{source}/golden"}
    busy = [subprocess.Popen(BUSY) for _ in range(2)]
    try:
        for run in range(1, RUNS + 1):
            done = subprocess.run([program, "verify", "--level", "quick", "--no-diagnosis"], env=environment,
                                  capture_output=True, text=True)  # fmt: skip
            verdicts = done.stdout.count(": conforms")
            if done.returncode != 0 or verdicts < 5:
                print(done.stdout + done.stderr)
                print(f"run {run} of {RUNS} beside two busy loops: exit code {done.returncode}, {verdicts} kernels conform")
                return 1
    finally:
        for process in busy:
            process.kill()
            process.wait()
    return 0


if __name__ == "__main__":
    sys.exit(main())
