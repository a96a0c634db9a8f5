"""A linear map and a cone: rows, labelled data, kernels, conic and linear systems."""

from perceptron_lab.systems.conic_system import ConicSystem
from perceptron_lab.systems.system import Counters, Cut, CutStatistics, Deepest, System

__all__ = ["ConicSystem", "Counters", "Cut", "CutStatistics", "Deepest", "System"]
