"""Is the report published unchanged, to the right place, after a question, and never if it is older than its data?"""

import errno
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from checkouts import git as do
from checkouts import write_raw

from crossover.__main__ import main
from crossover.records import record
from crossover.share import publish as publishing
from crossover.share import run_files

ROOT = Path(__file__).parents[2]


def publish(*arguments, expected=0):
    """Publish the page as it is; tests/report/test_redaction.py publishes pages with pseudonyms."""
    assert main(["publish", "--no-redact", *arguments]) == expected


def refused(capsys, *arguments):
    capsys.readouterr()
    publish(*arguments, expected=1)
    said = capsys.readouterr().err
    assert "Traceback" not in said
    return said.partition("crossover publish: ")[2]


def files_of(folder):
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and ".git" not in path.parts
    }


def pushed(checkout, tmp_path, branch="gh-pages"):
    """The files in a clone of the pushed branch."""
    do("clone", "-q", "--branch", branch, str(tmp_path / "remote.git"), str(tmp_path / "clone"), folder=tmp_path)
    return files_of(tmp_path / "clone")


def tip(checkout, branch="gh-pages"):
    return do("ls-remote", "origin", f"refs/heads/{branch}", folder=checkout)


# ---- to a branch


def test_a_clone_of_the_pushed_branch_contains_the_same_bytes(checkout, tmp_path, capsys):
    (checkout / "work").write_text("in progress")
    before = do("rev-parse", "HEAD", folder=checkout), do("status", "--porcelain", folder=checkout)
    publish("--yes")
    page = (checkout / "results/report/index.html").read_bytes()
    assert pushed(checkout, tmp_path) == {"index.html": page, ".nojekyll": b""}
    assert (do("rev-parse", "HEAD", folder=checkout), do("status", "--porcelain", folder=checkout)) == before
    assert f"the branch gh-pages of {tmp_path}/remote.git" in capsys.readouterr().out


class Terminal:
    def __init__(self, answer):
        self.answer = answer

    def isatty(self):
        return True

    def readline(self):
        return f"{self.answer}\n"


@pytest.mark.parametrize(
    ("answer", "code", "files", "told"),
    [("y", 0, {}, ""), ("", 1, {}, ""), ("n", 1, {"my_work.py": ""}, r", with the text of my_work\.py")],
)
def test_it_asks_before_it_pushes_and_names_a_users_file(checkout, capsys, monkeypatch, answer, code, files, told):
    rows = [replace(each, settings={"sources": files}) for each in run_files.launches(Path("results"))]
    monkeypatch.setattr(run_files, "launches", lambda results: rows)
    monkeypatch.setattr(sys, "stdin", Terminal(answer))
    publish("--own-text", expected=code)
    said = capsys.readouterr().err
    assert re.search(rf"Push 2 files, \d+\.\d MB{told}, to the branch gh-pages of \S+remote\.git\?", said)
    assert bool(tip(checkout)) == (code == 0)


def test_without_a_terminal_it_does_not_push_and_prints_no_password(checkout, capsys, monkeypatch):
    monkeypatch.setattr(sys, "stdin", None)
    do("remote", "set-url", "--push", "origin", "https://me:s3cret@127.0.0.1:9/it.git", folder=checkout)
    said = refused(capsys)
    assert "of https://127.0.0.1:9/it.git, but there is no terminal to ask on; to agree, add --yes" in said
    assert not tip(checkout)


def without_git(checkout, monkeypatch):
    monkeypatch.setenv("PATH", str(checkout))
    return "git cannot be run (No such file or directory); install it, or publish with --to site/"


def unreachable(checkout, monkeypatch):
    do("remote", "set-url", "origin", "/nowhere/at/all.git", folder=checkout)
    return "git fetch failed, and nothing was pushed:\nfatal: '/nowhere/at/all.git' does not appear"


def foreign(checkout, monkeypatch):
    do("push", "-q", "origin", "main:gh-pages", folder=checkout)
    return "the branch refs/remotes/origin/gh-pages is not a crossover report"


def foreign_here(checkout, monkeypatch):
    do("branch", "gh-pages", folder=checkout)
    return "the branch refs/heads/gh-pages is not a crossover report"


@pytest.mark.parametrize(
    "trouble",
    [without_git, unreachable, foreign, foreign_here],
    ids=lambda trouble: trouble.__name__,
)
def test_an_obstacle_is_named_and_nothing_is_pushed(checkout, tmp_path, capsys, monkeypatch, trouble):
    told = trouble(checkout, monkeypatch)
    before = files_of(tmp_path / "remote.git/refs")
    assert told in refused(capsys, "--yes")
    assert files_of(tmp_path / "remote.git/refs") == before


