/** Runs no more than so many at once; the others wait in their order. */
export function createInTurn(most: number): <Value>(run: () => Promise<Value>) => Promise<Value> {
  const waiting: (() => void)[] = []
  let running = 0
  return async (run) => {
    if (running < most) running++
    else await new Promise<void>((begin) => waiting.push(begin))
    try {
      return await run()
    } finally {
      // Whoever comes next takes the place over.
      const next = waiting.shift()
      if (next === undefined) running--
      else next()
    }
  }
}
