import { systemProbe } from "@toolwright/runtime/capabilities"
import { isConfigured } from "../configured.ts"
import { EXIT, type Command, type Invocation } from "../command.ts"
import { listLines, otherKits, type ListedTool } from "../tool-catalogue/lines.ts"
import catalogue from "../tool-catalogue/catalogue.json" with { type: "json" }

/**
 * `tools list` where nothing is configured: from the catalogue of the built-in tools, which a test keeps equal to the
 * tools themselves, so that none of their code has to be loaded.
 */
export const plainListCommand: Command = {
  name: "tools",
  summary: "List the built-in tools",
  usage: "",
  async run(invocation: Invocation) {
    if (isConfigured(invocation, CONFIGURING)) return (await import("./tools.ts")).toolsCommand.run(invocation)
    const probe = systemProbe(invocation.env)
    const tools: ListedTool[] = await Promise.all(
      usual().map(async ({ name, category, summary, capabilities }) => {
        const found = await Promise.all(capabilities.map((capability) => probe(capability)))
        const missing = found.flatMap((each) => (each.available ? [] : [each.detail]))
        return { name, category, summary, ...(missing.length === 0 ? {} : { unavailable: missing.join("; ") }) }
      }),
    )
    for (const line of listLines(tools, invocation)) invocation.stdout.write(`${line}\n`)
    for (const line of otherKits(tools)) invocation.stderr.write(`${line}\n`)
    return EXIT.success
  },
}

/** The tools that are there where no kit is chosen: those for code, and the web's where they are installed. */
function usual(): typeof catalogue {
  const kits = ["coding", ...(isInstalled("@toolwright/tools-web") ? ["web"] : [])]
  return catalogue.filter(({ kit }) => kits.includes(kit))
}

function isInstalled(name: string): boolean {
  try {
    import.meta.resolve(name)
    return true
  } catch {
    return false
  }
}

/** Variables that bring tools, or the model that some tools need. */
const CONFIGURING = [
  "TOOLWRIGHT_TOOLS",
  "TOOLS_API_URL",
  "TOOLWRIGHT_BACKEND",
  "TOOLWRIGHT_MODEL",
  "TOOLWRIGHT_MODEL_PATH",
  "TOOLWRIGHT_BASE_URL",
  "OPENAI_BASE_URL",
]
