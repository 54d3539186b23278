import {
  effectsOf,
  roleOf,
  type JsonObject,
  type ToolDefinition,
  type ToolResult,
  type WorkNote,
  type WorkRole,
} from "@toolwright/toolbox"
import { isPart, NOTHING_TO_CHECK, OpenFailures, REFUSED, type OpenFailure } from "./open-failures.ts"

/** A call that has ended, as the gate sees it. */
export interface RecordedCall {
  /** Position among all calls of the run, from 1. */
  sequence: number
  name: string
  arguments: JsonObject
  result: ToolResult
}

/**
 * What has been done in a run, and whether it has been checked since. Completion and commits are decided by this
 * record, never by what a model says. Which tools check and which hand in is said by the tools (`ToolDefinition.role`).
 */
export class Ledger {
  readonly #succeeded = new Set<string>()
  readonly #artifacts = new Set<string>()
  readonly #modified = new Set<string>()
  readonly #open = new OpenFailures()
  readonly #notes: WorkNote[] = []
  readonly #callsByTool = new Map<string, number>()
  #sequence = 0
  #lastChange = 0
  /** The last call that changed files, and the last that may have checked something. */
  #lastEdit = 0
  #lastCheck = 0
  #lastCommit = 0
  #lastValidation: RecordedCall | undefined
  /** When some of the checks passed last. */
  #partial = 0
  /** Some validation of this run found something to check. */
  #checkable = false
  #failures = 0
  #effects = 0

  record(name: string, args: JsonObject, result: ToolResult, tool: ToolDefinition | undefined): void {
    const call = { sequence: ++this.#sequence, name, arguments: args, result }
    const role = tool === undefined ? undefined : roleOf(tool, args)?.role
    this.#callsByTool.set(name, (this.#callsByTool.get(name) ?? 0) + 1)
    if (result.success) this.#recordSuccess(call, tool, role)
    else this.#failures++
    this.#open.record(name, args, result, tool)
    for (const file of result.modifiedFiles) this.#modified.add(file)
    if (result.modifiedFiles.length > 0) this.#lastEdit = call.sequence
    if (mayCheck(call, tool, role)) this.#lastCheck = call.sequence
    if (role === "validates") this.#recordValidation(call)
    else {
      if (role === "commits" && result.success) this.#lastCommit = call.sequence
      if (changesWork(call, tool, role !== undefined)) this.#lastChange = call.sequence
    }
  }

  #recordSuccess(
    { name, arguments: args }: RecordedCall,
    tool: ToolDefinition | undefined,
    role: WorkRole | undefined,
  ): void {
    this.#succeeded.add(name)
    if (role !== "validates" && (tool === undefined || effectsOf(tool, args)?.readOnly !== true)) this.#effects++
    for (const artifact of tool?.produces ?? []) this.#artifacts.add(artifact)
  }

  /** The calls that follow are of another reply. */
  beginRound(): void {
    this.#open.beginRound()
  }

