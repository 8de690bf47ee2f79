"""The picture in the browser: a canvas that shows the pixels it is sent, and the readout under it.
Floor 6.

The kernel does all the drawing; this end only copies. A frame is one message, pixels and words
together, so that the two can never be seen apart. Frames are messages and not state, so a saved
notebook holds one small PNG and not megabytes.
"""

import anywidget
import traitlets

MODULE = """
function render({ model, el }) {
  const [width, height] = model.get("size");
  const root = document.createElement("div"), picture = document.createElement("canvas"), words = \
document.createElement("div");
  root.className = "fabriclab-canvas";
  // as wide as the picture, so that long words wrap and never widen it
  root.style.width = width + "px";
  Object.assign(picture, { width, height });
  picture.setAttribute("role", "img");
  picture.setAttribute("aria-label", model.get("alt"));
  words.setAttribute("role", "status");
  words.setAttribute("aria-live", "polite");
  root.append(picture, words);
  el.append(root);
  const pen = picture.getContext("2d");
  let frames = 0;

  const say = (text, failed) => {
    words.textContent = text;
    root.classList.toggle("fabriclab-failed", failed);
    // at one width the readout may grow, where a line wraps, but never shrinks: nothing below it \
jumps to and fro
    if (words.dataset.at !== String(words.clientWidth)) { words.style.minHeight = ""; \
words.dataset.at = words.clientWidth; }
    if (words.clientWidth) words.style.minHeight = words.offsetHeight + "px";
  };
  const receive = (content, buffers) => {
    if (buffers.length) {
      const bytes = buffers[0];
      const pixels = new Uint8ClampedArray(bytes.buffer, bytes.byteOffset, bytes.byteLength);
      pen.putImageData(new ImageData(pixels, width, height), 0, 0);
    }
    say(content.readout, content.failed);
    root.dataset.frame = ++frames;
  };

  // what was saved, so that a page without a kernel shows the picture too; then whatever a live \
kernel has now
  const still = new Image();
  still.onload = () => { if (!frames) pen.drawImage(still, 0, 0); };
  still.src = "data:image/png;base64," + model.get("still");
  say(model.get("readout"), false);
  model.on("msg:custom", receive);
  model.send({ ask: "frame" });
  return () => model.off("msg:custom", receive);
}
export default { render };
"""

STYLE = """
.fabriclab-canvas { max-width: 100%; }
.fabriclab-canvas canvas { display: block; max-width: 100%; height: auto; }
.fabriclab-canvas [role=status] {
  box-sizing: border-box; padding: 4px 8px; white-space: pre-wrap; line-height: 1.5;
  font-family: var(--jp-content-font-family, sans-serif); font-size: 14px; font-variant-numeric: \
tabular-nums;
  color: var(--jp-content-font-color1, black);
}
.fabriclab-failed canvas { opacity: 0.3; }
.fabriclab-failed [role=status] { box-shadow: inset 0 0 0 2px #D55E00; }
"""


class Canvas(anywidget.AnyWidget):
    """Shows the frames it is given.

    `size` is (width, height) in pixels, `still` the first picture as base64 of a PNG.
    """

    _esm = MODULE
    _css = STYLE
    size = traitlets.List().tag(sync=True)
    alt = traitlets.Unicode().tag(sync=True)
    still = traitlets.Unicode().tag(sync=True)
    readout = traitlets.Unicode().tag(sync=True)

    def show(self, readout, frame=None):
        """Show a frame of RGBA bytes with its readout; without a frame, a message in place over the
        picture there is.
        """
        self.send(
            {"readout": readout, "failed": frame is None}, buffers=[] if frame is None else [frame]
        )
