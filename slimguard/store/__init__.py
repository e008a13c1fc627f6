"""The edge towards the disk: ledger, snapshots, retention; the only place with SQL."""

from slimguard.store.store import Store

__all__ = ["Store"]
