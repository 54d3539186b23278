import type { JsonObject, ToolDefinition, ToolResult } from "@toolwright/toolbox"
import { readShellCommit } from "./shell-commit.ts"

/** A call that has ended, as the gate sees it. */
export interface RecordedCall {
  /** Position among all calls of the run, from 1. */
  sequence: number
  name: string
  args: JsonObject
  result: ToolResult
}

/** Which tools check work, and which hand it in; by name, whole or single-action. */
export interface WorkRules {
  validators: readonly string[]
  committers: readonly string[]
}

/** The rules for the tools of this project. */
export const WORK_RULES: WorkRules = {
  validators: ["validation", "test"],
  committers: ["git_operations", "git", "bash"],
}

/**
 * What has been done in a run, and whether it has been checked since. Completion and commits are decided by this
 * record,
 * never by what a model says.
 */
export class Ledger {
  readonly #rules: WorkRules
  readonly #succeeded = new Set<string>()
  readonly #artifacts = new Set<string>()
  readonly #modified = new Set<string>()
  readonly #failed = new Set<string>()
  #sequence = 0
  #lastChange = 0
  #lastValidation: RecordedCall | undefined
  /** When some of the checks passed last. */
  #partial = 0
  #failures = 0
  #corrected = 0

  constructor(rules: WorkRules = WORK_RULES) {
    this.#rules = rules
  }

  record(name: string, args: JsonObject, result: ToolResult, tool: ToolDefinition | undefined): void {
    const call = { sequence: ++this.#sequence, name, args, result }
    if (result.success) {
      this.#succeeded.add(name)
      if (this.#failed.delete(name)) this.#corrected++
      for (const artifact of tool?.produces ?? []) this.#artifacts.add(artifact)
    } else {
      this.#failures++
      this.#failed.add(name)
    }
    for (const file of result.modifiedFiles) this.#modified.add(file)
    if (this.#isValidation(name, tool)) this.#recordValidation(call)
    else if (changesWork(call, tool, this.isCommit(name, args))) this.#lastChange = call.sequence
  }

  /** Whether a call hands work in: a commit or a push, by a version-control tool or through a shell. */
  isCommit(name: string, args: JsonObject): boolean {
    const committer = this.#rules.committers.find((known) => name === known || name.startsWith(`${known}_`))
    if (committer === undefined) return false
    if (/_(commit|push)$/.test(name)) return true
    if (args.action === "commit" || args.operation === "commit" || args.action === "push" || args.operation === "push")
      return true
    return typeof args.command === "string" && readShellCommit(args.command).handsIn
  }

  /** Why the work may not be handed in yet, with the last failing report; nothing when it may. */
  uncheckedReason(): { reason: string; report?: string } | undefined {
    const validation = this.#lastValidation
    // Where there are no tests at all, asking for them again would never end; a run that may test says so in its
    // report.
    if (
      validation !== undefined &&
      validation.sequence > this.#lastChange &&
      validation.result.error?.code === "NO_TESTS"
    )
      return undefined
    if (
      this.#lastChange === 0 &&
      (validation === undefined || NOTHING_TO_CHECK.has(validation.result.error?.code ?? ""))
    )
      return undefined
    if (validation === undefined || validation.sequence <= this.#lastChange) {
      const partly = this.#partial > this.#lastChange ? " (only some of its checks were run; run all of them)" : ""
      return { reason: `validation has not passed since the last change${partly}` }
    }
    if (validation.result.success) return undefined
    return {
      reason: "validation has not passed since the last change: its last run failed",
      report: validation.result.output,
    }
  }

  get calls(): number {
    return this.#sequence
  }

  get failures(): number {
    return this.#failures
  }

  /** Tools that failed and then succeeded, each turn counted. */
  get corrected(): number {
    return this.#corrected
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

  /**
   * A validation that ran only some of its checks proves nothing when it passes, but much when it fails; one that never
   * ran
   * proves nothing at all. One that changed files itself, as hooks may, has to be run again.
   */
  #recordValidation(call: RecordedCall): void {
    if (REFUSED.has(call.result.error?.code ?? "")) return
    if (isPart(call) && call.result.success) this.#partial = call.sequence
    else this.#lastValidation = call
    if (call.result.modifiedFiles.length > 0) this.#lastChange = call.sequence
  }

  /** A tool of another server is no validator of this workspace, whatever it is called. */
  #isValidation(name: string, tool: ToolDefinition | undefined): boolean {
    if (tool?.provenance !== undefined && tool.provenance.kind !== "local") return false
    return this.#rules.validators.some((known) => name === known || name.startsWith(`${known}_`))
  }
}

/** Failures of calls that never ran. */
const REFUSED = new Set(["INVALID_ARGUMENTS", "UNKNOWN_TOOL", "TOOL_WITHDRAWN", "PERMISSION_DENIED", "COMMIT_REFUSED"])
/** Failures of validation that say nothing about the work. */
const NOTHING_TO_CHECK = new Set(["NO_TESTS", "RUNNER_MISSING", "CANCELLED"])

/** Whether only a part was checked: the result says so, or the call named some of the tests. */
function isPart({ name, args, result }: RecordedCall): boolean {
  if ((result.data as { complete?: unknown } | null | undefined)?.complete === false) return true
  return name === "test" && (args.name !== undefined || (Array.isArray(args.files) && args.files.length > 0))
}

/**
 * Whether a call may have changed the work: it says which files it modified, it is declared to write, or nobody said
 * what it
 * writes (a shell). Where in doubt it counts, failed or not, since a needless check costs little. A commit changes the
 * repository, not the work.
 */
function changesWork(call: RecordedCall, tool: ToolDefinition | undefined, commit: boolean): boolean {
  const { result, args } = call
  if (result.modifiedFiles.length > 0) return true
  if (commit || tool === undefined || REFUSED.has(result.error?.code ?? "")) return false
  const effects =
    tool.actions?.list.find(({ action }) => action === args[tool.actions!.argument])?.effects ?? tool.effects
  if (effects?.readOnly === true) return false
  return effects?.writes === undefined || (effects.writes.length > 0 && result.success)
}
