"""Every value of ``tokenizer.kind``: the ids all share, text that comes back, repeatable training."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from sacrebleu import corpus_bleu

from ablatable.config.data import Tokenizer as TokenizerConfig
from ablatable.config.layers import build, from_overrides
from ablatable.config.tree import leaves
from ablatable.data.tokenizers.build import KINDS, load_tokenizer, train_tokenizer
from ablatable.data.tokenizers.special import BOS, EOS, PAD, UNK
from ablatable.data.tokenizers.wordpiece import WordPieceTokenizer
from ablatable.errors import InputError

TINY = ["a b c d a b c"] * 3
"""The corpus of TOK-01 and TOK-02."""

TEXT = [
    "The dog saw “the” cats (and) the #1 well-known dogs, didn't it?",
    "Das kostet 3.50 €, nicht wahr? Übrigens: zum B. ## <b>ﬁx</b> <unk> 100 % [UNK]",
    "the dog and the cat",
]


def made_up_lines(count: int = 300, seed: int = 3) -> list[str]:
    draw = random.Random(seed)
    words = ["".join(draw.choices("abcdefgij", k=4)) for _ in range(150)]
    return [" ".join(draw.choices(words, k=6)) + draw.choice([".", "!", ", hm.", ""]) for _ in range(count)]


def trained(kind: str, lines: list[str], size: int, normalisation: str = "identity") -> Any:
    return KINDS[kind].load(KINDS[kind].train(lines, size, normalisation), normalisation)


def full(kind: str, lines: list[str], normalisation: str = "identity") -> Any:
    """A tokenizer that knows all of ``lines``, small where its kind must be filled."""
    return trained(kind, lines, 150 if kind in ("bpe", "unigram", "wordpiece") else 5000, normalisation)


@pytest.fixture(scope="module")
def lines() -> list[str]:
    return [*made_up_lines(), *TEXT * 3]


def test_every_kind_of_the_design_space_is_there() -> None:
    axis = leaves()["tokenizer.kind"].axis
    assert axis is not None
    assert set(KINDS) == set(axis.choices)


@pytest.mark.parametrize("kind", KINDS)
def test_tok_03_special_ids_come_first(kind: str, lines: list[str]) -> None:
    tokenizer = full(kind, lines)
    assert (PAD, UNK, BOS, EOS) == (0, 1, 2, 3)
    assert tokenizer.pieces()[:4] == ["<pad>", "<unk>", "<s>", "</s>"]
    assert tokenizer.size == len(tokenizer.pieces()) == len(set(tokenizer.pieces()))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("text", [*TEXT, "", "dog"])
def test_known_text_comes_back_as_it_was_written(kind: str, text: str, lines: list[str]) -> None:
    """Spaces, punctuation, number signs and what looks like a special piece."""
    tokenizer = full(kind, lines)
    ids = tokenizer.encode(text)
    assert not {PAD, UNK, BOS, EOS} & set(ids)
    assert tokenizer.decode(ids) == text
    assert tokenizer.decode([BOS, *ids, UNK, EOS, PAD]) == text


@pytest.mark.parametrize("kind", KINDS)
def test_bleu_06_output_needs_no_detokeniser(kind: str, lines: list[str]) -> None:
    tokenizer = full(kind, lines)
    decoded = [tokenizer.decode(ids) for ids in tokenizer.encode_lines(TEXT)]
    assert corpus_bleu(decoded, [TEXT], tokenize="none").score == pytest.approx(100)


@pytest.mark.parametrize("kind", KINDS)
def test_lines_are_encoded_as_one_by_one(kind: str, lines: list[str]) -> None:
    tokenizer = full(kind, lines)
    assert tokenizer.encode_lines(lines[:20]) == [tokenizer.encode(line) for line in lines[:20]]
    assert tokenizer.encode_lines([]) == []
    assert tokenizer.encode("") == []


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("text", ["  two  spaces ", "a\tb", " ", "non\u00a0breaking\u2028line"])
def test_identity_keeps_white_space(kind: str, text: str) -> None:
    tokenizer = full(kind, [*made_up_lines(), *["  two  spaces ", "a\tb", " ", "non\u00a0breaking\u2028line"] * 3])
    kept = " ".join(text.split(" ")).strip(" ").replace("  ", " ") if kind == "wordpiece" else text
    assert tokenizer.decode(tokenizer.encode(text)) == kept


@pytest.mark.parametrize("kind", KINDS)
def test_tok_04_nfkc_rewrites_text_for_every_kind(kind: str) -> None:
    rewritten = "1⁄2 fi A ... .."
    tokenizer = full(kind, [*made_up_lines(), *["½ ﬁ Ａ … ︰"] * 5], "nmt_nfkc")
    assert tokenizer.decode(tokenizer.encode("½  ﬁ Ａ … ︰ ")) == rewritten
    assert UNK not in tokenizer.encode(rewritten)


@pytest.mark.parametrize("kind", KINDS)
def test_tok_10_training_repeats(kind: str, lines: list[str]) -> None:
    first, again, backwards = (full(kind, text) for text in (lines, lines, lines[::-1]))
    assert first.pieces() == again.pieces()
    assert first.fingerprint == again.fingerprint
    if kind != "unigram":  # which orders equally likely pieces by sums of floats
        assert backwards.fingerprint == first.fingerprint


def test_tok_10_wordpiece_of_a_tiny_text_twenty_times() -> None:
    """The library's trainer alone gives another vocabulary nearly every time on this text."""
    found = {tuple(trained("wordpiece", made_up_lines(40), 120).pieces()) for _ in range(20)}
    assert len(found) == 1


