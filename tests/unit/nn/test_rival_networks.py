"""What every rival must do as the Transformer does: steps equal full passes, padding and the future change nothing."""

from dataclasses import replace

import pytest
import torch
import torch.nn.functional as F
from decoding_laws import (
    beams_follow_their_parents,
    disturbed,
    misuse_is_refused,
    random_tokens,
    sentences_leave_and_beams_change_in_number,
    steps_equal_the_full_pass,
)
from torch import Tensor

from ablatable.config.model import Model
from ablatable.errors import InputError
from ablatable.nn.build import build_model
from ablatable.nn.network import AnyNetwork

SMALL = Model(layers=2, d_model=16, rival_width=12)
KINDS: list[dict[str, object]] = [
    {"architecture": "rnn"},
    {"architecture": "rnn", "rnn_cell": "gru"},
    {"architecture": "rnn", "rnn_attention": "none"},
    {"architecture": "rnn", "rnn_cell": "gru", "rnn_attention": "none", "layers": 1},
    {"architecture": "convolutional"},
    {"architecture": "convolutional", "kernel_size": 1, "position": "none"},
    {"architecture": "convolutional", "kernel_size": 5, "position": "learned", "position_max": 80},
    {"architecture": "convolutional", "position": "index", "position_combine": "concatenate", "layers": 1},
    {"architecture": "bag"},
    {"architecture": "bag", "bag": "average", "bag_window": 3},
    {"architecture": "bag", "bag_window": 1, "layers": 1, "tying": "none"},
]
SOURCE = torch.tensor([[5, 6, 7, 8, 3], [9, 3, 0, 0, 0], [11, 12, 3, 0, 0]])
every_kind = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: "-".join(map(str, kind.values())))


def _model(kind: dict[str, object], **changes: object) -> AnyNetwork:
    return disturbed(replace(SMALL, **kind, **changes))


@every_kind
@torch.no_grad()
def test_a_cached_step_equals_the_full_pass(kind: dict[str, object]) -> None:
    steps_equal_the_full_pass(_model(kind), SOURCE, 40)


@every_kind
@torch.no_grad()
def test_dec_05_beams_follow_their_parents(kind: dict[str, object]) -> None:
    beams_follow_their_parents(_model(kind), SOURCE, 8)


@every_kind
@torch.no_grad()
def test_dec_05_parents_1_1_0(kind: dict[str, object]) -> None:
    model = _model(kind)
    state = model.start(model.encode(SOURCE[:1]), max_length=4)
    state.widen(3)
    model.step(torch.tensor([[5, 6, 7]]), state)
    before, memory = [part.clone() for part in state.history], [part.clone() for part in state.memory]
    state.reorder(torch.tensor([[1, 1, 0]]))
    assert all(torch.equal(now, old[[1, 1, 0]]) for now, old in zip(state.history, before, strict=True))
    assert all(torch.equal(now, old) for now, old in zip(state.memory, memory, strict=True))
    assert all(len(part) == 1 for part in state.memory)  # once per sentence, not per beam


@every_kind
@torch.no_grad()
def test_sentences_can_leave_and_beams_can_change_in_number(kind: dict[str, object]) -> None:
    sentences_leave_and_beams_change_in_number(_model(kind), SOURCE)


@every_kind
@torch.no_grad()
def test_misuse_is_an_error(kind: dict[str, object]) -> None:
    misuse_is_refused(_model(kind), SOURCE)


@torch.no_grad()
def test_learned_positions_bound_the_length_of_a_convolutional_translation() -> None:
    model = _model({"architecture": "convolutional", "position": "learned", "position_max": 5})
    assert model.start(model.encode(SOURCE), max_length=50).max_length == 5
    with pytest.raises(InputError, match=r"model\.position_max=5"):
        model.decode(random_tokens(3, 6), model.encode(SOURCE))


