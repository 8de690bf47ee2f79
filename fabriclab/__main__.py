"""The command `fabriclab`: each subcommand fetches its module only when it is asked for.

Floor 8: the door to everything.
"""

import argparse
import os
import sys

import fabriclab


def doctor(arguments):
    from fabriclab import doctor

    findings = doctor.examine()
    print(doctor.report(findings))
    return 0 if doctor.sound(findings) else 1


def ledger(arguments):
    from fabriclab import ledger

    print(ledger.report(arguments.errata))
    return 0


def read(arguments):
    from fabriclab import telemetry

    status = 0
    for path in arguments.files:
        try:
            shown = telemetry.report(path)
        except UnicodeDecodeError:
            status = refuse(path, "is not a text file")
        except OSError as fault:
            status = refuse(path, (fault.strerror or str(fault)).lower())
        except ValueError as fault:
            status = refuse(path, fault)
        else:
            print(f"== {path}\n{shown}" if len(arguments.files) > 1 else shown)
    return status


def refuse(path, reason):
    reason = " ".join(str(reason).split())
    print(reason if reason.startswith(path) else f"{path}: {reason}", file=sys.stderr)
    return 2


def parser():
    top = argparse.ArgumentParser(prog="fabriclab", description="A companion to a textbook chapter on network fabrics.")
    top.add_argument("--version", action="version", version=f"fabriclab {fabriclab.__version__}")
    commands = top.add_subparsers(metavar="COMMAND", required=True)

    command = commands.add_parser("doctor", help="say what is missing or does not match here, and how to mend it")
    command.set_defaults(run=doctor)

    command = commands.add_parser("ledger", help="count the numbers printed in the texts that agree with the models, and those that differ")
    command.add_argument("--errata", action="store_true", help="show those that differ, with the arithmetic")
    command.set_defaults(run=ledger)

    command = commands.add_parser("read", help="say what is in the output of a measuring tool, such as nccl-tests")
    command.add_argument("files", nargs="+", metavar="FILE")
    command.set_defaults(run=read)
    return top


def main(words=None):
    """Run one command; returns the exit status: 0 well, 1 faults found, 2 not understood."""
    arguments = parser().parse_args(words)
    try:
        status = arguments.run(arguments)
        sys.stdout.flush()
        return status
    except BrokenPipeError:
        # the reader of a pipe (head, less) has seen enough; keep the interpreter from flushing into it again
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


if __name__ == "__main__":
    sys.exit(main())
