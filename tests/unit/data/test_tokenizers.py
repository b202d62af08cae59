from __future__ import annotations

import random
from pathlib import Path

import pytest
from sacrebleu import corpus_bleu

from ablatable.config.data import Tokenizer as TokenizerConfig
from ablatable.data.tokenizers.build import KINDS, load_tokenizer, train_tokenizer
from ablatable.data.tokenizers.sentencepiece_model import SentencePieceTokenizer
from ablatable.data.tokenizers.special import BOS, EOS, PAD, UNK
from ablatable.errors import InputError

TINY = ["a b c d a b c"] * 3
"""The corpus of TOK-01 and TOK-02. Their limits are for three special ids; ours are four, so one more."""


def made_up_lines(count: int = 400, seed: int = 3) -> list[str]:
    draw = random.Random(seed)
    words = ["".join(draw.choices("abcdefgij", k=4)) for _ in range(150)] + ["iagg", "jdec", "dggg"]
    return [" ".join(draw.choices(words, k=6)) for _ in range(count)]


SENTENCEPIECE = ("bpe", "unigram")


def trained(kind: str, lines: list[str], size: int, normalisation: str = "identity") -> SentencePieceTokenizer:
    model = KINDS[kind].train(lines, size, normalisation)
    tokenizer = KINDS[kind].load(model, normalisation)
    assert isinstance(tokenizer, SentencePieceTokenizer)
    return tokenizer


@pytest.mark.parametrize(("kind", "limit"), [("bpe", 13), ("unigram", 10)])
def test_tok_01_a_size_the_text_cannot_fill_is_refused_with_the_limit(kind: str, limit: int) -> None:
    with pytest.raises(InputError, match=rf"tokenizer\.size=1000 .*limit for {kind} is {limit};"):
        KINDS[kind].train(TINY, 1000, "identity")
    with pytest.raises(InputError, match=f"limit for {kind} is {limit};"):
        KINDS[kind].train(TINY, limit + 1, "identity")
    assert trained(kind, TINY, limit).size == limit


@pytest.mark.parametrize("kind", SENTENCEPIECE)
@pytest.mark.parametrize("size", [3, 4, 5, 8])
def test_tok_02_a_size_below_the_alphabet_is_refused(kind: str, size: int) -> None:
    needed = "it needs 9;" if size > 4 else "4 special ids"
    with pytest.raises(InputError, match=rf"tokenizer\.size={size} .*{needed}"):
        KINDS[kind].train(TINY, size, "identity")
    assert trained(kind, TINY, 9).size == 9


@pytest.mark.parametrize("kind", SENTENCEPIECE)
def test_empty_text_is_refused(kind: str) -> None:
    with pytest.raises(InputError, match=r"tokenizer\.size=100"):
        KINDS[kind].train([], 100, "identity")


@pytest.mark.parametrize("kind", SENTENCEPIECE)
def test_tok_03_special_ids(kind: str) -> None:
    tokenizer = trained(kind, made_up_lines(), 60)
    assert (PAD, UNK, BOS, EOS) == (0, 1, 2, 3)
    assert tokenizer.pieces()[:4] == ["<pad>", "<unk>", "<s>", "</s>"]
    assert tokenizer.size == len(tokenizer.pieces()) == 60


@pytest.mark.parametrize("kind", SENTENCEPIECE)
def test_text_that_looks_special_is_text(kind: str) -> None:
    tokenizer = trained(kind, [*made_up_lines(), "< > / s p u n k", "<s> </s> <pad> <unk>"], 80)
    ids = tokenizer.encode("<s> a </s> <pad> <unk>")
    assert not {PAD, BOS, EOS, UNK} & set(ids)
    assert tokenizer.decode(ids) == "<s> a </s> <pad> <unk>"


@pytest.mark.parametrize("kind", SENTENCEPIECE)
def test_special_ids_never_reach_the_text(kind: str) -> None:
    tokenizer = trained(kind, made_up_lines(), 60)
    ids = tokenizer.encode("abc dega")
    assert tokenizer.decode([BOS, *ids, UNK, EOS, PAD, PAD]) == "abc dega"
    assert tokenizer.decode([BOS, EOS, PAD, UNK]) == ""
    assert tokenizer.encode("♞")[-1] == UNK


UNUSUAL = "½ ﬁ Ａ … ︰"


@pytest.mark.parametrize("kind", SENTENCEPIECE)
def test_tok_04_identity_keeps_the_text_and_nfkc_says_that_it_does_not(kind: str) -> None:
    lines = [*made_up_lines(), *[UNUSUAL] * 5, *["1⁄2 fi A ... .."] * 5]
    assert (tokenizer := trained(kind, lines, 90)).decode(tokenizer.encode(UNUSUAL)) == UNUSUAL
    rewriting = trained(kind, lines, 90, "nmt_nfkc")
    assert rewriting.decode(rewriting.encode(UNUSUAL)) == "1⁄2 fi A ... .."


