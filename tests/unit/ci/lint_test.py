"""The files of the CI kit, as the tools that read them see them: python3 lint_test.py BUILD.

yamllint, the published schemas of GitHub and GitLab, shellcheck, hadolint, and pre-commit, which also runs the hook.
Exit code 77: these packages cannot be installed here.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path.insert(0, str(ROOT / "tests/unit/python"))
sys.path.insert(0, str(ROOT / "tests/docs"))

import environment  # noqa: E402

if __name__ == "__main__":
    environment.with_requirements("ci-venv", HERE / "requirements.txt")

import blocks  # noqa: E402
import yaml  # noqa: E402

import jobs  # noqa: E402

FILES = {name: ROOT / name for name in ("action.yml", "tools/ci/gitlab.yml", ".pre-commit-hooks.yaml")}
PROGRAMS = Path(sys.prefix) / "bin"


def run(program, *words, cwd=ROOT, **variables):
    done = subprocess.run([PROGRAMS / program, *map(str, words)], cwd=cwd, env=variables or None, text=True, timeout=300,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return done.returncode, done.stdout


class Lint(unittest.TestCase):
    def holds(self, program, *words):
        code, text = run(program, *words)
        self.assertEqual(code, 0, text)

    def fails(self, words, program, *arguments):
        """These checks can fail."""
        code, text = run(program, *arguments)
        self.assertNotEqual(code, 0)
        self.assertIn(words, text)

    def schema(self, name, file):
        return "check-jsonschema", "--builtin-schema", f"vendor.{name}", file

    def changed(self, name, old, new):
        made = tempfile.TemporaryDirectory()
        self.addCleanup(made.cleanup)
        text = FILES[name].read_text()
        self.assertIn(old, text)
        file = Path(made.name) / Path(name).name
        file.write_text(text.replace(old, new))
        return file

    def test_yaml(self):
        style = ("yamllint", "--strict", "--config-file", HERE / "yamllint.yml")
        self.holds(*style, *FILES.values())
        self.fails("duplication of key", *style, self.changed("action.yml", "description: Judges", "name: Judges"))

    def test_action(self):
        self.holds(*self.schema("github-actions", FILES["action.yml"]))
        misspelt = self.changed("action.yml", "shell: bash", "shel: bash")
        self.fails("'shel' was unexpected", *self.schema("github-actions", misspelt))

    def test_gitlab(self):
        # The schema looks into no hidden job, so the copy's job has a name without a dot.
        shown = self.changed("tools/ci/gitlab.yml", ".ropecheck:", "ropecheck:")
        self.holds(*self.schema("gitlab-ci", shown))
        shown.write_text(shown.read_text().replace("when: always", "when: ever"))
        self.fails("'ever' is not one of", *self.schema("gitlab-ci", shown))

    def test_shell(self):
        scripts = [ROOT / "tools/ci/ropecheck-ci", ROOT / "tools/ci/install"]
        self.holds("shellcheck", "--external-sources", "--source-path", ROOT, *scripts)

    def test_image(self):
        self.holds("hadolint", ROOT / "tools/ci/Dockerfile")

    def test_examples_of_the_page(self):
        """docs/ci.md shows what GitHub, GitLab and pre-commit accept, with inputs and variables that we have."""
        action, gitlab = (yaml.safe_load(FILES[name].read_text()) for name in ("action.yml", "tools/ci/gitlab.yml"))
        found = [block for block in blocks.blocks_of((ROOT / "docs/ci.md").read_text()) if block.language == "yaml"]
        kinds = set()
        for block in found:
            content = yaml.safe_load(block.text)
            with tempfile.TemporaryDirectory() as folder:
                file = Path(folder) / "example.yml"
                if isinstance(content, list):
                    kinds.add("github")
                    for step in content:
                        self.assertLessEqual(set(step["with"]), set(action["inputs"]))
                    job = {"runs-on": "ubuntu-latest", "steps": content}
                    file.write_text(yaml.safe_dump({"name": "rope", "on": "push", "jobs": {"rope": job}}))
                    self.holds(*self.schema("github-workflows", file))
                elif "include" in content:
                    kinds.add("gitlab")
                    self.assertLessEqual(set(content["rope"]["variables"]), set(gitlab[".ropecheck"]["variables"]))
                    self.assertEqual(content["rope"]["extends"], ".ropecheck")
                    file.write_text(block.text)
                    self.holds(*self.schema("gitlab-ci", file))
                else:
                    kinds.add("pre-commit")
                    file.write_text(block.text)
                    self.holds("pre-commit", "validate-config", file)
        self.assertEqual(kinds, {"github", "gitlab", "pre-commit"})


class Hook(unittest.TestCase):
    """pre-commit takes the hook from a repository with our files and runs it in another one."""

    @classmethod
    def setUpClass(cls):
        cls.made = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.made.cleanup)
        cls.folder = Path(cls.made.name)
        cls.hooks, cls.user = cls.folder / "hooks", cls.folder / "user"
        for name in (".pre-commit-hooks.yaml", "tools/ci/ropecheck-ci"):
            (cls.hooks / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, cls.hooks / name)
        cls.user.mkdir()
        (cls.user / "kernel.c").write_text("int x;\n")
        for repository in (cls.hooks, cls.user):
            cls.git(repository, "init", "--quiet")
            cls.git(repository, "add", ".")
            cls.git(repository, "-c", "user.name=test", "-c", "user.email=test", "commit", "--quiet", "-m", "test")

    @classmethod
    def variables(cls):
        path = os.pathsep.join([str(BUILD), os.environ.get("PATH", os.defpath)])
        variables = jobs.environment(PATH=path, PRE_COMMIT_HOME=str(cls.folder / "home"))
        return {name: value for name, value in variables.items() if not name.startswith("GIT_")}

    @classmethod
    def git(cls, repository, *words):
        done = subprocess.run(["git", "-C", repository, *words], env=cls.variables(), check=True, capture_output=True,
                              text=True)
        return done.stdout.strip()

    def hook(self, *words):
        revision = self.git(self.hooks, "rev-parse", "HEAD")
        hook = {"id": "ropecheck", "args": [*words]}
        config = {"repos": [{"repo": str(self.hooks), "rev": revision, "hooks": [hook]}]}
        (self.user / ".pre-commit-config.yaml").write_text(yaml.safe_dump(config))
        return run("pre-commit", "run", "--all-files", cwd=self.user, **self.variables())

    def test_the_manifest(self):
        code, text = run("pre-commit", "validate-manifest", FILES[".pre-commit-hooks.yaml"])
        self.assertEqual(code, 0, text)

    def test_it_judges_what_args_names(self):
        few = ["--only", "ROT-01", "--no-diagnosis", "--head-dim", "8"]
        code, text = self.hook("half_split", *few)
        self.assertEqual(code, 0, text)
        self.assertIn("Passed", text)
        code, text = self.hook(f"{BUILD}/mutants.so#PIPE-01", *few)
        self.assertEqual(code, 1, text)
        self.assertIn("exit code 1: the kernel", text)
        code, text = self.hook()
        self.assertEqual(code, 1, text)
        self.assertIn("no subject", text)


if __name__ == "__main__":
    BUILD = Path(sys.argv.pop(1)).resolve()
    unittest.main()
