"""Runs ropecheck on hostile subjects with a right one behind them, and checks what a run must leave as it was."""

import ctypes
import json
import os
import signal
import subprocess
import tempfile
from pathlib import Path

import sentences
import situations

LAST = "half_split"  # the right subject behind the hostile ones
PR_SET_CHILD_SUBREAPER = 36
LONGEST_SUBJECT = 15  # seconds; a hang in the first call takes 4


def adopt_orphans():
    """Whatever a run leaves behind becomes a child of this process."""
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def children():
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                after_name = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if int(after_name[1]) == os.getpid() and after_name[0] != "Z":
                found.append(int(entry.name))
    return found


def reap(options=os.WNOHANG):
    """Waits for children that have ended."""
    try:
        while os.waitpid(-1, options)[0]:
            pass
    except ChildProcessError:
        pass


def end_left_processes():
    """The number of processes that a run left behind; ends them."""
    left = children()
    for process in left:
        os.kill(process, signal.SIGKILL)
    reap(0 if left else os.WNOHANG)
    return len(left)


def outcome_of(argument, ended):
    """Of the kernels of a library, the first that is not harmless. None: the report names none.

    A report adds the kernel to a library's file, and --python to a kernel in Python."""
    found = [outcome for name, outcome in ended.items()
             if name == argument or name.startswith((f"{argument}#", f"{argument} --python"))]
    return next((outcome for outcome in found if outcome.end != sentences.HARMLESS), found[0] if found else None)


class Run:
    """One run of ropecheck: `outcomes` of the attacks, in their order, and `problems` of the run itself."""

    def __init__(self, build, kind, attacks, situation=situations.HERE):
        self.problems, self.report = [], {}
        with tempfile.TemporaryDirectory(prefix="hostile-") as folder:
            self._run(build, kind, attacks, situation, Path(folder))
        ended = sentences.of_report(self.report) if self.report else {}
        self.outcomes = [outcome_of(attack.argument, ended) for attack in attacks]

    def _run(self, build, kind, attacks, situation, folder):
        scratch, home, report = folder / "scratch", folder / "home", folder / "report.json"
        scratch.mkdir()
        home.mkdir()
        (home / "secret").write_text("secret")
        situation.give(folder)
        command = [*kind.start, str(build / "ropecheck"), "verify", *(attack.argument for attack in attacks), LAST,
                   "--only", kind.requirement, "--level", "quick", "--no-diagnosis", "--jobs", "1", *kind.options,
                   *situation.options, "--json", str(report)]  # fmt: skip
        variables = {name: value.replace("{folder}", str(folder)) for name, value in kind.environment.items()}
        child = situation.start(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                text=True, errors="replace", start_new_session=True,
                                env={**os.environ, **variables, "HOME": str(home), "TMPDIR": str(scratch)})
        try:
            out, err = child.communicate(timeout=60 + LONGEST_SUBJECT * len(attacks))
        except BaseException as error:
            os.killpg(child.pid, signal.SIGKILL)
            out, err = child.communicate()
            if not isinstance(error, subprocess.TimeoutExpired):
                raise
            self.problems.append("ropecheck did not end")
        left = end_left_processes()
        if left:
            self.problems.append(f"{left} processes were left behind")
        if any(scratch.iterdir()):
            self.problems.append(f"files were left behind: {', '.join(each.name for each in scratch.iterdir())}")
        self._judge(child.returncode, out + err, report)

    def _judge(self, code, said, path):
        if "internal error" in said.lower():
            self.problems.append("ropecheck said that it has an internal error")
        try:
            self.report = json.loads(path.read_text())
            whole = self.report["subjects"][-1]["subject"] == LAST and self.report["subjects"][-1]["conforms"]
            wrong = any(not subject["conforms"] for subject in self.report["subjects"])
            refused = bool(self.report.get("refused"))
            whole = whole and not self.report.get("not_judged")
        except (OSError, ValueError, LookupError) as error:
            self.report = {}
            last = "".join(f": {line}" for line in said.splitlines()[-1:])
            self.problems.append(f"there is no whole report ({error}); exit code {code}{last[:400]}")
            return
        if not whole:
            self.problems.append(f"{LAST}, the last subject, does not conform, or something was not judged")
        if code != (1 if wrong else 3 if refused else 0):
            self.problems.append(f"the exit code is {code}, which the report does not explain")
