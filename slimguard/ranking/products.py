"""Names of products: which words of a query can only mean one, and which do so when written like names."""

from __future__ import annotations

from functools import cache

from slimguard.ranking import lexicon, text


@cache
def names() -> frozenset[str]:
    """Folded names of products that mean nothing else: `linear` and `line` are left out, `slack` and `微信` are in."""
    return frozenset(_all() - _ordinary())


@cache
def ambiguous() -> frozenset[str]:
    """Folded names of products that are ordinary words as well, such as `linear`: products when written like names."""
    return frozenset(_all() & _ordinary())


def load() -> None:
    """Read the data now, so that no query waits for it."""
    names()
    ambiguous()


def _all() -> set[str]:
    """Folded names of products, without the languages and formats that tools serve without saying so."""
    carried = lexicon.lists("lexicon_stopwords.tsv")["carried"]
    return {
        " ".join(text.split_words(alias))
        for cells in lexicon.rows("lexicon_products.tsv")
        for alias in lexicon.split_cell(cells[0])
        if text.fold(alias) not in carried and len(alias) > 1
    }


def _ordinary() -> set[str]:
    """Those of them that are ordinary words."""
    ordinary = {phrase for concept in lexicon.concepts() for phrase in concept.core}
    ordinary.update(lexicon.phrase_of(word) for word in lexicon.lists("lexicon_stopwords.tsv")["ordinary"])
    return {name for name in _all() if lexicon.phrase_of(name) in ordinary}
