"""Jobs of GitHub and GitLab, as far as our files need them: their variables, their files, and how they run a step."""

import base64
import hashlib
import os
import re
import subprocess
import zipfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
EXPRESSION = re.compile(r"\$\{\{\s*([\w.-]+)\s*\}\}")


def commands_in(log):
    """Those that GitHub's runner takes, as (name, data): ActionCommandManager and ActionCommand of actions/runner. "::"
    may stand behind blanks, "##[" anywhere. After stop-commands, only its word is taken."""
    taken, word = [], None
    for line in log.splitlines():
        found = re.match(r"\s*::(\S+?)(?: .*?)?::(.*)", line) or re.search(r"##\[(\S+?)(?: .*?)?\](.*)", line)
        if not found or word not in (None, found[1]):
            continue
        taken.append((found[1], found[2]))
        word = found[2] if found[1] == "stop-commands" else None
    return taken


@dataclass
class Done:
    code: int
    text: str  # stdout and stderr

    def commands(self):
        return commands_in(self.text)


def environment(**variables):
    """Without what would make a job of this test's own job."""
    kept = {name: value for name, value in os.environ.items()
            if not name.startswith(("ROPECHECK", "GITHUB", "CI", "PYTHON", "VIRTUAL_ENV", "PIP_"))}
    return {**kept, "PIP_DISABLE_PIP_VERSION_CHECK": "1", **variables}


def wheel(path, programs):
    """A wheel that holds only programs {name: text}, so that pip needs no network for it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    name, version = path.name.split("-")[:2]
    files = {f"{name}-{version}.data/scripts/{program}": text for program, text in programs.items()}
    about = f"{name}-{version}.dist-info"
    files[f"{about}/METADATA"] = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    files[f"{about}/WHEEL"] = "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    hashes = {file: base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
              for file, text in files.items()}
    files[f"{about}/RECORD"] = "".join(f"{file},sha256={hashed},\n" for file, hashed in hashes.items())
    with zipfile.ZipFile(path, "w") as archive:
        for file, text in files.items():
            entry = zipfile.ZipInfo(file)
            entry.external_attr = 0o100755 << 16  # a program: pip keeps the mode
            archive.writestr(entry, text)
    return path


class GitHubJob:
    """Runs the `run` steps of a composite action. What others do (`uses`) is left out."""

    def __init__(self, action, folder, path, root=ROOT):
        self.action, self.root = action, root
        self.work, self.temp = folder / "work", folder / "temp"
        for made in (self.work, self.temp, folder / "files"):
            made.mkdir(parents=True)
        self.files = {name: folder / "files" / name for name in ("PATH", "OUTPUT", "STEP_SUMMARY")}
        self.path = [path]
        self.contexts = {"runner.temp": str(self.temp)}

    def step(self, name, inputs, **variables):
        (step,) = [step for step in self.action["runs"]["steps"] if step["name"] == name]
        defaults = {key: str(value.get("default", "")) for key, value in self.action["inputs"].items()}
        assert inputs.keys() <= defaults.keys(), inputs
        known = {**self.contexts, **{f"inputs.{key}": value for key, value in {**defaults, **inputs}.items()}}
        given = {key: EXPRESSION.sub(lambda found: known[found[1]], value)
                 for key, value in step.get("env", {}).items()}
        for file in self.files.values():
            file.write_text("")
        script = self.temp / "step.sh"
        script.write_text(step["run"])
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", str(script)], cwd=self.work, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300,
            env=environment(GITHUB_ACTIONS="true", GITHUB_ACTION_PATH=str(self.root), RUNNER_TEMP=str(self.temp),
                            PATH=os.pathsep.join(self.path), **given, **variables,
                            **{f"GITHUB_{name}": str(file) for name, file in self.files.items()}))
        self.path = [*self.files["PATH"].read_text().split(), *self.path]
        return Done(done.returncode, done.stdout)

    def outputs(self):
        """Of the last step."""
        return dict(line.split("=", 1) for line in self.files["OUTPUT"].read_text().splitlines())


def gitlab_job(template, name, folder, path, **variables):
    """Runs a job's script as GitLab's runner does: in one shell, up to the first command that fails."""
    job = template[name]
    known = {"CI_PROJECT_DIR": str(folder), "GITLAB_CI": "true"}
    for key, value in {**job.get("variables", {}), **variables}.items():
        known[key] = re.sub(r"\$(\w+)", lambda found: known.get(found[1], ""), value)
    script = "set -eo pipefail\n" + "\n".join(job["script"])
    done = subprocess.run(["bash", "--noprofile", "--norc", "-c", script], cwd=folder, text=True, timeout=300,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment(PATH=path, **known))
    return Done(done.returncode, done.stdout)
