import type { AgentProfile, ExecutorOptions } from "@toolwright/agents"
import type { Backend } from "@toolwright/backends"
import type { PermissionRule, ToolDefinition, ToolRegistry, Toolset } from "@toolwright/toolbox"
import type { Configuration } from "../configuration/settings.ts"

/** A call that may have been meant. */
export interface Reading {
  readonly name: string
  readonly arguments: Readonly<Record<string, unknown>>
}

/**
 * Asks a person what was meant where the model is not sure: the best readings, the best one first.
 *
 * @returns the index of the one that is meant; nothing where none is
 */
export type ChooseReading = (
  question: { readonly certainty: number; readonly readings: readonly Reading[] },
  signal: AbortSignal | undefined,
) => Promise<number | undefined>

/**
 * A model with all that it was made for, chosen once: which tools it knows, what it must not do unasked, how long it
 * may go on, and what is said of it. A model that can be given any tool and any task has none.
 */
export interface Pairing {
  /** The model's name, as its backend says it. */
  readonly model: string
  /** The value of `model.backend` that chooses it. */
  readonly backend: NonNullable<Configuration["model"]["backend"]>
  open(options: {
    root?: string | undefined
    choose?: ChooseReading | undefined
    /** All tools that there are, those that it does not know too. */
    tools?: (() => readonly ToolDefinition[]) | undefined
  }): Promise<Backend>
  /**
   * The tools that it is offered, out of those that there are.
   *
   * @param readOnly leaves out tools that change something
   */
  toolset(registry: ToolRegistry, readOnly: boolean): Toolset
  /** Whether it knows any of the tools that there are. */
  knowsAny(registry: ToolRegistry): boolean
  /** What an executor does otherwise with it. */
  options(configuration: Configuration): Partial<ExecutorOptions>
  /** Calls that are asked about although the configuration does not say so. */
  wary(root: string): readonly PermissionRule[]
  /** Whether it can be this agent. */
  canBe(profile: AgentProfile): boolean
  readonly words: PairingWords
}

/** What is said of a model, by whichever surface it is asked. */
export interface PairingWords {
  /** What it is, in one line. */
  readonly is: string
  /** Said before it answers in place of a model that is not configured. */
  readonly notice: string
  /** The same where a file configures one that it may not name yet. */
  readonly waiting: string
  /** Said where it declines. */
  readonly advice: string
  /** What it answers to a request that is none for it, and that it does not know for one; nothing to any other. */
  beyond(request: string): string | undefined
  /** Why it cannot be an agent. */
  cannotBe(profile: AgentProfile): string
}
