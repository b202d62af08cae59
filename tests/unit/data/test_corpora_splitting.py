from __future__ import annotations

import pytest

from ablatable.data.corpora.splitting import NearDuplicates, hold_out, trigrams


def _pairs(count: int) -> list[tuple[str, str]]:
    return [(f"source s{n} word a{n} b{n} c{n} end", f"ziel z{n} wort d{n} e{n} f{n} ende") for n in range(count)]


def test_trigrams_ignore_case_and_punctuation() -> None:
    assert trigrams("Open the file, now!") == {("open", "the", "file"), ("the", "file", "now")}
    assert trigrams("Open it") == {("open", "it")}
    assert trigrams("...") == frozenset()


@pytest.mark.parametrize(
    ("text", "near"),
    [
        ("a b c d e f g h i j k l", True),
        ("x y a b c d e f g h i q r", True),  # 7 of the 10 trigrams
        ("x y a b c d e f g h q r", False),  # 6 of the 10
        ("a b x c d x e f", False),
    ],
)
def test_a_near_duplicate_holds_seventy_percent_of_the_trigrams(text: str, near: bool) -> None:
    assert NearDuplicates(["a b c d e f g h i j k l"]).near(text) is near


def test_splits_are_disjoint_complete_and_the_same_for_any_order_of_the_pairs() -> None:
    pairs = _pairs(60)
    splits = hold_out(pairs, valid=10, test=10)
    assert [len(splits.train), len(splits.valid), len(splits.test)] == [40, 10, 10]
    assert set(splits.train) | set(splits.valid) | set(splits.test) == set(pairs)
    assert hold_out(pairs[::-1], valid=10, test=10) == splits


def test_a_sentence_stays_held_out_when_the_corpus_grows() -> None:
    few, many = hold_out(_pairs(40), 5, 5), hold_out(_pairs(44), 5, 5)
    assert len(set(few.test) & set(many.test)) >= 3


def test_training_holds_no_side_and_no_near_duplicate_of_a_held_out_pair() -> None:
    pairs = _pairs(60)
    target_twin = [(f"another start u{n} v{n}", target) for n, (_, target) in enumerate(pairs)]
    near_twin = [(f"{source} Today", f"etwas t{n} ganz u{n} anderes") for n, (source, _) in enumerate(pairs)]
    splits = hold_out([*pairs, *target_twin, *near_twin], valid=20, test=20)
    held = splits.valid + splits.test
    sources, targets = {pair[0] for pair in held}, {pair[1] for pair in held}
    near = [NearDuplicates([pair[side] for pair in held]) for side in (0, 1)]
    assert splits.dropped["shared side"] > 0
    assert splits.dropped["near-duplicate"] > 0
    for source, target in splits.train:
        assert source not in sources
        assert target not in targets
        assert not near[0].near(source)
        assert not near[1].near(target)


def test_a_held_out_source_brings_one_translation_and_training_none_of_the_others() -> None:
    pairs = [pair for source, target in _pairs(30) for pair in ((source, target), (source, f"anders {target[::-1]}"))]
    splits = hold_out(pairs, valid=5, test=5)
    assert len({source for source, _ in splits.test}) == len(splits.test) == 5
    assert splits.dropped["other translation"] == 10
    assert not {source for source, _ in splits.train} & {source for source, _ in splits.test + splits.valid}
