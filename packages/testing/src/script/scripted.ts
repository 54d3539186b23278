import {
  checkConstraints,
  excerpt,
  playStep,
  type Backend,
  type Chunks,
  type InferEvent,
  type InferRequest,
  type Screenplay,
} from "@toolwright/backends"
import { messageOf, ToolwrightError } from "@toolwright/toolbox"
import { getFormatter } from "@toolwright/toolformat"
import type { TestModel } from "../model.ts"
import { originOf } from "../origin.ts"
import { checkCalls, checkWrittenCalls, type WrittenCall } from "./check-calls.ts"
import { checkReply } from "./check-replies.ts"
import type { ReplyParts, ScriptedReply } from "./reply.ts"
import { shownIn, type Shown } from "./shown.ts"
import { describeReply, toStep, type PlannedStep } from "./to-step.ts"

/** Settings of a scripted model. */
export interface ScriptedModelOptions {
  /** The model's name, from which its format is chosen; `scripted` unless given. */
  model?: string
  /**
   * Whether tools are offered and called natively; otherwise calls are written as text, in the syntax of the model's
   * family.
   */
  nativeTools?: boolean
  /**
   * How replies are cut into deltas: a number of characters, `char`, or the pieces' lengths; 7 characters unless given.
   */
  chunks?: Chunks
}

/** A model that says what a test wrote, and nothing else. */
export interface ScriptedModel extends TestModel {
  readonly kind: "scripted"
  /** What it was shown, inference by inference. */
  readonly shown: readonly Shown[]
  /** How many replies were not played to their end; one that is repeated always counts until it was played once. */
  readonly remaining: number
}

/**
 * A model for tests. Each inference gets the next reply. It is strict: a request for which there is no reply, a check
 * that fails, a call of a tool that was not offered or with arguments that its schema forbids, and a reply that was not
 * played each fail the test; `runAgent` throws them, and `done()` for runs of your own.
 *
 * @param script the replies, or a screenplay (see `loadScreenplay`)
 * @throws ToolwrightError `SCREENPLAY_INVALID` when a reply is malformed, for example with a misspelt key
 * @example
 * const model = scripted([
 *   { call: "get_weather", arguments: { city: "Oslo" } },
 *   { expect: { result: "4 °C" }, text: "Take a coat." },
 * ])
 */
export function scripted(
  script: readonly ScriptedReply[] | Screenplay,
  options: ScriptedModelOptions = {},
): ScriptedModel {
  const placed = originOf(scripted)
  const { replies, screenplay } = entriesOf(script)
  const modelName = options.model ?? screenplay?.model ?? "scripted"
  const nativeTools = options.nativeTools ?? screenplay?.abilities?.nativeTools ?? true
  const formatter = nativeTools ? undefined : getFormatter(modelName)
  const shown: Shown[] = []
  const written: WrittenCall[] = []
  const captured = new Map<string, unknown>()
  let violation: ToolwrightError | undefined
  let index = 0
  let played = 0

  function next(): { entry: Entry; label: string } {
    const entry = replies[index]
    if (entry === undefined) throw exhausted(replies.length, shown)
    const label = `Reply ${index + 1} of ${replies.length} (${entry.description})`
    if (entry.repeat !== "always" && ++played >= entry.repeat) {
      index++
      played = 0
    } else if (entry.repeat === "always") played++
    return { entry, label }
  }

  /** Checks everything that could fail the test, before a word is said. */
  async function planned(
    request: InferRequest,
  ): Promise<{ plan: PlannedStep; place: Parameters<typeof playStep>[2]["place"] }> {
    const now = shownIn(structuredClone(request), shown.length + 1)
    shown.push(now)
    const { entry, label } = next()
    const plan = await entry.plan(now, label)
    for (const check of plan.checks) {
      try {
        await check(now)
      } catch (cause) {
        throw new ToolwrightError("SCREENPLAY_ASSERTION", `${label}: ${messageOf(cause)}`, { cause })
      }
    }
    if ((request.tools ?? []).length > 0) await checkCalls(plan.calls, request.tools!, label)
    else written.push(...plan.calls.map((call) => ({ ...call, label })))
    return { plan, place: { number: index, inference: shown.length, label } }
  }

  async function* infer(request: InferRequest, { signal }: { signal?: AbortSignal } = {}): AsyncGenerator<InferEvent> {
    signal?.throwIfAborted()
    checkConstraints(request)
    if (violation !== undefined) throw violation
    try {
      const { plan, place } = await planned(request)
      yield* playStep(plan.step, request, {
        place,
        captured,
        modelName,
        chunks: options.chunks ?? screenplay?.chunks ?? 7,
        formatter,
        signal,
      })
    } catch (thrown) {
      if (isViolation(thrown)) violation ??= placed(thrown)
      throw thrown
    }
  }

  const left = (): Entry[] => replies.slice(replies[index]?.repeat === "always" && played > 0 ? index + 1 : index)
  return {
    kind: "scripted",
    abilities: { grammar: false, jsonSchema: true, ...screenplay?.abilities, nativeTools },
    modelName: () => modelName,
    infer,
    shown,
    get remaining() {
      return left().length
    },
    judge(calls) {
      try {
        checkWrittenCalls(written, calls)
      } catch (thrown) {
        throw placed(thrown as Error)
      }
    },
    done() {
      if (violation !== undefined) throw violation
      if (left().length > 0) throw placed(unplayed(left(), replies.length, shown))
    },
  } satisfies ScriptedModel & Backend
}

