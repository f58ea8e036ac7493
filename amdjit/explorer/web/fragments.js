// The lane map of a matrix instruction's operands: which lane holds which element in which register.

import { h, replace } from "./dom.js";
import { operandTexts } from "./registers.js";

const ORDER = ["d", "a", "b", "c", "index"];

/** Return, for each place of a map, its lane, its element, and the register and bit that hold it.
 * first: the number of the operand's first register, if it is in registers. */
export function placesOf(map, first) {
  return map.lanes.map((lane, n) => {
    const bit = map.elements[n] * map.bits;
    const register = first === undefined ? undefined : first + Math.floor(bit / 32);
    return { lane, element: map.elements[n], register, bit: bit % 32 };
  });
}

/** Return the maps of an instruction's operands, with a slider that shows one lane. */
export function laneMaps({ kernel }, each) {
  const maps = kernel.lane_maps[each.mnemonic];
  if (!maps) return h("p", { class: "nothing" }, `The layout of ${each.mnemonic} is not known.`);
  const texts = operandTexts(each.text);
  const shown = ORDER.filter((operand) => operand in maps);
  // An index of a sparse product takes the place of C, whose registers are those of D.
  const textOf = (operand) => (operand === "c" && maps.index ? texts[0] : texts[operand === "index" ? 3 : ORDER.indexOf(operand)]);
  const output = h("output", {}, "all lanes");
  const grids = h("div", { class: "grids" }, shown.map((operand) => grid(operand, maps[operand], textOf(operand) ?? "")));
  const slider = h("input", {
    type: "range", min: "-1", max: kernel.wave_size - 1, value: "-1", "aria-label": "lane",
    oninput: () => {
      const lane = Number(slider.value);
      replace(output, lane < 0 ? "all lanes" : `lane ${lane}`);
      grids.classList.toggle("one-lane", lane >= 0);
      for (const cell of grids.querySelectorAll("td")) cell.classList.toggle("held", isHeld(cell, lane, kernel.wave_size));
    },
  });
  return [h("h4", {}, "Lanes of the fragments"), h("label", { class: "lane" }, slider, output), grids];
}

/** Return whether a lane holds the element of a cell: on gfx11, all groups of 16 lanes hold A and B. */
function isHeld(cell, lane, waveSize) {
  return lane >= 0 && lane % (waveSize / Number(cell.dataset.copies)) === Number(cell.dataset.lane);
}

function grid(operand, map, text) {
  const registers = text.match(/^v\[?(\d+)/);
  const places = placesOf(map, registers ? Number(registers[1]) : undefined);
  const rows = Array.from({ length: map.rows }, (_, row) => h("tr", {}, places.slice(row * map.columns, (row + 1) * map.columns)
    .map(({ lane, element, register, bit }, column) => h("td", {
      "data-lane": lane, "data-copies": map.copies, class: `half${Math.floor(lane / 16) % 4}`,
      title: `${operand.toUpperCase()}[${row}, ${column}]: lane ${lane}, element ${element}${register === undefined ? "" : `, v${register} from bit ${bit}`}`,
    }, lane))));
  return h("table", { class: `lanes${map.columns > 16 ? " wide" : ""}` },
    h("caption", {}, h("b", {}, operand === "index" ? "index" : operand.toUpperCase()), ` ${map.rows} × ${map.columns} ${map.kind} `, h("span", { class: "code" }, text),
      map.copies > 1 ? `, ${map.copies} times` : ""),
    h("tbody", {}, rows));
}
