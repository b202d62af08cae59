"""Slips that are easily made and easily missed: each a change of one place in the source, and tests that must notice.

The place is given as it stands in the source, where it must occur once. Files are below ``src/ablatable``, tests below
``tests``; ``-k`` words, where there are any, stand behind the file.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Mutant:
    """A text of one source file, what it becomes, and the tests that are to fail."""

    name: str
    file: str
    old: str
    new: str
    tests: str


MUTANTS = [
    Mutant(
        "scores are not scaled",
        "nn/scores.py",
        '"1/sqrt(d_k)": lambda model: ProductScore(1 / math.sqrt(model.key_size))',
        '"1/sqrt(d_k)": lambda model: ProductScore(1.0)',
        "oracle/test_torch_transformer.py",
    ),
    Mutant(
        "scores are scaled by the width of the model",
        "nn/scores.py",
        '"1/sqrt(d_k)": lambda model: ProductScore(1 / math.sqrt(model.key_size))',
        '"1/sqrt(d_k)": lambda model: ProductScore(1 / math.sqrt(model.d_model))',
        "oracle/test_torch_transformer.py",
    ),
    Mutant(
        "values are rotated too",
        "nn/attention.py",
        "return self.relative.rotate(q, offset), self.relative.rotate(k, offset), v",
        "return self.relative.rotate(q, offset), self.relative.rotate(k, offset), self.relative.rotate(v, offset)",
        "honesty/test_position_laws.py -k rope",
    ),
    Mutant(
        "only queries are rotated",
        "nn/attention.py",
        "return self.relative.rotate(q, offset), self.relative.rotate(k, offset), v",
        "return self.relative.rotate(q, offset), k, v",
        "honesty/test_position_laws.py -k rope",
    ),
    Mutant(
        "ALiBi rewards distance",
        "nn/relative/alibi.py",
        "return -torch.exp2(exponents_H)",
        "return torch.exp2(exponents_H)",
        "oracle/test_relative_positions.py -k alibi",
    ),
    Mutant(
        "ALiBi is for the past alone",
        "nn/relative/alibi.py",
        "offset, q_BTHK.device).abs()",
        "offset, q_BTHK.device).neg()",
        "oracle/test_relative_positions.py -k alibi",
    ),
    Mutant(
        "offsets have the other sign",
        "nn/relative/base.py",
        "return positions_S - positions_T[:, None]",
        "return positions_T[:, None] - positions_S",
        "oracle/test_relative_positions.py -k shaw",
    ),
    Mutant(
        "a mask says what to drop",
        "nn/masks.py",
        "masked_fill_(~keep, float",
        "masked_fill_(keep, float",
        "unit/nn/test_masks.py",
    ),
    Mutant(
        "the causal mask shows the next piece",
        "nn/masks.py",
        "        seen_TT = seen_TT.tril_()\n",
        "        seen_TT = seen_TT.tril_(1)\n",
        "unit/nn/test_masks.py",
    ),
    Mutant(
        "a window is wider on one side",
        "nn/masks.py",
        ".triu_(-reach(window))",
        ".triu_(-reach(window) - 1)",
        "oracle/test_score_formulas.py -k window",
    ),
    Mutant(
        "pre-norm has no final norm",
        "nn/residual.py",
        'with one norm at the end of the stack."""\n\n    final_norm = True\n\n    def __init__(self, norm: '
        "Callable[[], nn.Module], dropout: Dropout) -> None:\n        super().__init__(norm, dropout)\n"
        "        self.norm = norm()\n\n    def wrap",
        'with one norm at the end of the stack."""\n\n    final_norm = False\n\n    def __init__(self, norm: '
        "Callable[[], nn.Module], dropout: Dropout) -> None:\n        super().__init__(norm, dropout)\n"
        "        self.norm = norm()\n\n    def wrap",
        "oracle/test_sublayer_formulas.py",
    ),
    Mutant(
        "gates of residual connections start open",
        "nn/residual.py",
        "        return torch.zeros(shape)\n",
        "        return torch.ones(shape)\n",
        "oracle/test_sublayer_formulas.py",
    ),
    Mutant(
        "positions are scaled with the embeddings",
        "nn/embeddings.py",
        "return self.dropout(self.positions(x_BTD, offset))",
        "return self.dropout(self.positions(x_BTD / self.embedding.scale, offset) * self.embedding.scale)",
        "oracle/test_torch_transformer.py",
    ),
    Mutant(
        "RMS norm's epsilon is outside the root",
        "nn/norms.py",
        "torch.rsqrt(mean_square + self.epsilon)",
        "1 / (mean_square.sqrt() + self.epsilon)",
        "oracle/test_norm_formulas.py",
    ),
    Mutant(
        "batch norm counts padding",
        "nn/norms.py",
        "        if keep is None or not self.training:\n",
        "        if True:\n",
        "honesty/test_layer_laws.py -k batch",
    ),
    Mutant(
        "the gated feed-forward is half as wide again",
        "config/model/ffn.py",
        "return round(2 * self.d_ff / 3) if self.ffn_matrices == 3 else self.d_ff",
        "return self.d_ff",
        "oracle/test_sublayer_formulas.py",
    ),
    Mutant(
        "dropout goes on in evaluation",
        "nn/dropout.py",
        "        if not self.training or self.rate == 0:\n            return residual + x\n",
        "        if self.rate == 0:\n            return residual + x\n",
        "honesty/test_model_axes.py -k 'changes_only and dropout'",
    ),
    Mutant(
        "what dropout leaves is not scaled",
        "nn/dropout.py",
        ".mul_(_LEVELS / (_LEVELS - dropped))",
        ".mul_(1.0)",
        "unit/nn oracle/test_sublayer_formulas.py -k dropout",
    ),
    Mutant(
        "initial values are the same whatever the name",
        "nn/init.py",
        'f"{seed}:{name}"',
        'f"{seed}"',
        "unit/nn/test_build.py",
    ),
    Mutant(
        "three-way tying ties nothing",
        "nn/build/embeddings.py",
        '"three-way": (True, True)',
        '"three-way": (False, False)',
        "unit/nn/test_build.py",
    ),
    Mutant(
        "smoothed mass goes to the other classes",
        "training/loss.py",
        '        """r, what the right class loses before it gets its share of m."""\n        return self.mass\n',
        '        """r, what the right class loses before it gets its share of m."""\n'
        "        return self.mass * classes / (classes - 1)\n",
        "unit/training/test_loss.py",
    ),
    Mutant(
        "perplexity is of the smoothed loss",
        "training/loss.py",
        "torch.stack([smoothed.sum(), nll.sum(),",
        "torch.stack([smoothed.sum(), smoothed.sum(),",
        "unit/training/test_loss.py",
    ),
    Mutant(
        "padding is trained on",
        "training/evaluate.py",
        "    real = batch.target_output != 0\n",
        "    real = batch.target_output >= 0\n",
        "unit/training/test_evaluate.py",
    ),
    Mutant(
        "validation has noise",
        "training/evaluate.py",
        "collate(pairs, indices).to(device)",
        "collate(pairs, indices, lambda block, _: block.clip(max=9)).to(device)",
        "honesty/test_run_laws.py -k 'validation or likelihood'",
    ),
    Mutant(
        "sub-word sampling reaches the text of validation",
        "training/fit.py",
        'Keeper(job.folder / "events.jsonl", checkpoints, dataset.valid)',
        'Keeper(job.folder / "events.jsonl", checkpoints, module._augmentation.epoch(dataset.valid, 0).pairs)',
        "honesty/test_run_laws.py -k 'validation or augmentation'",
    ),
    Mutant(
        "each pass is divided by its own tokens",
        "training/module.py",
        "self.rank_weight / item.update_tokens)",
        "self.rank_weight / item.passes / max(1, sums.tokens))",
        "honesty/test_run_laws.py -k first_update",
    ),
    Mutant(
        "passes are clipped one by one",
        "training/module.py",
        "    def on_before_optimizer_step(self, optimizer: torch.optim.Optimizer) -> None:\n",
        "    def on_after_backward(self) -> None:\n",
        "honesty/test_run_laws.py -k updates_of_a_run",
    ),
    Mutant(
        "the schedule counts from 0",
        "training/module.py",
        "        update = self.trainer.global_step + 1\n",
        "        update = max(1, self.trainer.global_step)\n",
        "honesty/test_run_laws.py -k updates_of_a_run",
    ),
    Mutant(
        "batches of an update are not accumulated",
        "training/fit.py",
        "accumulate_grad_batches=experiment.train.accumulate * runtime.micro_batches",
        "accumulate_grad_batches=runtime.micro_batches",
        "honesty/test_run_laws.py -k updates_of_a_run",
    ),
    Mutant(
        "norms and biases decay",
        "training/optimiser.py",
        "return parameter.ndim >= 2",
        "return parameter.ndim >= 1",
        "honesty/test_run_laws.py -k updates_of_a_run",
    ),
    Mutant(
        "Adam's epsilon is the library's",
        "training/optimiser.py",
        "lr=rate, betas=betas, eps=train.adam_epsilon, fused=True)\n    parameters",
        "lr=rate, betas=betas, fused=True)\n    parameters",
        "honesty/test_run_axes.py -k adam_epsilon",
    ),
    Mutant(
        "a shared matrix is averaged once for each of its names",
        "training/ema.py",
        "for name in set(_first_names(state).values()):",
        "for name in _first_names(state).values():",
        "unit/training/test_ema.py",
    ),
    Mutant(
        "averaged checkpoints are the last by name",
        "training/retention.py",
        "return sorted(found, key=update_of)",
        "return sorted(found)",
        "unit/training/test_checkpoint.py",
    ),
    Mutant(
        "every epoch has the first one's batches",
        "training/stream.py",
        "self._batch_tokens, self._seed, began.epoch\n",
        "self._batch_tokens, self._seed, 0\n",
        "honesty/test_run_laws.py -k epoch",
    ),
    Mutant(
        "noise is the same in every epoch",
        "data/augment.py",
        "WordNoise(self.seed, number, self.word_dropout",
        "WordNoise(self.seed, 0, self.word_dropout",
        "unit/data/test_augment.py",
    ),
    Mutant(
        "labels are what is read",
        "data/collate.py",
        "np.concatenate([np.full((len(rows), 1), BOS, np.int64), pieces], axis=1)",
        "np.where(target == EOS, BOS, target)",
        "unit/data/test_packed_and_collate.py",
    ),
    Mutant(
        "the cache keeps its order when beams change theirs",
        "nn/cache.py",
        "            layer.history.select(hypotheses_N)\n",
        "            layer.history.select(hypotheses_N.sort().values)\n",
        "unit/decoding/test_beam_transformer.py",
    ),
    Mutant(
        "cached decoding starts positions over",
        "nn/transformer.py",
        "self.target_input(tokens_BK.view(-1, 1), state.position)",
        "self.target_input(tokens_BK.view(-1, 1), 0)",
        "honesty/test_layer_laws.py -k cached",
    ),
    Mutant(
        "the length penalty never counts the end mark",
        "decoding/penalty.py",
        "self.of_length(step if self.counts_eos else step - 1)",
        "self.of_length(step - 1)",
        "unit/decoding/test_beam_search.py",
    ),
    Mutant(
        "the search ends with the first hypothesis that ends",
        "decoding/beam.py",
        "(self.best_scores >= reachable).tolist()",
        "(self.best_scores > _NONE).tolist()",
        "unit/decoding/test_beam_search.py",
    ),
    Mutant(
        "the start mark may come out",
        "decoding/beam.py",
        "    log_probabilities[..., BOS] = _NONE\n",
        "",
        "unit/decoding/test_beam_search.py",
    ),
    Mutant(
        "the length cap does not know the source",
        "decoding/translate.py",
        "caps = [len(ids) + decode.extra_tokens for ids in rows]",
        "caps = [decode.extra_tokens for ids in rows]",
        "unit/decoding/test_translate.py unit/decoding/test_beam_transformer.py",
    ),
    Mutant(
        "the best weights are the last",
        "training/scored.py",
        "return load_weights(checkpoints.best)",
        'return {name[6:]: tensor for name, tensor in _state(checkpoints)["state_dict"].items()}',
        "honesty/test_run_axes.py -k 'checkpoint and best'",
    ),
    Mutant(
        "the trials of a tuned table score the test set",
        "study/tuning/search.py",
        'Setting(["valid"], study.origin',
        'Setting(["valid", "test"], study.origin',
        "unit/study/test_tuning.py -k development_data",
    ),
    Mutant(
        "a tuned table selects on the test set",
        "study/tuning/search.py",
        "objectives=(Objective(tuning.objective),)",
        'objectives=(Objective(tuning.objective, split="test"),)',
        "unit/study/test_tuning.py -k no_objective",
    ),
    Mutant(
        "a sweep's value is that of the test set where there is one",
        "study/sweep/verdict.py",
        "return record.metric(objective.key)",
        'return record.metric(objective.key.replace("valid", "test")) or record.metric(objective.key)',
        "unit/study/test_tuning.py -k no_objective",
    ),
    Mutant(
        "the baseline is not tuned",
        "study/tuning/search.py",
        'searched = rows if tuning.per == "row" else',
        'searched = rows[1:] if tuning.per == "row" else',
        "unit/study/test_tuning.py -k same_search",
    ),
    Mutant(
        "a longer search counts with all its trials",
        "study/tuning/outcome.py",
        'if trial.state != "skipped")[: self.search.tuning.trials]',
        'if trial.state != "skipped")',
        "unit/study/test_tuning.py -k more_trials",
    ),
]
