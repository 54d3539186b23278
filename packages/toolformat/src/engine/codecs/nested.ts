import type { JsonSchema } from "@toolwright/toolbox"
import { CallWriter } from "../call-writer.ts"
import { coerce, isText, printText, type Typing } from "../coerce.ts"
import { escapeText } from "../json-text.ts"
import { anyLiteral, literal, skipSpace, stands, textUntil } from "../scanning.ts"
import { admittedTypes, itemSchema, memberSchema } from "../schema-types.ts"
import type { Session } from "../session.ts"
import { END, type Scan } from "../source.ts"
import type { NestedSyntax } from "../syntax.ts"
import { resync, type Codec, type ReadContext } from "./codec.ts"
import { scanText } from "./raw-text.ts"

const LONGEST_NAME = 256
const DEEPEST = 64
/** How many types there are: a schema that admits all of them says nothing. */
const EVERY_TYPE = 7
const SIMPLE_KEY = /^[^<>/\s][^<>\s]*$/

/** Arguments as nested tags, every tag behind a prefix, so that no text can be taken for one. */
export const nested: Codec<NestedSyntax> = {
  openings: ({ prefix }) => [`${prefix}<invoke name="`],
  marks: ({ prefix }) => [`${prefix}</invoke>`],
  between: "",
  read: readNested,
  print(call, { prefix }, tool) {
    const root = tool?.parameters ?? {}
    const members = Object.entries(call.arguments).map(([key, value]) =>
      printTag(key, value, tool === undefined ? undefined : typing(memberSchema(root, key, root), root), prefix),
    )
    return `${prefix}<invoke name="${call.name}">${members.join("")}${prefix}</invoke>`
  },
}

function typing(schema: JsonSchema | undefined, root: JsonSchema): Typing | undefined {
  return schema === undefined ? undefined : { schema, root }
}

function printTag(key: string, value: unknown, known: Typing | undefined, prefix: string): string {
  return `${prefix}<${key}>${printValue(value, known, prefix)}${prefix}</${key}>`
}

/** Nested tags where they say what is meant, else the value's JSON, which reads back the same. */
function printValue(value: unknown, known: Typing | undefined, prefix: string): string {
  const root = known?.root ?? {}
  const tags = shapeOf(known)
  if (!readsBack(value, known)) return printText(value, known)
  if (Array.isArray(value) && value.length > 0 && tags.nested) {
    return value
      .map((item) =>
        printTag("item", item, known === undefined ? undefined : typing(itemSchema(known.schema, root), root), prefix),
      )
      .join("")
  }
  if (typeof value === "object" && value !== null && !Array.isArray(value) && tags.nested && tags.array !== true) {
    const members = Object.entries(value)
    if (
      members.length > 0 &&
      members.every(([key]) => SIMPLE_KEY.test(key)) &&
      !(members[0]?.[0] === "item" && tags.array === undefined)
    ) {
      return members
        .map(([key, member]) =>
          printTag(
            key,
            member,
            known === undefined ? undefined : typing(memberSchema(known.schema, key, root), root),
            prefix,
          ),
        )
        .join("")
    }
  }
  return printText(value, known)
}

/** Whether tags would say enough: what is no text needs a schema that says so. */
function readsBack(value: unknown, known: Typing | undefined): boolean {
  if (typeof value !== "object" || value === null) return typeof value === "string" || known !== undefined
  if (Object.keys(value).length === 0) return known !== undefined
  const root = known?.root ?? {}
  if (Array.isArray(value))
    return value.every((item) =>
      readsBack(item, known === undefined ? undefined : typing(itemSchema(known.schema, root), root)),
    )
  return Object.entries(value).every(([key, member]) =>
    readsBack(member, known === undefined ? undefined : typing(memberSchema(known.schema, key, root), root)),
  )
}

