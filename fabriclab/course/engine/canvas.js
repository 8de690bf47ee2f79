// The picture of an explorer in the browser. The kernel draws; this end copies pixels, says the words,
// names the sliders for screen readers, and tells where the pointer holds the picture.
const REST = 600;  // ms without a frame: then a sharp picture is worth asking for
const NEAR = 26;  // CSS pixels within which a grip is taken

function make(name, className, parent) {
  const element = document.createElement(name);
  element.className = className;
  parent.append(element);
  return element;
}

// A slider of ipywidgets tells an index and has no name, and its readout is a second tab stop.
function speak(slider) {
  const name = slider.querySelector(".widget-label")?.textContent ?? "";
  const readout = slider.querySelector(".widget-readout");
  const handle = slider.querySelector(".noUi-handle");
  if (!handle || !readout) return;
  const set = (element, attribute, value) => {
    if (element.getAttribute(attribute) !== value) element.setAttribute(attribute, value);
  };
  set(handle, "aria-label", name);
  set(handle, "aria-valuetext", readout.textContent);
  set(readout, "tabindex", "-1");
  set(readout, "aria-hidden", "true");
}

function nameSliders(el) {
  const root = el.closest(".fabriclab-explorer") ?? el.parentElement;
  const all = () => root?.querySelectorAll(".widget-hslider").forEach(speak);
  const observer = new MutationObserver(all);
  // the controls are drawn beside this canvas, before it or after
  const options = { subtree: true, childList: true, characterData: true, attributes: true };
  if (root) observer.observe(root, { ...options, attributeFilter: ["aria-valuetext", "tabindex"] });
  all();
  return () => observer.disconnect();
}

function render({ model, el }) {
  const [width, height] = model.get("size");
  const root = make("div", "fabriclab-canvas", el);
  const stage = make("div", "fabriclab-stage", root);
  const picture = make("canvas", "", stage);
  const words = make("div", "fabriclab-words", root);
  const asleep = make("div", "fabriclab-asleep", root);
  root.style.setProperty("--width", width + "px");
  Object.assign(picture, { width, height });
  picture.setAttribute("role", "img");
  picture.setAttribute("aria-label", model.get("alt"));
  words.setAttribute("role", "status");
  words.setAttribute("aria-live", "polite");
  asleep.innerHTML = model.get("asleep");
  const pen = picture.getContext("2d");
  let frames = 0, resting = 0, stopNaming = () => {}, grips = [];

  const rest = () => {
    const scale = Math.min(2, (devicePixelRatio * picture.clientWidth) / width);
    model.send({ rest: scale });
  };
  const say = (text, failed) => {
    words.textContent = text;
    root.classList.toggle("fabriclab-failed", failed);
    // at one width the readout may grow, where a line wraps, but never shrinks: nothing below it
    // jumps to and fro
    if (words.dataset.at !== String(words.clientWidth)) {
      words.style.minHeight = "";
      words.dataset.at = words.clientWidth;
    }
    if (words.clientWidth) words.style.minHeight = words.offsetHeight + "px";
  };
  const receive = (content, buffers) => {
    if (buffers.length) {
      const bytes = buffers[0];
      const pixels = new Uint8ClampedArray(bytes.buffer, bytes.byteOffset, bytes.byteLength);
      const [wide, high] = content.size ?? [width, height];
      if (picture.width !== wide) Object.assign(picture, { width: wide, height: high });
      pen.putImageData(new ImageData(pixels, wide, high), 0, 0);
    }
    if (content.sharp) return;
    grips = content.grips ?? grips;
    say(content.readout, content.failed);
    root.dataset.frame = ++frames;
    busy = false;
    flush();
    clearTimeout(resting);
    resting = setTimeout(rest, REST);
  };

  // ---- the pointer: one move under way at a time, the next is sent when the frame of the last came
  let held = null, busy = false, next = null;
  const flush = () => {
    if (next && !busy) { busy = true; model.send(next); next = null; }
  };
  const place = (event) => {
    const box = picture.getBoundingClientRect();
    return [(event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height];
  };
  // the nearest point within reach, else the first area that holds the place
  const gripAt = ([x, y]) => {
    const box = picture.getBoundingClientRect();
    let best = -1, least = NEAR;
    grips.forEach((grip, number) => {
      if (grip.length !== 2) return;
      const far = Math.hypot((grip[0] - x) * box.width, (grip[1] - y) * box.height);
      if (far < least) { least = far; best = number; }
    });
    return best >= 0 ? best : grips.findIndex(
      (grip) => grip.length === 4 && grip[0] <= x && x <= grip[2] && grip[1] <= y && y <= grip[3]);
  };
  const tell = (event, down) => {
    next = { grip: held, at: place(event), down };
    flush();
  };
  picture.addEventListener("pointerdown", (event) => {
    const found = gripAt(place(event));
    if (found < 0 || event.button) return;
    held = found;
    picture.setPointerCapture(event.pointerId);
    picture.style.cursor = "grabbing";
    tell(event, true);
    event.preventDefault();
  });
  picture.addEventListener("pointermove", (event) => {
    if (held !== null) return tell(event, false);
    const found = gripAt(place(event));
    picture.style.cursor = found < 0 ? "" : grips[found].length === 2 ? "grab" : "pointer";
  });
  // a finger on a grip drags it; anywhere else it scrolls the page
  picture.addEventListener("touchstart", (event) => {
    if (held !== null) event.preventDefault();
  }, { passive: false });
  for (const end of ["pointerup", "pointercancel"])
    picture.addEventListener(end, () => { held = null; picture.style.cursor = ""; });

  say(model.get("readout"), false);
  model.on("msg:custom", receive);
  model.send({ ask: "frame" });
  requestAnimationFrame(() => { stopNaming = nameSliders(el); });
  return () => { clearTimeout(resting); stopNaming(); model.off("msg:custom", receive); };
}
export default { render };
