"use strict";
// Draws a pathway, and lets its nodes be edited where the page has its text.
// Without it the text itself is edited.
(() => {
  const graph = document.getElementById("graph");
  if (!graph) return;
  const text = graph.dataset.edit && document.getElementById(graph.dataset.edit);
  const anywhere = "*", wide = 190, high = 58, between = 36, below = 70;
  const types = ["say", "collect", "offer", "converse", "dtmf", "condition", "tool", "appointment", "sms", "transfer", "agent", "end"];
  const fields = {
    say: ["prompt"], collect: ["prompt", "retry_prompt", "save_as"], offer: ["list", "prompt", "retry_prompt", "save_as"], converse: ["prompt"], dtmf: ["digits"], condition: [], tool: ["tool_id", "save_as"],
    appointment: ["action", "save_as"], sms: ["body"], transfer: ["destination", "summary"], agent: ["agent_id"], end: ["prompt", "outcome", "notes"],
  };
  const ways = { always: "", else: "", dtmf: "digits", timeout: "", success: "", failure: "", intent: "intent", expr: "expr", llm: "prompt" };
  let plan, chosen, faults = new Map();

  const svg = (name, attributes, ...children) => {
    const e = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [k, v] of Object.entries(attributes)) e.setAttribute(k, v);
    e.append(...children);
    return e;
  };
  const make = (name, properties, ...children) => {
    const e = Object.assign(document.createElement(name), properties);
    e.append(...children);
    return e;
  };
  const clip = (s, most) => ((s = String(s)).length > most ? s.slice(0, most - 1) + "…" : s);
  const label = (when) => {
    const w = when && typeof when === "object" ? when : {}, value = w[ways[w.type]];
    return (w.type === "dtmf" ? "key " : "") + (value || String(w.type || "").replaceAll("_", " "));
  };
  // What somebody types may hold anything in the place of a node or a way: such
  // is not drawn, and stays where it is.
  const objects = (all) => (Array.isArray(all) ? all.filter((o) => o && typeof o === "object" && !Array.isArray(o)) : []);
  const nodes = () => objects(plan.nodes);
  const edges = () => objects(plan.edges);
  const parse = (json) => {
    const p = JSON.parse(json);
    if (!p || typeof p !== "object" || Array.isArray(p)) throw new Error("no object");
    return p;
  };

  // layers puts each node one below the first that leads to it.
  const layers = () => {
    const ids = nodes().map((n) => n.id), at = new Map();
    const starts = edges().some((e) => e.from === anywhere) ? [plan.start, anywhere] : [plan.start];
    const walk = (from) => {
      for (let queue = from.filter((id) => !at.has(id)), depth = 0; queue.length; depth++) {
        queue.forEach((id) => at.set(id, depth));
        queue = [...new Set(queue.flatMap((id) => edges().filter((e) => e.from === id).map((e) => e.to)))].filter((id) => ids.includes(id) && !at.has(id));
      }
    };
    walk(starts.filter((id) => id === anywhere || ids.includes(id)));
    ids.forEach((id) => walk([id]));
    const rows = [];
    at.forEach((depth, id) => (rows[depth] ||= []).push(id));
    return rows;
  };

  const draw = () => {
    graph.replaceChildren();
    if (!plan) return;
    const rows = layers(), places = new Map();
    const most = Math.max(1, ...rows.map((r) => r.length));
    const width = most * (wide + between) + 2 * between, height = rows.length * (high + below);
    rows.forEach((row, y) => row.forEach((id, x) => places.set(id, { x: (width - row.length * (wide + between)) / 2 + x * (wide + between) + between / 2, y: y * (high + below) + 8 })));
    const root = svg("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "group", "aria-label": "The pathway as a graph" });
    root.append(svg("defs", {}, svg("marker", { id: "head", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 8, markerHeight: 8, orient: "auto" }, svg("path", { d: "M0 0L8 4L0 8z", class: "head" }))));
    const pairs = new Map();
    edges().forEach((e) => {
      if (places.has(e.from) && places.has(e.to)) pairs.set(e.from + "\n" + e.to, [...(pairs.get(e.from + "\n" + e.to) || []), e]);
    });
    pairs.forEach((same) => {
      const a = places.get(same[0].from), b = places.get(same[0].to);
      let d, at;
      if (b.y > a.y) {
        const x1 = a.x + wide / 2, y1 = a.y + high, x2 = b.x + wide / 2;
        d = `M${x1} ${y1}C${x1} ${y1 + below / 2} ${x2} ${b.y - below / 2} ${x2} ${b.y}`;
        at = { x: (x1 + x2) / 2, y: (y1 + b.y) / 2 };
      } else if (b.y === a.y && a !== b) { // beside: around below
        const x1 = a.x + wide / 2, x2 = b.x + wide / 2, y = a.y + high, deep = y + below * 0.8;
        d = `M${x1} ${y}C${x1} ${deep} ${x2} ${deep} ${x2} ${y}`;
        at = { x: (x1 + x2) / 2, y: y + below * 0.6 };
      } else { // back: around the right
        const x1 = a.x + wide, y1 = a.y + high / 2, x2 = b.x + wide, y2 = b.y + high / 2 + (a === b ? 16 : 0), out = Math.max(x1, x2) + between;
        d = `M${x1} ${y1}C${out} ${y1} ${out} ${y2} ${x2} ${y2}`;
        at = { x: out - between / 4, y: (y1 + y2) / 2 };
      }
      root.append(svg("path", { d, class: "edge", "marker-end": "url(#head)" }));
      root.append(svg("text", { x: at.x, y: at.y + 4, class: "way" }, clip(same.map((e) => label(e.when)).join(", "), 28)));
    });
    places.forEach((p, id) => {
      const node = nodes().find((n) => n.id === id);
      const bad = faults.has(id), kind = (bad ? "problem: " : "") + (id === anywhere ? "from any node" : (node.type || "of no type") + (id === plan.start ? ", the start" : ""));
      const g = svg("g", { class: "node" + (bad ? " bad" : "") + (id === chosen ? " chosen" : "") + (id === anywhere ? " any" : ""), transform: `translate(${p.x} ${p.y})` });
      g.append(svg("rect", { width: wide, height: high, rx: 8 }), svg("text", { x: 10, y: 22, class: "name" }, clip(id === anywhere ? "anywhere" : id, 22)), svg("text", { x: 10, y: 42, class: "kind" }, clip(kind + (node && node.prompt ? ": " + node.prompt : ""), 24)));
      if (text) {
        g.setAttribute("role", "button");
        g.setAttribute("tabindex", "0");
        g.dataset.node = id;
        g.addEventListener("click", () => choose(id));
        g.addEventListener("keydown", (e) => {
          if (e.key === "Enter" || e.key === " ") {
            e.preventDefault();
            choose(id);
          }
        });
        root.append(g);
      } else if (id === anywhere) root.append(g);
      else root.append(svg("a", { href: "#node-" + id }, g));
    });
    graph.append(root);
  };

  if (!text) {
    plan = parse(graph.dataset.plan);
    draw();
    return;
  }

  const parts = document.getElementById("parts"), details = document.getElementById("text"), form = document.getElementById("editor");
  const opened = text.value;
  let sending = false;
  const unsaved = () => "unsaved" in graph.dataset || text.value !== opened;
  const read = () => {
    try {
      plan = parse(text.value);
      return true;
    } catch {
      plan = undefined;
      return false;
    }
  };
  const changed = () => {
    text.value = JSON.stringify(plan, null, 2);
    draw();
  };
  // list is one of the plan's that can be added to.
  const list = (name) => (Array.isArray(plan[name]) ? plan[name] : (plan[name] = []));
  // field is written into the plan with each letter: what would only be written
  // once the field is left would move the button that it is left for.
  const field = (name, control, change) => {
    const says = make("span", { className: "bad" }); // what is wrong with it, which keeps the form from being sent
    says.setAttribute("role", "alert");
    control.addEventListener(control.tagName === "SELECT" ? "change" : "input", () => {
      change(control);
      says.textContent = control.validationMessage;
    });
    return make("label", {}, name + " ", control, says);
  };
  const select = (values, value) => {
    const s = make("select", {});
    if (!values.includes(value)) values = [value, ...values];
    values.forEach((v) => s.append(make("option", { value: v, selected: v === value, textContent: v })));
    return s;
  };
  const button = (name, act, kind = "") => {
    const b = make("button", { type: "button", className: kind, textContent: name });
    b.addEventListener("click", act);
    return b;
  };

  const wayOf = (edge, n) => {
    if (!edge.when || typeof edge.when !== "object") edge.when = { type: "always" };
    const row = make("div", { className: "row" });
    row.append(field("If", select(Object.keys(ways), edge.when.type), (c) => {
      edge.when = { type: c.value };
      changed();
      show();
    }));
    const value = ways[edge.when.type];
    if (value) {
      row.append(field(value, make("input", { value: edge.when[value] || "" }), (c) => {
        edge.when[value] = c.value;
        changed();
      }));
    }
    if (edge.when.type === "intent") {
      row.append(field("words, with commas between", make("input", { value: (Array.isArray(edge.when.words) ? edge.when.words : []).join(", ") }), (c) => {
        edge.when.words = c.value.split(",").map((w) => w.trim()).filter(Boolean);
        if (!edge.when.words.length) delete edge.when.words;
        changed();
      }));
    }
    row.append(field("go to", select(nodes().map((x) => x.id), edge.to), (c) => {
      edge.to = c.value;
      changed();
    }));
    row.append(button("Remove way " + n, () => {
      list("edges").splice(plan.edges.indexOf(edge), 1);
      changed();
      show();
    }, "danger"));
    return row;
  };

  // show is the form of the chosen node.
  const show = () => {
    const node = plan && nodes().find((n) => n.id === chosen);
    parts.replaceChildren();
    if (!plan) return;
    const bar = make("div", { className: "buttons" });
    bar.append(button("Add a node", () => {
      let n = nodes().length + 1;
      while (nodes().some((x) => x.id === "node" + n)) n++;
      list("nodes").push({ id: "node" + n, type: "say", prompt: "" });
      chosen = "node" + n;
      changed();
      show();
    }));
    parts.append(bar);
    if (!node && chosen !== anywhere) return;
    const legend = make("legend", { textContent: node ? "Node " + node.id : "From any node" });
    const box = make("fieldset", { className: "sheet" }, legend);
    const remove = node && button("Remove the node " + node.id, () => {
      list("nodes").splice(plan.nodes.indexOf(node), 1);
      plan.edges = list("edges").filter((e) => !e || (e.from !== node.id && e.to !== node.id));
      chosen = undefined;
      changed();
      show();
    }, "danger");
    (faults.get(chosen) || []).forEach((f) => box.append(make("p", { className: "note bad", textContent: f })));
    if (node) {
      box.append(field("Name", make("input", { value: node.id, id: "node-name" }), (c) => {
        const name = c.value.trim();
        // One that there is already would hide another.
        c.setCustomValidity(!name ? "A node needs a name." : name === anywhere || nodes().some((x) => x !== node && x.id === name) ? "Another node has this name." : "");
        if (!c.checkValidity()) return;
        edges().forEach((e) => {
          if (e.from === node.id) e.from = name;
          if (e.to === node.id) e.to = name;
        });
        if (plan.start === node.id) plan.start = name;
        if (faults.has(node.id)) faults.set(name, faults.get(node.id));
        if (name !== node.id) faults.delete(node.id);
        chosen = node.id = name;
        legend.textContent = "Node " + name;
        remove.textContent = "Remove the node " + name;
        changed();
      }));
      box.append(field("What it does", select(types, node.type), (c) => {
        node.type = c.value;
        changed();
        show();
      }));
      const own = fields[node.type] || ["prompt"];
      own.forEach((f) => box.append(field(f.replaceAll("_", " "), make(f === "prompt" || f === "body" ? "textarea" : "input", { value: node[f] || "", id: "node-" + f }), (c) => {
        if (c.value) node[f] = c.value;
        else delete node[f];
        changed();
      })));
      const rest = Object.fromEntries(Object.entries(node).filter(([k]) => k !== "id" && k !== "type" && !own.includes(k)));
      let held = Object.keys(rest); // what the field has put into the node, and takes back
      box.append(field("Everything else, as JSON", make("textarea", { id: "node-rest", value: JSON.stringify(rest, null, 2), rows: 4, className: "code" }), (c) => {
        let more;
        try {
          more = parse(c.value.trim() || "{}");
        } catch (e) {
          c.setCustomValidity("This is no JSON object: " + e.message);
          return;
        }
        const twice = Object.keys(more).find((k) => k === "id" || k === "type" || own.includes(k));
        c.setCustomValidity(twice ? twice + " has a field of its own." : "");
        if (twice) return;
        held.forEach((k) => delete node[k]);
        held = Object.keys(more);
        Object.assign(node, more);
        changed();
      }));
    }
    box.append(make("h2", { textContent: "Ways on" }));
    edges().filter((e) => e.from === chosen).forEach((e, i) => box.append(wayOf(e, i + 1)));
    box.append(button("Add a way", () => {
      const first = nodes()[0];
      list("edges").push({ from: chosen, to: first ? first.id : "", when: { type: "always" } });
      changed();
      show();
    }));
    if (node) {
      box.append(make("div", { className: "buttons" }, button("Begin here", () => {
        plan.start = node.id;
        changed();
      }), remove));
    }
    parts.append(box);
  };

  const choose = (id) => {
    chosen = id;
    draw();
    show();
    const first = parts.querySelector("fieldset input, fieldset select, fieldset button");
    if (first) first.focus();
  };

  const blame = () => {
    document.querySelectorAll("#found [data-param]").forEach((li) => {
      const [, kind, n] = /^(nodes|edges)\[(\d+)\]/.exec(li.dataset.param) || [];
      const one = kind && Array.isArray(plan[kind]) && plan[kind][Number(n)];
      const id = one && (kind === "nodes" ? one.id : one.from);
      if (id && li.dataset.kind === "wrong") faults.set(id, [...(faults.get(id) || []), li.textContent]);
    });
  };

  parts.addEventListener("keydown", (e) => {
    if (e.key === "Enter" && e.target.tagName === "INPUT") e.preventDefault(); // or the form would be sent
  });
  form.addEventListener("submit", (e) => {
    if (sending) e.preventDefault(); // the second click of two
    else setTimeout(() => (sending = false), 5000); // who stops it may send it again
    sending = true;
  });
  addEventListener("pageshow", () => (sending = false)); // who comes back may send it again
  addEventListener("beforeunload", (e) => {
    if (unsaved() && !sending) e.preventDefault();
  });
  text.addEventListener("input", () => {
    read();
    draw();
    show();
  });
  if (read()) {
    blame();
    details.open = false;
    chosen = [...faults.keys()][0];
  }
  draw();
  show();
})();
