"""Where and how to run, and where to report: not part of a run's identity."""

from typing import Annotated, Literal

from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass

_STRICT = ConfigDict(strict=True, extra="forbid", allow_inf_nan=False)


@dataclass(frozen=True, kw_only=True, config=_STRICT)
class Runtime:
    """Devices and retention of one run."""

    accelerator: Annotated[
        Literal["auto", "cpu", "cuda"], Field(description="auto takes CUDA where there is a device.")
    ] = "auto"
    devices: Annotated[
        int,
        Field(ge=1, le=1024, description="Devices of one run (DDP above one); a batch is split over them."),
    ] = 1
    threads: Annotated[int, Field(ge=1, le=1024, description="CPU threads of one run.")] = 1
    micro_batches: Annotated[
        int,
        Field(
            ge=1,
            le=1024,
            description="Passes each batch is split into, to save memory; the update stays the same.",
        ),
    ] = 1
    save_seconds: Annotated[float, Field(gt=0, description="Seconds between resumable checkpoints.")] = 60.0
    keep_checkpoints: Annotated[
        bool,
        Field(description="Keep the training state of a finished run; the evaluated weights are always kept."),
    ] = False


@dataclass(frozen=True, kw_only=True, config=_STRICT)
class Tracking:
    """Where runs are mirrored while they train; nothing here changes a run."""

    wandb: Annotated[Literal["offline", "online", "off"], Field(description="Where runs are mirrored.")] = "offline"
    tensorboard: Annotated[
        bool, Field(description="Also, or with wandb=off instead, TensorBoard files in the run's folder.")
    ] = False
    project: Annotated[str, Field(min_length=1, description="W&B project.")] = "ablatable"
    entity: Annotated[str | None, Field(description="W&B entity; null means the account's default.")] = None