/** One reply, ready to be planned when its turn comes. */
interface Entry {
  number: number
  description: string
  repeat: number | "always"
  plan(shown: Shown, label: string): Promise<PlannedStep>
}

function entriesOf(script: readonly ScriptedReply[] | Screenplay): { replies: Entry[]; screenplay?: Screenplay } {
  if (isList(script)) return { replies: script.map((reply, at) => entryOf(reply, at + 1)) }
  if (!Array.isArray(script?.steps))
    throw new ToolwrightError("SCREENPLAY_INVALID", "scripted() takes a list of replies, or a screenplay.")
  const replies = script.steps.map((step, at): Entry => ({
    number: at + 1,
    description: step.name ?? "a step of a screenplay",
    repeat: step.repeat ?? 1,
    plan: () => Promise.resolve({ step, checks: [], calls: [] }),
  }))
  return { replies, screenplay: script }
}

function isList(script: readonly ScriptedReply[] | Screenplay): script is readonly ScriptedReply[] {
  return Array.isArray(script)
}

function entryOf(reply: ScriptedReply, number: number): Entry {
  checkReply(reply, `Reply ${number}`)
  const fixed = typeof reply === "function" ? undefined : toStep(reply)
  return {
    number,
    description: describeReply(reply),
    repeat: typeof reply === "object" ? (reply.repeat ?? 1) : 1,
    async plan(shown, label) {
      if (fixed !== undefined) return fixed
      const made = await computed(reply as (shown: Shown) => string | ReplyParts, shown, label)
      checkReply(made, label)
      return toStep(made)
    },
  }
}

async function computed(
  reply: (shown: Shown) => string | ReplyParts | Promise<string | ReplyParts>,
  shown: Shown,
  label: string,
): Promise<string | ReplyParts> {
  try {
    return await reply(shown)
  } catch (cause) {
    throw new ToolwrightError("SCREENPLAY_ASSERTION", `${label}: ${messageOf(cause)}`, { cause })
  }
}

function isViolation(thrown: unknown): thrown is ToolwrightError {
  return ToolwrightError.isInstance(thrown) && thrown.code.startsWith("SCREENPLAY_")
}

function exhausted(count: number, shown: readonly Shown[]): ToolwrightError {
  const replies = count === 1 ? "1 reply" : `${count} replies`
  return new ToolwrightError(
    "SCREENPLAY_EXHAUSTED",
    `The model was asked ${shown.length} times, but the script has ${replies}. Add a reply, or find out why it ` +
      `was asked again.\n` +
      `It was shown last: ${excerpt(shown.at(-1)?.last ?? "", 600)}`,
  )
}

function unplayed(left: readonly Entry[], count: number, shown: readonly Shown[]): ToolwrightError {
  const list = left.map(({ number, description }) => `- reply ${number}: ${description}`).join("\n")
  const asked = shown.length === 1 ? "once" : `${shown.length} times`
  const after = shown.length === 0 ? "" : `\nIt was shown last: ${excerpt(shown.at(-1)!.last, 600)}`
  return new ToolwrightError(
    "SCREENPLAY_UNPLAYED",
    `${left.length} of ${count} replies ${left.length === 1 ? "was" : "were"} not played; the model was asked ` +
      `${asked}:\n${list}${after}`,
  )
}
