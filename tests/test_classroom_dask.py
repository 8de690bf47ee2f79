"""A class graded on many machines: who may reach them, and what is said when nobody works."""

import functools
import os
import shutil
import subprocess
import sys

import pytest

from fabriclab.classroom import pool

distributed = pytest.importorskip(
    "distributed", reason="the package distributed is not installed here: make setup"
)


def test_a_scheduler_without_workers_is_told(monkeypatch):
    """The command waited for ever, without a word."""
    monkeypatch.setattr(pool, "PATIENCE", 0.5)
    with (
        distributed.LocalCluster(n_workers=0, dashboard_address=None) as cluster,
        pytest.raises(ValueError, match="has no workers; start some"),
        pool.cluster(cluster.scheduler_address),
    ):
        pass


def test_workers_that_go_away_are_told(monkeypatch):
    """A batch that has lost its workers in the middle waited for ever too."""
    from concurrent.futures import Future

    class Gone:
        def submit(self, *_):
            return Future()

        def workers(self):
            return 0

    monkeypatch.setattr(pool, "PATIENCE", 0.1)
    jobs = pool.deque([lambda: ()])
    with pytest.raises(pool.Stop, match="lost all its workers"):
        list(pool._until_broken(Gone(), 1, None, jobs, []))


@pytest.mark.slow
def test_certificates_keep_others_out(tmp_path, monkeypatch):
    """Whoever reaches an open scheduler runs anything on all its machines: with the commands of
    INSTRUCTOR.md nobody does without the certificate.
    """
    import dask

    if not shutil.which("openssl"):
        pytest.skip("openssl is not installed")
    both = tmp_path / "me.pem"
    make = (
        "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=class -keyout key -out ca.pem"
    )
    subprocess.run(make.split(), cwd=tmp_path, check=True, capture_output=True)
    both.write_bytes((tmp_path / "ca.pem").read_bytes() + (tmp_path / "key").read_bytes())
    tls = ["--tls-ca-file", tmp_path / "ca.pem", "--tls-cert", both, "--tls-key", both]
    start = functools.partial(subprocess.Popen, stderr=subprocess.PIPE, text=True, env=os.environ)
    dask_is = [sys.executable, "-m", "dask"]
    scheduler = start(
        [*dask_is, "scheduler", "--protocol", "tls", "--port", "0", "--no-dashboard", *tls]
    )
    try:
        address = next(line.split()[-1] for line in scheduler.stderr if "Scheduler at:" in line)
        words = ["--nworkers", "1", "--nthreads", "1", "--no-dashboard", *tls]
        worker = start([*dask_is, "worker", address, *words])
        try:
            settings = {
                "distributed.comm.tls.ca-file": str(tmp_path / "ca.pem"),
                "distributed.comm.tls.client.cert": str(both),
                "distributed.comm.tls.client.key": str(both),
            }
            with dask.config.set(settings), pool.cluster(address) as executor:
                assert executor.submit(abs, -1).result(60) == 1 and executor.workers() == 1
            with pytest.raises(ValueError, match="certificates"), pool.cluster(address):
                pass
        finally:
            worker.terminate()
            worker.wait(30)
    finally:
        scheduler.terminate()
        scheduler.wait(30)
