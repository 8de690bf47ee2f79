// The ledger's filter: by verdict and by words; rows are looked at as they stand in the page.
(() => {
  const form = document.querySelector(".filter"), select = form.querySelector("select"), input = form.querySelector("input");
  const errata = new Set(["differs", "conflicts"]), rows = [...document.querySelectorAll("main tbody tr")];
  const verdict = (row) => row.querySelector('[data-name="Verdict"]')?.textContent.trim();
  const show = () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const row of rows) {
      const fits = !select.value || (select.value === "errata" ? errata.has(verdict(row)) : verdict(row) === select.value);
      row.hidden = !fits || !words.every((word) => row.textContent.toLowerCase().includes(word));
    }
    for (const part of document.querySelectorAll("main section:has(table)")) part.hidden = !part.querySelector("tbody tr:not([hidden])");
    form.querySelector("[role=status]").textContent = `${rows.filter((row) => !row.hidden).length} of ${rows.length} rows`;
  };
  form.hidden = false;
  form.addEventListener("input", show);
  form.addEventListener("submit", (event) => event.preventDefault());
  show();
})();
