"use strict";
// Every table.data of the page can be sorted, filtered and narrowed; without this script it is read.
(() => {
  const raised = "⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺";
  const plain = "0123456789-+";

  // The number that a cell begins with: "1.2·10⁻⁷", "≤ 3", "0.48 [0.36, 0.64]"; NaN for other text.
  const number = (text) => {
    const found = text
      .replace(/·10([⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺]+)/, (_, power) => "e" + [...power].map((c) => plain[raised.indexOf(c)]).join(""))
      .replace("−", "-")
      .match(/^[<≤≥>~]?\s*([-+]?(?:\d+\.?\d*|\.\d+|∞)(?:e[-+]?\d+)?)\s*(?:†|%|\[.*\]|of \d+)?$/i);
    return found ? Number(found[1].replace("∞", "Infinity")) : NaN;
  };
  const said = (row, column) => row.cells[column].textContent.trim();
  const absent = (text) => text === "" || text === "--" || text === "–";

  const element = (tag, properties = {}, ...children) => {
    const made = Object.assign(document.createElement(tag), properties);
    made.append(...children);
    return made;
  };

  const enhance = (table) => {
    const body = table.tBodies[0];
    const rows = [...body.rows];
    const heads = [...table.tHead.rows[table.tHead.rows.length - 1].cells];
    const names = heads.map((head) => head.textContent.trim());
    if (rows.length < 2) return;

    const sort = (column) => {
      const head = heads[column];
      const way = { none: "ascending", ascending: "descending", descending: "none" }[head.getAttribute("aria-sort") || "none"];
      heads.forEach((one) => one.removeAttribute("aria-sort"));
      if (way === "none") return body.append(...rows);
      head.setAttribute("aria-sort", way);
      const keys = new Map(rows.map((row) => [row, said(row, column)]));
      const given = [...keys.values()].filter((text) => !absent(text));
      const numeric = given.every((text) => !Number.isNaN(number(text)));
      const sign = way === "ascending" ? 1 : -1;
      const compare = numeric
        ? (a, b) => number(a) - number(b) || 0
        : (a, b) => a.localeCompare(b, "en", { numeric: true });
      const sorted = [...rows].sort((one, other) => {
        const [a, b] = [keys.get(one), keys.get(other)];
        if (absent(a) || absent(b)) return absent(a) - absent(b);
        return sign * compare(a, b);
      });
      body.append(...sorted);
    };
    heads.forEach((head, column) => {
      const button = element("button", { type: "button", textContent: names[column] });
      button.addEventListener("click", () => sort(column));
      head.replaceChildren(button);
    });
    if (rows.length < 5) return;

    // Tools above the table: words that a line must contain, choices of few texts, and columns.
    const search = element("input", { type: "search" });
    const count = element("output");
    const tools = element("div", { className: "tools" }, element("label", {}, "Filter", search));
    const choices = [];
    const refresh = () => {
      const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
      let shown = 0;
      for (const row of rows) {
        const text = row.textContent.toLowerCase();
        row.hidden = !(
          words.every((word) => text.includes(word)) &&
          choices.every(([column, select]) => !select.value || said(row, column) === select.value)
        );
        shown += !row.hidden;
      }
      count.textContent = `${shown} of ${rows.length} lines`;
    };
    names.forEach((name, column) => {
      if (choices.length > 3 || heads[column].matches(".paper")) return;
      const texts = [...new Set(rows.map((row) => said(row, column)))];
      const wordy = texts.some((text) => !absent(text) && Number.isNaN(number(text)));
      if (!wordy || texts.length < 2 || texts.length > 40 || texts.length > rows.length / 2) return;
      const options = texts.map((text) => element("option", { value: text, textContent: text || "(none)" }));
      const select = element("select", {}, element("option", { value: "", textContent: "all" }), ...options);
      select.addEventListener("change", refresh);
      choices.push([column, select]);
      tools.append(element("label", {}, name, select));
    });
    search.addEventListener("input", refresh);

    // The cells above the heads, which name groups, are as wide as the columns that are shown.
    const groups = table.tHead.rows.length > 1 ? [...table.tHead.rows[0].cells] : [];
    const groupOf = groups.flatMap((cell) => Array(cell.colSpan).fill(cell));
    const show = (column, visible) => {
      for (const row of [...rows, heads[column].parentElement]) row.cells[column].hidden = !visible;
      const group = groupOf[column];
      if (!group) return;
      const shown = heads.filter((head, place) => groupOf[place] === group && !head.hidden).length;
      group.hidden = !shown;
      group.colSpan = shown || 1;
    };
    const hidden = new Set((table.dataset.hidden || "").split(" ").filter(Boolean).map(Number));
    if (names.length > 5) {
      const boxes = names.map((name, column) => {
        const box = element("input", { type: "checkbox", checked: !hidden.has(column) });
        box.addEventListener("change", () => show(column, box.checked));
        return element("label", {}, box, groupOf[column] ? `${groupOf[column].textContent} ${name}` : name);
      });
      const set = element("fieldset", {}, element("legend", { textContent: "Shown" }), ...boxes);
      tools.append(element("details", {}, element("summary", { textContent: "Columns" }), set));
      hidden.forEach((column) => show(column, false));
    }
    count.setAttribute("aria-live", "polite");
    tools.append(count);
    table.parentElement.before(tools);
    refresh();
  };

  document.querySelectorAll("table.data").forEach(enhance);
})();
