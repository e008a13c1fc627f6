"""A stored result as blocks, JSON values, lines and tables: what views and readers share; never I/O, never an edit."""

from slimguard.document.blocks import Block, Document, document_of, window_of
from slimguard.document.continuation import continuation_fields, continuation_of
from slimguard.document.jsontext import JsonText, json_in
from slimguard.document.lines import LineIndex
from slimguard.document.paths import MISSING, Path, format_path, parse_path, value_at, walk
from slimguard.document.tables import Table, main_array, tables_in, tables_of

__all__ = [
    "MISSING",
    "Block",
    "Document",
    "JsonText",
    "LineIndex",
    "Path",
    "Table",
    "continuation_fields",
    "continuation_of",
    "document_of",
    "format_path",
    "json_in",
    "main_array",
    "parse_path",
    "tables_in",
    "tables_of",
    "value_at",
    "walk",
    "window_of",
]
