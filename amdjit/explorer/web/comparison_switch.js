// Between the comparison of two versions and one of them.

import { createComparison } from "./compare.js";

/** Show the comparison, or the explorer again. */
export function toggleComparison(page) {
  const { comparison, explorer } = page.app;
  if (!comparison) return;
  if (comparison.hidden) comparison.replaceChildren(createComparison(page, () => toggleComparison(page)));
  comparison.hidden = !comparison.hidden;
  explorer.classList.toggle("comparing", !comparison.hidden);
}
