import type { Statement } from "./driver.ts"

/** How long a write may be put off, in milliseconds: others that come meanwhile share its commit. */
const PUT_OFF_MS = 100
/** So many are not put off any longer; more would let whoever else writes wait too long. */
const MOST_TOGETHER = 128
/**
 * Characters of values: so many are not put off any longer, and of so many nobody adds more before they are written.
 */
const [ENOUGH_CHARACTERS, MOST_CHARACTERS] = [1024 * 1024, 16 * 1024 * 1024]

interface Waiting {
  readonly statements: readonly Statement[]
  readonly characters: number
  lost(thrown: unknown): void
}

/** How writes that were put off reach the database. */
export interface WayToWrite {
  /** Writes in one transaction, before it returns. */
  now(statements: readonly Statement[]): void
  /** Whether it can be tried again, since somebody else writes. */
  isBusy(thrown: unknown): boolean
  /** Calls {@link WritesBehind.write} when it is nobody else's turn, and again while others write, up to a limit. */
  inTurn(): Promise<void>
}

/**
 * Writes that nobody waits for, a moment later and several in one commit: a commit costs more than what it holds. They
 * are written before anything else is done with the database, so whoever asks this process sees them, and before the
 * process ends. A process that is killed takes those of the last moment with it.
 */
export class WritesBehind {
  readonly #way: WayToWrite
  #waiting: Waiting[] = []
  #characters = 0
  #timer: NodeJS.Timeout | undefined
  #asked: Promise<void> | undefined
  readonly #atExit = (): void => this.giveUp()

  constructor(way: WayToWrite) {
    this.#way = way
  }

  /**
   * @param lost is told why these could not be written
   * @returns when there is room for more
   */
  async add(statements: readonly Statement[], lost: (thrown: unknown) => void): Promise<void> {
    const characters = statements.reduce((sum, { values }) => sum + charactersIn(values), 0)
    if (this.#waiting.length === 0) process.once("exit", this.#atExit)
    this.#waiting.push({ statements, characters, lost })
    this.#characters += characters
    if (this.#characters >= MOST_CHARACTERS) return this.#write()
    if (this.#waiting.length >= MOST_TOGETHER || this.#characters >= ENOUGH_CHARACTERS) void this.#write()
    else this.#timer ??= setTimeout(() => void this.#write(), PUT_OFF_MS).unref()
  }

  /** Writes what waits. @throws what the database throws where it is busy; then everything still waits */
  write(): void {
    while (this.#waiting.length > 0) this.#together(this.#waiting.slice(0, MOST_TOGETHER))
  }

  /** Writes what can be written, and waits no longer. */
  giveUp(): void {
    try {
      this.write()
    } catch (thrown) {
      for (const { lost } of this.#taken(this.#waiting.length)) lost(thrown)
    }
  }

  #write(): Promise<void> {
    return (this.#asked ??= this.#way
      .inTurn()
      .catch((thrown: unknown) => {
        for (const { lost } of this.#taken(this.#waiting.length)) lost(thrown)
      })
      .finally(() => (this.#asked = undefined)))
  }

  /** What fails, fails alone: the others are written without it. */
  #together(part: readonly Waiting[]): void {
    try {
      this.#way.now(part.flatMap(({ statements }) => statements))
      this.#taken(part.length)
    } catch (thrown) {
      if (this.#way.isBusy(thrown)) throw thrown
      if (part.length > 1) for (const each of part) this.#together([each])
      else for (const { lost } of this.#taken(1)) lost(thrown)
    }
  }

  #taken(count: number): Waiting[] {
    const taken = this.#waiting.splice(0, count)
    for (const { characters } of taken) this.#characters -= characters
    if (this.#waiting.length === 0) {
      clearTimeout(this.#timer)
      this.#timer = undefined
      process.removeListener("exit", this.#atExit)
    }
    return taken
  }
}

/** @throws Error where a statement changed more or less than it has to */
export function assertChanged({ changes }: Statement, changed: number): void {
  if (changes !== undefined && changed !== changes) throw new Error(`${changed} rows changed in place of ${changes}.`)
}

function charactersIn(values: Statement["values"]): number {
  let sum = 0
  for (const value of values) if (typeof value === "string") sum += value.length
  return sum
}
