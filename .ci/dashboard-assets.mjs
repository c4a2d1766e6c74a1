#!/usr/bin/env node
// Refreshes the files in httpapi/dashboard/assets that others have published on npm: htmx, idiomorph, uPlot and the icons of
// Lucide that pages use. third-party.license names their versions and licenses.
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdtempSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const packages = [
  { name: "htmx.org", version: "2.0.11", files: { "dist/htmx.min.js": "htmx.min.js" } },
  { name: "idiomorph", version: "0.8.0", files: { "dist/idiomorph-ext.min.js": "idiomorph-ext.min.js" } },
  { name: "uplot", version: "1.6.32", files: { "dist/uPlot.iife.min.js": "uplot.min.js", "dist/uPlot.min.css": "uplot.min.css" } },
  { name: "lucide-static", version: "1.62.0", files: {} },
];
const dashboard = "httpapi/dashboard";
const folder = mkdtempSync(join(tmpdir(), "assets-"));
let licenses = "Files of others that the pages load, unchanged.\n";
for (const p of packages) {
  const tarball = execFileSync("npm", ["pack", "--silent", `${p.name}@${p.version}`], { cwd: folder, encoding: "utf8" }).trim();
  execFileSync("tar", ["xzf", tarball], { cwd: folder });
  for (const [from, to] of Object.entries(p.files)) copyFileSync(join(folder, "package", from), join(dashboard, "assets", to));
  const license = readdirSync(join(folder, "package")).find((f) => /^licen[sc]e/i.test(f));
  licenses += `\n${p.name} ${p.version}${Object.values(p.files).length ? " (" + Object.values(p.files).join(", ") + ")" : " (icons.svg)"}\n\n${readFileSync(join(folder, "package", license), "utf8").trim()}\n`;
  if (p.name === "lucide-static") {
    const texts = [...readdirSync(join(dashboard, "templates")).map((f) => join(dashboard, "templates", f)), ...readdirSync(dashboard).filter((f) => f.endsWith(".go")).map((f) => join(dashboard, f))].map((f) => readFileSync(f, "utf8")).join("\n");
    const names = new Set([...texts.matchAll(/\{\{icon "([a-z0-9-]+)"\}\}/g), ...texts.matchAll(/\bIcon: "([a-z0-9-]+)"/g)].map((m) => m[1]));
    const symbols = [...names].sort().map((name) => {
      const svg = readFileSync(join(folder, "package/icons", name + ".svg"), "utf8");
      const content = svg.slice(svg.indexOf(">", svg.indexOf("<svg")) + 1, svg.lastIndexOf("</svg>")).replace(/\s+/g, " ").trim();
      return `<symbol id="${name}" viewBox="0 0 24 24">${content}</symbol>`;
    });
    writeFileSync(join(dashboard, "assets/icons.svg"), `<svg xmlns="http://www.w3.org/2000/svg">\n${symbols.join("\n")}\n</svg>\n`);
  }
}
writeFileSync(join(dashboard, "assets/third-party.license"), licenses);
