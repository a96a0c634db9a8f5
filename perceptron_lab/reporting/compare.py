"""Compare two runs of the same problems: ratios, changes of status, other differences."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from perceptron_lab.core.errors import ConfigError, counted, did_you_mean
from perceptron_lab.core.results import Status
from perceptron_lab.core.visible_text import visible
from perceptron_lab.estimators.learners.precision import resample_counts
from perceptron_lab.experiments.configuration.rows import Row
from perceptron_lab.experiments.storage.reader import Reader
from perceptron_lab.experiments.storage.results_folder import absent

if TYPE_CHECKING:
    import pandas as pd

TRANSIENT = ("id", "time", "argv")
"""Entries of an environment that tell nothing of the machine or of the software."""
OF_PACKAGE = ("git", "packages.perceptron-lab", "core")
"""Entries of this package itself: times compare in spite of them, and mostly they are the point."""
ABSENT = "(absent)"
"""In the place of a value that one side does not have."""


@dataclass(frozen=True)
class Difference:
    """A value that is not the same on both sides, at a path of keys and places joined by dots.

    The values are JSON; several are joined by `` | ``.
    """

    path: str
    first: str
    second: str

    @property
    def of_package(self) -> bool:
        """Whether it is a difference of this package itself."""
        return any(self.path == name or self.path.startswith(f"{name}.") for name in OF_PACKAGE)


def config_differences(first: object, second: object) -> list[Difference]:
    """Return where two trees of JSON values differ, in the order of their keys."""
    return _differences([first], [second])


def environment_differences(
    first: Sequence[Mapping[str, object]], second: Sequence[Mapping[str, object]]
) -> list[Difference]:
    """Return where the environments of two runs differ.

    Parameters
    ----------
    first, second
        The descriptions of every environment that the rows of a run come from.
    """
    lasting = [
        [
            {key: part for key, part in environment.items() if key not in TRANSIENT}
            for environment in side
        ]
        for side in (first, second)
    ]
    return _differences(*lasting)


def _differences(first: Sequence[object], second: Sequence[object]) -> list[Difference]:
    """Return where two sides differ; the different values of each are named once."""
    sides = [[dict(_leaves(tree)) for tree in side] for side in (first, second)]
    differences = []
    for path in dict.fromkeys(path for side in sides for leaves in side for path in leaves):
        a, b = (
            # Sorted: the order of the rows has no meaning.
            " | ".join(sorted({leaves.get(path, ABSENT) for leaves in side})) or ABSENT
            for side in sides
        )
        if a != b:
            differences.append(Difference(path, a, b))
    return differences


def _leaves(tree: object, path: tuple[str, ...] = ()) -> Iterator[tuple[str, str]]:
    """Yield every leaf's path and value; empty mappings and lists are leaves."""
    if isinstance(tree, Mapping) and tree:
        for key, part in tree.items():
            yield from _leaves(part, (*path, str(key)))
    elif isinstance(tree, list | tuple) and tree:
        for index, part in enumerate(tree):
            yield from _leaves(part, (*path, str(index)))
    else:
        yield ".".join(path), json.dumps(tree, ensure_ascii=False)


METRICS: Final = ("seconds", "updates", "queries", "iterations", "products", "total_seconds")
"""The columns of which ratios are formed."""
RESAMPLES: Final = 10_000
LEVEL: Final = 0.95
SEED: Final = 0
ALL: Final = "(all)"
"""In the place of a label: every label."""

Key = tuple[str, str, int]
"""Problem, label and seed."""


@dataclass(frozen=True)
class RunPair:
    """The rows of one problem, label and seed in A and in B.

    ``proved``: whether both ended with the same status, proved. ``a``, ``b``: the metric.
    """

    problem: str
    label: str
    seed: int
    status_a: str
    status_b: str
    proved: bool
    a: float | None
    b: float | None

    @classmethod
    def of(cls, key: Key, a: Row, b: Row, metric: str) -> RunPair:
        """Return the pair of two rows with a metric."""
        # The cost of proving a point and that of proving that none exists do not compare
        alike = a["status"] == b["status"] and bool(a["proved"]) and bool(b["proved"])
        values = (None if row.get(metric) is None else float(row[metric]) for row in (a, b))
        return cls(*key, Status(a["status"]).value, Status(b["status"]).value, alike, *values)

    @property
    def ratio(self) -> float | None:
        """B / A; None where they did not end alike, or a value is absent, 0 or less."""
        # The cost of an unproved answer says nothing about the cost of a proved one
        if not self.proved or self.a is None or self.b is None:
            return None
        return self.b / self.a if self.a > 0.0 and self.b > 0.0 else None


