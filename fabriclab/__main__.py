"""The command `fabriclab`: each subcommand fetches its module only when it is asked for.

The door to everything.
"""

import argparse
import os
import sys

import fabriclab
from fabriclab import extras
from fabriclab.terminal import plain, printed, refuse


def doctor(arguments):
    from fabriclab import doctor

    findings = doctor.examine()
    try:
        from fabriclab.classroom import checkup
    except ImportError:  # a student's kit, or a package is missing, which is told already
        pass
    else:
        findings += [doctor.Finding(*one, needed=False) for one in checkup.examine()]
    print(doctor.report(findings))
    return 0 if doctor.sound(findings) else 1


def ledger(arguments):
    from fabriclab.course.engine import ledger

    words = " ".join(arguments.find)
    try:
        print(ledger.report(arguments.errata, arguments.all, words, arguments.source))
    except ValueError as fault:
        return refuse("ledger", fault)
    return 0


def find(arguments):
    from fabriclab import doctor, find

    question = " ".join(arguments.words)
    try:
        found = find.report(question, doctor.notebook_folder())
    except ValueError as fault:
        return refuse("find", fault)
    if found is None:
        print(f"find: nothing here speaks of {plain(question)}", file=sys.stderr)
        return 1
    print(found)
    return 0


def read(arguments):
    from fabriclab import logs
    from fabriclab.logs.page import wrap

    status = 0
    for path in arguments.files:
        try:
            found = logs.readings(path)
            shown = logs.told(found)
        except UnicodeDecodeError:
            status = refuse(path, "is not a text file")
        except OSError as fault:
            status = refuse(path, (fault.strerror or str(fault)).lower())
        except ValueError as fault:
            status = refuse(path, fault)
        else:
            if len(arguments.files) > 1:
                print(f"== {plain(path)}")
            print(wrap(shown))
            for reason in found.refused:
                status = refuse(path, reason)
            stands_out = any(line.lstrip().startswith("! ") for line in shown.splitlines())
            status = max(status, int(stands_out))
    return status


def diagnose(arguments):
    from fabriclab.logs import diagnose

    try:
        found = diagnose.diagnose(arguments.folder)
    except ValueError as fault:  # it names the folder, without what a terminal would act on
        print(fault, file=sys.stderr)
        return 2
    print(found)
    return found.status


def incident(arguments):
    from fabriclab.logs.diagnose import game

    try:
        return game.play(game.Game(game.find(arguments.name)))
    except ValueError as fault:
        print(fault, file=sys.stderr)
        return 2


def sheet(arguments):
    from fabriclab.course.engine.exercises import sheet

    return printed("sheet", lambda: sheet.write_sheets(arguments.part, arguments.student))


def exercise(arguments):
    from fabriclab.course.engine.exercises import proof

    found = [fault for path in arguments.files for fault in proof.faults(path)]
    print(*map(plain, found), sep="\n", end="\n" if found else "")
    if not found:
        print("Ready to hand out.")
    return int(bool(found))


def exam(arguments):
    from fabriclab.course.engine.exercises import sheet

    wanted = (arguments.parts, arguments.minutes, arguments.seed, arguments.copies, arguments.key)
    return printed("exam", lambda: sheet.write_exam(*wanted))


def of_a_class(name):
    """A command of the classroom's wing, without which a student's kit comes."""

    def run(arguments):
        if not os.path.isdir(os.path.join(os.path.dirname(fabriclab.__file__), "classroom")):
            return refuse(name, "this is a student's kit; a class is run from the whole repository")
        from fabriclab.classroom import commands

        return getattr(commands, name)(arguments)

    return run


