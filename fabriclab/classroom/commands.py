"""The commands of a class: `fabriclab release`, `grade` and `inventory`."""

import os
import sys

from fabriclab.classroom import batch, gradebook, marks, roster
from fabriclab.classroom import inventory as inventory_
from fabriclab.classroom import release as release_
from fabriclab.terminal import plain, printed, refuse
from fabriclab.units import plural


def release(arguments):
    people = class_list(arguments.roster)
    if people is None:
        return 2
    try:
        done = release_.release(people, arguments.out)
    except (ValueError, OSError) as fault:
        return refuse("release", fault)
    print(f"{arguments.out}: {done}; a kit and the exercises of {plural(len(people), 'student')}.")
    return 0


def grade(arguments):
    people = class_list(arguments.roster)
    if people is None:
        return 2
    given = marks_by_hand(arguments.marks, arguments.roster, people)
    if given is None:
        return 2
    given, nobody = given
    try:
        done = batch.grade(
            arguments.submissions,
            people,
            arguments.out,
            workers=arguments.workers,
            scheduler=arguments.scheduler,
            unsafe=arguments.unsafe,
            marks=given,
            blind=arguments.blind,
            share=arguments.later,
        )
    except (ValueError, OSError, RuntimeError) as fault:
        return refuse("grade", fault)
    except KeyboardInterrupt:
        print(
            "Stopped. What is graded is kept: start the same command again to go on.",
            file=sys.stderr,
        )
        return 1
    print("\n".join([batch.summary(done, people), *map(plain, nobody)]))
    for student in gradebook.formulas(people):
        print(
            f"{student}: this id begins like a formula; in grades.csv and canvas.csv take off the '"
            " before it when you import them."
        )
    return (
        1
        if done.strange or nobody or any(result.refused for result in done.results.values())
        else 0
    )


def inventory(arguments):
    return printed("inventory", lambda: inventory_.run(arguments.answers))


def marks_by_hand(path, beside, people):
    """What `marks.read` finds in the file, or in the one beside the class list; None once it is
    said why not.
    """
    beside = os.path.join(os.path.dirname(beside), "marks.csv")
    if path is None and not os.path.exists(beside):
        return {}, ()
    try:
        return marks.read(path or beside, people)
    except (OSError, ValueError) as fault:
        reason = fault.strerror.lower() if isinstance(fault, OSError) else fault
        refuse(path or beside, reason)


def class_list(path):
    """The class, or None once it is said why not."""
    try:
        return roster.read(path)
    except OSError as fault:
        refuse(path, (fault.strerror or str(fault)).lower())
    except ValueError as fault:
        refuse(path, fault)