@every_kind
@torch.no_grad()
def test_neither_amount_nor_content_of_padding_changes_anything(kind: dict[str, object]) -> None:
    model = _model(kind, **({} if "tying" in kind else {"tying": "none"}))
    target = random_tokens(3, 6)
    expected = model.decode(target, model.encode(SOURCE))
    padded = F.pad(SOURCE, (0, 4)), F.pad(target, (0, 3))
    torch.testing.assert_close(model.decode(padded[1], model.encode(padded[0]))[:, :6], expected, atol=1e-5, rtol=0)
    for row, length in enumerate((5, 2, 3)):
        alone = model.decode(target[row : row + 1], model.encode(SOURCE[row : row + 1, :length]))
        torch.testing.assert_close(alone[0], expected[row], atol=1e-5, rtol=0)
    for side in ("source", "target"):
        model.get_parameter(f"{side}_input.embedding.weight")[0] = 7.0
    torch.testing.assert_close(model.decode(padded[1], model.encode(padded[0]))[:, :6], expected, atol=1e-5, rtol=0)


@every_kind
@torch.no_grad()
def test_a_changed_future_leaves_the_past_bitwise_equal(kind: dict[str, object]) -> None:
    model = _model(kind)
    memory = model.encode(SOURCE)
    target = random_tokens(3, 8)
    changed = target.clone()
    changed[:, 5] = 4 + (target[:, 5] - 3) % 16
    before, after = model.decode(target, memory), model.decode(changed, memory)
    assert torch.equal(before[:, :5], after[:, :5])
    assert not torch.isclose(before[:, 5], after[:, 5]).all(dim=-1).any()


@every_kind
@torch.no_grad()
def test_the_source_is_read_and_its_order_by_all_but_the_bag(kind: dict[str, object]) -> None:
    model = _model(kind)
    target = random_tokens(1, 4)
    hidden, shuffled, other = (
        model.decode(target, model.encode(torch.tensor([ids])))
        for ids in ([5, 6, 7, 8, 3], [8, 5, 7, 6, 3], [5, 6, 9, 8, 3])
    )
    assert not torch.allclose(hidden, other, atol=1e-5)
    # A convolution one position wide has no order either, unless positions are added.
    orderless = kind["architecture"] == "bag" or kind.get("kernel_size") == 1
    assert torch.allclose(hidden, shuffled, atol=1e-5) == orderless


@torch.no_grad()
def test_an_averaged_window_has_no_order_and_a_concatenated_one_has() -> None:
    first, second = torch.tensor([[4, 5, 6, 7]]), torch.tensor([[4, 6, 5, 7]])
    for bag, same in (("average", True), ("concatenate", False)):
        model = _model({"architecture": "bag", "bag": bag, "bag_window": 3})
        memory = model.encode(SOURCE[:1])
        a, b = model.decode(first, memory)[:, -1], model.decode(second, memory)[:, -1]
        assert torch.allclose(a, b, atol=1e-6) == same


@every_kind
@torch.no_grad()
def test_the_reach_into_the_past_is_a_window_or_everything(kind: dict[str, object]) -> None:
    model = _model(kind)
    target = random_tokens(1, 9)
    other = target.clone()
    other[0, 1] = 4 + (int(target[0, 1]) - 3) % 16
    memory = model.encode(SOURCE[:1])
    same = torch.equal(model.decode(target, memory)[:, -1], model.decode(other, memory)[:, -1])
    config = replace(SMALL, **kind)
    reach = {
        "rnn": 9,
        "convolutional": 1 + config.layers * (config.kernel_size - 1),
        "bag": config.bag_window,
    }
    assert same == (reach[config.architecture] < 8)


@every_kind
def test_every_parameter_learns_and_a_source_without_pieces_does_no_harm(kind: dict[str, object]) -> None:
    """MASK-01: the loss of the first row; the other row's source is padding throughout."""
    model = _model(kind).train()
    source = torch.tensor([[5, 6, 7, 3], [0, 0, 0, 0]])
    target = torch.tensor([[2, 4, 5, 6, 7, 8], [2, 7, 9, 4, 5, 6]])
    logits = model(source, target)
    assert torch.isfinite(logits).all()
    F.cross_entropy(logits[0], target[0].roll(-1)).backward()
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None, name
        assert torch.isfinite(parameter.grad).all(), name
        assert parameter.grad.abs().max() > 1e-7, name


