/** How somebody works in a folder: alone, or beside others who each have files of their own. */
export interface FolderTurn {
  beside: boolean
  signal: AbortSignal
}

/** Who works in which folder: several beside each other, or one alone, in the order in which they came. */
export class FolderTurns {
  /**
   * What has to be over before somebody may work beside others (`alone`), and before somebody may work alone (`all`).
   */
  readonly #folders = new Map<string, { alone: Promise<unknown>; all: Promise<unknown> }>()

  async inTurn<Result>(folder: string, { beside, signal }: FolderTurn, work: () => Promise<Result>): Promise<Result> {
    const { alone, all } = this.#folders.get(folder) ?? { alone: Promise.resolve(), all: Promise.resolve() }
    const turn = Promise.race([beside ? alone : all, aborted(signal)]).then(work)
    // Whoever comes next waits for all that came before, also where this one was interrupted while it waited.
    const over = Promise.allSettled([all, turn])
    const now = { alone: beside ? alone : over, all: over }
    this.#folders.set(folder, now)
    try {
      return await turn
    } finally {
      if (this.#folders.get(folder) === now) this.#folders.delete(folder)
    }
  }
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(new Error(String(signal.reason)))
    else signal.addEventListener("abort", () => reject(new Error(String(signal.reason))), { once: true })
  })
}
