"""Arguments against a tool's original input schema: decide, explain, find the reading that validates; never fetch."""

from slimguard.schema.checker import Checker, checker_for, dialect_of
from slimguard.schema.problems import Problem
from slimguard.schema.readings import Reading, read_arguments

__all__ = ["Checker", "Problem", "Reading", "checker_for", "dialect_of", "read_arguments"]
