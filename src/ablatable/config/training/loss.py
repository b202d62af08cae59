"""What is minimised (section 5.4): label smoothing, and penalties on the size of the weights."""

from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from ablatable.config.axis import Axis, Effect, Needs, changes

_MATRICES = "over matrices: neither biases nor norms. Added once an update; the reported loss leaves it out."


@dataclass(frozen=True, kw_only=True)
class LossChoices:
    """The training loss: mean smoothed cross-entropy a target token, plus penalties. Evaluation uses plain NLL."""

    label_smoothing: Annotated[
        float,
        Field(ge=0, lt=1, description="Mass a taken from the right class and spread as train.smoothing_mass says."),
        Axis(
            "eps_ls",
            "5.4",
            changes(Effect.TRAIN_ONLY),
            values=(0.0, 0.1, 0.2),
            search=(0.0, 0.4),
        ),
    ] = 0.1
    smoothing_mass: Annotated[
        str,
        Field(description="Where the smoothed mass a goes, K being the classes."),
        Axis(
            "smoothing mass",
            "5.4",
            changes(Effect.TRAIN_ONLY),
            choices={
                "uniform": "Szegedy et al. 2016; Vaswani et al. 2017, section 5.4: (1-a) y + a/K over all K classes",
                "others": "Vaswani et al. 2018, the first public code: 1-a for the right class, a/(K-1) for each other",
                "unigram": "Pereyra et al. 2017: (1-a) y + a p, p the add-one frequencies of the training targets",
            },
        ),
        Needs("train.label_smoothing", above=0),
    ] = "uniform"
    l1: Annotated[
        float,
        Field(ge=0, le=1, description=f"c of the penalty c sum |w| {_MATRICES}"),
        Axis(
            "L1",
            "Tibshirani 1996; Goodfellow et al. 2016, section 7.1.2",
            changes(Effect.GRADIENT),
            values=(0.0, 1e-6),
            search=(1e-9, 1e-4, "log"),
        ),
    ] = 0.0
    l2: Annotated[
        float,
        Field(ge=0, le=1, description=f"c of the penalty c/2 sum w^2 {_MATRICES}"),
        Axis(
            "L2",
            "Krogh & Hertz 1991; Goodfellow et al. 2016, section 7.1.1",
            changes(Effect.GRADIENT),
            values=(0.0, 1e-5),
            search=(1e-8, 1e-3, "log"),
        ),
    ] = 0.0
