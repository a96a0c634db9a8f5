"""The workflows of a public copy call targets of the Makefile, on the Python that is supported."""

from __future__ import annotations

import re
import shutil
import subprocess
import tomllib
from pathlib import Path
from typing import Annotated, Any, Literal, Self

import pytest
import yaml
from packaging.specifiers import SpecifierSet
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

ROOT = Path(__file__).parents[1]
WORKFLOWS = {path.stem: path for path in sorted((ROOT / ".github/workflows").glob("*.yml"))}
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
TARGETS = set(re.findall(r"^([a-z-]+):", MAKEFILE, re.MULTILINE))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


Names = dict[str, str | int | bool]
Access = dict[Literal["contents", "id-token"], Literal["read", "write", "none"]]


class Part(BaseModel):
    """A mapping of a workflow: keys of GitHub's syntax that are used here, and no others."""

    model_config = ConfigDict(extra="forbid", strict=True)


class Pushed(Part):
    branches: list[str] = []
    tags: list[str] = []


class Trigger(Part):
    push: Pushed | None = None
    pull_request: None = None
    workflow_dispatch: None = None
    schedule: list[dict[Literal["cron"], str]] = []


class Step(Part):
    name: str = ""
    uses: Annotated[str, Field(pattern=r"^[\w-]+/[\w-]+@[\w./-]+$")] | None = None
    inputs: Annotated[Names, Field(alias="with")] = {}
    run: str | None = None

    @model_validator(mode="after")
    def _single_action(self) -> Self:
        assert (self.uses is None) != (self.run is None), "a step either uses or runs"
        assert self.uses or not self.inputs, "with belongs to uses"
        return self


class Strategy(Part):
    fail_fast: Annotated[bool, Field(alias="fail-fast")] = True
    matrix: dict[str, list[str]]


class Job(Part):
    name: str = ""
    runs_on: Annotated[str, Field(alias="runs-on")]
    timeout: Annotated[int, Field(alias="timeout-minutes", gt=0, le=360)]
    needs: list[str] = []
    environment: str = ""
    permissions: Access = {}
    strategy: Strategy | None = None
    steps: Annotated[list[Step], Field(min_length=1)]

    @model_validator(mode="after")
    def _names_are_there(self) -> Self:
        matrix = self.strategy.matrix if self.strategy else {}
        text = self.model_dump_json()
        named = re.findall(r"\$\{\{ (.*?) \}\}", text)
        unknown = {expression for expression in named if not expression.startswith("hashFiles(")}
        assert unknown == {f"matrix.{key}" for key in matrix}
        systems = matrix["system"] if "matrix.system" in self.runs_on else [self.runs_on]
        assert {*systems} <= {"ubuntu-latest", "macos-latest", "windows-latest"}
        return self


class Workflow(Part):
    name: str
    on: Trigger
    permissions: Access
    jobs: Annotated[dict[Annotated[str, Field(pattern="^[a-z-]+$")], Job], Field(min_length=1)]

    @model_validator(mode="after")
    def _needs_are_jobs(self) -> Self:
        assert {need for job in self.jobs.values() for need in job.needs} <= self.jobs.keys()
        return self


def read(text: str) -> Workflow:
    """Return a checked workflow; YAML 1.1, and PyYAML, read the key ``on`` as true."""
    mapping = yaml.safe_load(text)
    return Workflow.model_validate({"on" if key is True else key: mapping[key] for key in mapping})


@pytest.mark.parametrize("name", WORKFLOWS)
def test_the_syntax_is_that_of_a_workflow(name: str) -> None:
    text = WORKFLOWS[name].read_text(encoding="utf-8")
    assert read(text).name == name
    assert text.startswith("# Never run by GitHub so far")


