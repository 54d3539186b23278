import { coerce, isText, type Typing } from "./coerce.ts"
import { admittedTypes, itemSchema, memberSchema } from "./schema-types.ts"
import type { ValueTypes } from "./value-notation.ts"

/** Where in a call's arguments a value stands, and what the tool's schema says of it. */
export class ArgumentTypes implements ValueTypes {
  /** The objects and arrays that are open, the innermost last; those that nothing is known of have no typing. */
  private readonly open: { typing: Typing | undefined; list: boolean }[] = []
  private written = ""
  private readonly whole: Typing

  constructor(whole: Typing) {
    this.whole = whole
  }

  enter(list: boolean): void {
    this.open.push({ typing: this.open.length === 0 ? this.whole : this.current(), list })
  }

  leave(): void {
    this.open.pop()
  }

  key(json: string): void {
    this.written = json
  }

  refusesText(): boolean {
    const typing = this.open.length === 0 ? undefined : this.current()
    if (typing === undefined || typing.schema.type === "string") return false
    return !admittedTypes(typing.schema, typing.root).has("string")
  }

  wantsText(): boolean {
    return this.open.length > 0 && this.current() !== undefined && isText(this.current())
  }

  retype(json: string): string {
    const value: unknown = JSON.parse(json)
    return typeof value === "string" ? coerce(value, this.current()) : json
  }

  /** What is known of the value that comes next. */
  private current(): Typing | undefined {
    const { typing, list } = this.open[this.open.length - 1] ?? { typing: undefined, list: false }
    if (typing === undefined) return undefined
    const { root } = typing
    const schema = list ? itemSchema(typing.schema, root) : memberSchema(typing.schema, nameIn(this.written), root)
    return schema === undefined ? undefined : { schema, root }
  }
}

function nameIn(json: string): string {
  try {
    return JSON.parse(json) as string
  } catch {
    return json
  }
}
