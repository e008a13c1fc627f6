"""`python -m slimguard` is the `slimguard` command."""

from slimguard.cli import main

raise SystemExit(main())
