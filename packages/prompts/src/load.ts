import { readdirSync } from "node:fs"
import { join } from "node:path"
import { readStateFile } from "@toolwright/host/state-files"
import { messageOf, ToolwrightError } from "@toolwright/toolbox"
import type { Prompt } from "./model.ts"
import { parsePrompt } from "./parse.ts"
import { PromptRegistry } from "./registry.ts"
import { shippedPrompts } from "./shipped.ts"

/**
 * Reads every `.yaml`, `.yml` and `.md` file below a folder, in the order of their paths. `README.md` and what begins
 * with a dot is passed over.
 *
 * @throws ToolwrightError `INVALID_PROMPT` with every broken file named, or when the folder cannot be read
 */
export async function readPrompts(folder: string): Promise<Prompt[]> {
  let names: string[]
  try {
    names = readdirSync(folder, { recursive: true }) as string[]
  } catch (cause) {
    throw new ToolwrightError("INVALID_PROMPT", `The prompts in ${folder} cannot be read: ${messageOf(cause)}`, {
      cause,
    })
  }
  const files = names.filter((name) => /\.(ya?ml|md)$/.test(name) && !/(^|[/\\])(\.|README\.md$)/.test(name)).toSorted()
  const prompts: Prompt[] = []
  const broken: string[] = []
  for (const name of files) {
    const file = join(folder, name)
    try {
      prompts.push(await parsePrompt(readStateFile(file, { follow: true })?.toString("utf8") ?? "", file))
    } catch (thrown) {
      broken.push(messageOf(thrown))
    }
  }
  if (broken.length > 0) throw new ToolwrightError("INVALID_PROMPT", broken.join("\n"))
  return prompts
}

/** Where prompts come from. */
export interface LoadPromptsOptions {
  /** Folders of prompt files; one of these replaces a shipped prompt of the same name. */
  folders?: readonly string[]
  /** Whether the prompts of this package are there too; they are unless this is false. */
  shipped?: boolean
}

/**
 * Loads all prompts.
 *
 * @throws ToolwrightError `INVALID_PROMPT` or `DUPLICATE_PROMPT`, naming the files: a start with half of the prompts is
 *   none
 */
export async function loadPrompts({ folders = [], shipped = true }: LoadPromptsOptions = {}): Promise<PromptRegistry> {
  const registry = new PromptRegistry()
  for (const folder of folders) for (const prompt of await readPrompts(folder)) registry.register(prompt)
  const own = shipped ? shippedPrompts() : []
  for (const prompt of own) if (registry.get(prompt.name) === undefined) registry.register(prompt)
  return registry
}
