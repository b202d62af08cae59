"""The root of the design space: one experiment is one training run."""

from typing import Annotated, Self

from pydantic import ConfigDict, Field, InstanceOf, model_validator
from pydantic.dataclasses import dataclass

from ablatable.config.data import Data, Tokenizer
from ablatable.config.decoding import Decoding, Evaluation
from ablatable.config.model import Model
from ablatable.config.runtime import Runtime, Tracking
from ablatable.config.training import Training

LARGEST_SEED = 2**31 - 1

OPERATIONAL_SECTIONS = ("runtime", "tracking")
"""Sections that say how to run, not what: two experiments that differ only here are the same run."""


@dataclass(frozen=True, kw_only=True, config=ConfigDict(strict=True, extra="forbid"))
class Experiment:
    """One training run of the paper's design space; the defaults are the paper's base model."""

    seed: Annotated[int, Field(ge=0, le=LARGEST_SEED, description="Initialisation, data order and dropout.")] = 1
    model: InstanceOf[Model] = Model()
    tokenizer: InstanceOf[Tokenizer] = Tokenizer()
    data: InstanceOf[Data] = Data()
    train: InstanceOf[Training] = Training()
    decode: InstanceOf[Decoding] = Decoding()
    evaluate: InstanceOf[Evaluation] = Evaluation()
    runtime: InstanceOf[Runtime] = Runtime()
    tracking: InstanceOf[Tracking] = Tracking()

    @model_validator(mode="after")
    def _possible(self) -> Self:
        if self.tokenizer.sharing == "separate" and self.model.tying in ("three-way", "source-target"):
            raise ValueError(
                f"model.tying={self.model.tying} needs one vocabulary and tokenizer.sharing=separate makes two; "
                "set model.tying=decoder or model.tying=none"
            )
        if self.model.position == "learned" and self.data.max_length + 1 > self.model.position_max:
            raise ValueError(
                f"model.position_max={self.model.position_max} is shorter than the longest training sentence, "
                f"data.max_length={self.data.max_length} pieces and the end mark; raise one or lower the other"
            )
        if self.train.max_target_tokens is not None and self.train.max_target_tokens < self.train.batch_tokens:
            raise ValueError(
                f"train.max_target_tokens={self.train.max_target_tokens} is less than one batch, "
                f"train.batch_tokens={self.train.batch_tokens}"
            )
        self._check_averaging()
        self._check_selection()
        self._check_schedule()
        self._check_batch_statistics()
        self._check_source_is_read()
        self._check_window()
        if self.data.corpus == "files" and "test" in self.evaluate.splits and self.data.files_source_test is None:
            raise ValueError(
                "evaluate.splits names test and there is no test text; set data.files_source_test and "
                "data.files_target_test, or leave test out"
            )
        return self

    def _check_averaging(self) -> None:
        train = self.train
        made = train.averaged(train.updates)
        if made < train.average_last:
            raise ValueError(
                f"train.average_last={train.average_last} is more than the {made} checkpoints that "
                f"train.updates={train.updates} with train.average_every={train.average_every} make; lower one of them"
            )

    def _check_selection(self) -> None:
        train = self.train
        if self.evaluate.checkpoint == "best" and train.validate_every >= train.updates:
            raise ValueError(
                "evaluate.checkpoint=best is the last where there is only one validation, at the end of train.updates="
                f"{train.updates}; lower train.validate_every={train.validate_every} or leave out evaluate.checkpoint"
            )

    def _check_schedule(self) -> None:
        train, d_model = self.train, self.model.d_model
        if train.schedule == "inverse-sqrt" and train.peak_rate(d_model) == train.paper_peak(d_model):
            raise ValueError(
                "train.schedule=inverse-sqrt is train.schedule=paper where its peak is the paper's, "
                f"{train.paper_peak(d_model):.3g}; set another train.learning_rate or leave out train.schedule"
            )

    def _check_batch_statistics(self) -> None:
        if self.model.architecture != "transformer" or self.model.norm_placement == "rezero":
            return
        split = [name for name in ("devices", "micro_batches") if getattr(self.runtime, name) > 1]
        if self.model.norm == "batch" and split:
            raise ValueError(
                f"model.norm=batch takes its statistics over a whole batch and runtime.{split[0]}="
                f"{getattr(self.runtime, split[0])} splits it; set runtime.{split[0]}=1 or choose another norm"
            )

    def _check_source_is_read(self) -> None:
        model, data = self.model, self.data
        unread = model.architecture == "transformer" and not model.cross_attention
        noise = [name for name in ("word_dropout", "word_swap") if getattr(data, name)]
        if unread and noise:
            raise ValueError(
                f"data.{noise[0]}={getattr(data, noise[0])} changes the source and model.cross_attention=false leaves "
                f"it unread; leave out data.{noise[0]}"
            )
        if unread and model.tying == "decoder" and self.tokenizer.sharing == "shared":
            raise ValueError(
                "model.tying=decoder is model.tying=three-way where model.cross_attention=false leaves no source "
                "embedding; leave out model.tying"
            )
        orderless = model.architecture == "bag" or (
            model.architecture == "transformer" and model.position == "none" and model.window is None
        )
        if data.word_swap and orderless:
            raise ValueError(
                f"data.word_swap={data.word_swap} moves pieces of the source, whose order this model cannot see "
                f"(model.architecture={model.architecture}, model.position={model.position}); leave out data.word_swap"
            )

    def _check_window(self) -> None:
        window, longest = self.model.window, self.data.max_length + 1
        if self.model.architecture == "transformer" and window is not None and window >= 2 * longest - 1:
            raise ValueError(
                f"model.window={window} sees all of the longest training sentence, data.max_length="
                f"{self.data.max_length} pieces and the end mark; lower it or leave it out"
            )
