"""The contributor's kit: its files parse, and the commands, folders and extras they name are there."""

from __future__ import annotations

import importlib
import json
import re
import shutil
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

yaml = pytest.importorskip("yaml", reason="needs PyYAML")

ROOT = Path(__file__).parents[1]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
FORMS = sorted(path for path in (ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml") if path.stem != "config")
PROVIDED = {"ruff": "lint", "mypy": "lint", "lint-imports": "lint", "mkdocs": "docs", "pytest": "test"}
"""Programs that the kit calls, and the extra they come with."""
PACKAGES = {"lint-imports": "import-linter", "mkdocs": "mkdocs-material"}


def load(path: Path) -> Any:
    """A YAML file; `on:` of a workflow, which YAML takes for a truth value, is a name again."""
    content = yaml.safe_load(path.read_text(encoding="utf-8"))
    if isinstance(content, dict) and True in content:
        content["on"] = content.pop(True)
    return content


def project(folder: str = ".") -> Any:
    """The `[project]` table of a distribution."""
    return tomllib.loads((ROOT / folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def steps(workflow: Path) -> list[tuple[str, dict[str, Any]]]:
    """All steps of a workflow, each with the name of its job."""
    return [(name, step) for name, job in load(workflow)["jobs"].items() for step in job["steps"]]


def commands(workflow: Path) -> list[str]:
    """All lines that a workflow runs."""
    return [line.strip() for _, step in steps(workflow) for line in step.get("run", "").splitlines() if line.strip()]


def readme_test_command() -> str:
    """What stands below the mark in README.md."""
    found = re.search(
        r"<!-- test command -->\n```bash\n(.*?)\n```", (ROOT / "README.md").read_text(encoding="utf-8"), re.S
    )
    assert found
    return found[1]


def test_the_workflow_runs_the_test_command_of_the_readme() -> None:
    """The line that looks for the command finds it, and `.ci/run` looks for it in the same way."""
    looking = [
        line for line in commands(ROOT / ".github" / "workflows" / "checks.yml") if "<!-- test command -->" in line
    ]
    assert len(looking) == 1
    program = re.search(r"awk '.*' README.md", looking[0])
    assert program and program[0] in (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    if shutil.which("bash") is None or shutil.which("awk") is None:
        pytest.skip("needs bash and awk")
    script = f'{looking[0]}\necho "$command"'
    found = subprocess.run(["bash", "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    assert found.stdout.strip() == readme_test_command()


def test_the_oldest_and_the_newest_python_are_tested_on_three_systems() -> None:
    """As the distributions declare them."""
    matrix = load(ROOT / ".github" / "workflows" / "checks.yml")["jobs"]["tests"]["strategy"]["matrix"]
    assert {system.split("-")[0] for system in matrix["os"]} == {"ubuntu", "macos", "windows"}
    for folder in (".", "studies"):
        known = [text.rsplit(" ", 1)[1] for text in project(folder)["classifiers"] if re.search(r":: 3\.\d+$", text)]
        assert project(folder)["requires-python"] == f">={matrix['python'][0]}"
        assert [known[0], known[-1]] == matrix["python"]


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.stem)
def test_actions_are_pinned_and_permissions_are_said(workflow: Path) -> None:
    """Every action has a version, every job a limit, and nothing has rights that are not written down."""
    content = load(workflow)
    assert content["permissions"] in ({}, {"contents": "read"})
    assert all("timeout-minutes" in job for job in content["jobs"].values())
    used = [step["uses"] for _, step in steps(workflow) if "uses" in step]
    assert used and all(re.fullmatch(r"[\w./-]+@v\d+(\.\d+)*", action) for action in used)


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.stem)
def test_the_commands_of_the_workflows_exist(workflow: Path) -> None:
    """Programs come with an extra that the job installs, and folders are there."""
    for job in load(workflow)["jobs"].values():
        lines = [line.strip() for step in job["steps"] for line in step.get("run", "").splitlines()]
        installed = {
            extra for line in lines for found in re.findall(r"\.\[([\w,]+)\]", line) for extra in found.split(",")
        }
        assert installed <= set(project()["optional-dependencies"])
        for line in lines:
            words = line.split()
            if words and words[0] in PROVIDED:
                assert PROVIDED[words[0]] in installed, line
                wanted = project()["optional-dependencies"][PROVIDED[words[0]]]
                assert any(each.startswith(PACKAGES.get(words[0], words[0])) for each in wanted), line
                assert all((ROOT / word).exists() for word in words[2:] if word.isalpha() and word != "build"), line
            if line.startswith("python -m build"):
                assert (ROOT / words[-1] / "pyproject.toml").exists()


def test_lint_is_the_same_here_and_there() -> None:
    """What the workflow checks, `.ci/run` checks with the same words."""
    here = (ROOT / ".ci" / "run").read_text(encoding="utf-8").replace('"', "").replace("$bin/", "")
    job = load(ROOT / ".github" / "workflows" / "checks.yml")["jobs"]["lint"]
    wanted = [step["run"] for step in job["steps"] if step.get("run", "pip").split()[0] != "pip"]
    assert len(wanted) == 4
    assert not [command for command in wanted if f"\n{command}\n" not in here]


def test_both_distributions_are_published_without_a_password() -> None:
    """Each has a job of its own with an environment, and only these may ask for an identity token."""
    jobs = load(ROOT / ".github" / "workflows" / "release.yml")["jobs"]
    publishing = {name: job for name, job in jobs.items() if "id-token" in job.get("permissions", {})}
    assert set(publishing) == {project()["name"], project("studies")["name"]}
    for name, job in publishing.items():
        assert job["environment"]["name"] == f"pypi-{name}"
        upload = job["steps"][-1]
        assert upload["uses"].startswith("pypa/gh-action-pypi-publish@")
        assert upload["with"] == {"packages-dir": f"dist/{name}/"}
        assert f"python -m build --outdir dist/{name} " in " ".join(commands(ROOT / ".github/workflows/release.yml"))
    assert "secrets." not in (ROOT / ".github" / "workflows" / "release.yml").read_text(encoding="utf-8")


def test_the_hooks_call_what_the_checks_call() -> None:
    """Local hooks are programs of the `lint` extra, and name files that exist."""
    content = load(ROOT / ".pre-commit-config.yaml")
    local = next(repo for repo in content["repos"] if repo["repo"] == "local")["hooks"]
    assert [hook["entry"].split()[0] for hook in local] == ["ruff", "ruff", "mypy", "lint-imports"]
    assert all(hook["language"] == "system" for hook in local)
    others = [repo for repo in content["repos"] if repo["repo"] != "local"]
    assert others and all(re.fullmatch(r"v\d+\.\d+\.\d+", repo["rev"]) for repo in others)
    assert re.match(local[2]["files"], "src/flipwise/minimization.py")


@pytest.mark.parametrize("form", FORMS, ids=lambda path: path.stem)
def test_issue_forms_ask_for_what_is_needed(form: Path) -> None:
    """Fields have names of their own and labels; a bug needs a program and the versions."""
    content = load(form)
    assert {"name", "description", "body"} <= set(content)
    fields = [part for part in content["body"] if part["type"] != "markdown"]
    assert len({field["id"] for field in fields}) == len(fields)
    assert all(field["attributes"]["label"] for field in fields)
    if "bug" in content["labels"]:
        required = {field["id"] for field in fields if field.get("validations", {}).get("required")}
        assert {"program", "doctor"} <= required


def test_the_documentation_service_builds_what_the_checks_build() -> None:
    """The same configuration, an extra that exists, warnings as errors."""
    content = load(ROOT / ".readthedocs.yaml")
    assert (ROOT / content["mkdocs"]["configuration"]).exists() and content["mkdocs"]["fail_on_warning"]
    assert content["python"]["install"][0]["extra_requirements"] == ["docs"]
    assert "docs" in project()["optional-dependencies"]


def test_updates_are_looked_for_where_there_is_something() -> None:
    """Every folder of the list has a project file."""
    for update in load(ROOT / ".github" / "dependabot.yml")["updates"]:
        if update["package-ecosystem"] == "pip":
            assert all((ROOT / folder.strip("/") / "pyproject.toml").exists() for folder in update["directories"])


def test_the_template_of_changes_names_commands_that_exist() -> None:
    """Scripts and programs between backticks."""
    text = (ROOT / ".github" / "pull_request_template.md").read_text(encoding="utf-8")
    for script in re.findall(r"`python (\S+\.py)", text):
        assert (ROOT / script).exists()
    assert readme_test_command().endswith(re.findall(r"`(\.venv/bin/pytest[^`]*)`", text)[0])


@dataclass
class Script:
    """A tree of `benchmarks/quick.py` whose measurements are written down beforehand."""

    name: str
    seconds: list[float | str]

    def measure(self, operation: str) -> dict[str, Any]:
        """The next one; a text is an error."""
        taken = self.seconds.pop(0)
        return {"error": taken} if isinstance(taken, str) else {"seconds": taken, "answer": "1.0"}


@pytest.mark.parametrize(
    ("before", "now", "slower"),
    [
        ([1.0] * 9, [1.2] * 9, True),
        ([1.0] * 9, [1.2, 1.2, 1.2, 1.2, 1.05, 1.2], False),
        ([1.0] * 9, [1.0] * 3, False),
        ([1.0] * 3, ["ImportError"] * 3, True),
        (["TypeError"] * 3, [1.0] * 3, False),
    ],
    ids=["slow three times", "quick once", "as quick", "fails here", "unknown there"],
)
def test_slower_means_three_times_in_a_row(
    before: list[Any], now: list[Any], slower: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The best of a round counts, and one quick round is enough."""
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    quick = importlib.import_module("quick")
    row = quick.compare("maxcut", Script("main", list(before)), Script("here", list(now)))
    assert row["slower"] is slower
    assert ("note" in row) is any(isinstance(each, str) for each in before + now)


def test_the_quick_benchmarks_run() -> None:
    """One of them, in a process as it will be used; each says what it measures."""
    script = ROOT / "benchmarks" / "quick.py"
    command = [sys.executable, str(script), "--worker", "minimize count"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    measured = json.loads(done.stdout)
    assert measured["seconds"] > 0 and float(measured["answer"]) < 0