@pytest.mark.parametrize("field", ["dropout", "dropout_embedding"])
@every_kind
@torch.no_grad()
def test_each_dropout_acts_in_training_alone(kind: dict[str, object], field: str) -> None:
    off = {"dropout": 0.0, "dropout_embedding": 0.0}
    target = random_tokens(3, 6)
    outputs = []
    for rates in (off, off | {field: 0.3}):
        model = _model(kind, **rates)
        evaluated = model.decode(target, model.encode(SOURCE))
        torch.manual_seed(3)
        model.train()
        outputs.append((evaluated, model.decode(target, model.encode(SOURCE))))
    assert torch.equal(outputs[0][0], outputs[0][1])
    assert torch.equal(outputs[0][0], outputs[1][0])
    assert not torch.allclose(outputs[0][1], outputs[1][1], atol=1e-4)


@every_kind
@torch.no_grad()
def test_shared_settings_reach_every_rival(kind: dict[str, object]) -> None:
    """Embedding scale and deviation, tying, depth: each changes what the network computes or holds."""
    target = random_tokens(3, 6)

    def hidden(**changes: object) -> Tensor:
        model = build_model(replace(SMALL, **(kind | changes)), 20, 20, seed=1).eval()
        return model.decode(target, model.encode(SOURCE))

    base = hidden()
    assert not torch.allclose(base, hidden(embedding_scale=False), atol=1e-4)
    assert not torch.allclose(base, hidden(embedding_std=0.5), atol=1e-4)
    assert not torch.allclose(base, hidden(layers=3), atol=1e-4)
    for tying, matrices in (("three-way", 1), ("decoder", 2), ("source-target", 2), ("none", 3)):
        model = build_model(replace(SMALL, **(kind | {"tying": tying})), 20, 20, seed=1)
        assert sum(parameter.shape == (20, 16) for parameter in model.parameters()) == matrices
        assert model.output_weight.shape == (20, 16)


@every_kind
@torch.no_grad()
def test_bf16_is_close(kind: dict[str, object]) -> None:
    model = _model(kind)
    target = random_tokens(3, 6)
    exact = model.decode(target, model.encode(SOURCE))
    with torch.autocast("cpu", torch.bfloat16):
        memory = model.encode(SOURCE)
        rough = model.decode(target, memory)
        state = model.start(memory, max_length=6)
        for position in range(6):
            hidden = model.step(target[:, position : position + 1], state)
            torch.testing.assert_close(hidden[:, 0].float(), exact[:, position], atol=0.15, rtol=0.05)
    torch.testing.assert_close(rough.float(), exact, atol=0.15, rtol=0.05)


@pytest.mark.device
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
@every_kind
@torch.no_grad()
def test_cuda_computes_what_the_cpu_computes(kind: dict[str, object]) -> None:
    target = random_tokens(3, 6)
    expected = _model(kind).double()
    expected = expected.decode(target, expected.encode(SOURCE))
    model = _model(kind).double().cuda()
    memory = model.encode(SOURCE.cuda())
    torch.testing.assert_close(model.decode(target.cuda(), memory).cpu(), expected, atol=1e-9, rtol=0)
    state = model.start(memory, max_length=6)
    for position in range(6):
        hidden = model.step(target[:, position : position + 1].cuda(), state)
        torch.testing.assert_close(hidden[:, 0].cpu(), expected[:, position], atol=1e-9, rtol=0)
    model.float()
    with torch.autocast("cuda", torch.bfloat16):
        rough = model.decode(target.cuda(), model.encode(SOURCE.cuda()))
    torch.testing.assert_close(rough.double().cpu(), expected, atol=0.2, rtol=0.1)
