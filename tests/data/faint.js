// Words too faint for the ground they stand on, as WCAG 2 counts it (4.5); what a picture holds has its own ground.
() => {
  const parts = (colour) => colour.match(/[\d.]+/g).map(Number);
  const over = ([r, g, b, a = 1], [x, y, z]) => [r * a + x * (1 - a), g * a + y * (1 - a), b * a + z * (1 - a)];
  const ground = (e) => (e ? over(parts(getComputedStyle(e).backgroundColor), ground(e.parentElement)) : [255, 255, 255]);
  const linear = (c) => (c / 255 <= 0.03928 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4);
  const light = ([r, g, b]) => 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
  const apart = "svg, script, style, option, :disabled, .fabriclab-still, [aria-hidden]";
  const found = new Map();
  for (const e of document.querySelectorAll("body *")) {
    const words = [...e.childNodes].filter((n) => n.nodeType === 3).map((n) => n.data).join(" ").trim();
    if (!words || e.closest(apart) || !e.checkVisibility({ visibilityProperty: true })) continue;
    const under = ground(e), [low, high] = [light(over(parts(getComputedStyle(e).color), under)), light(under)].sort((a, b) => a - b);
    const ratio = (high + 0.05) / (low + 0.05);
    if (ratio < 4.5) found.set(`${e.tagName} ${e.className} ${ratio.toFixed(1)}`, words.slice(0, 40));
  }
  return [...found].map(([what, words]) => `faint, ${what}: ${words}`);
}
