"use strict";
// Draws a pathway, and lets its nodes be edited where the page has its text.
// Without it the text itself is edited.
(() => {
  const graph = document.getElementById("graph");
  if (!graph) return;
  const text = graph.dataset.edit && document.getElementById(graph.dataset.edit);
  const anywhere = "*", wide = 190, high = 58, between = 36, below = 70;
  const types = ["say", "collect", "converse", "dtmf", "condition", "tool", "appointment", "sms", "transfer", "agent", "end"];
  const fields = {
    say: ["prompt"], collect: ["prompt", "retry_prompt", "save_as"], converse: ["prompt"], dtmf: ["digits"], condition: [], tool: ["tool_id", "save_as"],
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
  const clip = (s, most) => (s.length > most ? s.slice(0, most - 1) + "…" : s);
  const label = (when = {}) => {
    const value = when[ways[when.type]];
    return (when.type === "dtmf" ? "key " : "") + (value || (when.type || "").replaceAll("_", " "));
  };

  // layers puts each node one below the first that leads to it.
  const layers = () => {
    const ids = plan.nodes.map((n) => n.id), at = new Map();
    const starts = plan.edges.some((e) => e.from === anywhere) ? [plan.start, anywhere] : [plan.start];
    const walk = (from) => {
      for (let queue = from.filter((id) => !at.has(id)), depth = 0; queue.length; depth++) {
        queue.forEach((id) => at.set(id, depth));
        queue = [...new Set(queue.flatMap((id) => plan.edges.filter((e) => e.from === id).map((e) => e.to)))].filter((id) => ids.includes(id) && !at.has(id));
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
    plan.edges.forEach((e) => {
      if (places.has(e.from) && places.has(e.to)) pairs.set(e.from + "\n" + e.to, [...(pairs.get(e.from + "\n" + e.to) || []), e]);
    });
    pairs.forEach((edges) => {
      const a = places.get(edges[0].from), b = places.get(edges[0].to);
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
      root.append(svg("text", { x: at.x, y: at.y + 4, class: "way" }, clip(edges.map((e) => label(e.when)).join(", "), 28)));
    });
    places.forEach((p, id) => {
      const node = plan.nodes.find((n) => n.id === id);
      const bad = faults.has(id), kind = (bad ? "problem: " : "") + (id === anywhere ? "from any node" : node.type + (id === plan.start ? ", the start" : ""));
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
    plan = JSON.parse(graph.dataset.plan);
    plan.nodes ||= [];
    plan.edges ||= [];
    draw();
    return;
  }

  const parts = document.getElementById("parts"), details = document.getElementById("text");
  const read = () => {
    try {
      plan = JSON.parse(text.value);
      plan.nodes = Array.isArray(plan.nodes) ? plan.nodes : [];
      plan.edges = Array.isArray(plan.edges) ? plan.edges : [];
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
  const field = (name, control, change) => {
    control.addEventListener("change", () => change(control));
    return make("label", {}, name + " ", control);
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
    edge.when ||= { type: "always" };
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
      row.append(field("words, with commas between", make("input", { value: (edge.when.words || []).join(", ") }), (c) => {
        edge.when.words = c.value.split(",").map((w) => w.trim()).filter(Boolean);
        if (!edge.when.words.length) delete edge.when.words;
        changed();
      }));
    }
    row.append(field("go to", select(plan.nodes.map((x) => x.id), edge.to), (c) => {
      edge.to = c.value;
      changed();
    }));
    row.append(button("Remove way " + n, () => {
      plan.edges.splice(plan.edges.indexOf(edge), 1);
      changed();
      show();
    }, "danger"));
    return row;
  };

  // show is the form of the chosen node.
  const show = () => {
    const node = plan && plan.nodes.find((n) => n.id === chosen);
    parts.replaceChildren();
    if (!plan) return;
    const bar = make("div", { className: "buttons" });
    bar.append(button("Add a node", () => {
      let n = plan.nodes.length + 1;
      while (plan.nodes.some((x) => x.id === "node" + n)) n++;
      plan.nodes.push({ id: "node" + n, type: "say", prompt: "" });
      chosen = "node" + n;
      changed();
      show();
    }));
    parts.append(bar);
    if (!node && chosen !== anywhere) return;
    const box = make("fieldset", { className: "sheet" }, make("legend", { textContent: node ? "Node " + node.id : "From any node" }));
    (faults.get(chosen) || []).forEach((f) => box.append(make("p", { className: "note bad", textContent: f })));
    if (node) {
      box.append(field("Name", make("input", { value: node.id, id: "node-name" }), (c) => {
        const name = c.value.trim();
        if (!name || plan.nodes.some((x) => x !== node && x.id === name)) {
          c.value = node.id; // one that there is already would hide another
          return;
        }
        plan.edges.forEach((e) => {
          if (e.from === node.id) e.from = name;
          if (e.to === node.id) e.to = name;
        });
        if (plan.start === node.id) plan.start = name;
        chosen = node.id = name;
        changed();
        show();
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
      box.append(field("Everything else, as JSON", make("textarea", { value: JSON.stringify(rest, null, 2), rows: 4, className: "code" }), (c) => {
        try {
          const more = JSON.parse(c.value || "{}");
          c.setCustomValidity("");
          Object.keys(rest).forEach((k) => delete node[k]);
          Object.assign(node, more, { id: node.id, type: node.type });
          changed();
        } catch (e) {
          c.setCustomValidity("This is no JSON: " + e.message);
          c.reportValidity();
        }
      }));
    }
    box.append(make("h2", { textContent: "Ways on" }));
    plan.edges.filter((e) => e.from === chosen).forEach((e, i) => box.append(wayOf(e, i + 1)));
    box.append(button("Add a way", () => {
      plan.edges.push({ from: chosen, to: plan.nodes[0].id, when: { type: "always" } });
      changed();
      show();
    }));
    if (node) {
      box.append(make("div", { className: "buttons" }, button("Begin here", () => {
        plan.start = node.id;
        changed();
      }), button("Remove the node " + node.id, () => {
        plan.nodes.splice(plan.nodes.indexOf(node), 1);
        plan.edges = plan.edges.filter((e) => e.from !== node.id && e.to !== node.id);
        chosen = undefined;
        changed();
        show();
      }, "danger")));
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
      const one = kind && plan[kind][Number(n)];
      const id = one && (kind === "nodes" ? one.id : one.from);
      if (id && li.dataset.kind === "wrong") faults.set(id, [...(faults.get(id) || []), li.textContent]);
    });
  };

  parts.addEventListener("keydown", (e) => {
    if (e.key === "Enter" && e.target.tagName === "INPUT") e.preventDefault(); // or the form would be sent
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
