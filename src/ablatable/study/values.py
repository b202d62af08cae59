"""What a study's or a sweep's file may say: names and the values of settings."""

import re
from typing import Annotated, TypeAlias

from pydantic import StringConstraints

Setting: TypeAlias = bool | int | float | str | None
"""A value a row or a point may set: whatever a YAML scalar can hold; the design space checks type and bounds."""

Name = Annotated[
    str,
    StringConstraints(pattern=re.compile(r"^[A-Za-z0-9][A-Za-z0-9._=+-]*$"), max_length=60),
]
"""A name that is safe in a file name, a label and on the command line."""