def test_after_a_rejected_push_the_next_one_succeeds(checkout, tmp_path, capfd):
    hook = tmp_path / "remote.git" / "hooks" / "pre-receive"
    hook.write_text("#!/bin/sh\necho 'the branch is protected'\nexit 1\n")
    hook.chmod(0o755)
    publish("--yes", expected=1)
    said = capfd.readouterr().err
    assert (
        "git push failed, and nothing was pushed:\nremote: the branch is protected" in said and "Traceback" not in said
    )
    assert not tip(checkout)
    hook.unlink()
    publish("--yes")
    assert tip(checkout)


def test_a_new_report_is_pushed_on_top_and_the_sites_own_domain_stays(checkout, tmp_path):
    publish("--yes")
    do("worktree", "add", "-q", str(tmp_path / "pages"), "gh-pages", folder=checkout)
    (tmp_path / "pages" / "CNAME").write_text("bench.example.org\n")
    do("add", "CNAME", folder=tmp_path / "pages")
    do("commit", "-qm", "A domain", folder=tmp_path / "pages")
    do("push", "-q", "origin", "gh-pages", folder=tmp_path / "pages")
    do("worktree", "remove", str(tmp_path / "pages"), folder=checkout)
    page = checkout / "results/report/index.html"
    page.write_text(page.read_text().replace("</body>", "<p>more</p></body>"))
    publish("--yes")
    files = pushed(checkout, tmp_path)
    assert (files["CNAME"], files["index.html"]) == (b"bench.example.org\n", page.read_bytes())
    assert do("rev-list", "--count", "gh-pages", folder=checkout) == "3"


@pytest.mark.parametrize("lost", ["", "^{tree}", ":index.html"])
def test_damaged_branches_are_named_with_the_commands_that_remove_them(checkout, capsys, lost):
    publish("--yes")
    name = do("rev-parse", f"gh-pages{lost}", folder=checkout)
    (checkout / ".git/objects" / name[:2] / name[2:]).unlink()
    for branch in ("refs/heads/gh-pages", "refs/remotes/origin/gh-pages"):
        said = refused(capsys, "--yes")
        assert f"the branch {branch} is damaged" in said
        do(*said.strip().rpartition(": git ")[2].split(), folder=checkout)
    publish("--yes")


STEPS = ["fetch", "hash-object", "update-index", "write-tree", "commit-tree", "push", "update-ref"]


