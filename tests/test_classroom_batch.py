"""A class is graded once and completely, whatever is sent, whoever dies, and wherever it is
interrupted.
"""

import contextlib
import functools
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unicodedata
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import school

from fabriclab.classroom import (
    batch,
    classreport,
    inbox,
    pool,
    results,
    roster,
    sandbox,
    versions,
    worker,
)
from fabriclab.classroom.roster import folder
from fabriclab.course.engine.exercises import bank

OPENING, DESIGN = "01-bandwidth-cliff.ipynb", "06-cluster-design.ipynb"
ASKED = {OPENING: school.asked()[OPENING], DESIGN: school.asked()[DESIGN]}


@pytest.fixture
def quick(monkeypatch, tmp_path):
    """Grading in threads, of a small repository, without a sandbox; returns grade(submissions,
    roster).
    """
    root = tmp_path / "repository"
    (root / "exercises").mkdir(parents=True)
    for name in ASKED:
        shutil.copy(school.ROOT / "exercises" / name, root / "exercises")

    @contextlib.contextmanager
    def threads(workers):
        with ThreadPoolExecutor(workers) as executor:
            yield executor

    monkeypatch.setattr(pool, "processes", threads)
    monkeypatch.setattr(sandbox, "collect", school.collect)
    monkeypatch.setattr(sandbox, "ready", lambda unsafe: None)
    monkeypatch.setattr(
        classreport, "write", lambda *_: None
    )  # pictures take their time, and have tests of their own
    return lambda sent, people, **options: batch.grade(
        sent, people, tmp_path / "out", root=root, **options
    )


def files(top):
    return {
        path.relative_to(top).as_posix(): path.read_bytes()
        for path in sorted(Path(top).rglob("*"))
        if path.is_file()
    }


# ---- whose is it, and what is it


def look(top, people):
    return inbox.look(top, people, ASKED, tempfile.mkdtemp())


def test_folders_are_matched_by_id_or_as_released(tmp_path):
    """Work would be lost, or land with ada when ADA sent it; a Mac writes accents in another form
    than the list.
    """
    people = school.people(8)
    school.send(tmp_path, folder("ADA"), OPENING, {})
    school.send(tmp_path, "ada", f"deep/er/{OPENING}", {})
    school.send(tmp_path, unicodedata.normalize("NFD", "zoé@example.org"), DESIGN, {})
    school.send(tmp_path, "李雷", OPENING, {})
    found, strange = look(tmp_path, people)
    assert {(one.student, one.notebook) for one in found} == {
        ("ADA", OPENING),
        ("ada", OPENING),
        ("zoé@example.org", DESIGN),
        ("李雷", OPENING),
    }
    assert strange == () and not any(one.refused for one in found)
    # a whole release, sent back with students/ around
    (tmp_path / "back").mkdir()
    shutil.copytree(tmp_path / folder("ADA"), tmp_path / "back" / "students" / folder("ADA"))
    (tmp_path / "back" / "manifest.json").write_text("{}")
    assert [one.student for one in look(tmp_path / "back", people)[0]] == ["ADA"] and look(
        tmp_path / "back", people
    )[1] == ()


def test_what_cannot_be_matched_is_told_and_never_guessed(tmp_path):
    """A near miss would be graded for somebody else, or vanish without a word."""
    for name in ("Ada", "Doe_77_assignsubmission_file_", "01", folder("nobody")):
        school.send(tmp_path, name, OPENING, {})
    school.send(tmp_path, ".", "ada_123_456_opening.ipynb", {})
    (tmp_path / "s0000").mkdir()
    os.mkdir(os.fsencode(tmp_path) + b"/\x1b[2J\xff")
    found, strange = look(tmp_path, school.people(9))
    assert found == () and len(strange) == 7
    assert "?[2J?" in [line.split(":")[0] for line in strange] and all(
        line.isprintable() for line in strange
    )
    assert [line.split(":")[0] for line in strange if "[2J" not in line] == sorted(
        [
            "01",
            "Ada",
            "Doe_77_assignsubmission_file_",
            "ada_123_456_opening.ipynb",
            folder("nobody"),
            "s0000",
        ]
    )
    assert (
        sum("not matched to the class list" in line for line in strange) == 6
        and "s0000: no notebook in it" in strange
    )
    with pytest.raises(ValueError, match="no such folder"):
        look(tmp_path / "nowhere", ())


