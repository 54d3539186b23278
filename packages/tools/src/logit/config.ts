import type { Preset } from "@toolwright/logits"
import type { ToolDefinition } from "@toolwright/toolbox"
import type { LogitGenerator } from "./generator.ts"

export interface LogitToolConfig {
  /** The model to generate with, or what makes it at the first use; without it only `list_presets` works. */
  readonly generator?: LogitGenerator | (() => Promise<LogitGenerator>)
  /** Presets besides the built-in ones. */
  readonly presets?: readonly Preset[]
  /** Tools that `generate_tool_call` may name without describing them. */
  readonly tools?: () => readonly ToolDefinition[]
}
