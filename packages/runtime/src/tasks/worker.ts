import { hostname } from "node:os"
import { setTimeout as sleep } from "node:timers/promises"
import type { NewTask, TaskClaim, TaskEnd, TaskPause, TaskQueue, TaskRow } from "@toolwright/store"
import { messageOf, ToolwrightError } from "@toolwright/toolbox"
import { releaseDead } from "./dead.ts"

/** What a task's work is given. */
export interface TaskContext {
  /**
   * Aborted when the task was cancelled, went to another worker, or this one stops; its reason is an {@link
   * Interruption}.
   */
  readonly signal: AbortSignal
  /** Notes the run in which the task is worked on. @throws ToolwrightError `STALE_TASK` */
  inRun(run: string): Promise<void>
}

/**
 * What came of the work on a task: its end, that it is given back for a while, or that another has to be done first.
 */
export type Performed = TaskEnd | ({ state: "queued" } & TaskPause) | { state: "waiting"; on: NewTask; reason: string }

/** Settings of {@link startWorker}. Times are in milliseconds. */
export interface WorkerOptions {
  queue: TaskQueue
  /** Works on a task. What it throws is a failure that is not tried again. */
  perform(task: TaskRow, context: TaskContext): Promise<Performed>
  /** How many tasks are worked on at once; 1 unless given. */
  concurrency?: number
  /** After so long without a sign of life a worker is taken for dead; 30,000 unless given. */
  lease?: number
  /** How long to wait where there is nothing to do; 500 unless given. */
  idle?: number
  /** Only tasks whose workspace is this folder or lies below it, and those that name none. */
  within?: string
  /** Only tasks of this plan. */
  plan?: string
  /** Under which name, that no other worker has or had; unless given of the machine, the process and by chance. */
  holder?: string
  /** Gets a line for each task that begins and ends, and for what goes wrong. */
  log?: (line: string) => void
  /** Called with what came of each task, once that is written down. */
  onEnd?: (end: Performed, task: TaskRow) => void
  /** Called each time that nothing is there to take, and nothing under way. */
  onEmpty?: () => unknown
}

/** A worker that takes tasks until it is told to stop. */
export interface Worker extends AsyncDisposable {
  readonly holder: string
  /** The tasks that are worked on. */
  readonly busy: readonly string[]
  /**
   * Takes no more tasks and waits for those under way; after the deadline they are interrupted and given back, so that
   * another worker goes on with them.
   *
   * @param deadline in milliseconds; without one they may take as long as they need
   */
  drain(deadline?: number): Promise<void>
}

/** Why a task's signal was aborted: cancelled by somebody, held by another worker, or this worker stops. */
export type Interruption = "cancelled" | "stale" | "stopped"

/** Starts to work on the tasks of a queue. */
export function startWorker(options: WorkerOptions): Worker {
  return new QueueWorker(options)
}

type Settings = WorkerOptions & Required<Pick<WorkerOptions, "concurrency" | "lease" | "idle" | "log">>

class QueueWorker implements Worker {
  readonly holder: string
  readonly #options: Settings
  readonly #stopping = new AbortController()
  readonly #busy = new Map<string, { controller: AbortController; end: Promise<void> }>()
  readonly #looping: Promise<void>
  #wake = (): void => {}
  #reaped = 0
  /** What came of tasks and could not be written down while the database was away. */
  readonly #unwritten = new Map<string, () => Promise<void>>()

  constructor(options: WorkerOptions) {
    this.holder = options.holder ?? `${hostname()}/${process.pid}/${crypto.randomUUID().slice(0, 8)}`
    this.#options = { concurrency: 1, lease: 30_000, idle: 500, log: () => {}, ...options }
    this.#looping = this.#loop()
  }

