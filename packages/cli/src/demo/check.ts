import { canonicalJson, type JsonObject } from "@toolwright/toolbox"
import type { ExpectedCall } from "./requests.ts"

/** A call that was not asked for; `again` says that it was, but only once. */
export interface WrongCall {
  name: string
  arguments: JsonObject
  again: boolean
}

/** Compares what a model calls with what a request asks for: each expected call counts once. */
export class CallCheck {
  readonly #open: ExpectedCall[]
  readonly #all: readonly ExpectedCall[]
  readonly #wrong: WrongCall[] = []

  constructor(expected: readonly ExpectedCall[]) {
    this.#all = expected
    this.#open = [...expected]
  }

  /** @returns whether the call is one of those that are still expected */
  take(name: string, args: JsonObject): boolean {
    const fits = (expected: ExpectedCall): boolean => expected.name === name && same(expected.arguments, args)
    const at = this.#open.findIndex(fits)
    if (at === -1) this.#wrong.push({ name, arguments: args, again: this.#all.some(fits) })
    else this.#open.splice(at, 1)
    return at !== -1
  }

  /** A call that was taken and came to nothing is needed once more. */
  failed(name: string, args: JsonObject): void {
    const call = this.#all.find((expected) => expected.name === name && same(expected.arguments, args))
    if (call !== undefined && !this.#open.includes(call)) this.#open.push(call)
  }

  /** A call that could not be carried out at all. */
  refuse(name: string, args: JsonObject): void {
    this.#wrong.push({ name, arguments: args, again: false })
  }

  get wrong(): readonly WrongCall[] {
    return this.#wrong
  }

  /** The calls that are still needed. */
  get missing(): readonly ExpectedCall[] {
    return this.#all.filter((expected) => this.#open.includes(expected))
  }
}

function same(expected: JsonObject, args: JsonObject): boolean {
  return canonicalJson(normalised(expected)) === canonicalJson(normalised(args))
}

/** `./src/` is `src`. */
function normalised(args: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(args).map(([name, value]) => [
      name,
      name === "path" && typeof value === "string" ? value.replace(/^\.\//, "").replace(/(?<=.)\/$/, "") : value,
    ]),
  )
}
