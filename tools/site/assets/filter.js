// The filter of a page of tables: by words and, in the ledger, by verdict; rows are looked at as they stand in the page.
(() => {
  const form = document.querySelector(".filter");
  if (!form) return;
  const select = form.querySelector("select"), input = form.querySelector("input"), rows = [...document.querySelectorAll("main tbody tr")];
  const show = () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean), verdict = select?.value || "";
    const wanted = verdict === "errata" ? ["differs", "conflicts"] : [verdict];
    for (const row of rows) {
      const text = row.textContent.toLowerCase();
      row.hidden = !(!verdict || wanted.includes(row.className)) || !words.every((word) => text.includes(word));
    }
    for (const part of document.querySelectorAll("main section:has(table)")) part.hidden = !part.querySelector("tbody tr:not([hidden])");
    form.querySelector("[role=status]").textContent = `${rows.filter((row) => !row.hidden).length} of ${rows.length} rows`;
  };
  form.hidden = false;
  form.addEventListener("input", show);
  form.addEventListener("submit", (event) => event.preventDefault());
  show();
})();
