"""rejects_test.py BUILD: a wrong kernel in the place of a right one makes accept.py fail, and say how to replay it."""

import subprocess
import sys
from pathlib import Path

MUTANT = "mutants.so#PREC-BF16-POSITIONS"
accept = Path(__file__).with_name("accept.py")
command = [sys.executable, str(accept), sys.argv[1], "--level", "quick", "--fresh"]
done = subprocess.run([*command, MUTANT], capture_output=True, text=True, check=False)
words = [f"{MUTANT}, seed 1: rejected by ANG-02", "ropecheck replay 'ANG-02:"]
missing = [word for word in words if word not in done.stderr]
if done.returncode != 1 or missing:
    print(f"expected exit code 1 and {words}; got {done.returncode}\n{done.stdout}{done.stderr}", file=sys.stderr)
    sys.exit(1)
