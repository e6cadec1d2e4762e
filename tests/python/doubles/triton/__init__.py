"""Stands in for Triton 3 where it is not installed: of its autotuner what a caller and a subclass see, written for the tests. It compiles
nothing: the kernel is the test's."""
from . import runtime
from .runtime.autotuner import Config, autotune

__version__ = "3.0 (double)"
