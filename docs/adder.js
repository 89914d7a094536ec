/* The learned adder on the front page: its gates are evaluated as they were learned, and its boxes are those of the drawing. */
"use strict";
{
  const place = document.getElementById("adder");
  const circuit = place && JSON.parse(place.dataset.circuit);
  const WORDS = { HA: "half adder", FA: "full adder", XOR: "sum" };
  const ROW = 46;
  const input = { x: 5, y: 3 };
  const bit = (name) => (input[name[0]] >> Number(name.slice(1))) & 1;

  const value = (node) => {
    if (node < circuit.names.length) return bit(circuit.names[node]);
    const [table, a, b] = circuit.gates[node];
    return (table >> (2 * value(a) + value(b))) & 1;
  };
  const signal = ([node, inverted]) => value(node) ^ inverted;
  const lit = (on) => (on ? ' class="on"' : "");

  const cell = (x, y, width, label, on, name) =>
    `<g class="${name ? "pin" : ""}${on ? " on" : ""}"${name ? ` data-name="${name}" role="button" tabindex="0" aria-pressed="${Boolean(on)}"` : ""}>` +
    `<rect x="${x}" y="${y}" width="${width}" height="26" rx="4"></rect><text x="${x + width / 2}" y="${y + 18}">${label}</text></g>`;

  const row = ([kind, pins, outs], k) => {
    const y = 6 + k * ROW;
    const named = pins.filter(([node]) => node < circuit.names.length);
    const paths = [`M32 ${y}V${y - 6}H150V${y + 6}H164`, `M113 ${y + 13}H164`];
    const wires = named.map((pin, i) => `<path${lit(signal(pin))} d="${paths[i]}"></path>`);
    const carry = outs[1] ? `<path${lit(signal(outs[1]))} d="M214 ${y + 26}V${y + ROW}"></path>` : "";
    const cells = named.map(([node], i) => cell([8, 64][i], y, 49, `${circuit.names[node]} = ${value(node)}`, value(node), circuit.names[node]));
    const sum = signal(outs[0]);
    return (
      `${wires.join("")}${carry}<path${lit(sum)} d="M264 ${y + 13}H318"></path>${cells.join("")}` +
      `${cell(164, y, 100, WORDS[kind], false)}${cell(318, y, 54, `z${k} = ${sum}`, sum)}`
    );
  };

  const draw = () => {
    const sum = circuit.boxes.reduce((total, [, , outs], k) => total + (signal(outs[0]) << k), 0);
    const high = circuit.boxes.length * ROW;
    place.innerHTML =
      `<svg viewBox="0 -12 380 ${high + 10}" role="group" aria-label="Adder">${circuit.boxes.map(row).join("")}</svg>` +
      `<p><strong>${input.x} + ${input.y} = ${sum}</strong>${input.x + input.y > 63 ? " (modulo 64: six bits)" : ""}. Click an input to change it.</p>`;
  };

  const toggle = (event) => {
    const pin = event.target.closest("[data-name]");
    if (!pin || (event.key && event.key !== "Enter" && event.key !== " ")) return;
    event.preventDefault();
    const name = pin.dataset.name;
    input[name[0]] ^= 1 << Number(name.slice(1));
    draw();
    place.querySelector(`[data-name="${name}"]`).focus();
  };
  if (place) {
    draw();
    place.addEventListener("click", toggle);
    place.addEventListener("keydown", toggle);
  }
}