def test_tok_10_wordpiece_in_another_process_with_other_hashes_and_threads(repository: Path) -> None:
    program = (
        "import sys; sys.path.insert(0, 'src')\n"
        "from ablatable.data.tokenizers.wordpiece import WordPiece\n"
        "sys.stdout.buffer.write(WordPiece().train(sys.stdin.read().split(chr(10)), 120, 'identity'))\n"
    )
    text = made_up_lines(40)
    answer = subprocess.run(
        [sys.executable, "-c", program],
        cwd=repository,
        env={"PYTHONHASHSEED": "2", "RAYON_NUM_THREADS": "4", "PATH": ""},
        input="\n".join(text).encode(),
        capture_output=True,
        check=True,
    )
    assert answer.stdout == KINDS["wordpiece"].train(text, 120, "identity")


def test_fingerprints_tell_kinds_and_normalisations_apart(lines: list[str]) -> None:
    found = {full(kind, lines, rule).fingerprint for kind in KINDS for rule in ("identity", "nmt_nfkc")}
    assert len(found) == 2 * len(KINDS)


def test_tok_07_neighbouring_unknown_words_stay_two() -> None:
    tokenizer = trained("word", ["the dog and the cat"], 100)
    assert [tokenizer.pieces()[index] for index in tokenizer.encode("the xxx yyy dog")] == [
        " the",
        "<unk>",
        "<unk>",
        " dog",
    ]


def test_words_and_punctuation_are_pieces_of_their_own() -> None:
    tokenizer = trained("word", ["Yes, dog! (dog) 3.5 don't"], 100)
    pieces = [tokenizer.pieces()[index] for index in tokenizer.encode("Yes, dog! (dog) 3.5 don't")]
    assert pieces == [" Yes", ",", " dog", "!", " (", "dog", ")", " 3", ".", "5", " don", "'", "t"]


@pytest.mark.parametrize(("kind", "units"), [("word", 4), ("character", 5)])
def test_tok_01_a_closed_vocabulary_larger_than_the_text_gets_its_own_size(
    kind: str, units: int, capsys: pytest.CaptureFixture[str]
) -> None:
    """A soft limit, by design: `size` is the most; the size there is goes to the model and the record."""
    assert trained(kind, TINY, 1000).size == 4 + units
    assert capsys.readouterr().err == ""


def test_tok_01_wordpiece_names_its_limit() -> None:
    text = ["abab abab cab"] * 3
    with pytest.raises(InputError, match=r"tokenizer\.size=1000 .*limit for wordpiece is (\d+);") as caught:
        KINDS["wordpiece"].train(text, 1000, "identity")
    limit = int(str(caught.value).split("limit for wordpiece is ")[1].split(";")[0])
    assert trained("wordpiece", text, limit).size == limit
    with pytest.raises(InputError, match=f"limit for wordpiece is {limit};"):
        KINDS["wordpiece"].train(text, limit + 1, "identity")


def test_tok_02_wordpiece_below_the_alphabet_is_refused() -> None:
    with pytest.raises(InputError, match=r"tokenizer\.size=7 .*it needs 8;"):
        KINDS["wordpiece"].train(TINY, 7, "identity")
    assert trained("wordpiece", TINY, 8).size == 8
    with pytest.raises(InputError, match=r"it needs 10;"):  # a, b, c, d in front, b and d behind
        KINDS["wordpiece"].train(["ab cd"], 8, "identity")


