/** Rules that lead to each other, found in one walk: grammars come from others, and have as many rules as they like. */

/**
 * The groups of names each of which leads to every other of its group, itself too, in one step or more. Names that no
 * such group holds are left out.
 */
export function circlesOf(leads: ReadonlyMap<string, Iterable<string>>): string[][] {
  const walk = new Walk(leads)
  for (const name of leads.keys()) walk.from(name)
  return walk.circles
}

interface Place {
  readonly name: string
  readonly left: Iterator<string>
}

/** Tarjan's walk, without recursion: a chain of rules is as deep as it is long. */
class Walk {
  readonly circles: string[][] = []
  readonly #leads: ReadonlyMap<string, Iterable<string>>
  /** When each was come by, and the earliest that it leads back to. */
  readonly #found = new Map<string, number>()
  readonly #earliest = new Map<string, number>()
  readonly #open: string[] = []
  readonly #isOpen = new Set<string>()
  readonly #toItself = new Set<string>()

  constructor(leads: ReadonlyMap<string, Iterable<string>>) {
    this.#leads = leads
  }

  from(start: string): void {
    if (this.#found.has(start)) return
    const path = [this.#enter(start)]
    for (let place = path.at(-1); place !== undefined; place = path.at(-1)) {
      const next = place.left.next()
      if (next.done !== true) this.#see(place.name, next.value, path)
      else {
        path.pop()
        const above = path.at(-1)
        if (above !== undefined) this.#note(above.name, this.#earliest.get(place.name)!)
        this.#leave(place.name)
      }
    }
  }

  #enter(name: string): Place {
    const at = this.#found.size
    this.#found.set(name, at)
    this.#earliest.set(name, at)
    this.#open.push(name)
    this.#isOpen.add(name)
    return { name, left: this.#leads.get(name)![Symbol.iterator]() }
  }

  #see(name: string, next: string, path: Place[]): void {
    if (next === name) this.#toItself.add(name)
    const found = this.#found.get(next)
    if (found === undefined) {
      if (this.#leads.has(next)) path.push(this.#enter(next))
    } else if (this.#isOpen.has(next)) this.#note(name, found)
  }

  #note(name: string, found: number): void {
    if (found < this.#earliest.get(name)!) this.#earliest.set(name, found)
  }

  #leave(name: string): void {
    if (this.#earliest.get(name) !== this.#found.get(name)) return
    const group = this.#open.splice(this.#open.lastIndexOf(name))
    for (const one of group) this.#isOpen.delete(one)
    if (group.length > 1 || this.#toItself.has(name)) this.circles.push(group)
  }
}
