// Light and dark: as the system has it, or as chosen.

const CHOICES = ["auto", "light", "dark"];

/** Return the theme: its choice, and a way to the next one. The choice is kept where the browser lets
 * pages from disk keep something. */
export function createTheme() {
  const listeners = [];
  let choice = kept() ?? "auto";
  const apply = () => {
    document.documentElement.dataset.theme = choice;
    document.dispatchEvent(new Event("themechange"));
    for (const run of listeners) run(choice);
  };
  apply();
  return {
    choice: () => choice,
    next() {
      choice = CHOICES[(CHOICES.indexOf(choice) + 1) % CHOICES.length];
      keep(choice);
      apply();
    },
    listen(run) {
      listeners.push(run);
      run(choice);
    },
  };
}

function kept() {
  try {
    const choice = localStorage.getItem("amdjit-theme");
    return CHOICES.includes(choice) ? choice : null;
  } catch {
    return null;
  }
}

function keep(choice) {
  try {
    localStorage.setItem("amdjit-theme", choice);
  } catch {
    // The page works without.
  }
}