def test_what_a_platform_unpacks_is_matched_where_the_list_knows_it(tmp_path):
    """An instructor would rename three hundred downloads by hand; or work would land with a
    namesake, or with whose id a notebook claims.
    """
    people = tuple(
        roster.Person(*fields)
        for fields in (
            ("ADA", "Ada Byron", "", "", "", "4711"),
            ("ada", "Ada Lovelace"),
            ("001", "Li Lei"),
            ("1", "Li Lei"),
            ("zoé", "Zoé Ångström"),
        )
    )
    for name in (
        "doejane_4711_98765_02 wires.ipynb",
        "byronada_LATE_4711_98766_01-bandwidth-cliff-1.ipynb",
        "x_1_2_3.ipynb",
        "x_999_98765_a.ipynb",
        "4711_98765_a.ipynb",
    ):
        school.send(tmp_path, ".", name, {}, asks=ASKED[DESIGN if "wires" in name else OPENING])
    for name in (
        "ada lovelace_12_assignsubmission_file_",
        unicodedata.normalize("NFD", "Zoé Ångström_13_assignsubmission_file"),
        "Li Lei_14_assignsubmission_file_",
        "_15_assignsubmission_file_",
    ):
        school.send(tmp_path, name, OPENING, {})
    school.send(tmp_path, "doe_4711_98765_folder.ipynb", OPENING, {})
    os.symlink(tmp_path / "doejane_4711_98765_02 wires.ipynb", tmp_path / "link_4711_5_6.ipynb")
    os.mkfifo(tmp_path / "pipe_4711_5_6.ipynb")
    found, strange = look(tmp_path, people)
    assert {(one.student, one.path.relative_to(tmp_path).parts[0][:6]) for one in found} == {
        ("ADA", "byrona"),
        ("ADA", "doejan"),
        ("ada", "ada lo"),
        ("zoé", unicodedata.normalize("NFD", "Zoé Ångström")[:6]),
    }
    told = sorted(line.split(":")[0] for line in strange)
    expected = [
        "4711_98765_a.ipynb",
        "Li Lei_14_assignsubmission_file_",
        "_15_assignsubmission_file_",
        "doe_4711_98765_folder.ipynb",
        "link_4711_5_6.ipynb",
        "pipe_4711_5_6.ipynb",
        "x_1_2_3.ipynb",
        "x_999_98765_a.ipynb",
    ]
    assert told == sorted(expected)


def test_a_notebook_is_known_by_what_it_asks(tmp_path):
    """A renamed file would count as not attempted, or one saved over another would be judged as
    what it is called.
    """
    ids = ASKED[DESIGN]
    for student, name in (("ADA", "homework final (2).ipynb"), ("ada", OPENING)):
        path = school.send(tmp_path, student, name, {})
        path.write_text(json.dumps({"cells": [f"me.ask('{one}')" for one in ids]}))
    school.send(tmp_path, "001", "01-bandwidth-cliff (1).ipynb", {}).write_text("<<<<<<< HEAD")
    school.send(tmp_path, "1", "holiday.ipynb", {}).write_text("{}")
    found, strange = look(tmp_path, school.people(8))
    assert {(one.student, one.notebook) for one in found} == {
        ("ADA", DESIGN),
        ("ada", DESIGN),
        ("001", OPENING),
    }
    assert strange == ("1/holiday.ipynb: asks none of this release's exercises",)


def test_two_files_for_one_notebook_are_asked_about(tmp_path):
    """One of two different versions would be graded, and nobody would know which; a mere copy must
    cost nothing.
    """
    for name in (OPENING, "01-bandwidth-cliff-1.ipynb"):
        school.send(tmp_path, "ADA", name, {}).write_text(f"asks {ASKED[OPENING][0]}")
        school.send(tmp_path, "ada", name, {"opening.cliff": name})
    ada, other = look(tmp_path, school.people(8))[0]
    assert (ada.student, ada.refused) == ("ADA", "")
    assert other.refused.startswith(
        "sent more than once, and not the same: ada/01-bandwidth-cliff-1.ipynb, ada/01-"
    )


