"""JupyterLab in Chromium, for tests and benchmarks: start it, open a notebook, run it, read what it
shows.
"""

import contextlib
import json
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

import playwright.sync_api

from fabriclab import doctor

# no news, no update check, and every cell in the page rather than only those in view
SETTINGS = {
    "@jupyterlab/apputils-extension:notification": {
        "fetchNews": "false",
        "checkForUpdates": False,
        "doNotDisturbMode": True,
    },
    "@jupyterlab/notebook-extension:tracker": {"windowingMode": "none"},
}
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
IDLE = """() => { const kernel = \
window.jupyterapp?.shell.currentWidget?.sessionContext?.session?.kernel;
                  return kernel?.status === 'idle' && kernel.connectionStatus === 'connected' }"""


@contextlib.contextmanager
def server(folder):
    """JupyterLab over `folder` on a free port, with folders of its own; yields its address."""
    home = pathlib.Path(tempfile.mkdtemp(prefix="fabriclab-lab-"))
    (home / "labconfig").mkdir()
    (home / "labconfig" / "default_setting_overrides.json").write_text(json.dumps(SETTINGS))
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    folders = {
        "JUPYTER_CONFIG_DIR": home,
        "JUPYTER_RUNTIME_DIR": home / "run",
        "JUPYTERLAB_WORKSPACES_DIR": home / "workspaces",
        "JUPYTERLAB_SETTINGS_DIR": home / "settings",
        "IPYTHONDIR": home / "ipython",
    }
    command = [
        sys.executable,
        "-m",
        "jupyterlab",
        "--no-browser",
        "--allow-root",
        "--ServerApp.ip=127.0.0.1",
        f"--ServerApp.port={port}",
        "--ServerApp.port_retries=0",
        "--IdentityProvider.token=",
        "--ServerApp.password=",
        f"--ServerApp.root_dir={folder}",
        "--LabApp.expose_app_in_browser=True",
        f"--config={pathlib.Path(__file__).resolve().parent.parent / 'tools' / 'lab_config.py'}",
    ]
    with open(home / "log", "w") as log:
        process = subprocess.Popen(
            command,
            env=os.environ | {name: str(path) for name, path in folders.items()},
            stdout=log,
            stderr=subprocess.STDOUT,
        )
    address = f"http://127.0.0.1:{port}"
    try:
        for _ in range(600):
            try:
                urllib.request.urlopen(f"{address}/api", timeout=1).close()
                break
            except OSError:
                if process.poll() is not None:
                    break
                time.sleep(0.1)
        else:
            process.kill()
        if process.poll() is not None:
            raise RuntimeError("JupyterLab did not start:\n" + (home / "log").read_text())
        yield address
    finally:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        shutil.rmtree(home, ignore_errors=True)


@contextlib.contextmanager
def browser():
    """A headless Chromium."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        running = playwright.chromium.launch(
            executable_path=doctor.chromium(), headless=True, args=FLAGS
        )
        try:
            yield running
        finally:
            running.close()


class Page:
    """One notebook in one browser page; `complaints` collects the console's errors and uncaught
    exceptions.
    """

    def __init__(self, running, address, name, width=1280, height=1000):
        self.page = running.new_page(viewport={"width": width, "height": height})
        self.page.set_default_timeout(60_000)
        self.complaints = []
        self.page.on(
            "console",
            lambda message: (
                self.complaints.append(message.text) if message.type == "error" else None
            ),
        )
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        # a workspace for each notebook, so that no page restores another's tabs
        self.page.goto(f"{address}/lab/workspaces/{pathlib.PurePath(name).stem}/tree/{name}?reset")
        self.page.wait_for_selector(".jp-Notebook .jp-CodeCell")
        self.page.wait_for_function(IDLE)

    def run_all(self):
        """Run every cell anew and return the errors and warnings among the outputs."""
        self.page.evaluate("jupyterapp.commands.execute('notebook:clear-all-cell-outputs')")
        self.page.evaluate("jupyterapp.commands.execute('notebook:run-all-cells')")
        wrong = self.page.locator(
            "[data-mime-type='application/vnd.jupyter.error'],"
            " [data-mime-type='application/vnd.jupyter.stderr']"
        )
        return wrong.all_inner_texts()

    def canvas(self, nth=0):
        """The `nth` explorer's canvas, once it shows a frame that the kernel has sent."""
        found = self.page.locator(".fabriclab-canvas[data-frame]").nth(nth)
        found.wait_for()
        return found

    def digest(self, nth=0):
        """The SHA-256 of the RGBA bytes that the `nth` explorer's canvas holds: megabytes of them
        would take seconds on their way.
        """
        read = (
            "async e => { const c = e.querySelector('canvas'); const all ="
            " c.getContext('2d').getImageData(0, 0, c.width, c.height).data; return"
            " Array.from(new Uint8Array(await crypto.subtle.digest('SHA-256', all))) }"
        )
        return bytes(self.canvas(nth).evaluate(read))

    def readout(self, nth=0):
        return self.canvas(nth).locator("[role=status]").inner_text()

    def wait_for_readout(self, words, nth=0):
        """Wait until the `nth` explorer says exactly `words`; where it does not, the error shows
        what it says instead.
        """
        try:
            self.page.wait_for_function(
                "([nth, words]) =>"
                " document.querySelectorAll('.fabriclab-canvas[data-frame]')[nth]"
                "?.querySelector('[role=status]').innerText === words",
                arg=[nth, words],
                timeout=20_000,
            )
        except playwright.sync_api.TimeoutError:
            assert self.readout(nth) == words

    def answer(self, cell_says, source, output_says):
        """Type `source` over the first cell that holds `cell_says`, run it, and return its output
        once that holds `output_says`.
        """
        cell = self.page.locator(".jp-CodeCell").filter(has_text=cell_says).first
        number = cell.evaluate(
            "e => [...document.querySelectorAll('.jp-Notebook .jp-Cell')].indexOf(e)"
        )
        cell = self.page.locator(".jp-Notebook .jp-Cell").nth(number)
        cell.locator(".cm-content").click()
        self.page.keyboard.press("Control+A")
        self.page.keyboard.type(source)
        self.page.keyboard.press("Control+Enter")
        output = cell.locator(".jp-OutputArea-output", has_text=output_says)
        output.wait_for()
        return output.inner_text()

    def slider(self, label, nth=0):
        """The handle of the `nth` slider whose label is `label`."""
        return (
            self.page.locator(".widget-hslider", has=self.page.get_by_text(label, exact=True))
            .nth(nth)
            .locator(".noUi-handle")
        )

    def close(self):
        self.page.close()