def parser():
    top = argparse.ArgumentParser(
        prog="fabriclab", description="A companion to a textbook chapter on network fabrics."
    )
    top.add_argument("--version", action="version", version=f"fabriclab {fabriclab.__version__}")
    commands = top.add_subparsers(metavar="COMMAND", required=True)

    command = commands.add_parser("doctor", help="check the installation and say how to fix it")
    command.set_defaults(run=doctor)

    command = commands.add_parser(
        "ledger",
        help=(
            "count the numbers printed in the texts that agree with the models, and those that"
            " differ"
        ),
    )
    command.add_argument(
        "--errata", action="store_true", help="show those that differ, with the arithmetic"
    )
    command.add_argument("--all", action="store_true", help="show every number, of every source")
    command.add_argument(
        "--source",
        default="",
        metavar="NAME",
        help="show one source's: chapter, guide, level 3, appendix, registry, older edition",
    )
    command.add_argument(
        "--find", nargs="+", default=[], metavar="WORD", help="show the numbers that hold all words"
    )
    command.set_defaults(run=ledger)

    command = commands.add_parser(
        "find", help="find the functions, sections, exercises and numbers that answer a question"
    )
    command.add_argument("words", nargs="+", metavar="WORDS", help="a question in plain words")
    command.set_defaults(run=find)

    command = commands.add_parser(
        "read",
        help="say what is in the output of a measuring tool, such as nccl-tests",
        epilog="Exit status: 0 nothing stands out, 1 something does (marked !), 2 not read.",
    )
    command.add_argument("files", nargs="+", metavar="FILE")
    command.set_defaults(run=read)

    command = commands.add_parser(
        "diagnose",
        help="walk the five steps over the files of one incident and name its cause",
        epilog=(
            "Exit status: 0 healthy, 1 a cause named or left open between some, 2 nothing that"
            " decides, or nothing to read."
        ),
    )
    command.add_argument("folder", metavar="DIR", help="tools' output, and perhaps incident.toml")
    command.set_defaults(run=diagnose)

    command = commands.add_parser("sheet", help="print one part's questions for one student")
    command.add_argument("part", metavar="PART", help="the number of a part, such as 03")
    command.add_argument("--student", default="demo", metavar="ID", help="whose numbers")
    command.set_defaults(run=sheet)

    command = commands.add_parser(
        "exercise", help="check a file of your own exercises and say what it lacks"
    )
    command.add_argument("what", choices=["check"], metavar="check")
    command.add_argument("files", nargs="+", metavar="FILE")
    command.set_defaults(run=exercise)

    command = commands.add_parser("exam", help="print an exam, in copies with their own numbers")
    command.add_argument("--parts", default="1-12", metavar="N-M", help="such as 1-5 or 2,4")
    command.add_argument("--minutes", type=int, default=90, metavar="N", help="how long it takes")
    command.add_argument("--seed", type=int, default=1, metavar="N", help="draws the questions")
    command.add_argument("--copies", type=int, default=1, metavar="N", help="how many copies")
    command.add_argument("--key", action="store_true", help="write the key too, in a file apart")
    command.set_defaults(run=exam)

    command = commands.add_parser(
        "inventory",
        help="print twelve questions on what a class believes; or report its answers",
        epilog="A file of answers is CSV with the columns student, 1, 2, … 12, a letter in each.",
    )
    command.add_argument(
        "answers", nargs="*", metavar="BEFORE.csv AFTER.csv", help="report these answers"
    )
    command.set_defaults(run=of_a_class("inventory"))

    command = commands.add_parser(
        "incident",
        help="play an incident: choose measurements, pay their minutes, name the cause",
        epilog="Exit status: 0 right, or nobody can tell; 1 another cause; 2 given up.",
    )
    command.add_argument(
        "name", nargs="?", metavar="NAME", help="a folder, or one of the notebooks' incidents"
    )
    command.set_defaults(run=incident)

    command = commands.add_parser(
        "release", help="make a class the kit and each student's own exercises"
    )
    command.add_argument(
        "--roster", required=True, metavar="FILE", help="the class list, CSV with a column of ids"
    )
    command.add_argument("--out", required=True, metavar="DIR", help="where to put it")
    command.set_defaults(run=of_a_class("release"))

    command = commands.add_parser(
        "grade", help="grade what a class has sent; start it again after an interrupt to go on"
    )
    command.add_argument(
        "submissions",
        metavar="SUBMISSIONS",
        help="the folder with a folder or a zip for each student, or a platform's zip of them all",
    )
    command.add_argument(
        "--roster", required=True, metavar="FILE", help="the class list, CSV with a column of ids"
    )
    command.add_argument(
        "--out", required=True, metavar="DIR", help="where to put grades, feedback and report"
    )
    command.add_argument(
        "--marks",
        metavar="FILE",
        help="points given by hand (default: marks.csv beside the class list, if it is there)",
    )
    command.add_argument(
        "--blind", action="store_true", help="keep names out of what is to be marked by hand"
    )
    command.add_argument(
        "--later",
        type=float,
        default=1.0,
        metavar="SHARE",
        help="of a point, for what the student's own diary says was right at a later try (default:"
        " 1)",
    )
    command.add_argument(
        "--workers",
        type=int,
        metavar="N",
        help="notebooks at once (default: one for each processor)",
    )
    command.add_argument(
        "--scheduler",
        metavar="ADDRESS",
        help="a dask scheduler that has the work done on many machines",
    )
    command.add_argument(
        "--unsafe",
        action="store_true",
        help="run students' code without a sandbox, with all that your account may do",
    )
    command.set_defaults(run=of_a_class("grade"))
    return top


def main(words=None):
    """Run one command; the exit status: 0 well, 1 faults found, 2 not understood."""
    arguments = parser().parse_args(words)
    try:
        status = arguments.run(arguments)
        sys.stdout.flush()
        return status
    except ModuleNotFoundError as fault:
        return refuse("fabriclab", extras.missing(fault))
    except BrokenPipeError:
        # the reader of a pipe (head, less) has seen enough: nothing must be flushed into it again
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


if __name__ == "__main__":
    sys.exit(main())