def test_links_pipes_and_leavings_are_not_opened(tmp_path):
    """A link would read the grader's own files, a pipe would hold the batch for ever, an editor's
    copy would be a second version.
    """
    secret = tmp_path / "secret.ipynb"
    secret.write_text("the key")
    top = tmp_path / "sent"
    mine = school.send(top, "ADA", OPENING, {})
    (mine.parent / DESIGN).symlink_to(secret)
    (top / "ada").symlink_to(tmp_path)
    os.mkfifo(mine.parent / "pipe.ipynb")
    for name in (
        ".ipynb_checkpoints/01-bandwidth-cliff-checkpoint.ipynb",
        "__MACOSX/01-bandwidth-cliff.ipynb",
        "._01-bandwidth-cliff.ipynb",
    ):
        school.send(top, "ADA", name, {"x": "old"})
    found, strange = look(top, school.people(8))
    assert [one.path for one in found] == [mine] and [line.split(":")[0] for line in strange] == [
        "ada"
    ]


def test_a_file_too_large_to_be_a_notebook_is_refused(tmp_path, quick):
    """One submission would fill the memory of every worker."""
    with open(school.send(tmp_path / "sent", "ADA", OPENING, {}), "wb") as file:
        file.truncate(versions.LARGEST + 1)
    done = quick(tmp_path / "sent", school.people(2))
    assert (
        done.results["ADA", OPENING].refused == "more than 64 MiB"
        and done.results["ADA", OPENING].points == 0
    )


# ---- what comes of it


def test_answers_are_judged_with_the_students_own_numbers(tmp_path, quick):
    """Verdicts would be another student's, a fault or a missing answer would earn or cost something
    else than its own exercise.
    """
    people = school.people(8)
    for person in people[:4]:
        answers = {name: school.right(person.id, name) for name in ASKED[OPENING]}
        answers["opening.gradient"] = school.eightfold(person.id, "opening.gradient")
        answers["opening.ladder"], answers["opening.cliff"] = None, {"nonsense": []}
        school.send(
            tmp_path / "sent",
            person.id,
            OPENING,
            answers,
            faults={
                name: "cell 9 ran longer than 10 s" for name in ("opening.ladder", "opening.step")
            },
            notes=["a note"],
        )
    done = quick(tmp_path / "sent", people)
    assert done.results.keys() == {(person.id, OPENING) for person in people[:4]} and (
        done.graded,
        done.kept,
    ) == (4, 0)
    for (student, _), graded in done.results.items():
        verdicts = graded.verdicts
        assert (
            "8x" in " ".join(verdicts["opening.gradient"].slips)
            or verdicts["opening.gradient"].slips
        ), verdicts["opening.gradient"]
        assert (
            verdicts["opening.ladder"].status == "could not read"
            and "ran longer than 10 s" in verdicts["opening.ladder"].message
        )
        assert verdicts["opening.cliff"].status == "could not read" and verdicts[
            "opening.step"
        ] == bank.judge(student, "opening.step", school.right(student, "opening.step"))
        assert (
            verdicts["opening.step"].score == 1
            and graded.notes == ("a note",)
            and graded.points == sum(verdict.score for verdict in verdicts.values())
        )


def test_a_refused_or_failing_notebook_costs_itself_alone(tmp_path, quick):
    """One broken file, or a fault of the grader, would stop the class or be worth points."""
    right = {name: school.right("ada", name) for name in ASKED[DESIGN]}
    school.send(
        tmp_path / "sent",
        "ADA",
        DESIGN,
        {name: school.right("ADA", name) for name in ASKED[DESIGN]},
        refused="a zip archive",
    )
    school.send(tmp_path / "sent", "ada", DESIGN, right)
    school.send(tmp_path / "sent", "001", DESIGN, {}).write_text("[]")
    done = quick(tmp_path / "sent", school.people(3)).results
    assert done["ADA", DESIGN].refused == "a zip archive" and done["ADA", DESIGN].points == 0
    assert (
        "the grader failed on it (AttributeError" in done["001", DESIGN].refused
        and done["001", DESIGN].points == 0
    )
    assert done["ada", DESIGN].points == sum(answer is not None for answer in right.values()) > 3


def logged(log):
    return sorted(log.read_text(encoding="utf-8").split("\n")[:-1]) if log.exists() else []


