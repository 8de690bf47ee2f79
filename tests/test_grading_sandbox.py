"""The sandbox: honest answers come out whatever lies beside them, and nothing a student writes earns what it did not answer."""

import json
import os
import socket
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import attacks
import pytest

from fabriclab import exercises
from fabriclab.grading import box, sandbox, standin

ROOT = Path(__file__).parents[1]
QUICK = sandbox.Limits(seconds=3.0, wall=60.0, memory=2**30)
IDS = ("transport.crossover", "transport.time", "transport.ring", "transport.staging", "transport.write_ring", "transport.order", "transport.busbw")
ATTACKED, WRITTEN = "transport.staging", "transport.write_ring"
KINDS = {name: group for name in dir(attacks) if type(group := getattr(attacks, name)) is dict and name.isupper()}
# one of each sort for every run; `make test ARGS="-m slow"` tries them all
FEW = ("a loop that swallows interrupts", "memory in one piece", "a fork bomb", "os._exit(0)", "an exit from a thread, later", "all descriptors closed",
       "an answer equal to everything", "every builtin gone", "the models", "the kinds", "another name of the package", "worked solutions and other notebooks",
       "files written outside", "a verdict by way of taken", "a function that hangs on one input")

pytestmark = pytest.mark.skipif(not __import__("shutil").which("bwrap"), reason="bubblewrap is not installed here")


def cell(kind, source):
    return {"cell_type": kind, "metadata": {}, "source": source, **({"outputs": [], "execution_count": None} if kind == "code" else {})}


def write(path, sources):
    path.write_text(json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [cell("code", source) for source in sources]}))
    return path


def worked(name):
    """{exercise: source of its worked answer} of one of the notebooks in solutions/."""
    found, last = {}, ""
    for each in json.loads((ROOT / "solutions" / name).read_text(encoding="utf-8"))["cells"]:
        source = "".join(each["source"])
        if each["cell_type"] == "code" and ".ask(" in source:
            last = source.split('"')[1]
        elif each["cell_type"] == "code" and ".check(" in source:
            found[last] = source
    return found


def honest():
    """(imports and asks, {exercise: answer cell}) of a short notebook with one exercise of most kinds."""
    imports = "import fabriclab\nimport numpy as np\nfrom fabriclab import collectives, exercises, transport\nfrom fabriclab.units import GB, us\nfabriclab.require(\"0.1\")"
    answers = worked("03-transport.ipynb")
    asks, cells = [], {}
    for number, name in enumerate(IDS, start=1):
        asks.append(f'q{number} = me.ask("{name}")')
        old = answers[name].rpartition(".check(")[0].split()[-1]
        cells[name] = answers[name].replace(f"{old}.", f"q{number}.")
    return [imports, 'me = exercises.Student("ada")', *asks], cells


SETUP, ANSWERS = honest()


@pytest.fixture(scope="module")
def assignment(tmp_path_factory):
    return write(tmp_path_factory.mktemp("released") / "short.ipynb", [*SETUP, *(f"answer = ...\nq{n}.check(answer)" for n in range(1, len(IDS) + 1))])


def points(collected, student="ada"):
    return {name: exercises.judge(student, name, data).score for name, data in collected.answers.items()}


def attack(folder, assignment, name, source, target=ATTACKED):
    """Collect the honest notebook with `source` in the place of one answer."""
    sources = [source if exercise == target else answer for exercise, answer in ANSWERS.items()]
    path = write(folder / f"{abs(hash(name))}.ipynb", [*SETUP, *sources, "me.progress()"])
    return sandbox.collect(path, "ada", assignment, QUICK)


def all_of(groups):
    for group in groups:
        for name, source in KINDS[group].items():
            in_function = group == "IN_FUNCTION"
            yield name, source + ("\nq5.check(ring)" if in_function else ""), WRITTEN if in_function else ATTACKED


def try_all(folder, assignment, chosen):
    """{attack: what went wrong} over some attacks, two at a time."""
    with socket.socket() as server, ThreadPoolExecutor(2) as threads:
        server.bind(("127.0.0.1", 0))
        server.listen()
        port = str(server.getsockname()[1])
        tried = {name: (threads.submit(attack, folder, assignment, name, source.replace("PORT", port).replace("ROOT", str(ROOT)), target), target) for name, source, target in chosen}
        bad = {}
        for name, (future, target) in tried.items():
            collected = future.result()
            got = points(collected)
            lost = [exercise for exercise, score in got.items() if exercise != target and score != 1]
            if got[target] or lost or collected.refused or list(got) != list(IDS):
                bad[name] = {"earned": got[target], "lost": lost, "faults": collected.faults, "notes": collected.notes, "refused": collected.refused}
            json.dumps([collected.answers, collected.faults, collected.notes], ensure_ascii=False).encode("utf-8")
    return bad


def test_attacks_of_every_sort_cost_their_own_exercise_and_earn_nothing(tmp_path, assignment):
    """A cell that hangs, dies, floods, lies, patches or spies would take honest answers along, or earn a point."""
    chosen = [one for one in all_of(KINDS) if one[0] in FEW]
    assert len(chosen) == len(FEW)
    assert try_all(tmp_path, assignment, chosen) == {}


@pytest.mark.slow
@pytest.mark.parametrize("group", KINDS)
def test_every_attack_costs_its_own_exercise_and_earns_nothing(tmp_path, assignment, group):
    """The same for every attack in the list."""
    assert try_all(tmp_path, assignment, list(all_of([group]))) == {}
