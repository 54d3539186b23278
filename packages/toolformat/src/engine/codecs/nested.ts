import type { JsonSchema } from "@toolwright/toolbox"
import { CallWriter } from "../call-writer.ts"
import { coerce, isText, printText, type Typing } from "../coerce.ts"
import { escapeText } from "../json-text.ts"
import { anyLiteral, literal, skipSpace, stands, textUntil } from "../scanning.ts"
import { admittedTypes, itemSchema, memberSchema } from "../schema-types.ts"
import type { Session } from "../session.ts"
import { END, type Scan, type Source } from "../source.ts"
import type { NestedSyntax } from "../syntax.ts"
import { resync, type Codec, type ReadContext } from "./codec.ts"
import { Beginnings, scanText } from "./raw-text.ts"

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
    const known = tool === undefined ? undefined : typing(root, root)
    const members = Object.entries(call.arguments).map(([key, value]) =>
      printTag(key, value, memberTyping(known, key), prefix),
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
  const { nested: mayNest, array } = shapeOf(known)
  if (!mayNest || !readsBack(value, known)) return printText(value, known)
  if (Array.isArray(value)) {
    const item = itemTyping(known)
    return value.length === 0
      ? printText(value, known)
      : value.map((each) => printTag("item", each, item, prefix)).join("")
  }
  if (typeof value !== "object" || value === null || array === true) return printText(value, known)
  const members = Object.entries(value)
  const looksLikeList = members[0]?.[0] === "item" && array === undefined
  if (members.length === 0 || looksLikeList || !members.every(([key]) => SIMPLE_KEY.test(key)))
    return printText(value, known)
  return members.map(([key, member]) => printTag(key, member, memberTyping(known, key), prefix)).join("")
}

function itemTyping(known: Typing | undefined): Typing | undefined {
  return known === undefined ? undefined : typing(itemSchema(known.schema, known.root), known.root)
}

function memberTyping(known: Typing | undefined, key: string): Typing | undefined {
  return known === undefined ? undefined : typing(memberSchema(known.schema, key, known.root), known.root)
}

/** Whether tags would say enough: what is no text needs a schema that says so. */
function readsBack(value: unknown, known: Typing | undefined): boolean {
  if (typeof value !== "object" || value === null) return typeof value === "string" || known !== undefined
  if (Object.keys(value).length === 0) return known !== undefined
  if (Array.isArray(value)) return value.every((item) => readsBack(item, itemTyping(known)))
  return Object.entries(value).every(([key, member]) => readsBack(member, memberTyping(known, key)))
}

/** Whether a value may be nested tags, and whether those are an array's; undefined: the tags themselves tell. */
interface Shape {
  nested: boolean
  array: boolean | undefined
}

function shapeOf(known: Typing | undefined): Shape {
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
  const known = call.tool === undefined ? undefined : typing(root, root)
  const reader: TagReader = { source, call, prefix }
  if (yield* readMembers(reader, known, { close: "</invoke>", array: false, depth: 0 })) call.finish()
  else {
    const cut = (yield* source.wait()) === END
    if (!cut) yield* resync(source, [...context.closers, ...(wrapper?.close ?? [])])
    if (cut) call.cutOff("the call")
    else call.fail("unterminated-call", "The call's tags do not end.")
    yield* anyLiteral(source, [`${prefix}</invoke>`])
  }
  return true
}

/** The tags of one call, as they are read. */
interface TagReader {
  readonly source: Source
  readonly call: CallWriter
  readonly prefix: string
}

/** What child tags stand in. */
interface Parent {
  /** Its closing tag, without the prefix. */
  readonly close: string
  readonly array: boolean
  readonly depth: number
}

/** Child tags up to the parent's closing tag, as an object or an array. */
function* readMembers(reader: TagReader, known: Typing | undefined, parent: Parent): Scan<boolean> {
  const { source, call, prefix } = reader
  const { close, array, depth } = parent
  call.write(array ? "[" : "{")
  for (let first = true; ; first = false) {
    if ((yield* skipSpace(source)) === END || depth > DEEPEST) return false
    if (!(yield* literal(source, prefix))) return false
    if (yield* literal(source, close)) {
      call.write(array ? "]" : "}")
      return true
    }
    const key = (yield* literal(source, "<")) ? yield* textUntil(source, [">"], LONGEST_NAME) : undefined
    if (key === undefined || key.startsWith("/")) return false
    source.at++
    if (!first) call.write(",")
    if (!array) call.write(`"${escapeText(key)}":`)
    const member = array ? itemTyping(known) : memberTyping(known, key)
    if (!(yield* readTag(reader, key, member, depth + 1))) return false
  }
}

/** What stands in a tag up to its closing one: tags again, or a value as text. */
function* readTag(reader: TagReader, key: string, known: Typing | undefined, depth: number): Scan<boolean> {
  const shape = shapeOf(known)
  const inner = shape.nested ? yield* tagsHere(reader) : "none"
  if (inner === "none") return yield* readText(reader, key, known, shape)
  return yield* readMembers(reader, known, { close: `</${key}>`, array: shape.array ?? inner === "items", depth })
}

/** Whether an opening tag comes next, and of which kind; white space before one is read. */
function* tagsHere({ source, prefix }: TagReader): Scan<"none" | "items" | "members"> {
  const start = source.mark()
  yield* skipSpace(source)
  const tags = (yield* stands(source, [`${prefix}<`])) && !(yield* stands(source, [`${prefix}</`]))
  const items = tags && (yield* stands(source, [`${prefix}<item>`]))
  if (!tags) source.rewind(start)
  source.release()
  return tags ? (items ? "items" : "members") : "none"
}

function* readText(reader: TagReader, key: string, known: Typing | undefined, shape: Shape): Scan<boolean> {
  const { source, call, prefix } = reader
  const close = `${prefix}</${key}>`
  const ends = new Beginnings([close])
  const isClose = () => literal(source, close)
  if (isText(known)) {
    call.write('"')
    const write = (piece: string) => call.write(escapeText(piece))
    if (!(yield* scanText(source, ends, isClose, false, write))) return false
    call.write('"')
    return true
  }
  let text = ""
  if (!(yield* scanText(source, ends, isClose, false, (piece) => (text += piece)))) return false
  if (text === "" && shape.nested && saysType(known)) call.write(shape.array === true ? "[]" : "{}")
  else call.write(coerce(text, known, (what) => call.repaired(what)))
  return true
}

function saysType(known: Typing | undefined): boolean {
  return known !== undefined && admittedTypes(known.schema, known.root).size < EVERY_TYPE
}
