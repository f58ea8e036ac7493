// What the keys do, in a dialog.

import { h } from "./dom.js";

const KEYS = [
  ["↓ ↑, j k", "next and previous row of the list that has the focus"],
  ["Page Down, Page Up, Home, End", "further"],
  ["Enter", "pin what is chosen, or let it go"],
  ["Esc", "leave the search field; let go, clear the search"],
  ["/", "search: words, unit:lds, line:26, block:3, loop:2, live:>=96, file:gemm"],
  ["Enter, in the search", "the next match; with Shift, the one before"],
  ["n N", "next and previous match; without a search, instruction of the same line"],
  ["[ ]", "previous and next block"],
  ["s i d", "to the source, the instructions, the details"],
  ["1 to 9", "a tab of the details"],
  ["h", "the next measure of heat"],
  ["w", "arrows of all waits"],
  ["v", "the next version or launch"],
  ["c", "compare two versions or launches"],
  ["t", "light, dark, or as the system has it"],
  ["?", "this help"],
];

/** Return the dialog. */
export function createHelp() {
  const dialog = h("dialog", { "aria-labelledby": "help-title" },
    h("h2", { id: "help-title" }, "Keys"),
    h("dl", { class: "keys" }, KEYS.map(([keys, meaning]) => h("div", {}, h("dt", {}, keys), h("dd", {}, meaning)))),
    h("p", { class: "note" }, "Estimated cycles come from a model of the hardware; figures underlined with dots rest on assumptions that no measurement covers."),
    h("button", { type: "button", onclick: () => dialog.close() }, "Close"));
  return dialog;
}
