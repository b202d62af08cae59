"""What a table says of the searches behind its settings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ablatable.report.cells import RowRecords
from ablatable.study.schema import RowRuns, Study
from ablatable.study.sweep.ends import at_an_end
from ablatable.study.tuning.schema import Tuning

if TYPE_CHECKING:
    from ablatable.study.tuning.outcome import Searched


_BEST = {"lower": "lowest", "higher": "highest"}


def tuned_notes(row: RowRuns, searched: Searched | None) -> list[str]:
    """What is particular in a row's search.

    Settings without a meaning there, fewer trials, trials without a value, a best trial at an end of what was tried.
    """
    if searched is None:
        return []
    notes = [f"{path} means nothing in this row and was not searched" for path in searched.search.left_out]
    if row.tuned is None:
        return notes
    trials = searched.counted
    if len(trials) < searched.search.tuning.trials:
        notes.append(f"searched with {len(trials)} trials: its space has no more points")
    lost = Counter(trial.state for trial in trials if trial.state != "completed")
    if lost:
        said = " and ".join(f"{count} {state}" for state, count in sorted(lost.items()))
        notes.append(f"of {len(trials)} trials of its search {said}")
    if searched.best is not None:
        notes += map(str, at_an_end(searched.best.point, [trial.point for trial in trials]))
    return notes


def tuning_footnotes(study: Study, rows: Sequence[RowRecords], searches: Mapping[str, Searched]) -> list[str]:
    """How the settings were searched for, what it took, and what that does to the numbers."""
    tuning = study.tuning
    if tuning is None:
        return []
    trials = [trial for searched in searches.values() for trial in searched.counted]
    final = {id for row in rows for id in row.runs.ids}
    apart = [trial for trial in trials if not final.issuperset(trial.runs)]
    whose = "every row, the baseline too, has" if tuning.per == "row" else "the baseline alone has"
    serves = "" if tuning.per == "row" else " and its settings serve every row that does not set them itself"
    hours = sum(trial.device_seconds for trial in trials) / 3600
    return [
        f"Tuned: {whose} a search of {tuning.trials} trials over {_space(searches)} ({_how(tuning)}){serves}; the "
        f"trial with the {_BEST[tuning.better]} {tuning.metric} on the development data gives the settings. "
        "The test set is scored by the final runs alone.",
        "A row differs from the baseline in what it declares and in its tuned settings. Its development value at the "
        f"searched seed is the best of {tuning.trials} trials, and by that favourable, alike in every row."
        if tuning.per == "row"
        else "The baseline's development value at the searched seed is the best of its trials, and by that favourable.",
        f"Searches: {sum(trial.ended for trial in trials)} trials, {hours:.2f} device-hours, "
        f"{sum(trial.flops for trial in trials):.2e} FLOPs; {len(trials) - len(apart)} of them are runs of the table "
        "too.",
    ]


def _space(searches: Mapping[str, Searched]) -> str:
    """Every tuned setting with its range; rows without a use for one say so in a note."""
    found = {
        parameter.path: str(parameter.domain)
        for searched in searches.values()
        for parameter in searched.search.plan.space.parameters
    }
    return ", ".join(f"{path} in {domain}" for path, domain in found.items())


def _how(tuning: Tuning) -> str:
    sampler = tuning.sampler
    said = f"sampler {sampler.kind}" + ("" if sampler.kind == "grid" else f", seed {sampler.seed}")
    return said if tuning.pruner.kind == "none" else f"{said}, pruner {tuning.pruner.kind}"
