"""The picture in the browser: a canvas that shows the pixels it is sent, and the readout under it.

The kernel does all the drawing; this end (`canvas.js`) only copies. A frame is one message, pixels
and words together, so that the two can never be seen apart. Frames are messages and not state, so a
saved notebook holds no pixels of the widget: the still beside it is the saved picture.
"""

from fabriclab.course.engine.plot import beside
from fabriclab.extras import missing

try:
    import anywidget
    import traitlets
except ModuleNotFoundError as fault:
    raise missing(fault) from None


WAKE = (
    """<button type="button" data-commandlinker-command="apputils:run-all-enabled" """
    """data-commandlinker-args='{"commands": ["notebook:run-all-above", "notebook:run-cell"]}'>"""
    "Wake it</button>"
)
ASLEEP = f"{WAKE}Asleep: no kernel holds these controls. Run ▸ Run All Cells wakes them."
RESTARTED = f"{WAKE}The kernel was restarted or has ended: run this cell again to move the picture."


class Canvas(anywidget.AnyWidget):
    """Shows the frames it is given. `size` is (width, height) of the figure in CSS pixels."""

    _esm = beside("canvas.js")
    _css = beside("canvas.css") + beside("picture.css") + beside("still.css")
    size = traitlets.List().tag(sync=True)
    alt = traitlets.Unicode().tag(sync=True)
    readout = traitlets.Unicode().tag(sync=True)
    asleep = traitlets.Unicode(RESTARTED).tag(sync=True)

    def show(self, readout, frame=None, grips=()):
        """Show a frame of RGBA bytes with its readout; without a frame, a message in place over the
        picture there is. `grips` are points or boxes, in shares of the picture, that can be held.
        """
        self.send(
            {"readout": readout, "failed": frame is None, "grips": grips},
            buffers=[] if frame is None else [frame],
        )

    def sharpen(self, pixels):
        """Show the frame there is in more pixels: rows of RGBA."""
        height, width, _ = pixels.shape
        self.send({"sharp": True, "size": [width, height]}, buffers=[pixels.tobytes()])
