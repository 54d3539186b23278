import { dirname } from "node:path"
import type { FileSettings } from "../file.ts"
import { digestOf, type Demand } from "./demands.ts"
import { trustStore } from "./store.ts"
import { admit, type WaitingSetting } from "./waiting.ts"

/** What is put before a person: the file, and what it would do. */
export interface TrustRequest {
  readonly path: string
  /** It was trusted before, when it or a file that it names was another. */
  readonly changed?: true
  readonly demands: readonly Demand[]
}

/**
 * How a file that was found stands: it asks for nothing (`harmless`), it was `named` by the user or is `trusted` as it
 * stands, it was `declined`, or nobody was asked (`unknown`).
 */
export type TrustState = "harmless" | "named" | "trusted" | "declined" | "unknown"

/** The part of a file that takes effect. */
export interface TrustedPart {
  readonly values: ReadonlyMap<string, unknown>
  readonly state: TrustState
  /** What takes no effect; nothing in a file that is trusted. */
  readonly waiting: readonly WaitingSetting[]
  /** It waits only since it, or a file that it names, is not what it was. */
  readonly changed?: true
}

/** How it is decided whether a file is trusted. */
export interface TrustOptions {
  readonly cwd: string
  readonly env: Readonly<Record<string, string | undefined>>
  /** The user named the file, so that there is nothing to ask. */
  readonly named: boolean
  /** Whatever is found here is trusted, for this time alone. */
  readonly trustAll: boolean
  readonly overruled: ReadonlySet<string>
  /**
   * Asks a person; the answer is remembered for the file as it stands. Where the person went without one, nothing is:
   * the next start asks again.
   */
  ask?(request: TrustRequest): Promise<boolean | undefined>
}

/** Finds out what of a configuration file takes effect. */
export async function trustedPartOf(file: FileSettings, options: TrustOptions): Promise<TrustedPart> {
  const { cwd, env, named, trustAll, overruled, ask } = options
  if (named) return { values: file.values, state: "named", waiting: [] }
  const { values, waiting } = admit(file.values, { cwd, overruled })
  if (waiting.length === 0) return { values, state: "harmless", waiting }
  if (trustAll) return { values: file.values, state: "trusted", waiting: [] }
  const store = trustStore(env)
  const digest = digestOf(file)
  let answer = store.answerFor(file.path, digest)
  const changed = answer === undefined && store.knows(file.path) ? ({ changed: true } as const) : {}
  if (answer === undefined && ask !== undefined) {
    const demands = waiting.flatMap((setting) => setting.demands)
    const said = await ask({ path: file.path, demands, ...changed })
    if (said !== undefined) answer = said ? "yes" : "no"
    if (answer !== undefined) store.remember(file.path, digest, answer)
  }
  if (answer === "yes") return { values: file.values, state: "trusted", waiting: [] }
  return { values, state: answer === "no" ? "declined" : "unknown", waiting, ...changed }
}

/**
 * Trusts a file as it stands.
 *
 * @returns what it may do now; nothing where it asks for nothing
 * @throws ToolwrightError `TRUST_UNWRITABLE`
 */
export function trustFile(file: FileSettings, env: TrustOptions["env"]): readonly Demand[] {
  const { waiting } = admit(file.values, { cwd: dirname(file.path) })
  if (waiting.length > 0) trustStore(env).remember(file.path, digestOf(file), "yes")
  return waiting.flatMap(({ demands }) => demands)
}

/** Whether a person said that a file may do what it says, as it and what it names stand. */
export function isTrusted(file: FileSettings, env: TrustOptions["env"]): boolean {
  return trustStore(env).answerFor(file.path, digestOf(file)) === "yes"
}
