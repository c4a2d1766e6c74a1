"use strict";
// Additions to pages that work without scripts: confirmations in a dialog, copy buttons, keyboard shortcuts, suggestions,
// and the time zone of the browser.
(() => {
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const cookie = (name) => document.cookie.split("; ").find((c) => c.startsWith(name + "="))?.slice(name.length + 1);
  if (zone && cookie("zone") !== encodeURIComponent(zone)) document.cookie = `zone=${encodeURIComponent(zone)}; path=/; max-age=31536000; samesite=lax`;

  const dialog = document.getElementById("dialog");

  // A form with data-confirm, or one within the dialog, gets its question from the server.
  const ask = async (form, submitter) => {
    const body = new URLSearchParams(new FormData(form, submitter));
    const answer = await fetch(form.action, { method: "POST", body, headers: { "X-Dialog": "yes" }, redirect: "manual" });
    if (answer.type === "opaqueredirect") return location.reload(), true; // the action needed no question
    if (!answer.headers.get("X-Dialog")) return false;
    dialog.innerHTML = await answer.text();
    if (!dialog.open) dialog.showModal();
    dialog.querySelector("input:not([type=hidden])")?.focus();
    return true;
  };
  document.addEventListener("submit", async (event) => {
    const form = event.target;
    if (!form.matches("form[data-confirm]") || form.dataset.asked) return;
    event.preventDefault();
    if (await ask(form, event.submitter).catch(() => false)) return;
    form.dataset.asked = "yes";
    form.requestSubmit(event.submitter);
  });

  document.addEventListener("click", async (event) => {
    const copy = event.target.closest("[data-copy]");
    if (copy) {
      await navigator.clipboard.writeText(copy.dataset.copy).catch(() => {});
      announce("Copied");
    }
    if (event.target.closest("#dialog [data-close]")) {
      event.preventDefault();
      dialog.close();
    }
    const menu = event.target.closest("details.menu");
    document.querySelectorAll("details.menu[open]").forEach((d) => d !== menu && (d.open = false));
  });

  const announce = (text) => (document.getElementById("announce").textContent = text);

  // "g" and a letter open a page, "/" searches, "n" creates.
  const pages = { h: "/", c: "/campaigns", l: "/live", k: "/calls", a: "/agents", w: "/webhooks", t: "/trunks" };
  let before = "";
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") document.querySelectorAll("details.menu[open]").forEach((d) => (d.open = false));
    if (event.ctrlKey && event.key === "k") {
      event.preventDefault();
      document.querySelector("[data-key='/']")?.focus();
    }
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, textarea, select, dialog")) return;
    if (event.key === "/") {
      event.preventDefault();
      document.querySelector("[data-key='/']")?.focus();
    } else if (before === "g" && pages[event.key]) location.href = pages[event.key];
    else if (event.key === "n") document.querySelector(".head a.button.main")?.click();
    before = event.key;
  });

  const languages = ["en-US", "en-GB", "de-DE", "es-ES", "es-MX", "fr-FR", "it-IT", "pt-BR", "pt-PT", "nl-NL"];
  const fill = (id, values, name) => document.getElementById(id)?.replaceChildren(...values.map((value) => Object.assign(document.createElement("option"), { value, label: name(value) })));
  const enhance = () => {
    document.querySelectorAll("[data-copy][hidden]").forEach((b) => (b.hidden = false));
    if (!document.querySelector("datalist")) return;
    const regions = new Intl.DisplayNames("en", { type: "region" }), names = new Intl.DisplayNames("en", { type: "language" });
    fill("zones", Intl.supportedValuesOf("timeZone"), (v) => v);
    fill("languages", languages, (v) => names.of(v));
    const codes = [];
    for (let a = 65; a <= 90; a++) for (let b = 65; b <= 90; b++) codes.push(String.fromCharCode(a, b));
    fill("countries", codes.filter((c) => regions.of(c) !== c), (v) => regions.of(v));
  };
  enhance();
  document.addEventListener("htmx:afterSwap", enhance);
  const toast = document.querySelector("[data-toast]");
  if (toast) setTimeout(() => toast.remove(), 8000);
})();