def test_nothing_is_graded_twice_and_what_changed_is_graded_anew(tmp_path, quick, monkeypatch):
    """A second run would take the night again, or leave last week's grade on this week's file,
    notebook or model.
    """
    log, sent, people = tmp_path / "log", tmp_path / "sent", school.people(3)
    for person in people:
        for name in ASKED:
            school.send(sent, person.id, name, {}, log=str(log))
    assert quick(sent, people).graded == 6 and len(logged(log)) == 6
    before = files(tmp_path / "out")
    again = quick(sent, people)
    assert (
        (again.graded, again.kept) == (0, 6)
        and len(logged(log)) == 6
        and files(tmp_path / "out") == before
    )
    school.send(sent, "ada", DESIGN, {}, log=str(log), more=1)
    assert quick(sent, people).graded == 1 and logged(log).count(f"ada {DESIGN}") == 2
    with open(tmp_path / "repository" / "exercises" / OPENING, "a", encoding="utf-8") as released:
        released.write("\n")
    assert quick(sent, people).graded == 3 and len(logged(log)) == 10
    # half a result is no result
    results.path(tmp_path / "out", "ADA", DESIGN).write_text('{"student": "ADA"')
    assert quick(sent, people).graded == 1
    monkeypatch.setattr(batch, "sources", lambda: "another package")
    assert quick(sent, people).graded == 6
    # what was taken back counts no longer
    shutil.rmtree(sent / "ada")
    assert {student for student, _ in quick(sent, people).results} == {"ADA", "001"}


def test_two_batches_do_not_write_one_folder(tmp_path, quick):
    """Two graders would overwrite each other's gradebook."""
    (tmp_path / "sent").mkdir()
    with (
        batch.alone(tmp_path / "out"),
        pytest.raises(ValueError, match="another batch is writing there"),
    ):
        quick(tmp_path / "sent", school.people(1))
    assert quick(tmp_path / "sent", school.people(1)).results == {}


def test_a_box_that_was_slow_once_is_tried_again(tmp_path, quick):
    """A busy moment at night would stop the batch until morning."""
    answers = {"opening.step": school.right("ADA", "opening.step")}
    school.send(
        tmp_path / "sent",
        "ADA",
        OPENING,
        answers,
        raises="nothing came within 60 s",
        once=str(tmp_path / "once"),
    )
    assert quick(tmp_path / "sent", school.people(1)).results["ADA", OPENING].points == 1


def test_a_machine_without_a_sandbox_stops_all(tmp_path, quick, monkeypatch):
    """Three hundred students would be refused, one by one,
    for what an administrator has to mend.
    """
    for person in school.people(3):
        school.send(tmp_path / "sent", person.id, OPENING, {}, raises="bubblewrap is gone")
    with pytest.raises(RuntimeError, match="the sandbox did not work: bubblewrap is gone"):
        quick(tmp_path / "sent", school.people(3))
    assert not (tmp_path / "out" / "grades.csv").exists()
    with pytest.raises(ValueError, match="workers must be one or more, not 0"):
        quick(tmp_path / "sent", school.people(3), workers=0)


# ---- processes that die

SCRIPT = """
import sys
import tempfile
sys.path.insert(0, {tests!r})
if __name__ == "__main__":
    import school
    from fabriclab import __main__ as cli
    from fabriclab.classroom import batch, sandbox
    sandbox.collect, sandbox.ready, batch.sources = school.collect, lambda unsafe: None, \
lambda: "one package"
    sys.exit(cli.main(["grade", {sent!r}, "--roster", {roster!r}, "--out", {out!r}, "--workers", \
"2"]))
"""


@pytest.fixture(scope="module")
def lesson(tmp_path_factory):
    """A folder with a class list and twelve students' slow notebooks, all of which write into one
    log.
    """
    top = tmp_path_factory.mktemp("lesson")
    (top / "class.csv").write_text(
        "id\n" + "".join(f"{person.id}\n" for person in school.people(12)), encoding="utf-8"
    )
    for person in school.people(12):
        for name in ASKED:
            answers = {one: school.right(person.id, one) for one in ASKED[name]}
            school.send(
                top / "sent", folder(person.id), name, answers, sleep=0.01, log=str(top / "log")
            )
    return top


