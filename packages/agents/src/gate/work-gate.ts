import {
  effectsOf,
  failure,
  roleOf,
  type CheckedCall,
  type EarlierChecks,
  type HistoryState,
  type Middleware,
  type RunOutcome,
  type ToolResult,
  type Toolset,
  type WorkNote,
  type WorkWatch,
} from "@toolwright/toolbox"
import { repositoryAbove } from "@toolwright/host/paths"
import { accessGuard, ownsAny, type Access } from "./access.ts"
import { NOTHING_CHANGED, unmet, type CompletionCriteria, type Unmet } from "./criteria.ts"
import type { Ledger } from "./ledger.ts"
import { catchUp, committedMeanwhile, mayCommit, unfitting, watchesOf, type Watched } from "./watched.ts"
import {
  ALSO_CHANGES,
  counted,
  failedText,
  MOVED_MEANWHILE,
  NOT_COMMITTED,
  noteOf,
  shortList,
  SKIPS_HOOKS,
  takenBack,
  touched,
} from "./work-texts.ts"
import {
  historyIn,
  sameHistory,
  savedHistory,
  type EarlierWork,
  type InterruptedWork,
  type NoteWork,
} from "./work-record.ts"

/** What a gate works with. */
export interface GateParts {
  ledger: Ledger
  /** What holds now: a run in phases has others in each. */
  now(): { criteria: CompletionCriteria; access: Access }
  /** What an answer claims that is not on record. */
  claimed?(answer: string): readonly WorkNote[]
  /** The files that are looked at from the beginning, since the run has to write one of them. */
  files?: readonly string[] | undefined
  /** The top of the workspace. */
  root?: string | undefined
  /** The tools on offer. */
  tools: Pick<Toolset, "list">
  /** Others work in the same workspace, each on files of its own. */
  shared?: SharedWork | undefined
}

/** A workspace in which several owners of files work at once. */
export interface SharedWork {
  /** Hands in one after another, since a repository takes one commit at a time. */
  inTurn<Result>(work: () => Promise<Result>): Promise<Result>
}

/**
 * Decides by what is there, and not by what is said: which calls an agent may make, whether work may be handed in, and
 * whether a run is complete. The checks are compared with what they were, the repository's log with where it stood.
 */
export class WorkGate {
  readonly #parts: GateParts
  #watched: Promise<Watched[]> | undefined
  /** It was looked, and there is nothing to be watched. */
  #nothingWatched = false
  /** The state in which the earlier checks failed and the model was told: insisting is allowed, and is told. */
  #told: string | undefined
  #compared: { at: number; found: EarlierChecks[] } | undefined
  #unseen = false
  /** Puts on record what another process would have to know. */
  record: NoteWork | undefined

  /** Stands around every call of the run, outermost. */
  readonly middleware: readonly Middleware[]

  constructor(parts: GateParts) {
    this.#parts = parts
    this.middleware = [
      accessGuard({ access: () => parts.now().access, root: parts.root, watches: () => watchesOf(parts.tools.list()) }),
      (call, next) => this.#around(call, next),
    ]
  }

  /** Goes on with what an earlier process saw, of a run that goes on. */
  resume(earlier: EarlierWork, interrupted: InterruptedWork, signal: AbortSignal): void {
    this.#unseen = earlier.unseen === true
    this.#watched = this.#lookAgain(earlier, interrupted, signal)
    // It is told by whoever asks for it.
    this.#watched.catch(() => {})
  }

  /** Why the run is not complete; nothing when it is. */
  async unmet(signal: AbortSignal): Promise<Unmet | undefined> {
    const missing = await this.missing()
    if (missing !== undefined) return missing
    return this.#parts.now().criteria.requireValidation === true ? this.#earlierChecks(signal) : undefined
  }

