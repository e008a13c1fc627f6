"""The edge towards the disk: ledger, snapshots, retention; the only place with SQL."""
