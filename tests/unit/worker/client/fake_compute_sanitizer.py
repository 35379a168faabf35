#!/usr/bin/env python3
"""NVIDIA's compute-sanitizer for machines without a device: runs the program, then writes the fake driver's findings.

The text is copied from version 2026.4. FAKE_SANITIZER_BROKEN: what version 2026.4 writes if it cannot start a program.
FAKE_SANITIZER_STARTED: a file that gets a line with the tool.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

options, words = {}, sys.argv[1:]
while words[0].startswith("--"):
    options[words[0]], *words = words[1:]
tool, log = options["--tool"], Path(options["--log-file"])
text = "========= COMPUTE-SANITIZER\n"
if "FAKE_SANITIZER_STARTED" in os.environ:
    with open(os.environ["FAKE_SANITIZER_STARTED"], "a") as started:
        started.write(f"{tool}\n")
if "FAKE_SANITIZER_BROKEN" in os.environ:
    log.write_text(
        f"{text}========= Error: process didn't terminate successfully\n"
        "========= Error: Target application terminated before first instrumented API call\n"
    )
    sys.exit(255)
with tempfile.TemporaryDirectory() as folder:
    findings = Path(folder) / "findings"
    findings.touch()
    watched = {**os.environ, "FAKE_SANITIZER_TOOL": tool, "FAKE_SANITIZER_FINDINGS": str(findings)}
    status = subprocess.call(words, env=watched, close_fds=False)
    text += findings.read_text()
errors = text.count("\n=========\n")
if tool == "racecheck":
    text += f"========= RACECHECK SUMMARY: {errors} hazards displayed ({errors} errors, 0 warnings)\n"
else:
    text += f"========= ERROR SUMMARY: {errors} errors\n"
log.write_text(text)
sys.exit(status)
