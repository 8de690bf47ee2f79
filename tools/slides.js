// Arrow keys, Space, Page Up and Down (a presenter's remote), Home, End; S opens the lecturer's window.
const main = document.querySelector("main"), footer = document.querySelector("footer");
const sections = [...document.querySelectorAll("section")];
const waiting = section => [...section.querySelectorAll(".waits")];
let at = 0, out = 0, notes = null;
const since = Date.now();

function scale() {
  const k = Math.min(innerWidth / 1280, innerHeight / 720);
  main.style.transform = `scale(${k}) translate(-50%, -50%)`;
}

// a slide's text is as large as there is room for, with its lines of code and output whole if they can be;
// what is too long even at seven tenths scrolls
function fit(section) {
  const large = section.querySelector("img") ? 1 : 1.3;
  const fits = k => {
    for (const part of section.children) part.style.zoom = k;
    return section.scrollWidth <= section.clientWidth + 1 && section.scrollHeight <= section.clientHeight + 1;
  };
  for (const wraps of [false, true]) {
    section.classList.toggle("wraps", wraps);
    for (let k = large; k > 0.69; k -= 0.05) if (fits(k)) return;
    if (section.scrollWidth <= section.clientWidth + 1) return;
  }
}

function titleOf(section) {
  const title = section?.querySelector("h1, h2, h3")?.cloneNode(true);
  title?.querySelectorAll("svg").forEach(svg => svg.replaceWith(svg.getAttribute("aria-label").replaceAll("\\", "")));
  return title?.textContent ?? "";
}

function show() {
  sections.forEach((section, n) => section.classList.toggle("now", n === at));
  waiting(sections[at]).forEach((part, n) => part.classList.toggle("out", n < out));
  fit(sections[at]);
  const titled = sections.slice(0, at + 1).findLast(section => section.querySelector("h1, h2"));
  footer.innerHTML = "<span></span><span></span>";
  footer.children[0].textContent = titleOf(titled);
  footer.children[1].textContent = `${at + 1} / ${sections.length}`;
  history.replaceState(null, "", `#${at + 1}`);
  tell();
}

function go(slide, steps) {
  at = Math.max(0, Math.min(sections.length - 1, slide));
  out = Math.min(steps, waiting(sections[at]).length);
  sections[at].scrollTop = 0;
  show();
}

function on() {
  const section = sections[at], before = section.scrollTop;
  if (out < waiting(section).length) return go(at, out + 1);
  section.scrollBy(0, 500);
  if (section.scrollTop > before) return;
  if (at + 1 < sections.length) go(at + 1, 0);
}

function back() {
  if (out > 0) go(at, out - 1);
  else if (at > 0) go(at - 1, Infinity);
}

function tell() {
  if (!notes || notes.closed) return;
  const first = n => titleOf(sections[n]) || "(goes on)";
  const minutes = Math.floor((Date.now() - since) / 60000);
  notes.document.body.innerHTML = `<p>${at + 1} of ${sections.length}, ${minutes} min since opened</p><h2></h2><div></div><p></p>`;
  const [, title, asks, next] = notes.document.body.children;
  title.textContent = first(at);
  asks.innerHTML = sections[at].querySelector("aside")?.innerHTML ?? "";
  next.textContent = at + 1 < sections.length ? `Next: ${first(at + 1)}` : "The last slide.";
}

function lecturer() {
  notes = open("", "notes", "width=700,height=500");
  if (!notes) return;
  notes.document.body.style.cssText = "font: 22px/1.4 sans-serif; margin: 24px";
  notes.document.title = "Notes";
  notes.onkeydown = press;
  tell();
}

function press(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (["ArrowRight", "ArrowDown", "PageDown", " "].includes(event.key)) on();
  else if (["ArrowLeft", "ArrowUp", "PageUp"].includes(event.key)) back();
  else if (event.key === "Home") go(0, 0);
  else if (event.key === "End") go(sections.length - 1, Infinity);
  else if (event.key.toLowerCase() === "s") lecturer();
  else return;
  event.preventDefault();
}

addEventListener("keydown", press);
addEventListener("resize", scale);
for (const image of document.images) image.addEventListener("load", () => fit(sections[at]));
// a fold that is opened makes the slide longer
document.addEventListener("toggle", () => fit(sections[at]), true);
scale();
go((parseInt(location.hash.slice(1)) || 1) - 1, 0);
