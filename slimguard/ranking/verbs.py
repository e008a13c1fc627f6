"""Words that say an action rather than a thing, and what a tool so named does to the world."""

from __future__ import annotations

from functools import cache

from slimguard.ranking import lexicon, text


@cache
def _actions() -> frozenset[str]:
    """Stems of the words that say an action."""
    lines = lexicon.rows("lexicon_actions.tsv")
    header = next(lines)
    place = header.index("en")
    return frozenset(
        text.stem(item)
        for cells in lines
        for item in lexicon.split_cell(cells[place].replace("|", ","))
        if " " not in item
    )


def is_action(word: str) -> bool:
    """Whether `word` names an action, such as `create`."""
    return text.stem(word) in _actions()


@cache
def classes() -> dict[str, tuple[str, ...]]:
    """Stem of a verb -> the classes of action it may mean, such as `writes create`."""
    found: dict[str, tuple[str, ...]] = {}
    for name, verbs in lexicon.rows("lexicon_action_classes.tsv"):
        for verb in lexicon.split_cell(verbs):
            found[text.stem(verb)] = (*found.get(text.stem(verb), ()), name)
    return found