@dataclass(frozen=True)
class MeanRatio:
    """The geometric mean of B / A over the pairs of a label, or of every one (:data:`ALL`).

    ``lower`` and ``upper`` are the bootstrap percentile interval over the problems (``instances``);
    None where there is only one.
    """

    label: str
    pairs: int
    instances: int
    ratio: float
    lower: float | None
    upper: float | None

    @classmethod
    def of(
        cls, label: str, logs: Sequence[tuple[str, float]], resamples: int, level: float, seed: int
    ) -> MeanRatio:
        """Return the mean of the problems' log(B / A) and its interval, as :func:`compare` does."""
        problems = {problem: number for number, problem in enumerate(dict(logs))}
        numbers = [problems[problem] for problem, _ in logs]
        sums = np.bincount(numbers, [logarithm for _, logarithm in logs])
        counts = np.bincount(numbers).astype(float)
        lower = upper = None
        # Resamples of a single problem would all have the same mean
        if len(problems) > 1:
            # A resample draws all pairs of a problem together: they are sums with weights.
            drawn = resample_counts(len(problems), resamples, seed)
            means = np.concatenate([(sample @ sums) / (sample @ counts) for sample in drawn])
            # The percentile interval: monotone, so that exp of its ends is that of the ratio
            ends = np.quantile(means, [(1.0 - level) / 2, (1.0 + level) / 2])
            lower, upper = map(math.exp, ends)
        # Geometric, so that A against B and B against A say the same
        mean = math.exp(math.fsum(sums) / len(logs))
        return cls(label, len(logs), len(problems), mean, lower, upper)

    def __str__(self) -> str:
        bounds = f"{self.lower:.4g} to {self.upper:.4g}" if self.lower is not None else ""
        pairs, problems = counted(self.pairs, "pair"), counted(self.instances, "problem")
        interval = bounds or "no interval for a single problem"
        return f"{self.label}: {self.ratio:.4g} ({interval}), {pairs} of {problems}"


@dataclass(frozen=True)
class Comparison:
    """The runs in the folders A and B, compared by a metric.

    ``pairs`` are the rows that both have, ``only_a`` and ``only_b`` those of one alone; ``ratios``
    are the means of every label, and of all where there are several; ``config`` and ``environment``
    the differences of these.
    """

    a: Path
    b: Path
    metric: str
    pairs: list[RunPair]
    ratios: list[MeanRatio]
    only_a: list[Key]
    only_b: list[Key]
    config: list[Difference]
    environment: list[Difference]

    @property
    def status_changes(self) -> list[RunPair]:
        """The pairs that ended with different statuses."""
        return [pair for pair in self.pairs if pair.status_a != pair.status_b]

    @property
    def unproved(self) -> int:
        """Pairs that ended alike, and not both with a proof: they have no ratio."""
        return sum(not pair.proved and pair.status_a == pair.status_b for pair in self.pairs)

    @property
    def left_out(self) -> int:
        """Pairs that ended alike, with a proof, of which a value is absent or 0."""
        return sum(pair.proved and pair.ratio is None for pair in self.pairs)

    @property
    def other_environment(self) -> list[Difference]:
        """Differences of machine and software other than this package: times do not compare."""
        return [difference for difference in self.environment if not difference.of_package]

    def to_frame(self) -> pd.DataFrame:
        """Return the pairs as a frame: a row each, with its ratio."""
        import pandas as pd

        columns = [*RunPair.__dataclass_fields__, "ratio"]
        return pd.DataFrame(self.as_json()["pairs"], columns=columns)

    def as_json(self) -> dict[str, Any]:
        """Return everything as JSON values; ``plab compare --json`` prints it."""
        return {
            "a": str(self.a),
            "b": str(self.b),
            "metric": self.metric,
            "ratios": list(map(asdict, self.ratios)),
            "pairs": [asdict(pair) | {"ratio": pair.ratio} for pair in self.pairs],
            "status_changes": list(map(asdict, self.status_changes)),
            "unproved": self.unproved,
            "left_out": self.left_out,
            "only_a": [list(key) for key in self.only_a],
            "only_b": [list(key) for key in self.only_b],
            "config": list(map(asdict, self.config)),
            "environment": list(map(asdict, self.environment)),
            "times_compare": not self.other_environment,
        }

    def _repr_html_(self) -> str:
        import pandas as pd

        parts = [f"<p>{escape(line)}</p>" for line in str(self).splitlines()]
        frames = [pd.DataFrame(map(asdict, self.ratios)), self.to_frame()]
        frames += [pd.DataFrame(map(asdict, part)) for part in (self.config, self.environment)]
        tables = [frame.to_html(index=False, escape=True, na_rep="") for frame in frames]
        return visible("\n".join([*parts, *tables]))

    @property
    def result(self) -> str:
        """The mean ratio of all pairs, and how sure it is, in a sentence."""
        if not self.ratios:
            return f"no pair of rows has a ratio of {self.metric}: see the counts of pairs"
        mean = self.ratios[-1]
        named = f"{self.metric} of B / A"
        if mean.lower is None or mean.upper is None:
            return f"{named}: {mean.ratio:.4g}, no interval for a single problem"
        # Only an interval that leaves out 1 decides
        which = "B has less" if mean.upper < 1.0 else "A has less" if mean.lower > 1.0 else ""
        interval = f"interval {mean.lower:.4g} to {mean.upper:.4g}"
        return f"{named}: {mean.ratio:.4g}, {interval}; {which or 'the difference is undecided'}"

    @property
    def heading(self) -> str:
        """The metric and the two folders, in a line."""
        return f"{self.metric}, B / A: A = {self.a}, B = {self.b}"

    @property
    def counts(self) -> str:
        """A line with the number of pairs, and why some of them have no ratio."""
        return (
            f"{counted(len(self.pairs), 'pair')}: {len(self.status_changes)} with different "
            f"statuses, {self.unproved} with the same status but no proof, {self.left_out} with a "
            f"missing or zero value; rows only in A: {len(self.only_a)}, only in B: "
            f"{len(self.only_b)}"
        )

    def __str__(self) -> str:
        lines = [self.result, self.heading, *map(str, self.ratios), self.counts]
        if self.other_environment:
            lines.append("the environments differ: do not compare times")
        return "\n".join(lines)


