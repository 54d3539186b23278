/**
 * What pure functions have worked out before. A room without state has one thing that remembers, and it is here: what
 * is kept follows from its key alone, so that nobody can tell a remembered value from a new one but by the time it
 * took.
 */
class Memory {
  readonly #forget: (() => void)[] = []

  /**
   * A function of an object that never changes: what follows from it is kept as long as the object is.
   *
   * @param make further arguments must themselves follow from the owner
   */
  derived<Owner extends object, More extends unknown[], Value>(
    make: (owner: Owner, ...more: More) => Value,
  ): (owner: Owner, ...more: More) => Value {
    let known = new WeakMap<Owner, { readonly value: Value }>()
    this.#forget.push(() => (known = new WeakMap()))
    return (owner, ...more) => {
      let entry = known.get(owner)
      if (entry === undefined) known.set(owner, (entry = { value: make(owner, ...more) }))
      return entry.value
    }
  }

  /** Tells objects apart by a number each, for keys of values that follow from several; no number comes twice. */
  numbers(): (object: object) => number {
    let count = 0
    return this.derived(() => count++)
  }

  /** The latest values by a text or number from which they follow, so many at most. */
  latest<Value, Key = string>(most: number): Latest<Value, Key> {
    const latest = new Latest<Value, Key>(most)
    this.#forget.push(() => latest.clear())
    return latest
  }

  /** Lets go of all that is kept. What is asked for next is worked out anew, and is the same. */
  forget(): void {
    for (const forget of this.#forget) forget()
  }
}

/** Values by what they follow from, the latest so many. */
export class Latest<Value, Key = string> {
  readonly #most: number
  readonly #values = new Map<Key, Value>()

  constructor(most: number) {
    this.#most = most
  }

  get(key: Key, make: () => Value): Value {
    if (!this.#values.has(key)) return this.put(key, make())
    const value = this.#values.get(key) as Value
    // Only a memory that is nearly full need know what was asked for last.
    if (this.#values.size * 2 > this.#most) this.put(key, value)
    return value
  }

  put(key: Key, value: Value): Value {
    this.#values.delete(key)
    this.#values.set(key, value)
    if (this.#values.size > this.#most) this.#values.delete(this.#values.keys().next().value!)
    return value
  }

  clear(): void {
    this.#values.clear()
  }
}

/** The one memory of the pure rooms. */
export const memory = new Memory()
