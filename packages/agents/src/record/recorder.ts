import {
  approvalsIn,
  consumeApproval,
  putQuestion,
  unwritable,
  type Execute,
  type NewEvent,
  type RunLog,
  type RunWriter,
} from "@toolwright/store"
import { ToolwrightError, type RunEvent } from "@toolwright/toolbox"
import type { NoteWork } from "../gate/work-record.ts"
import { Encoder, type GivenToRun, type Snapshot } from "./encode.ts"
import { holderHere } from "./holder.ts"
import { answerIn, newQuestion, type Answer, type AskedQuestion } from "./approval.ts"
import { withShownNames } from "./shown-names.ts"
import { INSERT_EFFECT, END_EFFECT, type StartingEffect } from "./effects.ts"

/** Writes one run into the log. */
export interface RunRecorder {
  /** Takes note of an event of a call as soon as it happens; `write` gets it too, in its turn. */
  hear(event: RunEvent): void
  /**
   * Writes events, in order, before anybody else hears of them. What costs something to have again is on record once
   * this has ended; the rest is with the next that does, or soon.
   *
   * @throws ToolwrightError `STALE_RUN`, `LOG_UNWRITABLE`: nothing more may be done for this run
   */
  write(events: readonly RunEvent[], snapshot: () => Snapshot): Promise<void>
  /** An event as others may hear of it: no name of a file in it holds a secret. */
  shown<Event extends RunEvent>(event: Event): Event
  /** Takes down what the gate saw of the work; it is on record with the next call that takes effect. */
  readonly noteWork: NoteWork
  /** Whether a call has a permission that is used up with its start. */
  permitted(callId: string): boolean
  /** Puts on record that a call is about to take effect, before it does. @throws as `write` */
  begin(effect: StartingEffect): Promise<void>
  /**
   * Whether a call may be made, where nobody is there to be asked: the answer that was given meanwhile, or
   * the question's id, once that is on record.
   */
  ask(question: AskedQuestion): Promise<Answer>
  /** Aborted once the run was taken over by somebody else. */
  readonly lost: AbortSignal
  /** Ends what keeps it alive; the run itself ends with its `run-end`. */
  close(): Promise<void>
}

/** Where a run belongs. */
export interface RunPlace {
  /** Where it was asked for: `run`, `chat`, `gateway`, … */
  surface: string
  workspace?: string
  task?: string
  caller?: string
  /** The call of another run that asks for it. */
  askedBy?: { run: string; call: string; key: string }
  /** How many agents have asked each other down to it, and how many may. */
  nesting?: { depth: number; max: number }
}

/** Settings of {@link recordRun}. */
export interface RecorderOptions {
  /** Takes secrets out of everything that is written. */
  redact?: (text: string) => string
  now?: () => number
}

/** A run that goes on in its log. */
export interface ResumedRecord {
  writer: RunWriter
  encoder: Encoder
}

const STREAMED = new Set<RunEvent["type"]>(["text-delta", "reasoning-delta", "call-start", "args-delta"])
/** What costs something to have again: with it, all that came before is written at once. */
const WRITTEN_AT_ONCE = new Set<RunEvent["type"]>(["run-start", "run-resume", "reply", "tool-end", "run-end"])
/** How long other events wait for these, in milliseconds. */
const LATEST_MS = 100
/** How often it is said that the run is under way, in milliseconds. */
const BEAT_MS = 10_000

/** Records a run from its beginning: the log learns of it with its first event. */
export function recordRun(
  log: RunLog,
  place: RunPlace,
  given: GivenToRun & { runId: string },
  options: RecorderOptions = {},
): RunRecorder {
  return new LogRecorder(options, given, (event) => {
    const { runId, agent, model, task } = event
    return log.begin({
      id: runId,
      agent,
      model,
      title: (options.redact ?? ((text) => text))(task),
      holder: holderHere(),
      time: (options.now ?? Date.now)(),
      ...place,
    })
  })
}

/** Records what a run does that goes on. */
export function recordOn({ writer, encoder }: ResumedRecord, options: RecorderOptions = {}): RunRecorder {
  return new LogRecorder(options, {}, undefined, { writer, encoder })
}

