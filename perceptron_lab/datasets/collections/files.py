"""Users' files: rows, labelled examples, linear or semidefinite programs, graphs."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

import numpy as np
from pydantic import (
    BeforeValidator,
    Field,
    SerializerFunctionWrapHandler,
    ValidationInfo,
    field_validator,
    model_serializer,
)

from perceptron_lab.core.errors import InputError
from perceptron_lab.core.refusals import parameter_record
from perceptron_lab.core.results import FloatArray
from perceptron_lab.datasets.dataset import Dataset, check_distinct, check_instance_name
from perceptron_lab.datasets.generated.generator import split_by_class
from perceptron_lab.datasets.parts import sha256_of_data
from perceptron_lab.datasets.problem import Problem, Task

if TYPE_CHECKING:
    from perceptron_lab.datasets.formats.columns import Columns

_ENDS = [
    ".gz",
    ".dat-s",
    ".dat",
    ".rud",
    ".mc",
    ".mtx",
    ".mps",
    ".lp",
    ".csv",
    ".tsv",
    ".txt",
    ".npy",
    ".npz",
    ".parquet",
    ".svm",
    ".libsvm",
]


_ADDED = ("reference", "positive", "negative_upper")


def stem_of(file: str) -> str:
    """Return the name of a file's instance: its stem, with - for other characters.

    A pattern of names is named after its folder as well.
    """
    name = Path(file).name
    for end in _ENDS:
        name = name.removesuffix(end)
    if set(name) & set("*?["):
        name = f"{Path(file).parent.name} {name.strip('*?')}".strip() or "parts"
    return re.sub(r"[^A-Za-z0-9._-]+", "-", name)[:64]


def _listed(value: object) -> object:
    """Return names of columns as a list; a text is a single name."""
    return [value] if isinstance(value, str) else value


def _divided(value: object) -> object:
    """Return names of columns as a list; a text holds names separated by commas."""
    from perceptron_lab.datasets.formats.columns import listed_columns

    return list(listed_columns(value, divided=True)) if isinstance(value, str) else value


@parameter_record
class Files(Dataset):
    """Your own data: CSV and other texts, Parquet, numpy's, svmlight's, SDPA, MPS, LP, graphs.

    Each instance is named after its file, without the end of the name, and with hyphens for spaces
    and the like. Rows a_i are the homogeneous
    system a_i'y > 0; labelled examples of two classes that of an affine separator (w, b), with the
    larger label as positive class; an SDPA file is the homogenised feasibility problem of its
    program, a graph (the G-set's format, or ``.mtx``) that of its MAXCUT relaxation; an
    MPS or LP file holds linear conditions, which auto and highs answer about.

    With a test_fraction, labelled examples are split, the classes in proportion, by the seed: each
    answer is measured by ``test_error``, the fraction of the test examples on whose sign it is
    wrong, and learners have a task.

    Parameters
    ----------
    files
        Paths of files, relative to the folder of the configuration; at least one.
    labels
        The column of the labels: its name, its number from 1 on, or ``last``; by default there are
        none, and a table with names is refused if one of its columns looks like labels.
    rows
        Whether there are no labels, whatever the columns look like (default false).
    drop_missing
        Whether rows of a text that lack an entry are left out (default false: they are refused).
    one_hot
        Whether each level of a column of texts but one becomes a column of zeros and ones (default
        false: texts are refused).
    reference
        ``COLUMN=LEVEL`` each: with ``one_hot``, the level without a column; by default the first in
        sorted order. Without labels there is no intercept, and the first column of texts keeps all
        levels, unless it is listed.
    positive
        The label of the positive class, against all others, of which there may be several; by
        default the larger of two.
    drop
        Columns that are left out, by names or numbers (default: none).
    columns
        The columns that are coordinates, by names or numbers (default: all others but row names).
    margin
        ``unit`` (default: rows are divided by their norms), ``directional`` (rows as given) or, of
        labelled examples, ``geometric`` (half the distance of the classes' hulls).
    negative_upper
        Of linear programs: the lower bound of a column with a negative upper bound and no lower
        bound, ``zero`` or ``free`` (default: free in MPS files, zero in LP files).
    test_fraction
        Of the examples, 0 (default) to below 1, not used for training.
    """

    added_later: ClassVar = ("drop", "columns")

    files: Annotated[list[str], Field(min_length=1)]
    labels: str | None = None
    rows: bool = False
    drop_missing: bool = False
    one_hot: bool = False
    reference: list[str] | None = None
    positive: str | int | float | None = None
    drop: Annotated[list[str] | None, BeforeValidator(_listed)] = None
    columns: Annotated[list[str] | None, BeforeValidator(_divided)] = None
    margin: Literal["unit", "directional", "geometric"] = "unit"
    negative_upper: Literal["zero", "free"] | None = None
    test_fraction: Annotated[float, Field(ge=0, lt=1)] = 0.0

    @field_validator("files")
    @classmethod
    def _distinct(cls, files: list[str]) -> list[str]:
        for name in check_distinct([stem_of(file) for file in files]):
            check_instance_name(name)
        return files

    @field_validator("rows")
    @classmethod
    def _without_labels(cls, rows: bool, info: ValidationInfo) -> bool:
        if rows and info.data.get("labels") is not None:
            raise ValueError("rows have no labels; delete one of the two")
        return rows

    @model_serializer(mode="wrap")
    def _serialised(self, handler: SerializerFunctionWrapHandler) -> dict[str, object]:
        """Omit parameters that earlier versions lack, so that their cells keep their ids."""
        every: dict[str, object] = handler(self)
        return {
            name: parameter
            for name, parameter in every.items()
            if name not in _ADDED or parameter is not None
        }

    def names(self) -> list[str]:
        """Return the names of the instances; no file is opened."""
        return [stem_of(file) for file in self.files]

    def own_file(self, name: str, base: Path) -> Path:
        """Return the file of an instance."""
        return base / dict(zip(self.names(), self.files, strict=True))[name]

    def load(self, name: str, *, seed: int, base: Path) -> Problem:
        """Read an instance; the seed is that of the split into training and test examples."""
        # Imported here: a configuration's names are checked without numerical code.
        from perceptron_lab.datasets.collections.problem_files import read_problem
        from perceptron_lab.datasets.formats.columns import ConfiguredColumns

        self.check_name(name)
        path = self.own_file(name, base)
        selection = tuple(self.drop or ()), tuple(self.columns or ())
        columns = ConfiguredColumns(
            self.labels,
            self.rows,
            self.drop_missing,
            self.one_hot,
            *selection,
            reference=tuple(self.reference or ()),
            positive=None if self.positive is None else str(self.positive),
            negative_upper=self.negative_upper,
        )
        if self.test_fraction:
            return self._split(name, path, columns, seed)
        system = read_problem(path, columns, margin=self.margin).system.conic()
        return Problem(name, system, sha256_of_data(path), system.facts())

    def _split(self, name: str, path: Path, columns: Columns, seed: int) -> Problem:
        """Return an instance with test examples."""
        from perceptron_lab.datasets.formats.file_contents import read_contents, with_path
        from perceptron_lab.systems import ConicSystem

        with with_path(path):
            contents = read_contents(path, columns)
            if contents.classes is None:
                raise InputError("it has no labels, so no test examples; give labels")
            rows = contents.in_memory()
            signs = contents.two_classes().signs
            try:
                train, test = split_by_class(name, signs, self.test_fraction, seed)
            except ValueError as error:
                raise InputError(
                    f"test_fraction {self.test_fraction:g} cannot be had ({error}); choose one "
                    "nearer to 0.5"
                ) from None
            training = rows.part(train)
            system = ConicSystem.from_labelled(training, signs[train], margin=self.margin)
        task = Task(name, rows.values[train], signs[train], rows.values[test], signs[test])
        facts = system.facts()
        return Problem(name, system, sha256_of_data(path), facts, _error_on(task), (task,))


def _error_on(task: Task) -> Callable[[FloatArray], dict[str, float | FloatArray]]:
    """Return the measure of a point (w, b): the fraction of wrong signs among test examples."""

    def measure(point: FloatArray) -> dict[str, float | FloatArray]:
        decisions = np.asarray(task.test_examples @ point[:-1] + point[-1])
        return {"test_error": float(np.mean(task.test_labels * decisions <= 0.0))}

    return measure
