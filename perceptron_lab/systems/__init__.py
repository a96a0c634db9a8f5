"""A conic system: find y with A*y strictly inside K. Every algorithm runs on one."""

from perceptron_lab.systems.conic_system import ConicSystem
from perceptron_lab.systems.cuts import Counters, Cut, CutStatistics, Deepest

__all__ = ["ConicSystem", "Counters", "Cut", "CutStatistics", "Deepest"]