  /** The same by what is known and there to be seen: nothing is run for it. */
  async missing(): Promise<Unmet | undefined> {
    const { ledger, tools } = this.#parts
    const { criteria } = this.#parts.now()
    const missing = await unmet(criteria, ledger, tools.list())
    const reasons = [...(missing?.reasons ?? [])]
    if (criteria.requireCommit === true) reasons.push(...(await this.#uncommitted()))
    if (criteria.requireFiles !== undefined) reasons.push(...(await this.#unwritten(criteria.requireFiles)))
    return reasons.length === 0 ? undefined : { ...missing, reasons }
  }

  /** How a run ends whose criteria hold: plainly completed only where no failure stands and nothing is left to tell. */
  async settle(answer: string, signal: AbortSignal): Promise<{ outcome: RunOutcome; message: string }> {
    const { ledger } = this.#parts
    const { criteria } = this.#parts.now()
    if (criteria.requireValidation === true) ledger.settleChecked()
    const changed = await this.#changedChecks(signal)
    for (const checks of changed) ledger.note(noteOf(checks))
    if (criteria.requireCommit === true) await this.#noteIgnored()
    if (criteria.requireValidation === true && ledger.lastChange > 0 && !ledger.validated)
      ledger.note({ code: "UNCHECKED", message: "Nothing was checked: there is nothing to check with here." })
    this.#noteFailures()
    const claims = this.#parts.claimed?.(answer) ?? []
    for (const claim of claims) ledger.note(claim)
    const plain = ledger.openFailures.length === 0 && changed.every(({ passed }) => passed) && !this.#unseen
    return { outcome: plain && claims.length === 0 ? "completed" : "completed-with-failures", message: answer }
  }

  /** How a run ends that gave up on its criteria. */
  giveUp({ reasons }: Unmet): { outcome: RunOutcome; message: string } {
    this.#noteFailures()
    const nothing = reasons.includes(NOTHING_CHANGED) || this.#parts.ledger.effects === 0
    return { outcome: nothing ? "nothing-done" : "stuck", message: `not completed: ${reasons.join("; ")}` }
  }

  #noteFailures(): void {
    const { ledger } = this.#parts
    for (const each of ledger.openFailures) ledger.note({ code: each.code, message: failedText(each) })
  }

  #around(call: CheckedCall, next: () => Promise<ToolResult>): Promise<ToolResult> {
    const { tool, arguments: args } = call
    if (effectsOf(tool, args)?.readOnly === true) return next()
    const role = roleOf(tool, args)
    const handsIn = role !== undefined && role.role !== "validates"
    return this.#nothingWatched && !handsIn ? next() : this.#watching(call, next, handsIn ? role : undefined)
  }

  /** @param role of a call that hands in */
  async #watching(
    call: CheckedCall,
    next: () => Promise<ToolResult>,
    role: ReturnType<typeof roleOf>,
  ): Promise<ToolResult> {
    const watched = await this.#begin(call.signal)
    this.#nothingWatched = watched.length === 0
    const handsIn = role !== undefined
    const { shared } = this.#parts
    const carryOut = async (): Promise<ToolResult> => {
      if (shared !== undefined) await catchUp(watched)
      const refused = role === undefined ? undefined : await this.#refusal(role, call.signal)
      return refused ?? this.#afterwards(watched, await next(), handsIn)
    }
    return handsIn && shared !== undefined ? shared.inTurn(carryOut) : carryOut()
  }

  /** Why work is not handed in by a call; nothing where it may be. */
  async #refusal(
    { skipsHooks, alsoChanges }: NonNullable<ReturnType<typeof roleOf>>,
    signal: AbortSignal,
  ): Promise<ToolResult | undefined> {
    if (skipsHooks === true) return SKIPS_HOOKS()
    return alsoChanges === true ? ALSO_CHANGES() : this.#refusedCommit(signal)
  }

