"""Examples that a decision list labels: halfspaces of known l1 margin, with irrelevant features."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Literal

import numpy as np
from pydantic import Field, ValidationInfo, field_validator

from perceptron_lab.core.errors import InputError
from perceptron_lab.core.refusals import parameter_record
from perceptron_lab.core.results import FloatArray
from perceptron_lab.datasets.generated.generator import GeneratedDataset
from perceptron_lab.datasets.problem import Problem
from perceptron_lab.systems import ConicSystem


@parameter_record
class DecisionLists(GeneratedDataset):
    """Examples in {-1, 1}^(n - 1), labelled by a list of rules on k of their features.

    Rule j of k applies where a certain feature has the sign s_j; the first rule that applies gives
    the label b_j, and b_(k+1) where none does. With w_(k+1) = 1 and

        w_j = 1 + sum of w_i over the later i with b_i != b_j,

    sum_j b_j w_j [rule j applies] has the sign of the label and a size of 1 or more: a list is a
    halfspace. As an affine function of the features it has the weights b_j s_j w_j / 2 and the bias
    sum_(j <= k) b_j w_j / 2 + b_(k+1). Rows have entries +-1, so that one over the sum of their
    sizes is a lower bound of the l1 margin. Labels that ``alternate`` have the Fibonacci numbers
    1, 2, 3, 5, .. for weights: the margin falls by the golden ratio with each rule. ``equal`` ones
    have w_j = 2: a disjunction, whose margin is of the order 1 / k.

    In each example the first rule that applies is one of the k + 1 with equal chances; the later
    ones, and the other features, are random signs. The instance's name holds all its parameters,
    as in ``alternate-101x1000-6`` (dimension x rows, length); name and seed determine it.

    Parameters
    ----------
    labels
        ``alternate`` (default) or ``equal``: b_1, .., b_k, the last of them being 1 and b_(k+1) -1.
    dimension
        Number of unknowns, n, one more than features, 3 or more (default 101).
    rows
        Number of examples, 2 or more (default 1000).
    length
        k, 1 to 60, and fewer than unknowns (default 6).

    References
    ----------
    `RamdasPena2014`, section 7, which relates such lists to algorithms of polylogarithmic
    dependence on the margin.
    """

    labels: Literal["alternate", "equal"] = "alternate"
    dimension: Annotated[int, Field(ge=3, le=1_000_000)] = 101
    rows: Annotated[int, Field(ge=2, le=10_000_000)] = 1000
    length: Annotated[int, Field(ge=1, le=60)] = 6

    @field_validator("length")
    @classmethod
    def _within_the_features(cls, length: int, info: ValidationInfo) -> int:
        dimension = info.data.get("dimension")
        if dimension is not None and length >= dimension:
            raise ValueError(f"{length} rules on {dimension - 1} features; allowed: one a feature")
        return length

    @property
    def name(self) -> str:
        """The instance's name, which contains its parameters."""
        return f"{self.labels}-{self.dimension}x{self.rows}-{self.length}"

    def rule_weights(self) -> FloatArray:
        """Return b_j w_j for the rules in their order and the default, shape ``(length + 1,)``."""
        k = self.length
        signs = np.ones(k + 1) if self.labels == "equal" else (-1.0) ** (k - 1 - np.arange(k + 1))
        signs[k] = -1.0
        sizes = np.ones(k + 1)
        for j in reversed(range(k)):
            sizes[j] = 1.0 + sizes[j + 1 :][signs[j + 1 :] != signs[j]].sum()
        return signs * sizes

    def generate(self, seed: int) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the examples, shape ``(rows, dimension - 1)``, their labels, and the halfspace."""
        k, features = self.length, self.dimension - 1
        weights = self.rule_weights()
        with self.random(seed, 16 * self.rows * self.dimension) as rng:
            examples = rng.choice([-1.0, 1.0], (self.rows, features))
            columns, signs = rng.permutation(features)[:k], rng.choice([-1.0, 1.0], k)
            first = rng.integers(0, k + 1, self.rows)[:, None]
        applying = examples[:, columns] * signs
        applying[np.arange(k) < first] = -1.0
        applying[np.arange(k) == first] = 1.0
        examples[:, columns] = applying * signs
        point = np.zeros(self.dimension)
        point[columns] = signs * weights[:k] / 2.0
        point[-1] = weights[:k].sum() / 2.0 + weights[k]
        return examples, np.sign(weights[first[:, 0]]), point

    def problem(self, seed: int) -> Problem:
        """Generate the instance; its facts and ``known_l1_margin`` are the margin's lower bound."""
        examples, labels, point = self.generate(seed)
        if abs(labels.sum()) == self.rows:
            raise InputError(f"{self.name}: all labels are equal; give more rows or another seed")
        system = ConicSystem.from_labelled(examples, labels)
        problem = self.stated(system, examples, labels, point=point)
        margin = 1.0 / float(np.abs(point).sum())
        facts = replace(problem.facts, l1_margin=margin)
        return replace(problem, facts=facts, measure=lambda _: {"known_l1_margin": margin})