type RunStart = Extract<RunEvent, { type: "run-start" }>

class LogRecorder implements RunRecorder {
  readonly #options: RecorderOptions
  readonly #given: GivenToRun
  readonly #start: ((event: RunStart) => Promise<RunWriter>) | undefined
  readonly #now: () => number
  #writer: RunWriter | undefined
  #encoder: Encoder | undefined
  #pending: NewEvent[] = []
  readonly #heard = new WeakSet<RunEvent>()
  /** Calls whose effect has begun: which of the run each is, by its id. */
  readonly #begun = new Map<string, number>()
  /** Calls whose effect has ended, and is to be written with the events that wait. */
  #ended: number[] = []
  #timer: ReturnType<typeof setTimeout> | undefined
  #beat: ReturnType<typeof setInterval> | undefined
  #failure: { thrown: unknown } | undefined
  #over = false
  readonly #lost = new AbortController()
  /** Permissions that calls have and that are used up with their start. */
  readonly #permits = new Map<string, string>()
  #closed = false

  constructor(
    options: RecorderOptions,
    given: GivenToRun,
    start: ((event: RunStart) => Promise<RunWriter>) | undefined,
    resumed?: ResumedRecord,
  ) {
    this.#options = options
    this.#given = given
    this.#start = start
    this.#now = options.now ?? Date.now
    if (resumed !== undefined) this.#begin(resumed.writer, resumed.encoder)
  }

  get lost(): AbortSignal {
    return this.#lost.signal
  }