  /** Whether what moved the branches was somebody else's work on files of their own. */
  async #isOthers({ watch }: Pick<Watched, "watch">, before: HistoryState, after: HistoryState): Promise<boolean> {
    const { shared, root } = this.#parts
    const { access } = this.#parts.now()
    return shared !== undefined && !ownsAny(access, await watch.history.recorded(before, after), root)
  }

  /** What moved the branches during a call counts as commits, whoever made them. */
  async #afterwards(watched: readonly Watched[], result: ToolResult, seen: boolean): Promise<ToolResult> {
    for (const one of watched) {
      const before = one.last
      if (before === undefined) continue
      const after = await one.watch.history.state()
      if (after === undefined) {
        this.#unseen = true
        this.#parts.ledger.note({ code: "REPOSITORY_GONE", message: "The repository was taken away during the run." })
        this.#noteHistory(watched)
        continue
      }
      one.last = after
      const moved = !sameHistory(before, after)
      if (moved) this.#noteHistory(watched)
      const commits = !moved ? [] : await one.watch.history.added(before, after)
      if (commits.length > 0 && (await this.#isOthers(one, before, after))) continue
      const why =
        commits.length === 0 ? undefined : await unfitting(one.watch, before, after, seen ? result : undefined)
      if (why !== undefined)
        return takenBack(await this.#undo(one, before, after, `${counted(commits)}: ${why}`), result)
    }
    return result
  }

  /** @returns what is said of commits that were taken back, or that stand although they could not be */
  async #undo(one: Watched, before: HistoryState, after: HistoryState, what: string): Promise<string> {
    const undone = await one.watch.history.undo(before, after)
    one.last = undone ? await one.watch.history.state() : after
    if (!undone) this.#unseen = true
    this.#noteHistory(await this.#watched!)
    const said = undone ? `Taken back: ${what}.` : `Not checked, and in the repository all the same: ${what}.`
    this.#parts.ledger.note({ code: undone ? "COMMIT_UNDONE" : "COMMIT_UNCHECKED", message: said })
    return said
  }

  async #refusedCommit(signal: AbortSignal): Promise<ToolResult | undefined> {
    const { ledger } = this.#parts
    const unchecked = ledger.uncheckedReason() ?? (await this.#earlierFailure(signal))
    if (unchecked === undefined) return undefined
    return failure({
      code: "COMMIT_REFUSED",
      message: `Nothing was committed: ${unchecked.reason}.`,
      hint: "Run the validation, put right what it reports, run it again, and then commit.",
      ...(unchecked.report === undefined ? {} : { details: { report: unchecked.report } }),
    })
  }

  async #earlierChecks(signal: AbortSignal): Promise<Unmet | undefined> {
    const failed = await this.#earlierFailure(signal)
    return failed === undefined ? undefined : { reasons: [failed.reason], report: failed.report }
  }

  /** The earlier checks fail, and the model was not told so in this state: once, for the task may want other checks. */
  async #earlierFailure(signal: AbortSignal): Promise<{ reason: string; report: string } | undefined> {
    const failed = (await this.#changedChecks(signal)).filter(({ passed }) => !passed)
    if (failed.length === 0) return undefined
    const state = JSON.stringify(failed.map(({ changed, removed, added }) => [changed, removed, added]))
    if (this.#told === state) return undefined
    this.#told = state
    return {
      reason:
        `the checks as they were at the beginning fail (${failed.map(touched).join("; ")}); put them back unless ` +
        "the task itself wants other ones, which a person will be told",
      report: failed.map(({ report }) => report).join("\n"),
    }
  }

  async #changedChecks(signal: AbortSignal): Promise<EarlierChecks[]> {
    if (this.#watched === undefined) return []
    const at = this.#parts.ledger.calls
    if (this.#compared?.at !== at) {
      const all = await Promise.all((await this.#watched).map(({ baseline }) => baseline.compare(signal)))
      this.#compared = { at, found: all.filter((one) => one !== undefined) }
    }
    return this.#compared.found
  }

  /**
   * Why what was changed does not count as recorded; empty where it does, and where there is nothing to record it in.
   */
  async #uncommitted(): Promise<string[]> {
    const { ledger } = this.#parts
    const watched = (await this.#watched) ?? []
    if (watched.length === 0) {
      const commits = this.#parts.tools.list().some(mayCommit)
      return commits && !ledger.committed ? [NOT_COMMITTED] : []
    }
    const reasons: string[] = []
    for (const { watch, began } of watched) {
      const now = await watch.history.state()
      if (began === undefined && now === undefined) {
        ledger.note({ code: "NO_REPOSITORY", message: noRepository(this.#parts.root) })
        continue
      }
      if (now === undefined) reasons.push("the repository is gone")
      else if (!(await this.#hasRecorded(watch, began ?? new Map(), now))) reasons.push(NOT_COMMITTED)
      else {
        const left = await watch.history.unrecorded(ledger.modifiedFiles)
        if (left.length > 0) reasons.push(`changed and not committed: ${left.slice(0, 5).join(", ")}`)
      }
    }
    return reasons
  }

  async #hasRecorded({ history }: WorkWatch, began: HistoryState, now: HistoryState): Promise<boolean> {
    const files = await history.recorded(began, now)
    const { shared, root } = this.#parts
    const { access } = this.#parts.now()
    return shared === undefined ? files.length > 0 : ownsAny(access, files, root)
  }

  /** What was written and no commit can hold. Rules that were written in the same run took it out of the work. */
  async #noteIgnored(): Promise<void> {
    const { ledger } = this.#parts
    const files = ledger.modifiedFiles
    const all = await Promise.all(((await this.#watched) ?? []).map(({ watch }) => watch.history.ignored(files)))
    const ignored = all.flat()
    if (ignored.length === 0) return
    this.#unseen ||= files.some((file) => /(?:^|\/)\.gitignore$|\/info\/exclude$/u.test(file))
    ledger.note({
      code: "NOT_IN_COMMIT",
      message: `Written, and not in the commit, since the repository ignores it: ${shortList(ignored)}.`,
    })
  }

  async #unwritten(files: readonly string[]): Promise<string[]> {
    const { ledger } = this.#parts
    const watched = (await this.#watched) ?? []
    const reported = ledger.modifiedFiles
    const none = [`${files.join(", ")} has not been written yet`]
    // Some tools name what they changed by its path on the machine.
    const isReported = (file: string): boolean => reported.some((each) => each === file || each.endsWith(`/${file}`))
    if (watched.length === 0) return files.some(isReported) ? [] : none
    for (const one of watched) {
      const now = await one.watch.fingerprints(files)
      if (files.some((file) => now.get(file) !== undefined && now.get(file) !== one.files.get(file))) return []
    }
    return none
  }

  /** Looks at everything before the first call that may change something. */
  #begin(signal: AbortSignal): Promise<Watched[]> {
    return (this.#watched ??= this.#look(signal))
  }

  async #look(signal: AbortSignal): Promise<Watched[]> {
    const watched = await Promise.all(watchesOf(this.#parts.tools.list()).map((watch) => this.#lookAt(watch, signal)))
    if (watched.length === 0) return watched
    this.record?.("work-begin", (keep) => ({
      watches: watched.map(({ baseline, began, files }) => ({
        checks: baseline.save?.(keep) ?? null,
        began: savedHistory(began),
        files: [...files].map(([path, mark]) => [path, mark ?? null]),
      })),
    }))
    return watched
  }

  async #lookAt(watch: WorkWatch, signal: AbortSignal): Promise<Watched> {
    const [baseline, began, files] = await Promise.all([
      watch.baseline(signal),
      watch.history.state(),
      watch.fingerprints(this.#parts.files ?? []),
    ])
    return { watch, baseline, began, last: began, files }
  }

  /**
   * What was committed while nobody looked is somebody else's, unless a call was under way that may have done it: then
   * it stands, and is told, since nobody can say whose it is.
   */
  async #lookAgain(earlier: EarlierWork, interrupted: InterruptedWork, signal: AbortSignal): Promise<Watched[]> {
    const { watches, last, texts } = earlier
    return Promise.all(
      watchesOf(this.#parts.tools.list()).map(async (watch, at) => {
        const saved = watches[at]
        if (saved === undefined) return this.#lookAt(watch, signal)
        const now = await watch.history.state()
        const before = historyIn(last === undefined ? saved.began : last[at])
        const others = before !== undefined && now !== undefined && (await this.#isOthers({ watch }, before, now))
        if (interrupted === "other" && !others && (await committedMeanwhile(watch, before, now))) {
          this.#unseen = true
          this.#parts.ledger.note({ code: "COMMIT_UNCHECKED", message: MOVED_MEANWHILE })
        }
        return {
          watch,
          baseline: await watch.baseline(signal, saved.checks === null ? undefined : { saved: saved.checks, texts }),
          began: historyIn(saved.began),
          last: now,
          files: new Map(saved.files.map(([path, mark]) => [path, mark ?? undefined])),
        }
      }),
    )
  }

  #noteHistory(watched: readonly Watched[]): void {
    this.record?.("work-history", () => ({
      last: watched.map(({ last }) => savedHistory(last)),
      ...(this.#unseen ? { unseen: true } : {}),
    }))
  }
}

/** Why nothing could be committed, and how it can. */
function noRepository(root: string | undefined): string {
  const top = root === undefined ? undefined : repositoryAbove(root)
  return top === undefined
    ? "Nothing was committed: the workspace is no git repository."
    : `Nothing was committed: the repository begins above the workspace, at ${top}. ` +
        `To work in all of it give \`workspace.roots: ${top}\`.`
}