def test_tok_04_bleu_against_untouched_and_redecoded_references() -> None:
    reference = "Es kostet heute 10 ½ Euro … und morgen 12 Euro"
    tokenizer = trained("bpe", [*made_up_lines(), *[reference, "1⁄2 ..."] * 5], 80, "nmt_nfkc")
    redecoded = tokenizer.decode(tokenizer.encode(reference))
    assert corpus_bleu([redecoded], [[reference]]).score == pytest.approx(39.83, abs=0.005)
    assert corpus_bleu([redecoded], [[redecoded]]).score == pytest.approx(100)


@pytest.mark.parametrize("kind", SENTENCEPIECE)
@pytest.mark.parametrize("text", ["  two  spaces ", "a\tb", "", " ", "non\u00a0breaking\u2028line"])
def test_identity_keeps_white_space(kind: str, text: str) -> None:
    tokenizer = trained(kind, [*made_up_lines(), *["two spaces\tnon\u00a0breaking\u2028line b"] * 3], 80)
    assert tokenizer.decode(tokenizer.encode(text)) == text


@pytest.mark.parametrize("kind", SENTENCEPIECE)
def test_tok_10_training_repeats_whatever_the_line_order(kind: str) -> None:
    lines = made_up_lines()
    first, again, backwards = (trained(kind, text, 120) for text in (lines, lines, lines[::-1]))
    assert first.pieces() == again.pieces()
    assert first.fingerprint == again.fingerprint
    assert len(first.fingerprint) == 16
    assert set(first.pieces()) == set(backwards.pieces())
    if kind == "bpe":  # the unigram model orders equally likely pieces by sums of floats
        assert first.fingerprint == backwards.fingerprint


def test_tok_10_the_fingerprint_is_of_the_pieces_kind_and_normalisation() -> None:
    lines = made_up_lines()
    fingerprints = {
        trained("bpe", lines, 120).fingerprint,
        trained("bpe", lines, 121).fingerprint,
        trained("bpe", made_up_lines(seed=4), 120).fingerprint,
        trained("bpe", lines, 120, "nmt_nfkc").fingerprint,
        trained("unigram", lines, 120).fingerprint,
    }
    assert len(fingerprints) == 5


def test_tok_10_the_fingerprint_ignores_settings_stored_in_the_model(monkeypatch: pytest.MonkeyPatch) -> None:
    eight = KINDS["bpe"].train(made_up_lines(), 120, "identity")
    monkeypatch.setattr("ablatable.data.tokenizers.sentencepiece_model._TRAINING_THREADS", 2)
    two = KINDS["bpe"].train(made_up_lines(), 120, "identity")
    assert eight != two
    assert KINDS["bpe"].load(eight, "identity").fingerprint == KINDS["bpe"].load(two, "identity").fingerprint


@pytest.mark.parametrize("kind", SENTENCEPIECE)
def test_tok_12_a_list_is_decoded_at_once(kind: str) -> None:
    tokenizer = trained(kind, made_up_lines(), 120)
    ids = tokenizer.encode("iagg jdec dggg")
    assert tokenizer.decode(ids) == "iagg jdec dggg"
    assert "".join(tokenizer.decode([index]) for index in ids) == "iaggjdecdggg"


@pytest.mark.parametrize("kind", SENTENCEPIECE)
def test_lines_are_encoded_as_one_by_one(kind: str) -> None:
    tokenizer = trained(kind, made_up_lines(), 120)
    lines = [*made_up_lines(20, seed=9), ""]
    assert tokenizer.encode_lines(lines) == [tokenizer.encode(line) for line in lines]
    assert tokenizer.encode_lines([]) == []


def test_training_is_silent(capfd: pytest.CaptureFixture[str]) -> None:
    trained("bpe", made_up_lines(), 60)
    with pytest.raises(InputError):
        KINDS["unigram"].train(TINY, 1000, "identity")
    assert capfd.readouterr() == ("", "")


def test_a_stored_tokenizer_is_not_trained_again(tmp_path: Path) -> None:
    config, folder = TokenizerConfig(size=60), tmp_path / "tokenizers" / "key"
    first = train_tokenizer(made_up_lines(), config, folder)
    again = train_tokenizer((pytest.fail("read the text again") for _ in "x"), config, folder)
    assert first.fingerprint == again.fingerprint == load_tokenizer(config, folder).fingerprint
    assert first.encode("abcd bcde") == again.encode("abcd bcde")


def test_a_failed_training_leaves_no_folder(tmp_path: Path) -> None:
    folder = tmp_path / "tokenizers" / "key"
    with pytest.raises(InputError):
        train_tokenizer(TINY, TokenizerConfig(size=1000), folder)
    assert not folder.exists()


def test_a_damaged_model_is_named(tmp_path: Path) -> None:
    config, folder = TokenizerConfig(size=60), tmp_path / "key"
    train_tokenizer(made_up_lines(), config, folder)
    (folder / "tokenizer.model").write_bytes(b"not a model")
    with pytest.raises(InputError, match=rf"{folder}: .*damaged"):
        load_tokenizer(config, folder)
