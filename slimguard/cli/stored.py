"""The settings of commands that only read what is stored: of the configuration, or the usual store without one."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from slimguard.settings import Settings


def settings_of(options: argparse.Namespace) -> Settings:
    """The configuration; without any, the usual store, since `serve -- COMMAND` keeps results without a file too.

    Raises `ConfigurationError` for a file that is wrong, or that was named and does not exist.
    """
    from slimguard import config
    from slimguard.errors import ConfigurationError
    from slimguard.settings import Settings, StoreSettings

    try:
        return config.load(options.config, os.environ, str(Path.cwd()))
    except ConfigurationError as error:
        if error.code != "config_missing" or options.config or os.environ.get("SLIMGUARD_CONFIG"):
            raise
    path = Path(config.user_data_dir(os.environ)) / "results.db"
    return Settings(servers={}, store=StoreSettings(path=str(path)), scope="")
