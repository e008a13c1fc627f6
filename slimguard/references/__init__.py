"""References in arguments: found, parsed and bounded; pure, and never the reading of a result."""

from slimguard.references.finding import Attempt, attempts, reference_of, renamed, replaced
from slimguard.references.flows import may_flow, wrong_rule
from slimguard.references.model import FORM, KEY, Found, Part, Reference
from slimguard.references.parsing import part_of

__all__ = [
    "FORM",
    "KEY",
    "Attempt",
    "Found",
    "Part",
    "Reference",
    "attempts",
    "may_flow",
    "part_of",
    "reference_of",
    "renamed",
    "replaced",
    "wrong_rule",
]
