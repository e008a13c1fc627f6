"""slimguard: a reversible result-delivery guard for the Model Context Protocol."""

__version__ = "0.1.0"
