import { nearest, ToolwrightError } from "@toolwright/toolbox"
import type { ToolKit } from "@toolwright/host"
import type { Configuration } from "../configuration/settings.ts"

type Builtins = Configuration["builtins"]

/** Kits are packages beside this one, which need not be there: each is loaded when it is chosen, and not before. */
const KITS: Readonly<Record<string, { readonly package: string; load(builtins: Builtins): Promise<ToolKit> }>> = {
  web: {
    package: "@toolwright/tools-web",
    load: async ({ web }) => (await import("@toolwright/tools-web")).webKit(web),
  },
  blog: {
    package: "@toolwright/tools-blog",
    load: async ({ blog }) => (await import("@toolwright/tools-blog")).blogKit(blog),
  },
  database: {
    package: "@toolwright/tools-database",
    load: async ({ databases }) =>
      (await import("@toolwright/tools-database")).databaseKit(databases === undefined ? {} : { databases }),
  },
}

/** Every kit by its name, with the package that it comes in. */
export const KIT_PACKAGES: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(KITS).map(([name, kit]) => [name, kit.package]),
)

/** What an assistant is expected to have: taken where it is installed and nothing else was chosen. */
const USUAL = ["web"]

/**
 * The kits that a configuration chooses: those that it names, and those that it has settings for; where it names none,
 * the usual ones that are installed.
 *
 * @throws ToolwrightError `INVALID_CONFIGURATION` when a kit does not exist or is not installed
 */
export async function chosenKits(builtins: Builtins): Promise<ToolKit[]> {
  const named = builtins.kits ?? []
  for (const name of named) if (!Object.hasOwn(KITS, name)) throw unknown(name)
  const configured = Object.entries({ web: builtins.web, blog: builtins.blog, database: builtins.databases })
    .filter(([, settings]) => settings !== undefined)
    .map(([name]) => name)
  const chosen = new Set([...named, ...configured])
  const usual = builtins.kits === undefined ? USUAL.filter((name) => !chosen.has(name)) : []
  const kits = await Promise.all([
    ...[...chosen].map((name) => load(name, builtins)),
    ...usual.map((name) => loadIfInstalled(name, builtins)),
  ])
  return kits.filter((kit) => kit !== undefined)
}

/** All other kits that are installed: where a tool is asked for by its name, the kit need not be named too. */
export async function furtherKits(builtins: Builtins, chosen: readonly ToolKit[]): Promise<ToolKit[]> {
  const names = Object.keys(KITS).filter((name) => !chosen.some((kit) => kit.name === name))
  const kits = await Promise.all(names.map((name) => loadIfInstalled(name, builtins)))
  return kits.filter((kit) => kit !== undefined)
}

async function load(name: string, builtins: Builtins): Promise<ToolKit> {
  const kit = await loadIfInstalled(name, builtins)
  if (kit !== undefined) return kit
  throw new ToolwrightError("INVALID_CONFIGURATION", `The tools of the kit '${name}' are not installed.`, {
    hint: `Install them beside toolwright: npm install ${KITS[name]!.package}`,
  })
}

async function loadIfInstalled(name: string, builtins: Builtins): Promise<ToolKit | undefined> {
  const kit = KITS[name]!
  try {
    return await kit.load(builtins)
  } catch (thrown) {
    if (isAbsent(thrown, kit.package)) return undefined
    throw thrown
  }
}

/** Whether the package itself could not be found; one of its own that is missing is another failure. */
function isAbsent(thrown: unknown, name: string): boolean {
  const { code, message } = thrown as { code?: unknown; message?: unknown }
  return code === "ERR_MODULE_NOT_FOUND" && String(message).includes(`'${name}'`)
}

function unknown(name: string): ToolwrightError {
  const names = Object.keys(KITS)
  const close = nearest(name, names)[0]
  return new ToolwrightError("INVALID_CONFIGURATION", `The setting 'builtins.kits' names '${name}', which is no kit.`, {
    hint: close === undefined ? `Kits: ${names.join(", ")}.` : `Did you mean '${close}'?`,
  })
}
