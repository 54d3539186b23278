import { isTooDeep, type ToolDefinition } from "@toolwright/toolbox"
import type { ParseProblem } from "../model/formatter.ts"
import type { Session } from "./session.ts"
import { ArgumentTypes } from "./argument-types.ts"
import { JSON_NOTATION, transcode, type ValueSink, type ValueTypes } from "./value.ts"

/**
 * One call while it is read. `call-start` leaves as soon as the name is known and arguments begin; arguments that come
 * before the name wait for it. What is written must, all together, be one JSON object.
 */
export class CallWriter implements ValueSink {
  readonly start: number
  private called: string | undefined
  id: string | undefined
  /** The arguments so far as one JSON text, in pieces. */
  private written: string[] = []
  /** Whether the arguments, as far as written, are a whole value. */
  complete = false
  /** Whether arguments wait for the name. */
  private waits = false
  private started = false
  private index = -1
  private finalId = ""
  private readonly repairs = new Set<string>()
  private readonly session: Session

  /** @param start where the call begins; the text from there on must still be at hand */
  constructor(session: Session, start: number) {
    this.session = session
    this.start = start
  }

  get name(): string | undefined {
    return this.called
  }

  set name(name: string | undefined) {
    const { tools, format } = this.session
    const last = name?.slice(name.lastIndexOf(".") + 1)
    const namespaced = format.namespaces === true && name !== undefined && tools?.has(name) === false
    this.called = namespaced && tools.has(last ?? "") ? last : name
  }

  get tool(): ToolDefinition | undefined {
    return this.name === undefined ? undefined : this.session.tools?.get(this.name)
  }

  /** What the tool's schema says of the values of the arguments that are read next. */
  get types(): ValueTypes | undefined {
    const { tool } = this
    return tool === undefined ? undefined : new ArgumentTypes({ schema: tool.parameters, root: tool.parameters })
  }

  get hasArguments(): boolean {
    return this.written.length > 0
  }

  private get json(): string {
    if (this.written.length > 1) this.written = [this.written.join("")]
    return this.written[0] ?? ""
  }

  write(json: string): void {
    if (json !== "") this.written.push(json)
    if (this.called === undefined) this.waits ||= json !== ""
    else {
      if (!this.started) this.begin()
      if (json !== "") this.session.emitArguments(this.index, json)
    }
  }

  repaired(what: string): void {
    this.repairs.add(what)
  }

  positional(index: number): string | undefined {
    return Object.keys(this.tool?.parameters.properties ?? {})[index]
  }

  /** Names the one tool on offer that takes the arguments as they were written, where there is just one. */
  nameByArguments(): void {
    const keys = Object.keys(JSON.parse(this.json) as object)
    const fitting = [...(this.session.tools?.values() ?? [])].filter(
      ({ parameters: { properties = {}, required = [] } }) => {
        return keys.every((key) => Object.hasOwn(properties, key)) && required.every((key) => keys.includes(key))
      },
    )
    if (fitting.length !== 1) return
    this.name = fitting[0]?.name
    this.repaired("a number in place of the tool's name")
  }

  private begin(): void {
    if (this.started || this.name === undefined) return
    this.started = true
    this.index = this.session.calls
    this.finalId = this.session.nextId(this.id, this.name)
    this.session.calls++
    this.session.emit({ type: "call-start", index: this.index, id: this.finalId, name: this.name })
    if (this.waits) this.session.emitArguments(this.index, this.retyped())
    this.waits = false
  }

  /** The arguments that waited for the name, which says their types. */
  private retyped(): string {
    const { types } = this
    const json = types && transcode(this.json, JSON_NOTATION, (what) => this.repaired(what), types)
    if (json !== undefined && json !== this.json.trim()) this.written = [json]
    return this.json
  }

  /** The reply ends inside the call: there is none, and what is told says what of it is missing. */
  cutOff(where: string): void {
    const { required = [], properties = {} } = this.tool?.parameters ?? {}
    const unwritten = (names: readonly string[]) =>
      names.filter((name) => !this.json.includes(`${JSON.stringify(name)}:`))
    const missing = unwritten(required)
    const possible = unwritten(Object.keys(properties)).filter((name) => !missing.includes(name))
    const lists = [
      ...(missing.length > 0 ? [`without ${missing.join(", ")}`] : []),
      ...(possible.length > 0 ? [`${possible.join(", ")} could still have come`] : []),
    ]
    const call = this.name === undefined ? "" : ` of '${this.name}'`
    this.fail("unterminated-call", `The reply ends inside ${where}${call}${lists.map((list) => `; ${list}`).join("")}.`)
  }

  /** The call is whole. It ends at the current place. */
  finish(problem?: Pick<ParseProblem, "kind" | "message">): void {
    const { session } = this
    if (this.name === undefined) return this.fail("invalid-arguments", "The call names no tool.")
    if (!this.hasArguments) this.write("{}")
    this.begin()
    const { json } = this
    let args: unknown
    try {
      args = JSON.parse(json)
    } catch {
      return this.fail("invalid-arguments", "The arguments are not a JSON value.")
    }
    if (isTooDeep(args, json)) return this.fail("invalid-arguments", "The arguments are nested too deeply.")
    if (typeof args !== "object" || args === null || Array.isArray(args))
      return this.fail("invalid-arguments", "The arguments are not an object.")
    const note = (kind: ParseProblem["kind"], message: string) =>
      session.problem({ kind, at: this.start, text: session.source.since(this.start), message, repaired: true })
    if (problem !== undefined) note(problem.kind, problem.message)
    if (this.repairs.size > 0) note("invalid-arguments", `Read in spite of ${[...this.repairs].join(", ")}.`)
    if (session.tools !== undefined && !session.tools.has(this.name))
      note("unknown-tool", `There is no tool '${this.name}'. Tools on offer: ${[...session.tools.keys()].join(", ")}.`)
    session.account("call", session.source.offset)
    session.emit({
      type: "call-end",
      index: this.index,
      call: { id: this.finalId, name: this.name, arguments: args as Record<string, unknown> },
    })
  }

  /** Nothing can be made of the call. The text from its beginning to the current place is the problem's. */
  fail(kind: ParseProblem["kind"], message: string): void {
    const { session } = this
    session.account("problem", session.source.offset)
    session.problem({ kind, at: this.start, text: session.source.since(this.start), message, repaired: false })
  }
}
