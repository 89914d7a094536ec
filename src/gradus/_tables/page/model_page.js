(() => {
  const model = JSON.parse(document.getElementById("model").textContent);
  const SVG = "http://www.w3.org/2000/svg";
  const nInputs = model.inputs.length;
  const element = (id) => document.getElementById(id);

  function html(tag, attributes, ...children) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {})) made.setAttribute(name, value);
    made.append(...children);
    return made;
  }

  // ---- a row of the table, and the circuit's values for it ----

  const row = model.columns.map((column) => column.start);

  function columnBits(column, text) {
    let value = String(text).trim();
    let missing = value === "";
    if (missing && column.fill !== null) [value, missing] = [column.fill, false];
    const number = column.type === "date" ? Date.parse(value) / 864e5 : Number(value);
    if (column.type !== "category" && Number.isNaN(number)) missing = true;
    const named = column.tests.some((test) => test.is && test.is.length === 1 && test.is[0] === value);
    return column.tests.map((test) => {
      if (test.missing) return missing;
      if (missing) return false;
      if (test.others) return !named;
      if (test.is) return test.is.includes(value);
      return number > test.above;
    });
  }

  function evaluate(cells) {
    const values = new Array(nInputs + model.gates.length).fill(false);
    model.columns.forEach((column, j) => {
      columnBits(column, cells[j]).forEach((bit, k) => { values[column.nodes[k]] = bit; });
    });
    model.gates.forEach(([table, a, b], gate) => {
      values[nInputs + gate] = Boolean((table >> (2 * values[a] + Number(values[b]))) & 1);
    });
    return values;
  }

  // The class of a row, and its probability by what the outputs were of the rows that were learned from.
  function classAndShare(target, values) {
    const bits = target.outputs.map((output) => Number(values[model.outputs[output].node]));
    if (target.answers) {
      const code = bits.reduce((sum, bit, place) => sum + bit * 2 ** place, 0);
      return [target.answers[code], target.shares[code]];
    }
    const logs = target.scores.map(([first, ...others]) => others.reduce((sum, score, place) => sum + score * bits[place], first));
    const most = Math.max(...logs);
    const total = logs.reduce((sum, log) => sum + Math.exp(log - most), 0);
    return [logs.indexOf(most), 1 / total];
  }

  const classOf = (target, values) => classAndShare(target, values)[0];

  // One value for each way in which a column can act on the circuit.
  function choices(column) {
    if (column.type === "category") return [...column.options, ...(column.others ? [column.others] : [])];
    if (column.type === "bit") return ["0", "1"];
    const cuts = column.tests.filter((test) => "above" in test).map((test) => test.above);
    const shown = (x) => column.type === "date" ? new Date(x * 864e5).toISOString().slice(0, 10) : String(Number(x.toPrecision(6)));
    const between = cuts.map((cut, k) => k + 1 < cuts.length ? (cut + cuts[k + 1]) / 2 : cut + 1);
    return [cuts.length ? cuts[0] : 0, ...between].map(shown);
  }

  // ---- the form ----

  function field(column, j) {
    const id = `field-${j}`;
    let input;
    if (column.type === "category" || column.type === "bit") {
      input = html("select", { id });
      for (const option of choices(column)) input.append(html("option", { value: option }, option === column.others ? "another" : option));
      for (const value of column.seen) input.append(html("option", { value }, value));
      if (column.missing) input.append(html("option", { value: "" }, "(missing)"));
    } else {
      input = html("input", { id, type: column.type === "date" ? "date" : "text", inputmode: "decimal", placeholder: "(missing)" });
    }
    input.value = row[j];
    input.addEventListener("input", () => { row[j] = input.value; update(); });
    return html("div", {}, html("label", { for: id, title: column.name }, column.name), input);
  }

  function setCell(j, value) {
    row[j] = value;
    element(`field-${j}`).value = value;
    update();
  }

  // Change the row so that one input of the circuit becomes its opposite.
  function toggle(node) {
    const { column: j, place } = model.inputs[node];
    const column = model.columns[j];
    const now = columnBits(column, row[j])[place];
    const options = [...choices(column), ...(column.missing ? [""] : [])];
    const flips = options.filter((value) => columnBits(column, value)[place] !== now);
    // Nearest in the list, so that as few other inputs as possible change with it.
    const here = options.findIndex((value) => String(columnBits(column, value)) === String(columnBits(column, row[j])));
    flips.sort((a, b) => Math.abs(options.indexOf(a) - here) - Math.abs(options.indexOf(b) - here));
    if (flips.length) setCell(j, flips[0]);
  }

  // ---- what the page says about the row ----

  // For each target, the columns that would change its answer, with the values that would; of numbers and dates the nearest.
  function whatWouldChange(values) {
    const said = model.targets.map(() => []);
    model.columns.forEach((column, j) => {
      const options = choices(column), here = String(columnBits(column, row[j]));
      const at = options.findIndex((value) => String(columnBits(column, value)) === here);
      const changing = model.targets.map(() => []);
      options.forEach((value, place) => {
        if (String(columnBits(column, value)) === here) return;
        const changed = evaluate(row.map((cell, k) => k === j ? value : cell));
        model.targets.forEach((target, t) => {
          if (classOf(target, changed) !== classOf(target, values)) changing[t].push({ place, text: value === column.others ? "another" : value });
        });
      });
      const ordered = column.type !== "category" && column.type !== "bit";
      const nearest = (some) => [...some.filter((choice) => choice.place < at).slice(-1), ...some.filter((choice) => choice.place > at).slice(0, 1)];
      changing.forEach((all, t) => {
        const some = (ordered ? nearest(all) : all).map((choice) => choice.text);
        if (some.length) said[t].push(`${column.name} were ${some.join(" or ")}`);
      });
    });
    return said;
  }

  function showAnswer(values) {
    element("answer").replaceChildren(...model.targets.map((target) => {
      const [code, share] = classAndShare(target, values);
      const said = `, ${(100 * share).toFixed(share > 0.995 ? 1 : 0)} % likely by the rows learned from`;
      return html("div", {}, `${target.name}: `, html("b", {}, target.classes[code]), html("span", { class: "quiet" }, said));
    }));
    const changes = whatWouldChange(values);
    const sentence = (some, t) => html("li", {}, some.length
      ? `${model.targets[t].name} would change if ${some.join(", or if ")}.`
      : `${model.targets[t].name} would stay the same whichever single column changed.`);
    const unclear = model.targets.filter((target) => target.outputs.length === target.classes.length && target.classes.length > 1
      && target.outputs.filter((output) => values[model.outputs[output].node]).length !== 1);
    const note = (target) => html("li", {}, `Not exactly one rule of ${target.name} holds: the answer is the class that such rows most likely have.`);
    element("why").replaceChildren(...unclear.map(note), ...changes.map(sentence));
    for (const step of document.querySelectorAll(".rules [data-node]")) step.classList.toggle("true", values[step.dataset.node]);
    for (const condition of document.querySelectorAll(".rules [data-nodes]")) {
      const pattern = condition.dataset.nodes.split(" ").reduce((sum, node, i) => sum + (values[node] ? 2 ** i : 0), 0);
      condition.classList.toggle("true", condition.dataset.patterns.split(" ").includes(String(pattern)));
    }
    for (const product of document.querySelectorAll(".rules .or")) {
      const parts = [...product.querySelectorAll(".c")];
      const flat = !product.classList.contains("nested");
      product.classList.toggle("true", flat && parts.length > 0 && parts.every((part) => part.classList.contains("true")));
    }
  }

  // ---- the drawing: which items there are ----

  const view = { target: "", open: new Set(), values: [] };
  const targetsOf = Array.from({ length: nInputs + model.gates.length }, () => new Set());
  model.outputs.forEach((output) => {
    const stack = [output.node];
    while (stack.length) {
      const node = stack.pop();
      if (targetsOf[node].has(output.target)) continue;
      targetsOf[node].add(output.target);
      if (node >= nInputs) stack.push(...model.reads[node - nInputs]);
    }
  });

  function shownOutputs() {
    return model.outputs.filter((output) => view.target === "" || output.target === Number(view.target));
  }

  // Items are inputs, gates, folded blocks of gates, and outputs; edges join them.
  function items() {
    const outputs = shownOutputs();
    const wanted = new Set();
    const stack = outputs.map((output) => output.node);
    while (stack.length) {
      const node = stack.pop();
      if (wanted.has(node)) continue;
      wanted.add(node);
      if (node >= nInputs) stack.push(...model.reads[node - nInputs]);
    }
    const nGates = [...wanted].filter((node) => node >= nInputs).length;
    const sizes = new Map();
    for (const node of wanted) {
      if (node < nInputs) continue;
      const block = model.blocks[node - nInputs];
      sizes.set(block, (sizes.get(block) || 0) + 1);
    }
    const folded = (node) => {
      if (node < nInputs || nGates <= model.mostGates) return false;
      const block = model.blocks[node - nInputs];
      return sizes.get(block) > 1 && !view.open.has(block);
    };
    const keyOf = (node) => node < nInputs ? `i${node}` : folded(node) ? `b${model.blocks[node - nInputs]}` : `g${node}`;
    const byKey = new Map();
    for (const node of [...wanted].sort((a, b) => a - b)) {
      const key = keyOf(node);
      if (!byKey.has(key)) {
        const kind = node < nInputs ? "input" : folded(node) ? "block" : "gate";
        byKey.set(key, { key, kind, nodes: [], sources: [], layer: 0 });
      }
      const item = byKey.get(key);
      item.nodes.push(node);
      if (node >= nInputs) item.sources.push(...model.reads[node - nInputs].filter((source) => keyOf(source) !== key));
    }
    outputs.forEach((output) => {
      byKey.set(`o${output.place}`, { key: `o${output.place}`, kind: "output", nodes: [output.node], sources: [output.node], layer: 0, output });
    });
    for (const item of byKey.values()) {
      if (item.kind === "block") item.sources = [...new Set(item.sources)];
      item.from = item.sources.map((source) => byKey.get(keyOf(source)));
    }
    return { list: [...byKey.values()], nGates };
  }

  // ---- layout: layers from left to right, then an order in each layer, then heights ----

  const GAP = 16, LAYER = 80;
  const height = (item) => ({ input: 20, gate: 30, block: 34, output: 24 }[item.kind] || 4);

  function layersOf(list) {
    const depth = (item) => {
      if (item.depth === undefined) item.depth = item.from.length ? 1 + Math.max(...item.from.map(depth)) : item.kind === "input" ? 0 : 1;
      return item.depth;
    };
    list.forEach(depth);
    const last = Math.max(1, ...list.filter((item) => item.kind !== "output").map((item) => item.depth)) + 1;
    const layers = Array.from({ length: last + 1 }, () => []);
    for (const item of list) {
      item.layer = item.kind === "output" ? last : item.depth;
      item.up = [];
      item.down = [];
      layers[item.layer].push(item);
    }
    const edges = [];
    const bends = new Map();
    for (const item of list) {
      item.from.forEach((source, pin) => {
        const path = [source];
        for (let layer = source.layer + 1; layer < item.layer; layer += 1) {
          const key = `${source.key}@${layer}`; // wires of one source run together
          if (!bends.has(key)) {
            const bend = { key, kind: "bend", layer, up: [], down: [] };
            bends.set(key, bend);
            layers[layer].push(bend);
          }
          path.push(bends.get(key));
        }
        path.push(item);
        for (let k = 1; k < path.length; k += 1) {
          if (!path[k].up.includes(path[k - 1])) path[k].up.push(path[k - 1]);
          if (!path[k - 1].down.includes(path[k])) path[k - 1].down.push(path[k]);
        }
        edges.push({ source, item, pin, node: item.sources[pin], path });
      });
    }
    return { layers, edges };
  }

  const mean = (numbers, otherwise) => numbers.length ? numbers.reduce((a, b) => a + b, 0) / numbers.length : otherwise;

  function sortLayer(layer, key) {
    const wish = new Map(layer.map((item, place) => [item, key(item, place)]));
    // Bits of a column and outputs of a target stay together, in their own order.
    const groups = new Map();
    for (const item of layer) {
      const name = item.kind === "input" ? `c${model.inputs[item.nodes[0]].column}` : item.kind === "output" ? `t${item.output.target}` : item.key;
      if (!groups.has(name)) groups.set(name, []);
      groups.get(name).push(item);
    }
    const sorted = [...groups.values()];
    for (const group of sorted) group.sort((a, b) => a.nodes && a.kind === "input" ? a.nodes[0] - b.nodes[0] : a.kind === "output" ? a.output.place - b.output.place : 0);
    sorted.sort((a, b) => mean(a.map((item) => wish.get(item))) - mean(b.map((item) => wish.get(item))));
    layer.splice(0, layer.length, ...sorted.flat());
    layer.forEach((item, place) => { item.place = place; });
  }

  function order(layers) {
    layers.forEach((layer) => layer.forEach((item, place) => { item.place = place; }));
    for (let sweep = 0; sweep < 12; sweep += 1) {
      if (sweep % 2 === 0) layers.slice(1).forEach((layer) => sortLayer(layer, (item, place) => mean(item.up.map((other) => other.place), place)));
      else layers.slice(0, -1).reverse().forEach((layer) => sortLayer(layer, (item, place) => mean(item.down.map((other) => other.place), place)));
    }
    sortLayer(layers[0], (item) => item.place);
  }

  const sameGroup = (a, b) => a.kind === b.kind && (a.kind === "input" ? model.inputs[a.nodes[0]].column === model.inputs[b.nodes[0]].column : a.kind === "output" && a.output.target === b.output.target);
  // Room for the frame and the title of a group.
  const titled = (item) => (item.kind === "input" && model.columns[model.inputs[item.nodes[0]].column].type !== "bit") || (item.kind === "output" && model.targets[item.output.target].outputs.length > 1);
  const distance = (a, b) => (height(a) + height(b)) / 2 + (sameGroup(a, b) ? 4 : GAP * (a.kind === "bend" || b.kind === "bend" ? 0.5 : 1) + (titled(b) ? 22 : 0) + (titled(a) ? 6 : 0));

  // Bits of a column move as one, so that their frame has no holes.
  function keepTogether(layer, wish) {
    for (let k = 0, end; k < layer.length; k = end) {
      const places = [0];
      for (end = k + 1; end < layer.length && sameGroup(layer[end - 1], layer[end]); end += 1) {
        places.push(places[places.length - 1] + distance(layer[end - 1], layer[end]));
      }
      const top = mean(wish.slice(k, end)) - mean(places);
      places.forEach((place, i) => { wish[k + i] = top + place; });
    }
  }

  function heights(layers) {
    for (const layer of layers) {
      let y = 0;
      layer.forEach((item, k) => { y += k ? distance(layer[k - 1], item) : 0; item.y = y; });
      layer.forEach((item) => { item.y -= y / 2; });
    }
    for (let sweep = 0; sweep < 10; sweep += 1) {
      for (const layer of sweep % 2 ? layers : [...layers].reverse()) {
        const wish = layer.map((item) => mean([...item.up, ...item.down].map((other) => other.y), item.y));
        keepTogether(layer, wish);
        const lower = [], upper = [];
        layer.forEach((item, k) => { lower[k] = k ? Math.max(wish[k], lower[k - 1] + distance(layer[k - 1], item)) : wish[k]; });
        for (let k = layer.length - 1; k >= 0; k -= 1) upper[k] = k + 1 < layer.length ? Math.min(wish[k], upper[k + 1] - distance(layer[k], layer[k + 1])) : wish[k];
        layer.forEach((item, k) => { item.y = (lower[k] + upper[k]) / 2; });
      }
    }
  }

  // ---- drawing ----

  function svg(tag, attributes, ...children) {
    const made = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes || {})) made.setAttribute(name, value);
    made.append(...children);
    return made;
  }

  const SHAPES = {
    and: "M-14,-13 H0 A13,13 0 0 1 0,13 H-14 Z",
    or: "M-14,-13 C-2,-13 7,-10 14,0 C7,10 -2,13 -14,13 C-8,5 -8,-5 -14,-13 Z",
    xor: "M-14,-13 C-2,-13 7,-10 14,0 C7,10 -2,13 -14,13 C-8,5 -8,-5 -14,-13 Z M-18,-13 C-12,-5 -12,5 -18,13",
    buffer: "M-9,-10 L9,0 L-9,10 Z",
    constant: "M-9,-9 H9 V9 H-9 Z",
  };

  function gateSymbol(item, pins) {
    const symbol = model.symbols[item.nodes[0] - nInputs];
    const end = symbol.kind === "buffer" || symbol.kind === "constant" ? 9 : symbol.kind === "and" ? 13 : 14;
    const parts = [svg("path", { class: "pin out", d: `M${end},0 H22` })];
    symbol.pins.forEach((inverted, pin) => {
      const y = symbol.pins.length === 1 ? 0 : pins[pin] ? 7 : -7;
      const left = symbol.kind === "or" ? -11 : symbol.kind === "xor" ? -15 : symbol.kind === "buffer" ? -9 : -14;
      parts.push(svg("path", { class: "pin", d: `M-22,${y} H${left}` }));
      if (inverted) parts.push(svg("circle", { class: "dot", cx: left - 2.5, cy: y, r: 2.5 }));
    });
    parts.push(svg("path", { class: "shape", d: SHAPES[symbol.kind] }));
    if (symbol.inverted && symbol.kind !== "constant") parts.push(svg("circle", { class: "dot", cx: end + 2.5, cy: 0, r: 2.5 }));
    if (symbol.kind === "constant") parts.push(svg("text", { x: -3.5, y: 4 }, symbol.inverted ? "1" : "0"));
    return parts;
  }

  function textBox(text, width, tall, anchor) {
    const most = Math.floor((width - 10) / 6.8);
    const shown = text.length > most ? `${text.slice(0, most - 1)}…` : text;
    return [
      svg("rect", { class: "shape", x: anchor === "end" ? -width : 0, y: -tall / 2, width, height: tall, rx: 4 }),
      svg("text", { x: (anchor === "end" ? -width : 0) + 6, y: 4 }, shown, svg("title", {}, text)),
    ];
  }

  function draw() {
    const { list, nGates } = items();
    const { layers, edges } = layersOf(list);
    order(layers);
    heights(layers);
    const inputs = list.filter((item) => item.kind === "input");
    const outputs = list.filter((item) => item.kind === "output");
    const longest = (some, label) => Math.min(200, Math.max(48, ...some.map((item) => 14 + 7.2 * label(item).length)));
    const inputLabel = (item) => model.inputs[item.nodes[0]].label;
    const groupName = (item) => item.kind === "input" ? model.columns[model.inputs[item.nodes[0]].column].name : model.targets[item.output.target].name;
    const left = Math.max(longest(inputs, inputLabel), longest(inputs.filter(titled), groupName));
    const right = Math.max(longest(outputs, (item) => item.output.label), longest(outputs.filter(titled), groupName));
    const crowd = (k) => Math.min(60, 2.2 * edges.filter((edge) => edge.source.layer < k && edge.item.layer >= k).length);
    const xs = [left + 14];
    for (let k = 1; k < layers.length; k += 1) xs.push(xs[k - 1] + (k === 1 ? 60 : LAYER) + crowd(k) - (k === layers.length - 1 ? 24 : 0));
    const all = layers.flat();
    const top = Math.min(...all.map((item) => item.y - height(item) / 2 - (titled(item) ? 26 : 0))) - 12;
    const bottom = Math.max(...all.map((item) => item.y + height(item) / 2)) + 14;
    const width = xs[xs.length - 1] + right + 16;
    const picture = svg("svg", { width, height: bottom - top, viewBox: `0 ${top} ${width} ${bottom - top}`, role: "group", "aria-label": "the circuit" });
    for (const layer of [layers[0], layers[layers.length - 1]]) {
      layer.forEach((item, k) => {
        if (!titled(item) || (k && sameGroup(layer[k - 1], item))) return;
        const last = layer.filter((other) => sameGroup(other, item)).pop();
        const x = item.kind === "input" ? 8 : xs[xs.length - 1] - 4;
        const wide = item.kind === "input" ? left + 8 : right + 12;
        const name = groupName(item);
        picture.append(
          svg("rect", { class: "group", x, y: item.y - height(item) / 2 - 22, width: wide, height: last.y - item.y + height(item) + 26, rx: 5 }),
          svg("text", { class: "title", x: x + 6, y: item.y - height(item) / 2 - 8 }, name.length > wide / 6.8 ? `${name.slice(0, Math.floor(wide / 6.8) - 1)}…` : name),
        );
      });
    }
    const swap = new Map();
    for (const item of list) {
      if (item.kind === "gate" && item.from.length === 2) {
        const y = (pin) => edges.find((edge) => edge.item === item && edge.pin === pin).path.slice(-2)[0].y;
        swap.set(item, y(0) > y(1) ? [1, 0] : [0, 1]);
      }
    }
    const start = (item) => ({ x: item.kind === "input" ? xs[0] : item.kind === "block" ? xs[item.layer] + 30 : xs[item.layer] + 22, y: item.y });
    const finish = (edge) => {
      const { item } = edge;
      if (item.kind === "output") return { x: xs[item.layer], y: item.y };
      if (item.kind === "block") return { x: xs[item.layer] - 30, y: item.y - 12 + 24 * (edge.pin + 0.5) / item.from.length };
      return { x: xs[item.layer] - 22, y: item.y + (item.from.length === 1 ? 0 : swap.get(item)[edge.pin] ? 7 : -7) };
    };
    for (const edge of edges) {
      let at = start(edge.source);
      let d = `M${at.x},${at.y}`;
      const stops = [...edge.path.slice(1, -1).map((bend) => ({ x: xs[bend.layer], y: bend.y })), finish(edge)];
      for (const to of stops) {
        const bend = Math.min(46, Math.abs(to.x - at.x) / 2);
        d += ` C${at.x + bend},${at.y} ${to.x - bend},${to.y} ${to.x},${to.y}`;
        at = to;
      }
      edge.drawn = svg("path", { class: "wire", d, "data-node": edge.node, style: `--l:${edge.source.layer + 0.5}` });
      picture.append(edge.drawn);
    }
    for (const item of list) {
      const parts = item.kind === "gate" ? gateSymbol(item, swap.get(item) || [0])
        : item.kind === "input" ? textBox(inputLabel(item), left, 20, "end")
        : item.kind === "output" ? textBox(item.output.label, right, 24, "start")
        : [svg("rect", { class: "shape", x: -30, y: -17, width: 60, height: 34, rx: 6 }), svg("text", { x: -25, y: 4 }, `${item.nodes.length} gates`)];
      item.drawn = svg("g", { class: `item ${item.kind}`, tabindex: 0, transform: `translate(${xs[item.layer]},${item.y})`, style: `--l:${item.layer}`, "data-key": item.key }, ...parts);
      if (item.kind === "input") item.drawn.setAttribute("role", "switch");
      const act = () => {
        if (item.kind === "input") toggle(item.nodes[0]);
        else if (item.kind === "block") { view.open.add(model.blocks[item.nodes[0] - nInputs]); show(); }
        else point(item, list, edges);
      };
      item.drawn.addEventListener("click", act);
      item.drawn.addEventListener("keydown", (event) => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); act(); } });
      item.drawn.addEventListener("pointerenter", () => point(item, list, edges));
      item.drawn.addEventListener("pointerleave", () => point(null, list, edges));
      item.drawn.addEventListener("focus", () => point(item, list, edges));
      picture.append(item.drawn);
    }
    view.list = list;
    element("drawing").replaceChildren(picture);
    view.picture = picture;
    scale();
    element("folded").hidden = nGates <= model.mostGates;
    element("fold").hidden = view.open.size === 0;
    light();
  }

  // Wide drawings shrink to the width of the page while they can still be read, and else are scrolled.
  function scale() {
    const natural = view.picture.viewBox.baseVal.width;
    const room = element("drawing").clientWidth;
    const fits = room >= natural;
    const shrink = view.fit === undefined ? room >= 0.62 * natural : view.fit;
    view.picture.setAttribute("width", fits || !shrink ? natural : room);
    view.picture.setAttribute("height", (fits || !shrink ? 1 : room / natural) * view.picture.viewBox.baseVal.height);
    element("fit").hidden = fits;
    element("fit").textContent = shrink ? "full size" : "whole circuit";
    element("fit").onclick = () => { view.fit = !shrink; scale(); };
  }

  // Show what an item depends on, and say which targets use it.
  function point(item, list, edges) {
    const cone = new Set(), ahead = new Set();
    const walk = (from, next, seen) => { if (!seen.has(from)) { seen.add(from); next(from).forEach((other) => walk(other, next, seen)); } };
    if (item) {
      walk(item, (reader) => reader.from, cone);
      const readers = (read) => list.filter((reader) => reader.from.includes(read));
      walk(item, readers, ahead);
    }
    for (const shown of list) {
      shown.drawn.classList.toggle("dim", Boolean(item) && !cone.has(shown) && !ahead.has(shown));
      shown.drawn.classList.toggle("reuse", Boolean(item) && shown.kind === "output" && ahead.has(shown));
    }
    for (const edge of edges) {
      const near = !item || (cone.has(edge.item) && cone.has(edge.source)) || (ahead.has(edge.item) && ahead.has(edge.source));
      edge.drawn.classList.toggle("dim", !near);
    }
    element("about").textContent = item ? describe(item, cone) : element("about").dataset.hint;
  }

  function describe(item, cone) {
    const names = (some) => some.length > 12 ? `${some.slice(0, 12).join(", ")} and ${some.length - 12} more` : some.join(", ");
    const uses = names([...new Set(item.nodes.flatMap((node) => [...targetsOf[node]]))].sort((a, b) => a - b).map((k) => model.targets[k].name));
    if (item.kind === "input") return `${model.inputs[item.nodes[0]].name}: ${view.values[item.nodes[0]] ? "true" : "false"} for this row; used by ${uses}. Click to change it.`;
    const below = names([...cone].filter((source) => source.kind === "input").map((source) => model.inputs[source.nodes[0]].name));
    if (item.kind === "block") return `${item.nodes.length} gates, folded; used by ${uses}; depends on ${below}. Click to unfold.`;
    const gates = [...cone].filter((source) => source.kind === "gate").length;
    const value = view.values[item.nodes[0]] ? "true" : "false";
    const cut = item.kind === "output" ? "" : model.formulas[item.nodes[0] - nInputs];
    const head = item.kind === "output" ? `${item.output.name}: ${value}` : `${model.symbols[item.nodes[0] - nInputs].name}: ${value}${cut ? ` (${cut})` : ""}`;
    return `${head}; ${item.kind === "output" ? "computed by" : `used by ${uses}; a cone of`} ${gates} ${gates === 1 ? "gate" : "gates"}${below ? ` over ${below}` : ""}.`;
  }

  // Wires and gates that are 1 light up, one layer after the other.
  function light() {
    const { values } = view;
    for (const wire of element("drawing").querySelectorAll(".wire")) wire.classList.toggle("on", values[wire.dataset.node]);
    for (const item of view.list) {
      const on = item.kind !== "block" && values[item.nodes[0]];
      item.drawn.classList.toggle("on", on);
      if (item.kind === "input") item.drawn.setAttribute("aria-checked", String(on));
      if (item.kind === "output") {
        const target = model.targets[item.output.target];
        item.drawn.classList.toggle("answer-class", target.outputs.length === target.classes.length && target.outputs.indexOf(item.output.place) === classOf(target, values));
      }
    }
  }

  function update() {
    view.values = evaluate(row);
    showAnswer(view.values);
    light();
  }

  function show() {
    view.values = evaluate(row);
    draw();
    showAnswer(view.values);
  }

  element("row").append(...model.columns.map(field));
  element("row").addEventListener("submit", (event) => event.preventDefault());
  const select = element("target");
  select.append(html("option", { value: "" }, "all targets"), ...model.targets.map((target, k) => html("option", { value: String(k) }, target.name)));
  select.hidden = model.targets.length < 2;
  select.addEventListener("change", () => { view.target = select.value; view.open.clear(); show(); });
  element("fold").addEventListener("click", () => { view.open.clear(); show(); });
  if (model.rows.length) {
    const random = element("random");
    random.hidden = false;
    let next = 0;
    random.addEventListener("click", () => {
      model.rows[next % model.rows.length].forEach((cell, j) => { row[j] = cell; element(`field-${j}`).value = cell; });
      next += 1;
      update();
    });
  }
  // Rows predicted wrongly, ten at a time.
  const odd = element("odd");
  if (odd) {
    const most = Number(odd.dataset.page), body = odd.querySelector("tbody");
    let first = 0;
    const turn = (by) => {
      first += by;
      const rows = [...body.rows];
      rows.forEach((shown, i) => { shown.hidden = i < first || i >= first + most; });
      element("odd-back").hidden = first === 0;
      element("odd-next").hidden = first + most >= rows.length;
      element("odd-place").textContent = rows.length > most ? `${first + 1} to ${Math.min(first + most, rows.length)} of ${rows.length}` : "";
    };
    element("odd-back").addEventListener("click", () => turn(-most));
    element("odd-next").addEventListener("click", () => turn(most));
    odd.querySelector("thead").addEventListener("click", () => turn(-first)); // after it was sorted
    turn(0);
  }
  show();
  window.addEventListener("resize", scale);
})();
