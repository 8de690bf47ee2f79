// The form of a prediction. With a kernel that listens the guess goes there; without one it is
// compared here, more roughly.
(() => {
  const UNITS = { B: 1, byte: 1, bytes: 1, b: 1 / 8, bit: 1 / 8, bits: 1 / 8, s: 1, min: 60, h: 3600,
    d: 86400, day: 86400, days: 86400, hours: 3600, W: 1, m: 1, Bd: 1, dB: 1, "%": 0.01, x: 1, $: 1, "": 1,
    million: 1e6, billion: 1e9, thousand: 1e3 };
  const PREFIX = { n: 1e-9, u: 1e-6, "µ": 1e-6, "μ": 1e-6, m: 1e-3, k: 1e3, K: 1e3, M: 1e6, G: 1e9, T: 1e12, P: 1e15 };
  const kind = (unit) => (/^(b|bit|bits|B|byte|bytes)$/.test(unit) ? "B" : /^(min|h|d|day|days|hours)$/.test(unit) ? "s" : unit);
  const read = (text, wanted) => {
    const found = /^[~$]?\s*([\d.,]+(?:e[-+]?\d+)?)\s*([^\d]*)$/i.exec(text.trim());
    if (!found) return NaN;
    let value = Number(found[1].replace(/,/g, "")), unit = found[2].trim(), scale = 1;
    const rate = /\/s$|ps$/.test(unit);
    unit = unit.replace(/\/s$|ps$/, "");
    if (!(unit in UNITS) && unit[0] in PREFIX) { scale = PREFIX[unit[0]]; unit = unit.slice(1); }
    if (!(unit in UNITS)) return ["", "x"].includes(wanted) && scale === 1 ? value : NaN;
    const base = wanted.replace("/s", "");
    if (rate !== wanted.endsWith("/s")) return NaN;
    if (unit === "" && wanted === "%") return value > 1.5 ? value / 100 : value;
    if (unit === "" && !["", "x", "dB", "$"].includes(wanted)) return NaN;
    if (unit !== "" && !["", "x", "%"].includes(base) && !/illion|sand/.test(unit) && kind(unit) !== kind(base)) return NaN;
    return value * scale * UNITS[unit];
  };
  const compare = (known, guess) => {
    if (known.options.length) return (guess === known.key ? "Right. " : `The model: ${known.shown}. `) + known.moral;
    const value = read(guess, known.unit), ratio = value / known.key;
    if (!(value >= 0)) return `Could not read this: give a number with its unit, as in ${known.such}.`;
    const close = (a, b) => Math.abs(a - b) <= 0.02 * Math.abs(b), up = ratio > 1 ? "high" : "low";
    const off = value === known.key || close(ratio, 1) ? "right on it" : close(ratio, 0.5) ? "half"
      : close(ratio, 2) ? "twice as much"
      : known.unit === "%" ? `${Math.round(100 * Math.abs(value - known.key))} points too ${up}`
      : ratio > 0.8 && ratio < 1.25 ? `${Math.round(100 * Math.abs(ratio - 1))} % too ${up}`
      : `${Number(Math.max(ratio, 1 / ratio).toPrecision(3))} times too ${up}`;
    const slip = known.slips.find(([at]) => close(value, at) && !close(ratio, 1));
    return `Yours ${guess}, the model ${known.shown}: ${off}. ${slip ? `It looks as if ${slip[1]}. ` : ""}${known.moral}`;
  };
  const make = (tag, with_) => Object.assign(document.createElement(tag), with_);
  // What answers a question is printed in the cells below, up to the next question or heading. It is
  // folded until the guess is made. JupyterLab opens hidden outputs when it runs a cell, so the page
  // folds them by a style of its own.
  if (!document.getElementById("fabriclab-folds")) document.head.append(make("style", { id: "fabriclab-folds", textContent:
    `[data-fabriclab-fold] .jp-Cell-outputWrapper { display: none }
     [data-fabriclab-fold]::after { content: "folded until you guess above, or open the number there"; opacity: 0.6; padding-left: 6em; font-style: italic }` }));
  const below = (root) => {
    const cells = [];
    for (let cell = root.closest(".jp-Cell")?.nextElementSibling; cell; cell = cell.nextElementSibling) {
      if (cell.querySelector("h1, h2, h3, .fabriclab-predict") || /predict\(/.test(cell.querySelector(".jp-Editor, .highlight")?.textContent)) break;
      if (/\b(print|display)\(|report\(|diagnose\(/.test(cell.querySelector(".jp-Editor, .highlight")?.textContent)) cells.push(cell);
    }
    return cells;
  };
  const group = (root) => [...root.parentElement.querySelectorAll(".fabriclab-predict")];
  const fold = (root) => {
    if (group(root).some((one) => !one.dataset.done)) below(root).forEach((cell) => (cell.dataset.fabriclabFold = ""));
  };
  const unfold = (root) => {
    root.dataset.done = "yes";
    if (group(root).some((one) => !one.dataset.done)) return;
    below(root).forEach((cell) => {
      delete cell.dataset.fabriclabFold;
      cell.querySelector(".jp-OutputPlaceholder .jp-Placeholder-content")?.click();
    });
  };
  document.querySelectorAll(".fabriclab-predict:not([data-ready])").forEach((root) => {
    root.dataset.ready = "yes";
    const known = JSON.parse(root.dataset.known), name = root.id.replace("predict-", "");
    const ask = make("form", { style: "margin:.3em 0" }), says = make("div");
    ask.dataset.lmSuppressShortcuts = "true";
    says.setAttribute("role", "status");
    const guess = make(known.options.length ? "select" : "input", { style: "font:inherit;width:11em" });
    guess.setAttribute("aria-label", "your guess: " + known.asks);
    if (known.options.length) {
      guess.style.width = "auto";
      ["", ...known.options].forEach((text) => guess.append(make("option", { value: text, textContent: text || "choose" })));
    } else guess.placeholder = "such as " + known.such;
    const sure = make("select", { style: "font:inherit" });
    sure.setAttribute("aria-label", "how sure are you?");
    [["", "how sure?"], [50, "50 % sure"], [70, "70 % sure"], [90, "90 % sure"]].forEach(([value, textContent]) => sure.append(make("option", { value, textContent })));
    const go = make("button", { textContent: "Commit", style: "font:inherit" });
    ask.append(guess, " ", sure, " ", go);
    root.insertBefore(ask, root.querySelector("details"));
    root.insertBefore(says, root.querySelector("details"));
    ["keydown", "keypress", "keyup"].forEach((type) => ask.addEventListener(type, (event) => event.stopPropagation()));
    const reveal = (words) => {
      says.textContent = words;
      if (words.startsWith("Could not read")) return;
      [guess, sure, go].forEach((part) => (part.disabled = true));
      const number = root.querySelector("details");
      number.open = number.hidden = true;  // the words say it; opening it unfolds what lies below
    };
    const slot = "fabriclab-predict " + name;
    ask.addEventListener("submit", (event) => {
      event.preventDefault();
      if (!guess.value) { says.textContent = "Write a guess first."; return; }
      const here = () => compare(known, guess.value);
      const detail = { id: name, guess: guess.value, sure: sure.value ? Number(sure.value) : null };
      const wait = setTimeout(() => reveal(here()), 4000);
      detail.done = (words) => { clearTimeout(wait); reveal(words); };
      document.dispatchEvent(new CustomEvent("fabriclab-guess", { detail }));
      if (!detail.heard) detail.done(here());
      try { localStorage.setItem(slot, JSON.stringify([guess.value, sure.value])); } catch {}
    });
    root.querySelector("details").addEventListener("toggle", (event) => event.target.open && unfold(root));
    [0, 500, 2000].forEach((later) => setTimeout(fold, later, root));
    let before = known.kept;
    try { before ??= JSON.parse(localStorage.getItem(slot)); } catch {}
    if (before) {
      [guess.value, sure.value] = [before[0], before[1] ?? ""];
      reveal(before[2] ?? compare(known, guess.value));
    }
  });
})();