  get busy(): string[] {
    return [...this.#busy.keys()]
  }

  async drain(deadline?: number): Promise<void> {
    this.#stopping.abort()
    this.#wake()
    await this.#looping
    const ends = Promise.all([...this.#busy.values()].map(({ end }) => end))
    if (deadline !== undefined) {
      const late = setTimeout(() => this.#busy.forEach(({ controller }) => controller.abort("stopped")), deadline)
      await ends.finally(() => clearTimeout(late))
    }
    await ends
    await this.#writeLate()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.drain(0)
  }

  async #loop(): Promise<void> {
    const { concurrency, idle, log, onEmpty } = this.#options
    const { signal } = this.#stopping
    while (!signal.aborted) {
      // Set before anything is asked, so that what ends meanwhile is not missed.
      const woken = new Promise<void>((resolve) => (this.#wake = resolve))
      try {
        await this.#writeLate()
        await this.#takeOver()
        await this.#heed()
        if (this.#busy.size < concurrency) await this.#takeTasks()
        if (this.#busy.size === 0) await onEmpty?.()
      } catch (thrown) {
        log(`the tasks cannot be read: ${messageOf(thrown)}`)
      }
      await Promise.race([woken, pause(idle, signal)])
    }
  }

  async #takeOver(): Promise<void> {
    const { queue, lease, log } = this.#options
    const now = Date.now()
    if (now - this.#reaped < lease / 2) return
    if (this.#reaped === 0) await releaseDead(queue)
    this.#reaped = now
    const { queued, abandoned } = await queue.reap(now - lease, this.holder)
    if (queued + abandoned > 0) log(`${queued} tasks of workers that are gone were queued again, ${abandoned} given up`)
  }

  /** A task that was cancelled is let go of as soon as that is seen, and not when the next sign of life is due. */
  async #heed(): Promise<void> {
    for (const id of await this.#options.queue.cancelled(this.busy)) this.#busy.get(id)?.controller.abort("cancelled")
  }

  async #takeTasks(): Promise<void> {
    const { queue, concurrency, within, plan } = this.#options
    for (const claim of await queue.claim(this.holder, concurrency - this.#busy.size, { within, plan })) {
      const { id } = claim.task
      const controller = new AbortController()
      const end = this.#work(claim, controller).finally(() => {
        this.#busy.delete(id)
        this.#wake()
      })
      this.#busy.set(id, { controller, end })
    }
  }

  async #work(claim: TaskClaim, controller: AbortController): Promise<void> {
    const { queue, lease, log, onEnd } = this.#options
    const { task } = claim
    log(`${task.id} begins: ${task.agent}${task.attempts > 1 ? `, try ${task.attempts} of ${task.max_attempts}` : ""}`)
    const interrupt = (why: Interruption): void => controller.abort(why)
    const lost = async (): Promise<void> => {
      const now = await queue.get(task.id).catch(() => undefined)
      interrupt(now?.state === "cancelled" ? "cancelled" : "stale")
    }
    const heart = keepAlive(() => queue.beat(claim), { lease, lost })
    const end = await this.#perform(claim, controller.signal)
    // Whoever was interrupted has not failed, also where it could not say for so long that it was alive that it took
    // its task for lost: if nobody else has it, it is as it was.
    const given = INTERRUPTED.has(controller.signal.reason) && end.state !== "done"
    const write = async (): Promise<void> => {
      if (given) await queue.putBack(claim)
      else if (end.state === "queued") await queue.putBack(claim, end)
      else if (end.state === "waiting") await queue.waitFor(claim, end.on, end.reason)
      else {
        await queue.end(claim, end)
        onEnd?.(end, task)
      }
      log(saidOf(task, end, given))
    }
    try {
      await insist(write, lease)
    } catch (thrown) {
      // Nobody else may be there to take the task for dead, so it is written down as soon as that goes.
      if (!ToolwrightError.isInstance(thrown)) this.#unwritten.set(task.id, write)
      log(`${task.id}: ${messageOf(thrown)}`)
    } finally {
      heart.stop()
    }
  }

  async #writeLate(): Promise<void> {
    for (const [id, write] of this.#unwritten) {
      try {
        await write()
      } catch (thrown) {
        if (!ToolwrightError.isInstance(thrown)) continue
      }
      this.#unwritten.delete(id)
    }
  }

  async #perform(claim: TaskClaim, signal: AbortSignal): Promise<Performed> {
    const { queue, perform } = this.#options
    try {
      return await perform(claim.task, { signal, inRun: (run) => queue.inRun(claim, run) })
    } catch (thrown) {
      return { state: "failed", reason: messageOf(thrown) }
    }
  }
}

/** Why a task is given back as it was, with what was done of it. */
export const INTERRUPTED: ReadonlySet<unknown> = new Set<Interruption>(["stopped", "stale"])

function saidOf({ id }: TaskRow, end: Performed, given: boolean): string {
  if (given) return `${id} given back`
  return `${id} ${end.state}${"reason" in end && end.reason !== undefined ? `: ${end.reason}` : ""}`
}

/**
 * Gives a sign of life again and again. A database that is away for a while does not matter; once it has been away for
 * as long as the lease, somebody else may have the task.
 */
function keepAlive(
  beat: () => Promise<void>,
  { lease, lost }: { lease: number; lost: () => unknown },
): { stop(): void } {
  let heard = Date.now()
  let beating = false
  const timer = setInterval(async () => {
    if (beating) return
    beating = true
    try {
      await beat()
      heard = Date.now()
    } catch (thrown) {
      const stale = ToolwrightError.isInstance(thrown) && thrown.code === "STALE_TASK"
      if (stale || Date.now() - heard > lease) await lost()
    } finally {
      beating = false
    }
  }, lease / 4)
  return { stop: () => clearInterval(timer) }
}

/** Tries again while the database is away, for as long as the task is ours. */
async function insist<Result>(attempt: () => Promise<Result>, lease: number): Promise<Result> {
  const until = Date.now() + lease
  for (let wait = 50; ; wait *= 2) {
    try {
      return await attempt()
    } catch (thrown) {
      if (ToolwrightError.isInstance(thrown) || Date.now() + wait > until) throw thrown
      await sleep(wait)
    }
  }
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => {})
}