  hear(event: RunEvent): void {
    if (STREAMED.has(event.type) || this.#closed) return
    this.#heard.add(event)
    this.#note(event, NO_SNAPSHOT)
  }

  async write(events: readonly RunEvent[], snapshot: () => Snapshot): Promise<void> {
    let atOnce = false
    for (const event of events) {
      if (STREAMED.has(event.type)) continue
      if (event.type === "run-start" && this.#writer === undefined && this.#start !== undefined) {
        const writer = await this.#start(event)
        this.#begin(writer, new Encoder(writer, this.#options.redact ?? ((text) => text), this.#given))
      }
      if (!this.#heard.has(event)) this.#note(event, snapshot)
      atOnce ||= WRITTEN_AT_ONCE.has(event.type)
      if (event.type === "run-end") return this.#end(event)
    }
    if (this.#failure !== undefined) throw this.#failure.thrown
    if (atOnce) await this.#flush()
    else if (this.#pending.length > 0) this.#later()
  }

  shown<Event extends RunEvent>(event: Event): Event {
    return withShownNames(event, this.#options.redact) as Event
  }

  readonly noteWork: NoteWork = (type, body) => {
    const encoder = this.#encoder!
    const made = body((text) => encoder.keepWhole(text))
    this.#pending.push({ type, body: encoder.text(made), time: this.#now() })
  }

  async begin(effect: StartingEffect): Promise<void> {
    const { callId, index, key, tool, declared, before } = effect
    const writer = this.#writer!
    const time = this.#now()
    const body = this.#encoder!.text({
      callId,
      name: tool,
      index,
      key,
      declared,
      ...(before === undefined ? {} : { before }),
    })
    this.#pending.push({ type: "effect-start", body, time })
    this.#begun.set(callId, index)
    const permit = this.#permits.get(callId)
    this.#permits.delete(callId)
    await this.#flush(async (execute) => {
      if (permit !== undefined) await consumeApproval(execute, permit, time)
      await effect.permitted?.(execute)
      const noted = before === undefined ? null : this.#encoder!.text(before)
      await execute(INSERT_EFFECT, [writer.run, index, callId, key, tool, declared, writer.fence, time, noted])
    })
  }

  permitted(callId: string): boolean {
    return this.#permits.has(callId)
  }

  async ask(asked: AskedQuestion): Promise<Answer> {
    const encoder = this.#encoder!
    const { run, database } = this.#writer!
    const time = this.#now()
    if (encoder.holdsSecret(asked.arguments))
      return "its arguments hold a secret, which is not kept while a question waits"
    const question = newQuestion(run, asked, { time, safe: encoder.text(asked.arguments) })
    const found = await approvalsIn(database)
      .about(question, time)
      .catch((thrown: unknown) => Promise.reject(unwritable(run, thrown)))
    const answer = found === undefined ? undefined : answerIn(found)
    if (typeof answer === "object") return answer
    if (answer !== undefined) {
      const { id, state, answered_by: by, note } = found!
      const body = encoder.text({ callId: asked.callId, approval: id, state, by, note })
      this.#pending.push({ type: "approval-answer", body, time })
      if (state === "allowed") this.#permits.set(asked.callId, id)
      return answer
    }
    const { id, tool, question: text } = question
    this.#pending.push({
      type: "approval-ask",
      body: encoder.text({ callId: asked.callId, approval: id, name: tool, question: text }),
      time,
    })
    await this.#flush((execute) => putQuestion(execute, question))
    return { waiting: id }
  }

  async close(): Promise<void> {
    this.#closed = true
    clearTimeout(this.#timer)
    clearInterval(this.#beat)
    if (this.#writer === undefined || this.#over || this.#failure !== undefined) return
    // A run that nobody waits for to its end leaves what happened so far, and waits for whoever goes on with it.
    await this.#flush().catch(() => {})
    await this.#writer.release().catch(() => {})
  }

  #begin(writer: RunWriter, encoder: Encoder): void {
    this.#writer = writer
    this.#encoder = encoder
    this.#beat = setInterval(() => {
      writer.beat(this.#now()).catch((thrown: unknown) => {
        if (ToolwrightError.isInstance(thrown) && thrown.code === "STALE_RUN") this.#lose(thrown)
      })
    }, BEAT_MS)
    this.#beat.unref()
  }

  #lose(thrown: unknown): void {
    this.#failure ??= { thrown }
    this.#lost.abort(thrown)
  }

  #note(event: RunEvent, snapshot: () => Snapshot): void {
    const ended = event.type === "tool-end" ? this.#begun.get(event.callId) : undefined
    if (event.type === "tool-end" && ended !== undefined) {
      this.#begun.delete(event.callId)
      this.#ended.push(ended)
    }
    this.#pending.push({ type: event.type, body: this.#encoder!.encode(event, snapshot), time: this.#now() })
  }

  #later(): void {
    this.#timer ??= setTimeout(() => {
      this.#flush().catch((thrown: unknown) => void (this.#failure ??= { thrown }))
    }, LATEST_MS)
  }

  #taken(): { events: NewEvent[]; ended: number[] } {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const taken = { events: this.#pending, ended: this.#ended }
    this.#pending = []
    this.#ended = []
    return taken
  }

  async #flush(also?: (execute: Execute) => Promise<void>): Promise<void> {
    const { events, ended } = this.#taken()
    const writer = this.#writer!
    const time = this.#now()
    try {
      await writer.append(
        events,
        also === undefined && ended.length === 0
          ? undefined
          : async (execute) => {
              for (const index of ended) await execute(END_EFFECT, [time, writer.run, index])
              await also?.(execute)
            },
      )
    } catch (thrown) {
      if (ToolwrightError.isInstance(thrown) && thrown.code === "STALE_RUN") this.#lose(thrown)
      this.#failure ??= { thrown }
      throw thrown
    }
  }

  async #end({ summary }: Extract<RunEvent, { type: "run-end" }>): Promise<void> {
    if (this.#failure !== undefined) throw this.#failure.thrown
    if (this.#ended.length > 0) {
      const last = this.#pending.pop()!
      await this.#flush()
      this.#pending.push(last)
    }
    const { events } = this.#taken()
    clearInterval(this.#beat)
    this.#over = true
    if (summary.outcome === "waiting") {
      // It has not ended: whoever goes on with it finds the question and its answer.
      this.#closed = true
      return this.#writer!.release(events.slice(0, -1))
    }
    await this.#writer!.end(events, {
      outcome: summary.outcome,
      summary: this.#encoder!.text(summary),
      time: this.#now(),
    })
  }
}

const NO_SNAPSHOT = (): Snapshot => {
  throw new ToolwrightError("RUN_FAILED", "An event of a call has nothing to say of the run.")
}
