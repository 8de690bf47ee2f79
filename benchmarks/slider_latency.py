"""Key press to changed pixels and changed words: our explorer against `interact` with inline plots,
in JupyterLab in Chromium.

Both draw the same figure from the same model, in one notebook on one kernel, and are moved in turn.
Prints medians, 90th percentiles and ratios, then how far the last frame of a burst of key presses
lags behind the last press.

    python benchmarks/slider_latency.py [--moves 40]
"""

import argparse
import pathlib
import statistics
import sys
import tempfile
import time

import nbformat

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))
import lab  # noqa: E402

from fabriclab import doctor  # noqa: E402

OURS = """
from fabriclab.course.transport import explorers as transport_explorers
explorer = transport_explorers.crossover()
explorer
"""

# what a reader would otherwise write: the same controls, figure and words
INTERACT = """
%matplotlib inline
import ipywidgets
import matplotlib.pyplot as plt
from fabriclab import catalog
from fabriclab.course.transport import figures as drawings

twin = transport_explorers.crossover()

def show(**values):
    size = values.pop("size")
    a, b = (catalog.Path(f"path {x.upper()}", values[f"alpha_{x}"], values[f"beta_{x}"], "") for x \
in "ab")
    figure, axes = plt.subplots(figsize=(7.2, 4.0), layout="constrained")
    drawings.alpha_beta(axes, [a, b], size)
    plt.show()
    print(transport_explorers._one_path(a, size), transport_explorers._one_path(b, size), \
transport_explorers._two_paths(a, b, size), sep="\\n")

_ = ipywidgets.interact(show, **twin.controls)
"""

# The clock starts with the key's own time stamp and stops in the task after the next frame was
# produced.
CLOCK = """
() => {
  const R = window.R = { kind: null };
  const ours = document.querySelector(".fabriclab-canvas"), theirs = \
document.querySelector(".widget-interact");
  const look = {
    ours: () => ({ words: ours.querySelector("[role=status]").textContent, picture: R.drawn }),
    theirs: () => ({ words: theirs.querySelector("pre")?.textContent ?? "", picture: \
theirs.querySelector("img")?.src ?? "" }),
  };
  const put = CanvasRenderingContext2D.prototype.putImageData;
  CanvasRenderingContext2D.prototype.putImageData = function (image, ...rest) {
    put.call(this, image, ...rest);
    let hash = 0;
    for (const pixel of new Uint32Array(image.data.buffer, image.data.byteOffset, \
image.data.byteLength / 4)) hash = (Math.imul(hash, 31) + pixel) | 0;
    R.drawn = hash;
    check();
  };
  const painted = then => requestAnimationFrame(() => { const c = new MessageChannel(); \
c.port1.onmessage = then; c.port2.postMessage(0); });
  const check = () => {
    if (!R.kind || R.pressed === null || R.seen) return;
    const now = look[R.kind]();
    if (now.words === R.before.words || !now.words.includes(R.expected) || now.picture === \
R.before.picture || !now.picture) return;
    R.seen = true;
    const stop = () => painted(() => { R.took = performance.now() - R.pressed; });
    R.kind === "theirs" ? theirs.querySelector("img").decode().then(stop) : stop();
  };
  new MutationObserver(check).observe(document.querySelector(".jp-Notebook"), { subtree: true, \
childList: true, attributes: true, characterData: true });
  document.addEventListener("keydown", event => { R.pressed = event.timeStamp; }, true);
  R.arm = (kind, expected) => Object.assign(R, { kind, expected, before: look[kind](), pressed: \
null, seen: false, took: null });
}
"""


def percentile(values, share):
    return sorted(values)[round(share * (len(values) - 1))]


def measure(moves):
    """(seconds per move by kind, burst lag by kind)."""
    from fabriclab.course.transport import explorers as transport_explorers

    twin = transport_explorers.crossover()
    size = twin.controls["size"]
    with (
        tempfile.TemporaryDirectory() as folder,
        lab.server(folder) as address,
        lab.browser() as running,
    ):
        cells = [nbformat.v4.new_code_cell(source.strip()) for source in (OURS, INTERACT)]
        kernel = {
            "kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}
        }
        nbformat.write(
            nbformat.v4.new_notebook(cells=cells, metadata=kernel),
            pathlib.Path(folder) / "latency.ipynb",
        )
        opened = lab.Page(running, address, "latency.ipynb", height=1600)
        wrong = opened.run_all()
        assert not wrong, wrong
        opened.canvas()
        page = opened.page
        page.wait_for_selector(".widget-interact img")
        page.wait_for_timeout(2000)
        page.evaluate(CLOCK)
        handles = {"ours": opened.slider("message n", 0), "theirs": opened.slider("message n", 1)}

        def press(kind, expected, times=1, pause=0.0):
            handles[kind].focus()
            page.evaluate("([kind, expected]) => R.arm(kind, expected)", [kind, expected])
            for _ in range(times):
                page.keyboard.press("ArrowRight")
                time.sleep(pause)
            page.wait_for_function("R.took !== null", polling=20)
            return page.evaluate("R.took") / 1e3

        took = {"ours": [], "theirs": []}
        for move in range(moves + 5):
            size.index += 1
            for kind in took:
                seconds = press(kind, twin.readout.splitlines()[0])
                if move >= 5:  # the first few warm caches on both sides
                    took[kind].append(seconds)
                page.wait_for_timeout(150)
        size.index += 30
        lag = {
            kind: press(kind, twin.readout.splitlines()[0], times=30, pause=0.033) for kind in took
        }
        assert not opened.complaints, opened.complaints
    return took, lag


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--moves", type=int, default=40)
    moves = parser.parse_args().moves
    if doctor.chromium() is None:
        print("slider latency: no Chromium here, not measured")
        return
    took, lag = measure(moves)
    names = {"ours": "explorer", "theirs": "interact with inline plots"}
    print(f"key press to changed pixels and words, {moves} moves each in turn")
    for kind, name in names.items():
        print(
            f"  {name:28} median {1e3 * statistics.median(took[kind]):6.1f} ms   p90"
            f" {1e3 * percentile(took[kind], 0.9):6.1f} ms   last frame of 30 presses at 30 Hz,"
            f" after the last: {1e3 * lag[kind]:6.0f} ms"
        )
    median, p90 = (
        measured(took["ours"]) / measured(took["theirs"])
        for measured in (statistics.median, lambda values: percentile(values, 0.9))
    )
    print(f"  ratio: median {median:.2f} (goal 0.35 or less), p90 {p90:.2f} (goal under 0.5)")


if __name__ == "__main__":
    main()
