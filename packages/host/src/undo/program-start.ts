import { AsyncLocalStorage } from "node:async_hooks"

const starting = new AsyncLocalStorage<() => Promise<void>>()

/** Runs a task in which something is to be done before a program is started. */
export function whenProgramsStart<Value>(prepare: () => Promise<void>, task: () => Value): Value {
  return starting.run(prepare, task)
}

/** To be awaited before a program is started that may change the workspace. */
export async function programStarts(): Promise<void> {
  await starting.getStore()?.()
}
