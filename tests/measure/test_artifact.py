"""Is a product either whole or the reason why it is not there, and never half of anything?"""

from pathlib import Path

import pytest

from crossover.measure.build.artifact import BuildError, produce, reason_in


def test_what_was_made_takes_the_products_place(tmp_path):
    product = tmp_path / "new" / "product"
    assert produce(product, lambda part: part.write_text("made")) == ""
    assert product.read_text() == "made"
    assert list(product.parent.iterdir()) == [product]


def test_of_what_cannot_be_made_the_reason_is_left_and_nothing_of_the_half(tmp_path):
    def fail(part):
        part.write_text("half, and longer than the reason")
        raise BuildError("this is\nwhy")

    product = tmp_path / "product"
    product.write_text("of an earlier run")
    assert produce(product, fail) == "this is\nwhy"
    assert product.read_text() == "this is\nwhy\n"
    assert reason_in(product) == "this is why"
    assert list(tmp_path.iterdir()) == [product]


def test_until_it_is_made_the_old_product_stays_and_after_any_other_error_too(tmp_path):
    product = tmp_path / "product"
    product.write_text("old")

    def crash(part):
        part.write_text("half")
        assert product.read_text() == "old"
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        produce(product, crash)
    assert product.read_text() == "old"
    assert list(tmp_path.iterdir()) == [product]


def test_a_product_named_from_where_one_is_gets_an_absolute_part_file_for_whoever_works_elsewhere(
    tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    parts = []
    produce(Path("product"), lambda part: parts.append(part) or part.touch())
    assert parts[0].is_absolute() and parts[0].parent == tmp_path


def test_a_file_that_says_nothing_is_named_with_what_to_do(tmp_path):
    empty = tmp_path / "empty"
    empty.touch()
    assert reason_in(empty) == f"{empty} is empty; delete it"
