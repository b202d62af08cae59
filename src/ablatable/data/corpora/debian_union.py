"""``debian-en-de``: everything English-German that comes through apt, as one corpus."""

from __future__ import annotations

from pathlib import Path

from ablatable.data.corpora import descriptions, ding, lohelp, manpages
from ablatable.data.corpora.harvest import Harvest, united
from ablatable.data.corpora.storage import Say

RECIPE = lohelp.RECIPE + ding.RECIPE + manpages.RECIPE + descriptions.RECIPE
"""A sum, so that a new recipe of a part makes a new union."""


def harvest(cache: Path, say: Say) -> Harvest:
    """Fetch and unite LibreOffice's help, the dictionary's examples, manual pages and package descriptions.

    The held-out sets are drawn from the union: they are not those of its parts, so scores on the one do not
    compare with scores on the other.

    Raises:
        InputError: no apt, no network, or a package of another form.
        RunFailed: the disk is full.
    """
    return united(
        [
            ("LibreOffice help", lohelp.harvest("en", "de", cache, say)),
            ("dictionary examples", ding.harvest(cache, say)),
            ("manual pages", manpages.harvest(cache, say)),
            ("package descriptions", descriptions.harvest("en", "de", cache, say)),
        ]
    )
