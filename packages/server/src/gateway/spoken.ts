/**
 * What a run says, round by round, as one text: rounds stand apart, and one that only says again what the round before
 * said is told once. What begins like the round before is held back until it goes on otherwise or is over.
 */
export class Spoken {
  #told = ""
  #before = ""
  #now = ""
  #held = ""

  /** Everything that was told. */
  get told(): string {
    return this.#told
  }

  /** @returns what is to be told of it now */
  hear(text: string): string {
    this.#now += text
    this.#held += text
    if (this.#told !== "" && this.#before.startsWith(this.#now.trim())) return ""
    return this.#tell()
  }

  /** A round is over. @returns what of it was held back and is no repetition */
  endRound(): string {
    const isRepeated = this.#now.trim() === this.#before
    const rest = isRepeated ? "" : this.#tell()
    if (this.#now.trim() !== "") this.#before = this.#now.trim()
    this.#now = this.#held = ""
    return rest
  }

  #tell(): string {
    const isFirst = this.#held.length === this.#now.length
    const apart = isFirst && /\S$/.test(this.#told) && /^\S/.test(this.#held) ? "\n\n" : ""
    const text = apart + this.#held
    this.#held = ""
    this.#told += text
    return text
  }
}
