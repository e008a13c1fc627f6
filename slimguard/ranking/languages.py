"""Which language of those written with spaces a query is in; never looks at runs of Chinese, Japanese or Korean."""

from __future__ import annotations

from collections.abc import Callable

from slimguard.ranking import lexicon, text


def language_of(words: list[str], knows: Callable[[str], bool]) -> str:
    """The language of space-separated `words`: English unless another one knows more of them."""
    counts = {
        language: sum(
            (word in lexicon.lists("lexicon_stopwords.tsv")[language]) + (word in lexicon.surface_words(language))
            for word in words
        )
        for language in text.LATIN
        if language != "en"
    }
    english_words = lexicon.lists("lexicon_stopwords.tsv")["en"] | lexicon.lists("lexicon_stopwords.tsv")["soft"]
    own = sum((word in english_words) + knows(text.stem(word)) for word in words)
    language, most = max(counts.items(), key=lambda item: (item[1], item[0]))
    if most or own or not words:
        return language if most > own else "en"
    forms = {other: sum(lexicon.meaning(other, [word]) is not None for word in words) for other in counts}
    language, most = max(forms.items(), key=lambda item: (item[1], item[0]))
    return language if most else "en"
