"use strict";
// Shows the beginning of a file before it is sent, and offers its columns.
// Without it their names are typed.
(() => {
  const file = document.querySelector("#upload input[type=file]");
  if (!file) return;
  const names = document.getElementById("names"), preview = document.getElementById("preview"), columns = document.getElementById("columns");

  // rowsOf parts the beginning of a file as the service does.
  const rowsOf = (text, most) => {
    text = text.replace(/^\ufeff/, "");
    let said;
    text = text.replace(/^"?sep=(.)"?\r?\n?/i, (_, by) => ((said = by), ""));
    const head = text.split(/\r?\n|\r/, 1)[0];
    const by = said || [",", ";", "\t"].reduce((a, b) => (head.split(b).length > head.split(a).length ? b : a));
    const rows = [[""]];
    let quoted = false;
    for (let i = 0; i < text.length; i++) {
      const c = text[i], row = rows[rows.length - 1];
      if (quoted && c === '"' && text[i + 1] === '"') row[row.length - 1] += text[++i];
      else if (c === '"') quoted = !quoted;
      else if (!quoted && c === by) row.push("");
      else if (!quoted && (c === "\n" || c === "\r")) {
        if (c === "\r" && text[i + 1] === "\n") i++;
        if (rows.length > most) return rows.slice(0, most);
        rows.push([""]);
      } else row[row.length - 1] += c;
    }
    return rows.filter((r) => r.length > 1 || r[0]).slice(0, most);
  };

  file.addEventListener("change", async () => {
    names.replaceChildren();
    preview.replaceChildren();
    const one = file.files[0];
    if (!one || /\.jsonl?$/i.test(one.name)) return;
    const bytes = new Uint8Array(await one.slice(0, 65536).arrayBuffer());
    const kind = bytes[0] === 0xff && bytes[1] === 0xfe ? "utf-16le" : bytes[0] === 0xfe && bytes[1] === 0xff ? "utf-16be" : "utf-8";
    const rows = rowsOf(new TextDecoder(kind).decode(bytes), 4);
    if (!rows.length) return;
    const head = rows[0].map((n) => n.trim());
    head.filter(Boolean).forEach((n) => names.append(Object.assign(document.createElement("option"), { value: n })));
    if (!head.some((n) => n.toLowerCase() === "phone")) columns.open = true;
    const wide = Object.assign(document.createElement("div"), { className: "wide", tabIndex: 0 });
    wide.setAttribute("role", "region");
    wide.setAttribute("aria-label", "The beginning of the file");
    const table = document.createElement("table"), thead = table.createTHead().insertRow(), body = table.createTBody();
    head.forEach((n) => thead.append(Object.assign(document.createElement("th"), { scope: "col", textContent: n || "(no name)" })));
    rows.slice(1).forEach((r) => {
      const row = body.insertRow();
      head.forEach((_, i) => (row.insertCell().textContent = r[i] ?? ""));
    });
    wide.append(table);
    preview.append(wide);
  });
})();
