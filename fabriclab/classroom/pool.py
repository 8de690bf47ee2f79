"""Workers for a batch, on this machine or on many, behind the one interface of
`concurrent.futures`.

A worker that dies takes only its own submission along: what was under way beside it is tried again,
each alone.
"""

import contextlib
import multiprocessing
import os
import shutil
import signal
import socket
import tempfile
import threading
import time
from collections import deque
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    CancelledError,
    ProcessPoolExecutor,
    wait,
)
from multiprocessing.connection import wait as wait_for

from fabriclab.extras import missing

_ended = threading.Event()
PATIENCE = 60.0  # seconds without a word from a scheduler's workers
_NOBODY = (
    "the dask scheduler at {} has no workers; start some on each machine: dask worker ADDRESS"
    " --nworkers 8 --nthreads 1"
)


@contextlib.contextmanager
def processes(workers):
    """A pool of `workers` processes.

    Left by an exception, such as Ctrl-C, it stops them where they are.
    """
    with tempfile.TemporaryDirectory(prefix="fabriclab-batch-", ignore_cleanup_errors=True) as room:
        # fresh processes: a forked one could hold a lock that no thread of its own will ever let go
        pool = ProcessPoolExecutor(
            workers,
            mp_context=multiprocessing.get_context("spawn"),
            initializer=_begin,
            initargs=(room,),
        )
        try:
            yield pool
            pool.shutdown()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            there = multiprocessing.active_children()
            for process in there:
                process.terminate()
            for process in there:
                process.join(10)
            raise


def _begin(room):
    """A worker leaves Ctrl-C to the batch, does not outlive it, and keeps its temporary folders in
    the batch's `room`.
    """
    tempfile.tempdir = room
    signal.signal(signal.SIGINT, lambda *_: None)
    signal.signal(signal.SIGTERM, _end)
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_outlive, args=[parent.sentinel, room], daemon=True).start()


def _end(*_):
    """What is under way unwinds; a second word ends it at once."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    _ended.set()
    raise SystemExit


def _one(work, *given):
    try:
        return work(*given)
    finally:
        if _ended.is_set():  # or else the pool's process would go on with the next
            os._exit(1)


def _outlive(sentinel, room):
    wait_for([sentinel])
    shutil.rmtree(room, ignore_errors=True)
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(5)
    os._exit(1)


@contextlib.contextmanager
def cluster(address):
    """The executor of a dask scheduler, such as `tcp://10.0.0.1:8786`.

    Raises ValueError if none answers there, or none of its workers does.
    """
    try:
        from distributed import Client
    except ModuleNotFoundError as fault:
        raise ValueError(f"--scheduler: {missing(fault)}") from fault
    try:
        _knock(address)
        client = Client(address, timeout="10s", set_as_default=False)
    except (OSError, ValueError, TypeError) as error:  # the last where it has no certificate
        tls = ", and dask's settings name the certificates" if address.startswith("tls:") else ""
        raise ValueError(
            f"no dask scheduler answers at {address}; an address looks like"
            f" tcp://10.0.0.1:8786{tls}"
        ) from error
    with client:
        try:
            client.wait_for_workers(1, timeout=PATIENCE)
        except TimeoutError as error:
            raise ValueError(_NOBODY.format(address)) from error
        executor = client.get_executor(pure=False, retries=0)
        executor.workers = lambda: len(client.scheduler_info()["workers"])
        yield executor


def _knock(address):
    """Raises OSError or ValueError where nobody listens; distributed takes longer to find out, and
    leaves a traceback.
    """
    scheme, _, place = address.rpartition("://")
    host, _, port = place.rpartition(":")
    if scheme in ("", "tcp", "tls"):
        socket.create_connection((host.strip("[]"), int(port)), timeout=10).close()


def run(open_pool, width, work, jobs):
    """Yield (job, result, "") as each is done, or (job, None, why) where the worker died twice or
    the work raised.

    `open_pool()` gives a pool in a `with`, `width` jobs at a time go to it, and a job's work is
    `work(*job())`, so that what a job carries is made when its turn comes (a ValueError of `job()`
    costs that job). `Stop` raised by the work stops all.
    """
    jobs, suspects = deque(jobs), []
    while jobs:
        with open_pool() as pool:
            yield from _until_broken(pool, width, work, jobs, suspects)
    for job in suspects:
        with open_pool() as pool:
            outcomes = list(_until_broken(pool, 1, work, deque([job]), again := []))
        yield outcomes[0] if not again else (job, None, "it ended the grader's worker, twice")


class Stop(RuntimeError):
    """What no other submission would fare better with: the whole batch stops."""


def _until_broken(pool, width, work, jobs, suspects):
    running, broken = {}, False
    while running or (jobs and not broken):
        while jobs and len(running) < width and not broken:
            job = jobs.popleft()
            try:
                running[pool.submit(_one, work, *job())] = job
            except ValueError as error:
                yield job, None, str(error)
            except BrokenExecutor:
                # whoever broke it is among those under way
                jobs.appendleft(job)
                broken = True
        finished, _ = wait(running, timeout=PATIENCE, return_when=FIRST_COMPLETED)
        if not finished and hasattr(pool, "workers") and not pool.workers():
            raise Stop("the scheduler has lost all its workers; what is done is kept")
        for future in finished:
            job = running.pop(future)
            try:
                yield job, future.result(), ""
            except CancelledError as error:
                raise Stop(
                    "the scheduler went away; start the same command again, and what is done will"
                    " be kept"
                ) from error
            except Stop:
                raise
            except BrokenExecutor:
                suspects.append(job)
            except Exception as error:
                if (
                    type(error).__name__ == "KilledWorker"
                ):  # dask's word; a death of ours is a BrokenExecutor
                    suspects.append(job)
                else:
                    yield (
                        job,
                        None,
                        f"the grader failed on it ({type(error).__name__}: {error})"[:300],
                    )
