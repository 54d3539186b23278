import { nearest, ToolwrightError } from "@toolwright/toolbox"
import type { Prompt, PromptDefinition } from "./model.ts"

/** The prompts by name. */
export class PromptRegistry {
  readonly #prompts = new Map<string, Prompt>()

  /** @throws ToolwrightError `DUPLICATE_PROMPT`, naming both files */
  register(prompt: Prompt): void {
    const other = this.#prompts.get(prompt.name)
    if (other !== undefined) {
      throw new ToolwrightError(
        "DUPLICATE_PROMPT",
        `Two prompts are named '${prompt.name}': ${other.file ?? "one of this process"} and ` +
          `${prompt.file ?? "one of this process"}.`,
        {
          hint: "Rename one of them.",
        },
      )
    }
    this.#prompts.set(prompt.name, prompt)
  }

  get(name: string): Prompt | undefined {
    return this.#prompts.get(name)
  }

  list(): Prompt[] {
    return [...this.#prompts.values()]
  }

  /** @throws ToolwrightError `UNKNOWN_PROMPT`, with the name that was meant */
  named(name: string): Prompt {
    const prompt = this.#prompts.get(name)
    if (prompt !== undefined) return prompt
    const close = nearest(name, this.#prompts.keys())[0]
    throw new ToolwrightError(
      "UNKNOWN_PROMPT",
      `Prompt '${name}' not found`,
      close === undefined ? {} : { hint: `Did you mean '${close}'?` },
    )
  }
}

/** What others are shown of a prompt. */
export function promptDefinition({ name, description, arguments: args, tags }: Prompt): PromptDefinition {
  return { name, description, arguments: args, tags }
}