@pytest.mark.parametrize(
    ("right", "invalid"),
    [
        ("steps:", "step:"),
        ("- run: make test-wheel", "- make: test-wheel"),
        ("- run: make test-wheel", "- uses: actions/checkout@v4\n        run: make test-wheel"),
        ("actions/checkout@v4", "actions/checkout"),
        ("runs-on: ubuntu-latest", "runs-on: ubuntu"),
        ("timeout-minutes: 60", "timeout-minutes: soon"),
        ("needs: [build]", "needs: [builds]"),
        ("environment: pypi", "environment: ${{ matrix.place }}"),
        ("id-token: write", "id-token: all"),
        ("on:", "when:"),
    ],
)
def test_mistakes_in_a_workflow_are_detected(right: str, invalid: str) -> None:
    text = WORKFLOWS["release"].read_text(encoding="utf-8")
    assert right in text
    with pytest.raises(ValidationError):
        read(text.replace(right, invalid, 1))


def jobs(path: Path) -> dict[str, Any]:
    """Return the jobs of a workflow."""
    jobs_of_file: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))["jobs"]
    return jobs_of_file


def commands(path: Path) -> list[str]:
    """Return what a workflow runs; of a matrix of targets, each."""
    lines = []
    for job in jobs(path).values():
        targets = job.get("strategy", {}).get("matrix", {}).get("target", [""])
        for step in job["steps"]:
            if "run" in step:
                ran = [step["run"].replace("${{ matrix.target }}", target) for target in targets]
                lines += dict.fromkeys(ran)
    return lines


def pythons(path: Path) -> list[str]:
    """Return the releases of Python that a workflow sets up; "3.1" for 3.10 would be a number."""
    versions = []
    for job in jobs(path).values():
        for step in job["steps"]:
            version = step.get("with", {}).get("python-version")
            if version == "${{ matrix.python }}":
                versions += job["strategy"]["matrix"]["python"]
            elif version:
                versions.append(version)
    return versions


def test_every_check_has_a_workflow() -> None:
    called = {command for path in WORKFLOWS.values() for command in commands(path)}
    assert called >= {"make test", "make check-static", "make docs", "make maxcut"}


@pytest.mark.parametrize("name", WORKFLOWS)
def test_every_command_is_a_target(name: str) -> None:
    for command in commands(WORKFLOWS[name]):
        if command.startswith("python -m "):  # where there is no make
            assert (ROOT / f"{command.split()[2].replace('.', '/')}.py").is_file()
            continue
        program, target, *variables = command.split()
        assert program == "make"
        assert target in TARGETS
        assert all(re.fullmatch(r"[A-Z]+=\S+", variable) for variable in variables)


def test_they_run_all_that_every_change_must_pass() -> None:
    script = (ROOT / ".ci/run").read_text(encoding="utf-8")
    targets = set(re.findall(r"^make (\S+)", script, re.MULTILINE))
    assert {
        "test",
        "test-long",
        "test-other-kernel",
        "test-other-python",
        "test-wheel",
        "docs",
    } < targets
    if ".venv/bin/plab check " in script:
        targets.add("check-configs")
    assert re.findall(r"^\s*\.venv/bin/(?!plab check )", script, re.MULTILINE) == []
    called = {command.split()[1] for path in WORKFLOWS.values() for command in commands(path)}
    assert targets <= called


def test_the_wheel_is_run_on_three_systems() -> None:
    smoke = jobs(WORKFLOWS["test"])["smoke"]
    systems = smoke["strategy"]["matrix"]["system"]
    assert systems == ["ubuntu-latest", "macos-latest", "windows-latest"]
    assert smoke["steps"][-1]["run"] == "python -m tests.wheel.run"


