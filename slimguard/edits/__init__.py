"""Edits of a text or of JSON as text: parsed, located and applied; pure, all or nothing, nothing else changes."""

from slimguard.edits.applying import Edited, apply_edits, whole_json
from slimguard.edits.model import GRAMMAR, Edit, Splice, Step
from slimguard.edits.parsing import edits_of
from slimguard.edits.places import NoPlace, addressed
from slimguard.edits.spans import Spans

__all__ = [
    "GRAMMAR",
    "Edit",
    "Edited",
    "NoPlace",
    "Spans",
    "Splice",
    "Step",
    "addressed",
    "apply_edits",
    "edits_of",
    "whole_json",
]
