"""The command line. What stands here runs before any command's imports, and only to make them quick."""

from __future__ import annotations

import gc
import os

# Start-up makes a hundred thousand objects and no garbage: looking for it costs a tenth of the time of `plan`.
gc.set_threshold(100_000, 20, 20)
# pydantic looks through every installed package for plugins, time that `--help` and `table` would pay.
os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