@pytest.mark.parametrize(
    ("kind", "size", "said"),
    [
        ("character", 8, "1 of 5 different pieces: 3 of the 39 pieces of the training text (7.69 %, 3 characters)"),
        ("character", 5, "4 of 5 different pieces: 21 of the 39 pieces of the training text (53.85 %, 21 characters)"),
        ("word", 5, "3 of 4 different pieces: 15 of the 21 pieces of the training text (71.43 %, 15 characters)"),
    ],
)
def test_tok_02_what_a_closed_vocabulary_leaves_out_is_counted(
    kind: str, size: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    tokenizer = trained(kind, TINY, size)
    assert said in capsys.readouterr().err
    unknown = int(said.split("different pieces: ")[1].split(" ")[0])
    assert sum(ids.count(UNK) for ids in tokenizer.encode_lines(TINY)) == unknown
    assert tokenizer.size == size


@pytest.mark.parametrize("kind", ["word", "character", "wordpiece"])
@pytest.mark.parametrize("size", [3, 4])
def test_tok_02_a_size_without_room_is_refused(kind: str, size: int) -> None:
    with pytest.raises(InputError, match=rf"tokenizer\.size={size} .*4 special ids"):
        KINDS[kind].train(TINY, size, "identity")


@pytest.mark.parametrize("kind", ["word", "character", "wordpiece"])
def test_empty_text_is_refused(kind: str) -> None:
    with pytest.raises(InputError, match=r"tokenizer\.size=100"):
        KINDS[kind].train([], 100, "identity")


def test_tok_11_a_word_with_an_unknown_part_is_unknown() -> None:
    tokenizer = WordPieceTokenizer(["un", "##want", "##ed", "runn", "##ing", "te", "x", "##a", "##s"], "identity")

    def pieces(text: str) -> list[str]:
        return [tokenizer.pieces()[index] for index in tokenizer.encode(text)]

    assert pieces("unwantedX running") == ["<unk>", "runn", "##ing"]
    assert pieces("texas") == ["<unk>"]
    assert pieces("unwanted") == ["un", "##want", "##ed"]
    assert tokenizer.decode(tokenizer.encode("unwanted")) == "unwanted"


def test_tok_11_a_word_of_more_than_a_hundred_letters_is_unknown() -> None:
    tokenizer = trained("wordpiece", ["a" * 101, "a b"], 7)
    assert tokenizer.encode("a" * 101) == [UNK]
    assert UNK not in tokenizer.encode("a" * 100)


def test_tok_11_pieces_are_the_longest_that_match(lines: list[str]) -> None:
    """Against a loop written from the definition."""
    tokenizer = full("wordpiece", lines)
    known = set(tokenizer.pieces()[4:])

    def cut(word: str) -> list[str]:
        found: list[str] = []
        while word:
            mark = "##" if found else ""
            end = next((n for n in range(len(word), 0, -1) if mark + word[:n] in known), 0)
            if not end:
                return ["<unk>"]
            found.append(mark + word[:end])
            word = word[end:]
        return found

    for line in [*made_up_lines(50, seed=9), "♞ abc♞ zz"]:
        expected = [piece for word in line.split(" ") for piece in cut(word)]
        assert [tokenizer.pieces()[index] for index in tokenizer.encode(line)] == expected


def test_bytes_are_256_and_never_unknown() -> None:
    tokenizer = trained("byte", [], 37000)
    assert tokenizer.size == TokenizerConfig(kind="byte").most_pieces == 260
    assert tokenizer.encode("é♞") == [byte + 4 for byte in "é♞".encode()]
    assert tokenizer.decode(tokenizer.encode("é♞")) == "é♞"
    assert tokenizer.decode([0xC3 + 4, 0x41 + 4]) == "\ufffdA"


@pytest.mark.parametrize("setting", ["tokenizer.size=100", "tokenizer.sharing=separate"])
def test_what_means_nothing_for_bytes_is_refused(setting: str) -> None:
    with pytest.raises(
        InputError, match=rf"{setting.split('=')[0]} does nothing, it needs tokenizer.kind other than byte"
    ):
        build([from_overrides(["tokenizer.kind=byte", setting])])


@pytest.mark.parametrize("kind", KINDS)
def test_a_kept_tokenizer_is_read_back_and_damage_is_named(kind: str, tmp_path: Path, lines: list[str]) -> None:
    config, folder = TokenizerConfig(kind=kind, size=150), tmp_path / "tokenizers" / "key"
    first = train_tokenizer(lines, config, folder)
    again = load_tokenizer(config, folder)
    assert first.fingerprint == again.fingerprint
    assert first.encode(TEXT[0]) == again.encode(TEXT[0])
    (folder / "tokenizer.model").write_bytes(b"[1, 2]")
    with pytest.raises(InputError, match=rf"{folder}: .*damaged"):
        load_tokenizer(config, folder)