def compare(
    a: str | Path,
    b: str | Path,
    *,
    metric: str = "seconds",
    resamples: int = RESAMPLES,
    level: float = LEVEL,
    seed: int = SEED,
) -> Comparison:
    """Compare two runs, as ``plab compare`` does.

    Rows are paired by problem, label and seed. Ratios are those of pairs that ended with the same
    status, proved; means are geometric. The interval is the percentile interval of the bootstrap
    over problems: all pairs of a problem are drawn together.

    Parameters
    ----------
    a, b
        Folders of results.
    metric
        A name of :data:`METRICS`.
    resamples, level, seed
        Of the bootstrap: 1 or more; between 0 and 1; 0 or more.

    Raises
    ------
    ConfigError
        If there is no such metric, or a number is out of its range.
    DataError
        If a folder has no results, or they are damaged.

    Examples
    --------
    >>> from perceptron_lab import run
    >>> folder = run("quickstart").folder
    >>> [(mean.label, mean.ratio) for mean in compare(folder, folder, metric="updates").ratios]
    [('PRA', 1.0), ('EA', 1.0), ('(all)', 1.0)]
    """
    if metric not in METRICS:
        raise ConfigError(
            f"metric {metric!r}; allowed: {', '.join(METRICS)}{did_you_mean(metric, METRICS)}"
        )
    if resamples < 1 or not 0.0 < level < 1.0 or seed < 0:
        raise ConfigError(
            f"resamples={resamples}, level={level}, seed={seed}; allowed: 1 or more resamples, a "
            "level between 0 and 1, a seed of 0 or more"
        )
    rows_a, config_a, used_a = _read(Path(a))
    rows_b, config_b, used_b = _read(Path(b))
    pairs = [RunPair.of(key, rows_a[key], rows_b[key], metric) for key in rows_a if key in rows_b]
    logs: dict[str, list[tuple[str, float]]] = {}
    for pair in pairs:
        if pair.ratio is not None:
            # Costs differ by factors: their logarithms are averaged
            logs.setdefault(pair.label, []).append((pair.problem, math.log(pair.ratio)))
    # Of a single label the mean of all would say the same.
    if len(logs) > 1:
        logs[ALL] = [logarithm for each in logs.values() for logarithm in each]
    return Comparison(
        Path(a),
        Path(b),
        metric,
        pairs,
        [MeanRatio.of(label, each, resamples, level, seed) for label, each in logs.items()],
        [key for key in rows_a if key not in rows_b],
        [key for key in rows_b if key not in rows_a],
        config_differences(config_a, config_b),
        environment_differences(used_a, used_b),
    )


def _read(folder: Path) -> tuple[dict[Key, Row], dict[str, Any], list[dict[str, Any]]]:
    """Return the rows of a run, its configuration, and the environments they come from."""
    if not folder.is_dir():
        raise absent(folder)
    with Reader.open(folder) as reader:
        rows = {(row["problem"], row["label"], row["seed"]): row for row in reader.rows()}
        config = reader.config().model_dump(mode="json")
        described = reader.environments()
    # Rows of one folder may come from several runs, on several machines
    environments = dict.fromkeys((row["environment"], row["core"]) for row in rows.values())
    return rows, config, [described.get(name, {}) | {"core": core} for name, core in environments]
