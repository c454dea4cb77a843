"""Is a folder on a full disk noticed?"""

import errno
import io
import os

import pytest

from crossover.errors import CrossoverError
from crossover.records import atomic


def test_a_folder_with_space_is_made_and_left_empty(tmp_path):
    atomic.require_space(tmp_path / "results")
    assert list((tmp_path / "results").iterdir()) == []


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
def test_a_folder_without_space_is_named_with_the_reason_and_the_next_step(tmp_path, monkeypatch, number):
    class Full(io.BytesIO):
        def write(self, _):
            raise OSError(number, os.strerror(number))

    monkeypatch.setattr(atomic.tempfile, "TemporaryFile", lambda **_: Full())
    with pytest.raises(CrossoverError, match=f"{tmp_path}.*{os.strerror(number)}.*free some space"):
        atomic.require_space(tmp_path)


def test_a_file_instead_of_a_folder_is_named(tmp_path):
    (tmp_path / "results").touch()
    with pytest.raises(CrossoverError, match="results: cannot be written to"):
        atomic.require_space(tmp_path / "results")
