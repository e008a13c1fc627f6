"""The configuration: found, read, checked, made into frozen settings; its errors quote no secret."""

from slimguard.config.files import Found, find, user_config_dir, user_data_dir
from slimguard.config.loading import Loaded, for_command, load, load_with_notes, scope_of, variables

__all__ = [
    "Found",
    "Loaded",
    "find",
    "for_command",
    "load",
    "load_with_notes",
    "scope_of",
    "user_config_dir",
    "user_data_dir",
    "variables",
]
