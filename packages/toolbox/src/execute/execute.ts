import { messageOf, ToolwrightError } from "../model/errors.ts"
import type { CallPermission, Repair, ToolEvent } from "../model/events.ts"
import { failure, success, type ToolFailure, type ToolResult } from "../model/result.ts"
import type { JsonObject, JsonSchema } from "../model/schema.ts"
import type { ToolDefinition } from "../model/tool.ts"
import type { Toolset } from "../registry/toolset.ts"
import { checkArguments, checkAtOnce } from "../validate/check.ts"
import { inspect } from "../validate/compile.ts"
import { explain, type ArgumentIssue } from "../validate/explain.ts"
import { CallLimits, type Limited } from "./call-limits.ts"
import { cancelled, runLimited } from "./limit.ts"
import { withNextStep } from "./next-step.ts"
import { permit, rulingFor, type PermissionPolicy } from "./permission.ts"
import { resolveTool } from "./resolve.ts"
import { UNHOSTED } from "./unhosted.ts"

/** A call that has been resolved and validated, as middleware sees it. */
export interface CheckedCall {
  readonly id: string
  readonly tool: ToolDefinition
  readonly arguments: JsonObject
  readonly signal: AbortSignal
  /** See {@link ExecuteOptions.caller}. */
  readonly caller?: string
  /** The run that it belongs to. */
  readonly runId?: string
  /** The part of the run, where it works in phases. */
  readonly phase?: string
  /** The caller wants no result from a cache. */
  readonly noCache: boolean
}

/**
 * Stands around the running of a call (cache, policy, redaction). It must return a result; what it throws becomes one.
 */
export type Middleware = (call: CheckedCall, next: () => Promise<ToolResult>) => Promise<ToolResult>

/** How one call is to be executed. */
export interface ExecuteOptions {
  signal?: AbortSignal
  /** In place of `signal`: what the calls of a run share, which whoever made it closes when the run is over. */
  limits?: CallLimits
  callId?: string
  runId?: string
  /** The part of the run, where it works in phases. */
  phase?: string
  /** Who calls, as an opaque name, where a surface has several callers: nothing of one is shown to another. */
  caller?: string
  /** See `ToolContext.idempotencyKey`; made of run and call unless given. */
  idempotencyKey?: string
  /** Longest time in milliseconds where the tool does not say; {@link DEFAULT_TIMEOUT_MS} unless given. */
  timeoutMs?: number
  permissions?: PermissionPolicy
  middleware?: readonly Middleware[]
  /** Asks for a fresh result where a cache stands around the call. */
  noCache?: boolean
  /**
   * Resolves, repairs, validates and looks up the permission, and runs nothing: neither middleware nor handler, nor a
   * question.
   */
  dryRun?: boolean
  onEvent?(event: ToolEvent): void
}

/** The output of a call that was valid and not run, word for word: small models are trained on it. */
export const NOT_RUN = "Not run: this is a dry run."

/** Two minutes: long enough for a test suite, short enough that nobody waits for nothing. */
export const DEFAULT_TIMEOUT_MS = 120_000

const never = new AbortController().signal

/**
 * One call from name and raw arguments to a result: resolve → repair and validate → permit → middleware → run under a
 * time limit → record. Never throws; events come in order, and a `tool-end` for every call, refused ones included.
 */
export async function executeCall(
  tools: Toolset,
  call: { name: string; arguments: unknown },
  options: ExecuteOptions = {},
): Promise<ToolResult> {
  const telling = new Telling(tools, options)
  const resolved = resolveTool(tools, call)
  if ("refused" in resolved) return telling.refuse(call.name, call.arguments, resolved)
  const { tool } = resolved
  const checked = checkAtOnce(tool, call.arguments) ?? (await checkArguments(tool, call.arguments))
  if ("refused" in checked) return telling.refuse(tool.name, call.arguments, checked, resolved.repairs)
  const { args } = checked
  const repairs = [...resolved.repairs, ...checked.repairs]
  telling.start(tool.name, args, { repairs, provenance: tool.provenance ?? LOCAL })
  const result =
    options.dryRun === true
      ? notRun(options.permissions, tool, args)
      : await carryOut({ tool, now: () => tools.get(call.name) }, args, options, telling)
  return telling.end(tool.name, result, repairs)
}

