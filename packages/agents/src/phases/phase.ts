import type { JsonSchema, ToolDefinition, Toolset } from "@toolwright/toolbox"
import type { CatalogueLimits } from "../executor/catalogue.ts"
import type { CompletionCriteria } from "../gate/criteria.ts"
import type { Ledger } from "../gate/ledger.ts"

/**
 * A part of a run with a conversation of its own: its tools, its rounds, and what it hands over. What is left out is as
 * in the run.
 */
export interface Phase {
  name: string
  /** What is to be done in it, beside what the agent is. */
  prompt?: string
  tools?: Toolset
  catalogue?: CatalogueLimits
  unavailable?: readonly { name: string; reason: string; tool?: ToolDefinition }[]
  /** Inferences in it; as many as a run has unless given. */
  maxRounds?: number
  /** Calls that change something are refused. */
  readOnly?: boolean
  /** What must hold before it may end. The last one's are held beside those of the run. */
  completion?: CompletionCriteria
  /** What it ends with. Every phase but the last hands something over: a summary unless given. */
  handsOver?: HandOver
}

/** What a phase ends with: a value of a form, which is all that the phases after it are told of its conversation. */
export interface HandOver {
  /** What it is called; as the phase unless given. */
  artifact?: string
  /** Its form: an object. */
  schema: JsonSchema
  /** A check beyond the form; a text says what is wrong, and the phase goes on. */
  check?(value: unknown, ledger: Ledger, signal?: AbortSignal): Promise<string | undefined> | string | undefined
  /**
   * What is handed over in place of the value, or a promise of it, after calls that stood in its texts were taken out.
   * What it throws refuses the hand-over.
   */
  sanitise?(value: unknown, signal?: AbortSignal): unknown
}

/** What a phase handed over. */
export interface Artifact {
  phase: string
  name: string
  value: unknown
}

/** The form of a hand-over that says nothing of its own. */
export const SUMMARY_SCHEMA: JsonSchema = {
  type: "object",
  properties: {
    summary: {
      type: "string",
      minLength: 1,
      maxLength: 8000,
      description: "What was found out and decided, and what is to be done next",
    },
  },
  required: ["summary"],
  additionalProperties: false,
}
