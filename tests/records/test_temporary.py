"""Does a temporary folder go however its process ends?"""

import os
import signal
import subprocess
import sys
import tempfile

import pytest

from crossover.paths import WORKFLOW
from crossover.records import temporary

HOLDING = """
import time
from crossover.records import temporary
with temporary.folder() as folder:
    print(folder.stat().st_mode & 0o777, flush=True)
    (folder / "file").touch()
    time.sleep(60)
"""


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGKILL])
def test_a_folder_of_a_process_that_ends_goes_at_once_or_with_the_next(tmp_path, monkeypatch, how):
    around = os.environ | {"PYTHONPATH": str(WORKFLOW), "TMPDIR": str(tmp_path)}
    (tmp_path / "crossover-of-another").mkdir()
    with subprocess.Popen(
        [sys.executable, "-c", HOLDING], env=around, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as holder:
        assert int(holder.stdout.readline()) == 0o700
        monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
        temporary.sweep()
        assert len(list(tmp_path.iterdir())) == 2
        holder.send_signal(how)
    assert len(list(tmp_path.iterdir())) == 1 + (how == signal.SIGKILL)
    with temporary.folder() as own:
        assert {path.name for path in tmp_path.iterdir()} == {own.name, "crossover-of-another"}
