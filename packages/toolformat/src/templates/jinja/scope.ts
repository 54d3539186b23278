import type { Value } from "./values.ts"

/** Names and their values; inner scopes see the outer ones and never change them. */
export class Scope {
  readonly #outer: Scope | undefined
  readonly #names: Map<string, Value>

  constructor(outer: Scope | undefined, names: Map<string, Value> = new Map()) {
    this.#outer = outer
    this.#names = names
  }

  get(name: string): Value | undefined {
    const value = this.#names.get(name)
    return value === undefined ? this.#outer?.get(name) : value
  }

  set(name: string, value: Value): void {
    this.#names.set(name, value)
  }
}