/** Whether a value may be nested tags, and whether those are an array's; undefined: the tags themselves tell. */
function shapeOf(known: Typing | undefined): { nested: boolean; array: boolean | undefined } {
  if (known === undefined) return { nested: true, array: undefined }
  const types = admittedTypes(known.schema, known.root)
  const every = types.size === EVERY_TYPE
  const array = types.has("array")
  const object = types.has("object")
  return { nested: every || ((array || object) && !types.has("string")), array: array === object ? undefined : array }
}

function* readNested(session: Session, { prefix, wrapper }: NestedSyntax, context: ReadContext): Scan<boolean> {
  const { source } = session
  if (!(yield* literal(source, `${prefix}<invoke name="`))) return false
  const name = yield* textUntil(source, ['">'], LONGEST_NAME)
  const call = new CallWriter(session, context.start)
  if (name === undefined || name.trim() === "") {
    if (name !== undefined || (yield* source.wait()) !== END) return false
    context.commit()
    call.cutOff("the call")
    return true
  }
  yield* literal(source, '">')
  call.name = name.trim()
  context.commit()
  const root = call.tool?.parameters ?? {}
  const closed = yield* readMembers(call.tool === undefined ? undefined : typing(root, root), `</invoke>`, "object", 0)
  if (closed) call.finish()
  else {
    const cut = (yield* source.wait()) === END
    if (!cut) yield* resync(source, [...context.closers, ...(wrapper?.close ?? [])])
    if (cut) call.cutOff("the call")
    else call.fail("unterminated-call", "The call's tags do not end.")
    yield* anyLiteral(source, [`${prefix}</invoke>`])
  }
  return true

  /** Child tags up to the parent's closing tag, as an object or an array. */
  function* readMembers(
    known: Typing | undefined,
    close: string,
    kind: "object" | "array",
    depth: number,
  ): Scan<boolean> {
    call.write(kind === "object" ? "{" : "[")
    let first = true
    for (;;) {
      if ((yield* skipSpace(source)) === END || depth > DEEPEST) return false
      if (!(yield* literal(source, prefix))) return false
      if (yield* literal(source, close)) {
        call.write(kind === "object" ? "}" : "]")
        return true
      }
      if (!(yield* literal(source, "<"))) return false
      const key = yield* textUntil(source, [">"], LONGEST_NAME)
      if (key === undefined || key.startsWith("/")) return false
      source.at++
      if (!first) call.write(",")
      first = false
      const root = known?.root ?? {}
      const member =
        known === undefined
          ? undefined
          : kind === "array"
            ? itemSchema(known.schema, root)
            : memberSchema(known.schema, key, root)
      if (kind === "object") call.write(`"${escapeText(key)}":`)
      if (!(yield* readTag(key, typing(member, root), depth + 1))) return false
    }
  }

  function* readTag(key: string, known: Typing | undefined, depth: number): Scan<boolean> {
    const close = `${prefix}</${key}>`
    const shape = shapeOf(known)
    if (shape.nested) {
      const start = source.mark()
      yield* skipSpace(source)
      const tags = (yield* stands(source, [`${prefix}<`])) && !(yield* stands(source, [`${prefix}</`]))
      const items = tags && (yield* stands(source, [`${prefix}<item>`]))
      if (!tags) source.rewind(start)
      source.release()
      if (tags) return yield* readMembers(known, `</${key}>`, (shape.array ?? items) ? "array" : "object", depth)
    }
    const text = isText(known)
    let buffered = ""
    if (text) call.write('"')
    const ended = yield* scanText(
      source,
      prefix[0] ?? "",
      () => literal(source, close),
      false,
      (piece) => {
        if (text) call.write(escapeText(piece))
        else buffered += piece
      },
    )
    if (!ended) return false
    if (text) call.write('"')
    else if (
      buffered === "" &&
      known !== undefined &&
      shape.nested &&
      admittedTypes(known.schema, known.root).size < EVERY_TYPE
    )
      call.write(shape.array === true ? "[]" : "{}")
    else call.write(coerce(buffered, known, (what) => call.repaired(what)))
    return true
  }
}