/** Tells whoever listens of one call. */
class Telling {
  readonly callId: string
  readonly #tools: Toolset
  readonly #listener: ExecuteOptions["onEvent"]
  readonly #started = performance.now()
  /** How the rules settled it, where they had a say. */
  permission: CallPermission | undefined

  constructor(tools: Toolset, { callId, onEvent }: ExecuteOptions) {
    this.callId = callId ?? `call-${crypto.randomUUID().slice(0, 8)}`
    this.#tools = tools
    this.#listener = onEvent
  }

  #tell(event: ToolEvent): void {
    try {
      this.#listener?.(event)
    } catch {
      // What listens cannot break the call that it listens to.
    }
  }

  start(name: string, args: JsonObject, about: Pick<ToolStart, "repairs" | "provenance" | "refused">): void {
    this.#tell({ type: "tool-start", callId: this.callId, name, arguments: args, ...about })
  }

  progress(name: string, update: object): void {
    this.#tell({ type: "tool-progress", callId: this.callId, name, ...update })
  }

  end(name: string, result: ToolResult, repairs: Repair[]): ToolResult {
    const { callId, permission } = this
    const final = finished(withNextStep(this.#tools, result), repairs, performance.now() - this.#started)
    this.#tell({ type: "tool-end", callId, name, result: final, ...(permission === undefined ? {} : { permission }) })
    return final
  }

  refuse(name: string, given: unknown, { refused }: { refused: ToolFailure }, repairs: Repair[] = []): ToolResult {
    this.start(name, isObject(given) ? given : {}, { repairs, provenance: LOCAL, refused: true })
    return this.end(name, refused, repairs)
  }
}

type ToolStart = Extract<ToolEvent, { type: "tool-start" }>

/** What comes of a call that may be made as it is. */
async function carryOut(
  { tool, now }: { tool: ToolDefinition; now: () => ToolDefinition | undefined },
  args: JsonObject,
  options: ExecuteOptions,
  telling: Telling,
): Promise<ToolResult> {
  const { callId } = telling
  // Asking, what stands around and the tool itself listen one after another: to one listener and one timer.
  const limits = options.limits ?? new CallLimits(options.signal, true)
  const signal = limits.signal ?? never
  const progress = (update: object): void => telling.progress(tool.name, update)
  const context = { ...UNHOSTED, callId, ...belonging(options), progress }
  const run = (): Promise<ToolResult> => {
    const timeoutMs = tool.timeoutMs ?? options.timeoutMs ?? DEFAULT_TIMEOUT_MS
    const answer = runLimited(tool, args, context, { timeoutMs, limits })
    return tool.outputSchema === undefined ? answer : answer.then((result) => asPromised(tool, result))
  }
  try {
    if (isRuled(options, tool)) {
      const asked = { tool, arguments: args, callId }
      const { told, refused } = await unlessAborted(permit(options.permissions, asked, signal, now), limits)
      telling.permission = told
      if (refused !== undefined) return refused
    }
    const surrounded = around(
      options.middleware ?? [],
      { id: callId, tool, arguments: args, signal, noCache: options.noCache ?? false, ...callerOf(options) },
      run,
    )
    return await unlessAborted(surrounded, limits)
  } catch (thrown) {
    if (signal.aborted) return cancelled(tool)
    const message = `The call of '${tool.name}' could not be carried out: ${messageOf(thrown)}`
    return failure({ code: "EXECUTION_FAILED", message })
  } finally {
    if (limits !== options.limits) limits.letGo()
  }
}

function finished(result: ToolResult, repairs: Repair[], tookMs: number): ToolResult {
  const metadata = repairs.length === 0 ? result.metadata : { ...result.metadata, repairs }
  return { ...result, metadata, executionTimeMs: Math.max(tookMs, 0.001) }
}

/** What a valid call ends in when it is not run: `metadata` says so, and whether somebody would have been asked. */
function notRun(permissions: PermissionPolicy | undefined, tool: ToolDefinition, args: JsonObject): ToolResult {
  const ruling = rulingFor(permissions, tool, args)
  const metadata = { dryRun: true, permission: ruling.permission }
  if (ruling.permission === "deny") return { ...ruling.refused, metadata }
  return success({ output: NOT_RUN, metadata })
}

/** Whether somebody may have a say in the call: rules, or whoever has to approve a tool that has changed. */
function isRuled({ permissions }: ExecuteOptions, { changed }: ToolDefinition): boolean {
  return permissions !== undefined || changed !== undefined
}

function callerOf({ caller, runId, phase }: ExecuteOptions): Pick<CheckedCall, "caller" | "runId" | "phase"> {
  return {
    ...(caller === undefined ? {} : { caller }),
    ...(runId === undefined ? {} : { runId }),
    ...(phase === undefined ? {} : { phase }),
  }
}

/** A call of a run is known by both; any other is made once. */
function idempotencyKeyOf({ idempotencyKey, runId, callId }: ExecuteOptions): string {
  if (idempotencyKey !== undefined) return idempotencyKey
  return runId === undefined || callId === undefined ? crypto.randomUUID() : `${runId}/${callId}`
}

/** Whose call it is. */
function belonging(options: ExecuteOptions): { runId?: string; caller?: string; idempotencyKey: string } {
  const { runId, caller } = options
  return {
    idempotencyKey: idempotencyKeyOf(options),
    ...(runId === undefined ? {} : { runId }),
    ...(caller === undefined ? {} : { caller }),
  }
}

const LOCAL = { kind: "local", name: "local" } as const

function around(
  middleware: readonly Middleware[],
  call: CheckedCall,
  run: () => Promise<ToolResult>,
): Promise<ToolResult> {
  const step = (index: number): Promise<ToolResult> => {
    const next = middleware[index]
    return next === undefined ? run() : next(call, () => step(index + 1))
  }
  return step(0)
}

/**
 * A success whose data is not what the tool promised, or cannot be compared with it. Of a tool of this process it is a
 * failure: whoever reads its data by their type must not read others. Of a tool from elsewhere, whose promise nobody
 * here can keep, it is still its result, with a note of it.
 */
async function asPromised(tool: ToolDefinition, result: ToolResult): Promise<ToolResult> {
  if (!result.success || tool.outputSchema === undefined) return result
  const own = (tool.provenance?.kind ?? "local") === "local"
  if (result.data === undefined && !own) return result
  const { outputProblems, comparable } = await problemsOf(tool.outputSchema, result.data, !own)
  if (outputProblems.length === 0) return result
  const metadata = { ...result.metadata, outputProblems }
  if (!own || !comparable) return { ...result, metadata }
  const list = outputProblems.slice(0, 5).map(({ path, message }) => `- ${path === "" ? "" : `${path}: `}${message}`)
  return failure({
    code: "INVALID_OUTPUT",
    message: `The tool '${tool.name}' ran, and its result is not what it promises:\n${list.join("\n")}`,
    hint: "What it did is done: calling it again does it again. The tool has to be put right.",
    modifiedFiles: result.modifiedFiles,
    ...(result.data === undefined ? {} : { data: result.data }),
    metadata,
  })
}

/** What of the data is not as promised; with a schema that nobody can read, that they cannot be compared. */
async function problemsOf(
  schema: JsonSchema,
  data: unknown,
  foreign: boolean,
): Promise<{ outputProblems: ArgumentIssue[]; comparable: boolean }> {
  try {
    const found = await inspect(schema, data, { foreign })
    return { outputProblems: found.errors.length === 0 ? [] : explain(found).issues, comparable: true }
  } catch (thrown) {
    return { outputProblems: [{ path: "", message: messageOf(thrown) }], comparable: false }
  }
}

/** How long middleware may still take once its call was cancelled, in milliseconds. */
const GRACE_MS = 50

/**
 * What a promise brings; or a rejection soon after the signal: neither a question to a person nor middleware outlasts
 * it.
 */
function unlessAborted<Value>(promise: Promise<Value>, limits: CallLimits): Promise<Value> {
  if (limits.signal === undefined) return promise
  return new Promise((resolve, reject) => {
    let timer: ReturnType<typeof setTimeout> | undefined
    const limited: Limited = {
      aborted() {
        timer = setTimeout(() => reject(new ToolwrightError("CANCELLED", "The call was cancelled.")), GRACE_MS)
      },
    }
    limits.watch(limited)
    const over = (): void => {
      clearTimeout(timer)
      limits.release(limited)
    }
    promise.then(
      (value) => {
        over()
        resolve(value)
      },
      (thrown: unknown) => {
        over()
        reject(thrown)
      },
    )
  })
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}
