"""How this process keeps memory: what its collector and allocator are told; no right answer may depend on it."""

from __future__ import annotations

import contextlib
import gc

from slimguard import policy

_MMAP_THRESHOLD = -3
"""`M_MMAP_THRESHOLD` of glibc's `mallopt(3)`."""


def settle() -> None:
    """Call once, when all that stays has been imported: large values go back to the system when they are let go.

    The collector need not look again at what is imported, nor at every 700th object of a parsed result. And glibc,
    left alone, keeps freed blocks of up to 32 MB for itself once it has seen a few (`mallopt(3)`, "dynamic mmap
    threshold"): a guard would stay some 40 MB larger after its first large result.
    """
    gc.freeze()
    gc.set_threshold(policy.GC_THRESHOLD)
    with contextlib.suppress(ImportError, OSError, AttributeError, TypeError):
        import ctypes  # noqa: PLC0415 - a few milliseconds that nobody should wait for at the start

        ctypes.CDLL(None).mallopt(_MMAP_THRESHOLD, policy.MMAP_THRESHOLD_BYTES)
