"""The query language of `read_result`: parse and print, one query a line; never looks at a result.

Hints are printed by `print_query`, so that what an answer proposes is what the parser reads (P11).
"""

from slimguard.query.model import GRAMMAR, KINDS, Kind, Query
from slimguard.query.parsing import parse
from slimguard.query.printing import print_queries, print_query

__all__ = ["GRAMMAR", "KINDS", "Kind", "Query", "parse", "print_queries", "print_query"]