  /** Why the work may not be handed in yet, with the last failing report; nothing when it may. */
  uncheckedReason(): { reason: string; report?: string } | undefined {
    const validation = this.#lastValidation
    const code = validation?.result.error?.code ?? ""
    const isCurrent = validation !== undefined && validation.sequence > this.#lastChange
    // Where there never was a test, asking for them again would never end; that nothing was checked is told at the end.
    if (isCurrent && code === "NO_TESTS" && !this.#checkable) return undefined
    if (this.#lastChange === 0 && (validation === undefined || NOTHING_TO_CHECK.has(code)) && !this.#checkable)
      return undefined
    if (!isCurrent) {
      const partly = this.#partial > this.#lastChange ? " (only some of its checks were run; run all of them)" : ""
      return { reason: `validation has not passed since the last change${partly}` }
    }
    if (validation.result.success) return undefined
    return {
      reason: "validation has not passed since the last change: its last run failed",
      report: validation.result.output,
    }
  }

  /** Whether a validation passed after the last change; unlike {@link uncheckedReason}, nothing to check is no pass. */
  get validated(): boolean {
    return this.#lastValidation?.result.success === true && this.#lastValidation.sequence > this.#lastChange
  }

  /** Whether anything went well after the last edit that may have been a check, such as a command or an agent. */
  get mayBeChecked(): boolean {
    return this.#lastCheck > 0 && this.#lastCheck >= this.#lastEdit
  }

  /** Whether something was committed by a tool after the last change. */
  get committed(): boolean {
    return this.#lastCommit > this.#lastChange
  }

  /** Position of the last call that may have changed the work; 0 where none has. */
  get lastChange(): number {
    return this.#lastChange
  }

  get calls(): number {
    return this.#sequence
  }

  /** How often each tool was called, well or not. */
  get callsByTool(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#callsByTool)
  }

  /** Calls that succeeded and that do more than look. */
  get effects(): number {
    return this.#effects
  }

  get failures(): number {
    return this.#failures
  }

  /** Failed calls that were put right later. */
  get corrected(): number {
    return this.#open.corrected
  }

  /** Failed calls that were never put right. */
  get openFailures(): readonly OpenFailure[] {
    return this.#open.list
  }

  /** What a person should know of this run. */
  get notes(): readonly WorkNote[] {
    return this.#notes
  }

  /** Keeps something for the person, once. */
  note(note: WorkNote): void {
    if (!this.#notes.some(({ code, message }) => code === note.code && message === note.message)) this.#notes.push(note)
  }

  get modifiedFiles(): string[] {
    // Tools name a file by its path in the workspace or on the machine; it is one file all the same.
    const relative = [...this.#modified].filter((file) => !file.startsWith("/"))
    return [...this.#modified].filter(
      (file) => !file.startsWith("/") || !relative.some((shorter) => file.endsWith(`/${shorter}`)),
    )
  }

  get artifacts(): ReadonlySet<string> {
    return this.#artifacts
  }

  hasSucceeded(name: string): boolean {
    return this.#succeeded.has(name)
  }

  get anySuccess(): boolean {
    return this.#succeeded.size > 0
  }

  /** A passed validation of a run that promises one puts right what programs complained of before it. */
  settleChecked(): void {
    if (this.validated) this.#open.settleChecked()
  }

  /**
   * A validation that ran only some of its checks proves nothing when it passes, but much when it fails; one that never
   * ran proves nothing at all. One that changed files itself, as hooks may, has to be run again.
   */
  #recordValidation(call: RecordedCall): void {
    const code = call.result.error?.code ?? ""
    if (REFUSED.has(code)) return
    if (!NOTHING_TO_CHECK.has(code)) this.#checkable = true
    if (isPart(call.result) && call.result.success) this.#partial = call.sequence
    else this.#lastValidation = call
    if (call.result.modifiedFiles.length > 0) this.#lastChange = call.sequence
  }
}

/**
 * Whether a call may have changed the work: it says which files it modified, it is declared to write, or nobody said
 * what it writes (a shell). Where in doubt it counts, failed or not, since a needless check costs little. A commit
 * changes the repository, not the work.
 */
function changesWork(call: RecordedCall, tool: ToolDefinition | undefined, handsIn: boolean): boolean {
  const { result, arguments: args } = call
  if (result.modifiedFiles.length > 0) return true
  // It may have happened, in part or whole.
  if (result.metadata?.outcomeUnknown === true) return tool !== undefined && !isReading(tool, args)
  if (handsIn || tool === undefined || REFUSED.has(result.error?.code ?? "")) return false
  if (isReading(tool, args)) return false
  const { writes } = effectsOf(tool, args) ?? {}
  return writes === undefined || (writes.length > 0 && result.success)
}

/** Nobody knows of a command, of an agent or of somebody else's tool that it checked nothing. */
function mayCheck(
  { result, arguments: args }: RecordedCall,
  tool: ToolDefinition | undefined,
  role?: WorkRole,
): boolean {
  if (!result.success || role === "commits" || role === "hands-in") return false
  if (role === "validates" || result.metadata.asked !== undefined) return true
  return tool !== undefined && !isReading(tool, args) && effectsOf(tool, args)?.writes === undefined
}

function isReading(tool: ToolDefinition, args: JsonObject): boolean {
  return effectsOf(tool, args)?.readOnly === true
}