@pytest.mark.skipif(not shutil.which("make"), reason="there is no make here")
def test_a_first_run_installs_no_tools_of_developers_and_compiles_nothing(tmp_path: Path) -> None:
    for name in ("Makefile", "pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path)
    quick, tests = (
        subprocess.run(["make", "-n", target], cwd=tmp_path, check=True, capture_output=True).stdout
        for target in ("quickstart", "test")
    )
    assert b"-e .\n" in quick
    assert b"run configs/quickstart.yaml" in quick
    assert b"[dev]" not in quick
    assert b"numerics.compiled" not in quick
    assert b'-e ".[dev]"' in tests


def test_every_configuration_is_checked() -> None:
    listed = re.search(r"^CONFIGS := \$\(sort \$\(wildcard (.*)\)\)", MAKEFILE, re.MULTILINE)
    assert listed is not None
    checked = {path for pattern in listed[1].split() for path in ROOT.glob(pattern)}
    assert checked == set((ROOT / "configs").rglob("*.yaml"))


@pytest.mark.parametrize("name", WORKFLOWS)
def test_the_releases_of_python_are_supported(name: str) -> None:
    allowed = SpecifierSet(PROJECT["requires-python"])
    versions = pythons(WORKFLOWS[name])
    running = [job for job in jobs(WORKFLOWS[name]).values() if "run" in str(job["steps"])]
    assert len(versions) >= len(running)
    assert all(isinstance(version_, str) and version_ in allowed for version_ in versions)


def test_the_oldest_release_is_among_those_tested() -> None:
    (oldest,) = re.findall(r">=([\d.]+)", PROJECT["requires-python"])
    assert oldest in pythons(WORKFLOWS["test"])
    assert len(set(pythons(WORKFLOWS["test"]))) >= 4


@pytest.mark.parametrize("name", WORKFLOWS)
def test_files_named_by_a_workflow_exist_or_are_created(name: str) -> None:
    text = WORKFLOWS[name].read_text(encoding="utf-8")
    for file in re.findall(r"hashFiles\('([^']+)'\)|cache-dependency-path: (\S+)", text):
        assert (ROOT / "".join(file)).is_file()
    ignored = (ROOT / ".gitignore").read_text().split()
    for folder in re.findall(r"^ +path: (\S+)$", text, re.MULTILINE):
        top, inner = folder.split("/")[:2]
        assert {f"/{top}/*", f"/{top}/{inner}".rstrip("/") + "/"} & {*ignored}


class Label(Part):
    label: str
    required: bool = False


class Attributes(Part):
    label: str = ""
    description: str = ""
    render: str = ""
    value: str = ""
    options: list[str] | list[Label] = []


class Element(Part):
    type: Literal["markdown", "textarea", "input", "dropdown", "checkboxes"]
    id: Annotated[str, Field(pattern="^[a-z-]+$")]
    attributes: Attributes
    validations: dict[Literal["required"], bool] = {}

    @model_validator(mode="after")
    def _choices_have_options(self) -> Self:
        assert bool(self.attributes.options) == (self.type in ("dropdown", "checkboxes"))
        assert self.attributes.label or self.type == "markdown"
        return self


class Form(Part):
    name: str
    description: str
    labels: list[str]
    body: Annotated[list[Element], Field(min_length=1)]

    @model_validator(mode="after")
    def _identifiers_differ(self) -> Self:
        names = [element.id for element in self.body]
        assert len(names) == len(set(names))
        return self


FORMS = sorted((ROOT / ".github/ISSUE_TEMPLATE").glob("[!c]*.yml"))


@pytest.mark.parametrize("path", FORMS, ids=lambda path: path.stem)
def test_the_syntax_is_that_of_an_issue_form(path: Path) -> None:
    form = Form.model_validate(yaml.safe_load(path.read_text(encoding="utf-8")))
    assert form.body[0].validations == {"required": True}


@pytest.mark.parametrize(
    ("right", "invalid"),
    [
        ("type: dropdown", "type: menu"),
        ("id: answer", "id: command"),
        ("options:", "choices:"),
        ("label: Version", "labels: Version"),
        ("required: true", "required: yes please"),
    ],
)
def test_mistakes_in_an_issue_form_are_detected(right: str, invalid: str) -> None:
    (path,) = [path for path in FORMS if path.stem == "wrong-answer"]
    text = path.read_text(encoding="utf-8")
    assert right in text
    with pytest.raises(ValidationError):
        Form.model_validate(yaml.safe_load(text.replace(right, invalid, 1)))
