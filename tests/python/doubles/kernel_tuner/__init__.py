"""Stands in for Kernel Tuner 1.4 where it is not installed: of its interface what a strategy sees, written for the tests. It measures
nothing: the runner is the test's."""
