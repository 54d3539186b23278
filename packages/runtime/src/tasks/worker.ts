import { hostname } from "node:os"
import { setTimeout as sleep } from "node:timers/promises"
import type { TaskClaim, TaskEnd, TaskQueue, TaskRow } from "@toolwright/store"
import { messageOf, ToolwrightError } from "@toolwright/toolbox"

/** What a task's work is given. */
export interface TaskContext {
  /** Aborted when the task was cancelled, went to another worker, or this one stops; its reason says which. */
  readonly signal: AbortSignal
  /** Notes the run in which the task is worked on. @throws ToolwrightError `STALE_TASK` */
  inRun(run: string): Promise<void>
}

/** Settings of {@link startWorker}. Times are in milliseconds. */
export interface WorkerOptions {
  queue: TaskQueue
  /** Works on a task. What it throws is a failure that is not tried again. */
  perform(task: TaskRow, context: TaskContext): Promise<TaskEnd>
  /** How many tasks are worked on at once; 1 unless given. */
  concurrency?: number
  /** After so long without a sign of life a worker is taken for dead; 30,000 unless given. */
  lease?: number
  /** How long to wait where there is nothing to do; 500 unless given. */
  idle?: number
  /** Under which name; the machine's and the process's unless given. */
  holder?: string
  /** Gets a line for each task that begins and ends, and for what goes wrong. */
  log?: (line: string) => void
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

/** Why a task's signal was aborted. */
type Interruption = "stale" | "stopped"

/** Starts to work on the tasks of a queue. */
export function startWorker(options: WorkerOptions): Worker {
  return new QueueWorker(options)
}

class QueueWorker implements Worker {
  readonly holder: string
  readonly #options: Required<Omit<WorkerOptions, "holder">>
  readonly #stopping = new AbortController()
  readonly #busy = new Map<string, { controller: AbortController; end: Promise<void> }>()
  readonly #looping: Promise<void>
  #wake = (): void => {}
  #reaped = 0

  constructor({ holder = `${hostname()}/${process.pid}`, ...options }: WorkerOptions) {
    this.holder = holder
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
      const late = pause(deadline).then(() => this.#busy.forEach(({ controller }) => controller.abort("stopped")))
      await Promise.race([ends, late])
    }
    await ends
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.drain(0)
  }

  async #loop(): Promise<void> {
    const { concurrency, idle, log } = this.#options
    const { signal } = this.#stopping
    while (!signal.aborted) {
      // Set before anything is asked, so that what ends meanwhile is not missed.
      const woken = new Promise<void>((resolve) => (this.#wake = resolve))
      try {
        await this.#takeOver()
        if (this.#busy.size < concurrency) await this.#takeTasks()
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
    this.#reaped = now
    const { queued, abandoned } = await queue.reap(now - lease)
    if (queued + abandoned > 0) log(`${queued} tasks of workers that are gone were queued again, ${abandoned} given up`)
  }

  async #takeTasks(): Promise<void> {
    const { queue, concurrency } = this.#options
    for (const claim of await queue.claim(this.holder, concurrency - this.#busy.size)) {
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
    const { queue, lease, log } = this.#options
    const { task } = claim
    log(`${task.id} begins: ${task.agent}${task.attempts > 1 ? `, try ${task.attempts} of ${task.max_attempts}` : ""}`)
    const interrupt = (why: Interruption): void => controller.abort(why)
    const heart = keepAlive(() => queue.beat(claim), { lease, lost: () => interrupt("stale") })
    try {
      const end = await this.#perform(claim, controller.signal)
      const stopped = controller.signal.reason === "stopped"
      if (stopped) await queue.putBack(claim)
      else await insist(() => queue.end(claim, end), lease)
      log(`${task.id} ${stopped ? "given back" : end.state}`)
    } catch (thrown) {
      log(`${task.id}: ${messageOf(thrown)}`)
    } finally {
      heart.stop()
    }
  }

  async #perform(claim: TaskClaim, signal: AbortSignal): Promise<TaskEnd> {
    const { queue, perform } = this.#options
    try {
      return await perform(claim.task, { signal, inRun: (run) => queue.inRun(claim, run) })
    } catch (thrown) {
      return { state: "failed", reason: messageOf(thrown) }
    }
  }
}

/**
 * Gives a sign of life again and again. A database that is away for a while does not matter; once it has been away for
 * as long as the lease, somebody else may have the task.
 */
function keepAlive(beat: () => Promise<void>, { lease, lost }: { lease: number; lost: () => void }): { stop(): void } {
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
      if (stale || Date.now() - heard > lease) lost()
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

async function pause(ms: number, signal?: AbortSignal): Promise<void> {
  await sleep(ms, undefined, signal === undefined ? {} : { signal }).catch(() => {})
}
