import type { Execute } from "./driver.ts"

type Transaction = <Result>(work: (execute: Execute) => Promise<Result>) => Promise<Result>

interface Waiting {
  work(execute: Execute): Promise<unknown>
  resolve(value: unknown): void
  reject(reason: unknown): void
}

/** Pieces of work in one transaction; more would let whoever else writes wait too long. */
const MOST_TOGETHER = 64

/**
 * Makes one transaction of those that are handed over in one turn of the event loop: a commit writes every page that
 * changed, and those of several runs are mostly the same. Each is answered when the commit is done, as if it had been
 * alone. Where one of them fails the others are not lost with it: each is then done by itself. So work may be done
 * twice, the first time in vain, and may do nothing but execute statements.
 */
export function sharingCommits(transaction: Transaction): Transaction {
  let waiting: Waiting[] = []
  const carryOut = async (): Promise<void> => {
    const all = waiting
    waiting = []
    for (let from = 0; from < all.length; from += MOST_TOGETHER)
      await together(transaction, all.slice(from, from + MOST_TOGETHER))
  }
  return <Result>(work: (execute: Execute) => Promise<Result>) =>
    new Promise<Result>((resolve, reject) => {
      if (waiting.length === 0) setImmediate(() => void carryOut())
      waiting.push({ work, resolve: (value) => resolve(value as Result), reject })
    })
}

async function together(transaction: Transaction, part: readonly Waiting[]): Promise<void> {
  let begun = false
  try {
    const values = await transaction(async (execute) => {
      begun = true
      const done: unknown[] = []
      for (const { work } of part) done.push(await work(execute))
      return done
    })
    for (const [at, { resolve }] of part.entries()) resolve(values[at])
  } catch (thrown) {
    if (part.length > 1 && begun) for (const each of part) await together(transaction, [each])
    else for (const { reject } of part) reject(thrown)
  }
}
