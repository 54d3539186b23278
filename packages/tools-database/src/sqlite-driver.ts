import { fork, type ChildProcess } from "node:child_process"
import { existsSync, lstatSync, statSync } from "node:fs"
import { dirname } from "node:path"
import { fileURLToPath } from "node:url"
import { programStarts } from "@toolwright/host/undo"
import { messageOf, ToolwrightError } from "@toolwright/toolbox"
import type { AppliedMigration, DriverLimits, MigrationDriver, MigrationStep, StepOutcome } from "./driver.ts"
import type { SqliteReply, SqliteRequest } from "./sqlite-child.ts"

const CHILD = fileURLToPath(
  new URL(import.meta.url.endsWith(".ts") ? "./sqlite-child.ts" : "./sqlite-child.js", import.meta.url),
)

/**
 * An SQLite file. Migrations run in a child process: SQLite's calls are synchronous, and only a process can be stopped
 * in the middle of one; its journal then rolls the file back.
 *
 * @param file absolute path; the file may not exist yet, its folder must
 */
export function openSqlite(file: string, limits: DriverLimits): MigrationDriver {
  return new SqliteConnection(file, limits)
}

/** One file and, from the first migration on, the process that runs them. */
class SqliteConnection implements MigrationDriver {
  readonly #file: string
  readonly #limits: DriverLimits
  #child: ChildProcess | undefined

  constructor(file: string, limits: DriverLimits) {
    this.#file = file
    this.#limits = limits
  }

  #start() {
    return (this.#child ??= fork(CHILD, {
      execArgv: [],
      env: {},
      stdio: ["ignore", "ignore", "ignore", "ipc"],
      serialization: "json",
    }))
  }

  #ask(request: SqliteRequest): Promise<StepOutcome> {
    this.#limits.signal.throwIfAborted()
    const running = this.#start()
    return new Promise((done, fail) => {
      const settle = () => {
        clearTimeout(timer)
        running.removeAllListeners()
        this.#limits.signal.removeEventListener("abort", onAbort)
      }
      const stop = (code: string, message: string) => {
        settle()
        running.kill("SIGKILL")
        this.#child = undefined
        fail(new ToolwrightError(code, message))
      }
      const onAbort = () => stop("ABORTED", "The migration was cancelled; it is rolled back.")
      const timer = setTimeout(
        () => stop("TIMEOUT", `The migration took longer than ${this.#limits.migrationMs} ms; it is rolled back.`),
        this.#limits.migrationMs + this.#limits.lockWaitMs,
      )
      this.#limits.signal.addEventListener("abort", onAbort, { once: true })
      running.once("error", (thrown) => stop("MIGRATION_FAILED", thrown.message))
      running.once("exit", () =>
        stop("MIGRATION_FAILED", "The database process ended unexpectedly; the step is rolled back."),
      )
      running.once("message", (reply: SqliteReply) => {
        settle()
        if (reply.ok) done(reply.value)
        else fail(new ToolwrightError(reply.code, reply.message))
      })
      running.send(request)
    })
  }

  async applied(): Promise<AppliedMigration[]> {
    const found = existingFile(this.#file)
    if (found === undefined) return []
    const hasLog = existsSync(`${this.#file}-wal`) || existsSync(`${this.#file}-journal`)
    const { readRecords } = await import("./sqlite-records.ts")
    try {
      return readRecords(this.#file, !hasLog)
    } catch (thrown) {
      throw new ToolwrightError(
        "MIGRATION_FAILED",
        `${this.#file} cannot be read as an SQLite database (${messageOf(thrown)})`,
        {
          cause: thrown,
        },
      )
    }
  }

  async run(step: MigrationStep): Promise<StepOutcome> {
    existingFile(this.#file)
    if (!existsSync(dirname(this.#file))) {
      throw new ToolwrightError("CONNECTION_FAILED", `The folder of the database file ${this.#file} does not exist.`, {
        hint: "Create the folder first.",
      })
    }
    await programStarts()
    return this.#ask({ file: this.#file, step, lockWaitMs: this.#limits.lockWaitMs })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child?.removeAllListeners()
    this.#child?.disconnect()
    this.#child = undefined
  }
}

/**
 * The file's status; `undefined` when it does not exist. @throws ToolwrightError `CONNECTION_FAILED` for links and what
 * is no file
 */
function existingFile(file: string): unknown {
  const entry = lstatSync(file, { throwIfNoEntry: false })
  if (entry === undefined) return undefined
  if (entry.isSymbolicLink() || !statSync(file).isFile()) {
    throw new ToolwrightError(
      "CONNECTION_FAILED",
      `${file} is ${entry.isSymbolicLink() ? "a symbolic link" : "no regular file"}; it is not opened.`,
    )
  }
  return entry
}
