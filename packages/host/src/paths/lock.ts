/**
 * Runs tasks that share a key one after the other, in the order they came; others side by side. Several keys are taken
 * in a fixed order, so that no two tasks wait for each other. Memory is held only while a key has tasks.
 */
export function createLocks(): <Value>(keys: readonly string[], task: () => Promise<Value>) => Promise<Value> {
  const tails = new Map<string, Promise<unknown>>()
  const locked = async <Value>(key: string, task: () => Promise<Value>): Promise<Value> => {
    const run = (tails.get(key) ?? Promise.resolve()).then(task, task)
    tails.set(key, run)
    try {
      return await run
    } finally {
      if (tails.get(key) === run) tails.delete(key)
    }
  }
  return (keys, task) =>
    [...new Set(keys)]
      .sort()
      .reverse()
      .reduce((inner, key) => () => locked(key, inner), task)()
}
