// Plays one scene in `root`, of which it takes the still and leaves the list of moments.
function play(root, told, data) {
  const make = (tag, attributes, parent, style = "") => {
    const made = parent.appendChild(document.createElement(tag));
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    made.style.cssText = style;
    return made;
  };
  const [width, height] = told.size, { axis, clock, palette } = told, last = axis.length - 1;

  // bytes to numbers: differences from frame to frame, shape by shape
  const bytes = Uint8Array.from(atob(data), (c) => c.charCodeAt(0));
  let byte = 0, zeros = 0;
  const whole = () => {
    let n = 0, by = 1, b;
    do { b = bytes[byte++]; n += (b & 127) * by; by *= 128; } while (b > 127);
    return n;
  };
  const next = () => {
    if (!zeros) {
      const n = whole();
      if (n) return n % 2 ? -(n + 1) / 2 : n / 2;
      zeros = whole();
    }
    zeros--;
    return 0;
  };
  const unpack = (value) => {
    if (Array.isArray(value)) return { now: value, many: 1 };
    if (value === null || typeof value !== "object") return { now: [value], many: 0 };
    const { each, words, quantum, hold } = value, all = new Float32Array((last + 1) * each);
    for (let i = 0; i < each; i++) for (let k = 0, n = 0; k <= last; k++) all[k * each + i] = (n += next()) * (quantum || 1);
    return { all, each, words, hold: hold || words, now: new Array(each), many: each > 1 ? 1 : 0 };
  };
  const groups = told.groups.map((g) => ({ ...g, a: Object.fromEntries(Object.entries(g.a).map(([k, v]) => [k, unpack(v)])) }));

  const moments = [...root.querySelectorAll("li > span")].map((span) => span.textContent);
  const alt = root.querySelector("img").alt;
  const stage = root.firstElementChild;
  stage.replaceChildren();
  const canvas = make("canvas", { role: "img", "aria-label": alt }, stage,
    `display:block;width:100%;cursor:pointer;aspect-ratio:${width}/${height}`);
  const bar = make("div", { role: "group", "aria-label": "player" }, stage,
    "display:flex;gap:4px;align-items:center;padding:4px 0;color:inherit");
  const control = "min-width:38px;min-height:30px;font:15px sans-serif;color:inherit;background:transparent;border:1px solid #888;border-radius:4px";
  const button = (label, sign, act) => {
    const made = make("button", { type: "button", "aria-label": label, title: label }, bar, control);
    made.textContent = sign;
    made.onclick = act;
    return made;
  };
  button("previous event", "|◀", () => leap(-1));
  const toggle = button("play", "▶", () => run(!playing));
  button("next event", "▶|", () => leap(1));
  const range = make("input", { type: "range", min: 0, max: 1000, value: 0, "aria-label": "time" }, bar, "flex:1;min-width:60px");
  // not an <output>: that would be read out at every frame
  const readout = make("span", {}, bar, "min-width:5.5em;text-align:right;font:14px sans-serif;font-variant-numeric:tabular-nums");
  const speed = make("select", { "aria-label": "speed" }, bar, control);
  for (const s of [0.25, 0.5, 1, 2, 4]) make("option", { value: s }, speed, "color:#000;background:#fff").textContent = s + "×";
  speed.value = "1";
  // on each that takes the focus: JupyterLab matches :focus itself before it looks further up
  for (const each of bar.querySelectorAll("button, input, select")) each.setAttribute("data-lm-suppress-shortcuts", "true");
  const caption = make("div", { role: "status", "aria-live": "polite" }, stage, "font-size:15px;line-height:1.45");

  const pen = canvas.getContext("2d");
  const calm = window.matchMedia("(prefers-reduced-motion: reduce)"), night = window.matchMedia("(prefers-color-scheme: dark)");
  let u = 0, playing = false, before = 0, stop = -1, ratio = 0, dark = 0, frames = 0;

  // where among rising steps: the frame, and the part of the way to the next
  const place = (v, steps) => {
    if (v >= steps[last]) return [last, 0];
    let low = 0, high = last;
    while (high - low > 1) { const mid = (low + high) >> 1; if (steps[mid] <= v) low = mid; else high = mid; }
    return [low, Math.max(0, (v - steps[low]) / Math.max(steps[low + 1] - steps[low], 1e-12))];
  };
  const along = (steps, k, f) => steps[k] + f * ((steps[k + 1] ?? steps[k]) - steps[k]);
  const stops = told.stops.map((value) => along(clock, ...place(value, axis)));

  const arrow = (x1, y1, x2, y2, size) => {
    const turn = Math.atan2(y2 - y1, x2 - x1), corner = (by, reach) => [x2 - reach * Math.cos(turn + by), y2 - reach * Math.sin(turn + by)];
    pen.setLineDash([]);
    pen.beginPath(); pen.moveTo(...corner(0, -size / 3)); pen.lineTo(...corner(0.5, size)); pen.lineTo(...corner(-0.5, size)); pen.fill();
  };
  function shape(g, i) {
    const v = (name) => { const a = g.a[name]; return a === undefined ? 0 : a.now[a.many * i]; };
    const alpha = g.a.alpha === undefined ? 1 : v("alpha");
    if (alpha <= 0.004) return;
    pen.globalAlpha = Math.min(1, alpha);
    const fill = palette[v("fill")]?.[dark], line = v("line");
    if (g.kind === "text") {
      pen.font = (v("bold") ? "bold " : "") + (v("size") || 12) + "px 'DejaVu Sans',Verdana,sans-serif";
      pen.textAlign = v("align") || "center"; pen.textBaseline = "middle"; pen.fillStyle = fill || palette.ink[dark];
      pen.fillText(v("text"), v("x"), v("y"));
      return;
    }
    const x = v("x"), y = v("y");
    pen.beginPath();
    if (g.kind === "rect") pen.roundRect(x, y, Math.max(0, v("w")), Math.max(0, v("h")), v("round"));
    else if (g.kind === "circle") pen.arc(x, y, Math.max(0, v("r")), 0, 7);
    else if (g.kind === "line") { pen.moveTo(x, y); pen.lineTo(v("x2"), v("y2")); }
    else for (let j = 0; j < g.n; j++) pen.lineTo(g.a.x.now[g.a.x.many * j], g.a.y.now[g.a.y.many * j]);
    if (fill && (g.kind === "rect" || g.kind === "circle")) { pen.fillStyle = fill; pen.fill(); }
    if (!line) return;
    const dash = v("dash"), size = v("head");
    pen.strokeStyle = pen.fillStyle = palette[v("stroke") || "ink"][dark];
    pen.lineWidth = line;
    pen.setLineDash(dash ? [dash, v("gap") || dash] : []); pen.lineDashOffset = -v("offset");
    pen.stroke();
    if (!size) return;
    if (g.kind === "line") arrow(x, y, v("x2"), v("y2"), size);
    else { const p = (c, j) => g.a[c].now[g.a[c].many * j]; arrow(p("x", g.n - 2), p("y", g.n - 2), p("x", g.n - 1), p("y", g.n - 1), size); }
  }
  function draw() {
    const began = performance.now(), [k, f] = place(u, clock);
    for (const g of groups) for (const a of Object.values(g.a)) {
      if (!a.all) continue;
      const { each, now, all } = a, p = k * each, q = Math.min(k + 1, last) * each;
      if (a.words) for (let i = 0; i < each; i++) now[i] = a.words[all[p + i]];
      else if (a.hold || !f) for (let i = 0; i < each; i++) now[i] = all[p + i];
      else for (let i = 0; i < each; i++) now[i] = all[p + i] + f * (all[q + i] - all[p + i]);
    }
    const want = (canvas.clientWidth || width) * (window.devicePixelRatio || 1) / width;
    if (want !== ratio) { ratio = want; canvas.width = Math.round(width * ratio); canvas.height = Math.round(height * ratio); }
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.globalAlpha = 1; pen.fillStyle = palette.paper[dark]; pen.fillRect(0, 0, width, height);
    for (const g of groups) for (let i = 0, n = g.kind === "path" ? 1 : g.n; i < n; i++) shape(g, i);
    const value = along(axis, k, f), say = (v) => v.toLocaleString("en-US", { minimumFractionDigits: told.digits, maximumFractionDigits: told.digits }) + " " + told.unit;
    const words = say(value);
    if (readout.textContent !== words) { readout.textContent = words; range.setAttribute("aria-valuetext", words + " of " + say(axis[last])); }
    range.value = Math.round(1000 * u);
    let now = -1;
    while (now + 1 < stops.length && stops[now + 1] <= u + 1e-6) now++;
    if (now !== stop) { stop = now; caption.textContent = moments[stop] ?? ""; }
    Object.assign(root.dataset, { frame: ++frames, at: value, moment: stop, cost: (performance.now() - began).toFixed(2) });
  }
  const seek = (to) => { u = Math.max(0, Math.min(1, to)); draw(); };
  function leap(way) {
    run(false);
    const all = [0, ...stops, 1];
    seek(way > 0 ? Math.min(...all.filter((s) => s > u + 1e-5), 1) : Math.max(...all.filter((s) => s < u - 1e-5), 0));
  }
  function tick(now) {
    if (!playing || !root.isConnected) return;
    const rate = Number(speed.value), gone = (now - before) / 1000;
    if (!calm.matches) { before = now; seek(u + Math.min(gone, 0.25) * rate / told.seconds); }
    // no motion asked for: moment after moment, three seconds for each
    else if (gone >= 3 / rate) { before = now; seek(stops.find((s) => s > u + 1e-5) ?? 1); }
    if (u >= 1) run(false); else requestAnimationFrame(tick);
  }
  function run(on) {
    if (on === playing) return;
    if (on && u >= 1) u = 0;
    playing = on;
    toggle.textContent = on ? "❚❚" : "▶";
    toggle.title = on ? "pause" : "play"; toggle.setAttribute("aria-label", toggle.title);
    if (on) { before = performance.now(); draw(); requestAnimationFrame(tick); }
  }
  range.oninput = () => { run(false); seek(Number(range.value) / 1000); };
  canvas.onclick = () => run(!playing);
  stage.onkeydown = (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey || e.key === "Tab" || e.key === "Escape") return;
    e.stopPropagation();
    if (e.target === speed || (e.key === " " && e.target.tagName === "BUTTON")) return;
    const [k, f] = place(u + 1e-9, clock);
    const act = {
      ArrowRight: () => seek(clock[Math.min(last, k + 1)]), ArrowLeft: () => seek(clock[f > 1e-3 ? k : Math.max(0, k - 1)]),
      ArrowUp: () => leap(1), ArrowDown: () => leap(-1), PageDown: () => leap(1), PageUp: () => leap(-1),
      Home: () => seek(0), End: () => seek(1), " ": () => run(!playing),
    }[e.key];
    if (!act) return;
    e.preventDefault();
    if (e.key !== " ") run(false);
    act();
  };
  // a page is dark where its words are light
  const look = () => {
    const [r, g, b] = getComputedStyle(root).color.match(/[\d.]+/g).map(Number);
    dark = r + g + b > 382 ? 1 : 0;
    canvas.style.border = "1px solid " + palette[dark ? "pale" : "paper"][dark];
    range.style.colorScheme = dark ? "dark" : "light";
    if (!playing) draw();
  };
  // room for the longest words, so that nothing below moves
  const room = () => {
    const now = caption.textContent;
    caption.style.minHeight = "0";
    caption.style.minHeight = Math.max(...moments.map((m) => { caption.textContent = m; return caption.offsetHeight; })) + "px";
    caption.textContent = now;
  };
  let wide = 0;
  new ResizeObserver(() => { if (canvas.clientWidth !== wide) { wide = canvas.clientWidth; room(); } look(); }).observe(canvas);
  new MutationObserver(look).observe(document.body, { attributes: true });
  new MutationObserver(look).observe(document.documentElement, { attributes: true });
  night.addEventListener("change", look);
  root.scene = { seek, run, stops, moments, leap };
  look();
  seek(0);
}
