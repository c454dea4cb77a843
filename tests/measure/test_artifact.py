"""Is a product either whole or the reason why it is missing, but never a part?"""

from pathlib import Path

import pytest

from crossover.measure.build.artifact import BuildError, produce, reason_in


def test_a_finished_part_file_becomes_the_product(tmp_path):
    product = tmp_path / "new" / "product"
    assert produce(product, lambda part: part.write_text("made")) == ""
    assert product.read_text() == "made"
    assert list(product.parent.iterdir()) == [product]


def test_a_failed_product_is_its_reason_without_part_files(tmp_path):
    def fail(part):
        part.write_text("half, and longer than the reason")
        raise BuildError("this is\nwhy")

    product = tmp_path / "product"
    product.write_text("of an earlier run")
    assert produce(product, fail) == "this is\nwhy"
    assert product.read_text() == "this is\nwhy\n"
    assert reason_in(product) == "this is why"
    assert list(tmp_path.iterdir()) == [product]


def test_the_old_product_stays_until_the_new_one_is_made_and_after_other_errors(tmp_path):
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


def test_a_relative_product_gets_an_absolute_part_file_for_programs_in_other_folders(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    parts = []
    produce(Path("product"), lambda part: parts.append(part) or part.touch())
    assert parts[0].is_absolute() and parts[0].parent == tmp_path


def test_an_empty_file_is_named_with_the_remedy(tmp_path):
    empty = tmp_path / "empty"
    empty.touch()
    assert reason_in(empty) == f"{empty} is empty; delete it"