@pytest.mark.parametrize("blow", [signal.SIGKILL, signal.SIGINT])
def test_an_interrupted_batch_goes_on_where_it_was(lesson, tmp_path, quick, monkeypatch, blow):
    """A power cut or Ctrl-C would lose what was graded, grade it again, or leave another gradebook
    than an undisturbed run.
    """
    monkeypatch.setattr(batch, "sources", lambda: "one package")
    log, out, people = lesson / "log", tmp_path / "out", roster.read(lesson / "class.csv")
    log.unlink(missing_ok=True)
    quick(lesson / "sent", people)
    assert len(logged(log)) == 24
    whole = out.rename(tmp_path / "whole")
    log.unlink()
    script = tmp_path / "grade.py"
    script.write_text(
        SCRIPT.format(
            tests=str(Path(__file__).parent),
            sent=str(lesson / "sent"),
            roster=str(lesson / "class.csv"),
            out=str(out),
        ),
        encoding="utf-8",
    )
    room = tmp_path / "room"
    room.mkdir()
    running = subprocess.Popen(
        [sys.executable, str(script)],
        cwd=school.ROOT,
        env={**os.environ, "TMPDIR": str(room), "HOLD_AFTER": "6"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    while len(list(out.rglob("*.json"))) < 5 and running.poll() is None:
        time.sleep(0.005)
    assert running.poll() is None, running.communicate()[1]
    os.kill(running.pid, blow)
    _, errors = running.communicate(
        timeout=30
    )  # its pipes close only when its workers are gone too
    there, first = len(list((out / "results").rglob("*.json"))), len(logged(log))
    assert running.returncode == (-9 if blow == signal.SIGKILL else 1), errors
    assert 5 <= there < 24 and there <= first <= there + 2 and not (out / "grades.csv").exists()
    assert not list(room.glob("fabriclab-*")), "temporary folders left behind"
    assert "Traceback" not in errors and (
        blow == signal.SIGKILL or "start the same command again" in errors
    )
    again = quick(lesson / "sent", people)
    assert (again.graded, again.kept) == (24 - there, there)
    # what is kept was graded once; the one or two under way when the blow fell, once more
    assert len(logged(log)) == first + 24 - there and len(set(logged(log))) == 24
    assert files(out) == files(whole)


def test_a_worker_that_dies_takes_nobody_along():
    """One submission that ends its grader would cost its neighbours in the pool their points, or
    stop the class.
    """
    slow = "__import__('time').sleep(1) or 7"  # under way beside the one that dies
    jobs = [slow, "__import__('os')._exit(9)", "2 + 2", "1 / 0", "3 + 3"]
    seen = {
        one.args[0]: (result, why)
        for one, result, why in pool.run(
            functools.partial(pool.processes, 2),
            2,
            eval,
            [functools.partial(tuple_of, text) for text in jobs],
        )
    }
    assert {text: result for text, (result, _) in seen.items()} == {
        slow: 7,
        jobs[1]: None,
        "2 + 2": 4,
        "1 / 0": None,
        "3 + 3": 6,
    }
    assert (
        seen[jobs[1]][1] == "it ended the grader's worker, twice"
        and "ZeroDivisionError" in seen["1 / 0"][1]
    )


def tuple_of(text):
    return (text,)


def test_a_folder_of_thousands_is_told_in_a_line(tmp_path):
    """One student's junk would push everyone else's lines out of the report."""
    for number in range(300):
        school.send(tmp_path, "ADA", f"{number:03d}.ipynb", {"x": ""})
    assert look(tmp_path, school.people(8))[1] == (
        "ADA/000.ipynb (and 299 more like it): asks none of this release's exercises",
    )


def test_where_nothing_can_be_written_is_told(tmp_path, quick):
    """A file in the way of --out would end in an error number."""
    (tmp_path / "sent").mkdir()
    (tmp_path / "out").write_text("")
    with pytest.raises(ValueError, match="out: cannot write .*name another with --out"):
        quick(tmp_path / "sent", school.people(1))


def test_what_could_not_be_graded_is_not_kept(tmp_path, quick, monkeypatch):
    """A worker that died of another's memory would cost a student the points for good."""
    path = school.send(tmp_path / "sent", "ADA", OPENING, {}, raises="")
    monkeypatch.setattr(sandbox, "collect", broken)
    assert (
        "the grader failed on it (KeyError"
        in quick(tmp_path / "sent", school.people(1)).results["ADA", OPENING].refused
    )
    assert not results.path(tmp_path / "out", "ADA", OPENING).exists() and path.exists()
    monkeypatch.setattr(sandbox, "collect", lambda *_, **__: school.Collected({}))
    assert quick(tmp_path / "sent", school.people(1)).results["ADA", OPENING].refused == ""


def broken(*_, **__):
    raise KeyError("x")


def test_a_worker_of_another_release_stops_the_batch(tmp_path):
    """Half a class would be graded by last year's models, on a machine that nobody set up anew."""
    with pytest.raises(pool.Stop, match="a different fabriclab"):
        worker.work(school.collect, "ADA", OPENING, "", (), b"{}", b"{}", "", False, "0" * 64)


def test_the_same_goes_to_a_dask_scheduler(lesson, tmp_path, quick, monkeypatch):
    """A class too large for one machine would be graded differently on many."""
    distributed = pytest.importorskip(
        "distributed", reason="the package distributed is not installed here: make setup"
    )
    people = roster.read(lesson / "class.csv")
    here = quick(lesson / "sent", people).results
    shutil.rmtree(tmp_path / "out")
    monkeypatch.setattr(batch, "sources", lambda: "")  # files may be edited while tests run
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
    ) as cluster:
        with distributed.Client(cluster) as client:
            client.run(
                sys.path.insert, 0, str(Path(__file__).parent)
            )  # workers import the class by name
        there = quick(lesson / "sent", people, scheduler=cluster.scheduler_address)
    assert there.graded == 24 and {
        key: graded.verdicts for key, graded in there.results.items()
    } == {key: graded.verdicts for key, graded in here.items()}


@pytest.mark.parametrize(
    "address",
    [
        "tcp://127.0.0.1:PORT",
        "127.0.0.1:PORT",
        "nonsense",
        "tcp://no.such.host.invalid:8786",
        "tcp://127.0.0.1:99999",
    ],
)
def test_an_address_where_nobody_answers(tmp_path, quick, address):
    """A mistyped address would hang, or end in a traceback."""
    pytest.importorskip(
        "distributed", reason="the package distributed is not installed here: make setup"
    )
    school.send(tmp_path / "sent", "ADA", OPENING, {})
    with socket.socket() as server:  # bound, and not listening
        server.bind(("127.0.0.1", 0))
        address = address.replace("PORT", str(server.getsockname()[1]))
        with pytest.raises(ValueError, match=f"no dask scheduler answers at {address}"):
            quick(tmp_path / "sent", school.people(1), scheduler=address)


def test_a_class_may_give_less_for_a_later_try(tmp_path, quick):
    """A later try would count whole where the class was told that it does not, a first one less, or
    a diary that is damaged, another's or not there would cost a point.
    """
    people, sent = school.people(5), tmp_path / "sent"
    for person in people:
        answers = {name: school.right(person.id, name) for name in ASKED[OPENING]}
        school.send(sent, person.id, OPENING, answers | {"opening.step": None})
    ada, bob, chen, dan, eve = (person.id for person in people)
    told = {"tries": 3, "first": "wrong", "last": "right", "day": "2026-11-02"}
    kept = {
        "opening.gradient": told | {"right_at": 3},
        "opening.cliff": told | {"right_at": 1},
        "opening.step": told | {"right_at": 2},  # and is not right in what was sent
        "opening.port": told,
    }
    for who, text in (
        (ada, json.dumps({ada: kept})),
        (bob, json.dumps({bob: kept})),
        (chen, json.dumps({ada: kept})),
        (dan, '{"' + dan + '": [[['),
    ):
        (sent / who / "progress.json").write_text(text, encoding="utf-8")
    shutil.make_archive(str(sent / bob), "zip", sent, bob)
    shutil.rmtree(sent / bob)
    whole, less = quick(sent, people), quick(sent, people, share=0.8)
    assert (less.graded, less.kept, less.strange) == (0, 5, ())
    full = whole.results[eve, OPENING].points
    points = {student: result.points for (student, _), result in less.results.items()}
    assert points == pytest.approx({s: full - 0.2 * (s in (ada, bob)) for s in points})
    verdict = less.results[ada, OPENING].verdicts["opening.gradient"]
    assert verdict.score == 0.8 and "right at try 3" in verdict.message
    assert [line for line in less.moved if "another share for later tries" in line] == [
        *less.moved
    ] and len(less.moved) == 2
    assert "0.8" in (tmp_path / "out" / "grades.csv").read_text(encoding="utf-8-sig")
    assert quick(sent, people).results == whole.results
    for share in (-0.1, 1.1, float("nan")):
        with pytest.raises(ValueError, match="later must be a share from 0 to 1"):
            quick(sent, people, share=share)
