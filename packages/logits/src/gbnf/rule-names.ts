/** Gives every rule a name that llama.cpp reads (letters, digits, `-`), no two the same, always the same ones. */
export class RuleNames {
  readonly #names = new Map<string, string>()
  readonly #taken = new Set(["root"])

  /** @param start the rule that becomes `root` */
  constructor(start: string, names: Iterable<string>) {
    this.#names.set(start, "root")
    for (const name of names)
      if (name !== start)
        this.#names.set(name, this.#free(name.replace(/[^A-Za-z0-9-]+/g, "-").replace(/^-+|-+$/g, "") || "rule"))
  }

  of(name: string): string {
    return this.#names.get(name) ?? name
  }

  /** A new name that tells where its rule belongs. */
  fresh(base: string): string {
    return this.#free(`${base}-part`)
  }

  #free(wanted: string): string {
    let name = wanted
    for (let number = 2; this.#taken.has(name); number++) name = `${wanted}-${number}`
    this.#taken.add(name)
    return name
  }
}
