// The state that the parts of the page share, and who hears of its changes.

/** Return a store of named values. `listen` calls a function now and after each change of one of
 * the names; `set` changes values. */
export function createStore(initial) {
  const values = { ...initial };
  const listeners = [];
  return {
    get: (name) => values[name],
    set(changes) {
      const changed = Object.keys(changes).filter((name) => values[name] !== changes[name]);
      Object.assign(values, changes);
      for (const { names, run } of [...listeners]) if (names.some((name) => changed.includes(name))) run(values);
    },
    listen(names, run) {
      listeners.push({ names, run });
      run(values);
    },
  };
}