@pytest.mark.parametrize("step", STEPS)
def test_a_kill_at_any_step_leaves_the_branches_whole(checkout, tmp_path, step):
    publish("--yes")
    page = checkout / "results/report/index.html"
    page.write_text(page.read_text().replace("</body>", "<p>more</p></body>"))
    (tmp_path / "bin").mkdir()
    fatal, ended, git = tmp_path / "bin" / "git", tmp_path / "ended", shutil.which("git")
    killing = f'kill -9 $PPID; {git} "$@"; touch {ended}'
    fatal.write_text(f'#!/bin/sh\ncase $1 in {step}) {killing} ;; *) exec {git} "$@" ;; esac\n')
    fatal.chmod(0o755)
    words = [sys.executable, "-m", "crossover", "publish", "--no-redact", "--yes"]
    around = os.environ | {"PATH": f"{fatal.parent}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT / "workflow")}
    assert subprocess.run(words, env=around, capture_output=True).returncode == -signal.SIGKILL
    # A push goes on without its parent.
    while not ended.exists():
        time.sleep(0.05)
    for folder in (checkout, tmp_path / "remote.git"):
        do("fsck", "--strict", folder=folder)
    publish("--yes")
    assert pushed(checkout, tmp_path)["index.html"] == page.read_bytes()


# ---- to a folder, to a zip file


def test_a_folder_gets_the_files_and_keeps_its_own(checkout):
    (checkout / "www").mkdir()
    (checkout / "www" / "robots.txt").write_text("all")
    for name in ("www/", "www"):
        publish("--to", name)
    page = (checkout / "results/report/index.html").read_bytes()
    assert files_of(checkout / "www") == {"index.html": page, ".nojekyll": b"", "robots.txt": b"all"}


def test_a_full_disk_leaves_the_old_page_whole(checkout, capsys, monkeypatch):
    publish("--to", "www/")
    before = files_of(checkout / "www")

    def half(source, target, **_):
        Path(target).write_bytes(Path(source).read_bytes()[:100])
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(publishing.shutil, "copyfile", half)
    assert "No space left on device" in refused(capsys, "--to", "www/")
    assert files_of(checkout / "www") == before


def test_a_foreign_page_is_not_overwritten(checkout, capsys):
    (checkout / "index.html").write_text("mine")
    assert "index.html: is not a crossover report and was kept" in refused(capsys, "--to", "./")
    assert (checkout / "index.html").read_text() == "mine"


def test_a_place_that_cannot_be_written_is_named(checkout, capsys):
    (checkout / "file").write_text("")
    assert "file/site.zip: cannot be written" in refused(capsys, "--to", "file/site.zip")
    assert "file/www/.nojekyll: cannot be written (file/www: Not a directory)" in refused(capsys, "--to", "file/www/")


# ---- older than its data


def no_report(results):
    (results / "report/index.html").unlink()
    return "results/report/index.html: there is no report (No such file or directory); make it: make report"


def other_table(results):
    record.write(record.SUMMARY.empty_table(), results / "summary.parquet")
    return "results/report/index.html: is older than results/summary.parquet; repeat make report (it keeps"


def other_figure(results):
    next(results.glob("figures/zmq_throughput/*.vl.json")).write_text("{}")
    return "index.html: is older than results/figures/zmq_throughput; repeat"


def table_gone(results):
    (results / "thresholds.parquet").unlink()
    return "is older than results/thresholds.parquet; repeat"


def measured_again(results):
    launch = record.read(results / "launches.parquet", record.LAUNCHES).to_pylist()[0]
    path = write_raw(results, launch | {"started_utc": "2027-01-01T00:00:00"})
    os.utime(path, (1e9, 1e9))
    return f"results/launches.parquet: is older than {path}; repeat"


def damaged(results):
    path = next(results.glob("raw/*/*/*/*.parquet"))
    path.write_bytes(b"nothing")
    return f"is older than {path}; repeat"


def another_launch(results):
    path = results / "raw/quick/mpi_pingpong/node/launch=9.parquet"
    record.write(record.MEASUREMENTS.empty_table(), path, {"launch": {}, "ranks": []})
    os.utime(path, (4e9, 4e9))
    return f"is older than {path}; repeat"


def of_another_maker(results):
    (results / "report/index.html").write_text("<html><body>by hand</body></html>")
    return "index.html: has no record of its origin; render it again: make report"


@pytest.mark.parametrize(
    "why",
    [no_report, other_table, other_figure, table_gone, measured_again, damaged, another_launch, of_another_maker],
    ids=lambda why: why.__name__,
)
def test_a_report_older_than_its_data_is_not_published(checkout, capsys, why):
    told = why(Path("results"))
    assert told in refused(capsys, "--to", "site/")
    assert not (checkout / "site").exists()


def test_older_leftovers_newer_launches_of_another_tier_and_new_times_do_not_make_a_report_old(checkout):
    for launch, seconds in (("quick/mpi_pingpong/node/launch=9", 1e9), ("paper/mpi_pingpong/node/launch=1", 4e9)):
        path = checkout / f"results/raw/{launch}.parquet"
        record.write(record.MEASUREMENTS.empty_table(), path, {"launch": {}, "ranks": []})
        os.utime(path, (seconds, seconds))
    (checkout / "results/summary.parquet").touch()
    publish("--to", "site/")


# ---- publishing from continuous integration


@pytest.mark.parametrize("name", ["github.yml", "gitlab.yml"])
def test_the_ready_ci_file_calls_existing_commands(name):
    text = (ROOT / "docs/ci" / name).read_text()
    called = re.findall(r"^ +- (?:run: )?make ([a-z]+)((?: [A-Z]+=\S+)*)$", text, re.MULTILINE)
    makefile = (ROOT / "Makefile").read_text()
    assert [target for target, _ in called] == ["report", "publish"]
    for target, settings in called:
        recipe = makefile[makefile.index(f"\n{target}:") :].split("\n\n")[0]
        for variable in re.findall(r" ([A-Z]+)=", settings):
            assert f"$({variable})" in recipe


def test_the_ready_ci_files_publish_only_on_push():
    github = yaml.safe_load((ROOT / "docs/ci/github.yml").read_text())
    # This reader follows YAML 1.1, in which `on` is a truth value.
    assert github[True]["push"]["branches"] == ["main"]
    assert github["permissions"] == {"contents": "write"}
    gitlab = yaml.safe_load((ROOT / "docs/ci/gitlab.yml").read_text())
    assert gitlab["pages"]["artifacts"]["paths"] == ["public"]
    assert gitlab["pages"]["rules"] == [{"if": "$CI_COMMIT_BRANCH == $CI_DEFAULT_BRANCH"}]
    assert "make publish TO=public/" in gitlab["pages"]["script"]
    assert not (ROOT / ".github").exists() and not (ROOT / ".gitlab-ci.yml").exists()
