import { nearest, ToolwrightError } from "@toolwright/toolbox"
import type { ToolKit } from "@toolwright/host"
import type { BlogToolsConfig } from "@toolwright/tools-blog"
import type { Configuration } from "../configuration/settings.ts"

type Builtins = Configuration["builtins"]

type TextGenerator = NonNullable<BlogToolsConfig["generator"]>

/** What kits are given of the assembly. */
export interface KitParts {
  /** Writes texts with the model of the runs; undefined where there is none. */
  generator?: TextGenerator
}

/** Kits are packages beside this one, which need not be there: each is loaded when it is chosen, and not before. */
const KITS: Readonly<
  Record<string, { readonly package: string; load(builtins: Builtins, parts: KitParts): Promise<ToolKit> }>
> = {
  web: {
    package: "@toolwright/tools-web",
    load: async ({ web }) => (await import("@toolwright/tools-web")).webKit(web),
  },
  blog: {
    package: "@toolwright/tools-blog",
    load: async ({ blog }, { generator }) =>
      (await import("@toolwright/tools-blog")).blogKit({ ...(generator === undefined ? {} : { generator }), ...blog }),
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
export async function chosenKits(builtins: Builtins, parts: KitParts = {}): Promise<ToolKit[]> {
  const named = builtins.kits ?? []
  for (const name of named) if (!Object.hasOwn(KITS, name)) throw unknown(name)
  const configured = Object.entries({ web: builtins.web, blog: builtins.blog, database: builtins.databases })
    .filter(([, settings]) => settings !== undefined)
    .map(([name]) => name)
  const chosen = new Set([...named, ...configured])
  const usual = builtins.kits === undefined ? USUAL.filter((name) => !chosen.has(name)) : []
  const kits = await Promise.all([
    ...[...chosen].map((name) => load(name, builtins, parts)),
    ...usual.map((name) => loadIfInstalled(name, builtins, parts)),
  ])
  return kits.filter((kit) => kit !== undefined)
}

/** All other kits that are installed: where a tool is asked for by its name, the kit need not be named too. */
export async function furtherKits(
  builtins: Builtins,
  chosen: readonly ToolKit[],
  parts: KitParts = {},
): Promise<ToolKit[]> {
  const names = Object.keys(KITS).filter((name) => !chosen.some((kit) => kit.name === name))
  const kits = await Promise.all(names.map((name) => loadIfInstalled(name, builtins, parts)))
  return kits.filter((kit) => kit !== undefined)
}

/**
 * A configuration that chooses these kits too, beside all that it chooses itself.
 *
 * @throws ToolwrightError `INVALID_CONFIGURATION` where one is not installed
 */
export async function withKits<Given extends { builtins: Builtins }>(
  configuration: Given,
  names: readonly string[] = [],
): Promise<Given> {
  const { builtins } = configuration
  if (names.length === 0) return configuration
  const usual = builtins.kits === undefined ? USUAL : []
  const there = await Promise.all(usual.map((name) => loadIfInstalled(name, builtins, {})))
  const before = builtins.kits ?? there.flatMap((kit) => kit?.name ?? [])
  return { ...configuration, builtins: { ...builtins, kits: [...new Set([...before, ...names])] } }
}

async function load(name: string, builtins: Builtins, parts: KitParts): Promise<ToolKit> {
  const kit = await loadIfInstalled(name, builtins, parts)
  if (kit !== undefined) return kit
  throw new ToolwrightError("INVALID_CONFIGURATION", `The tools of the kit '${name}' are not installed.`, {
    hint: `Install them beside toolwright: npm install ${KITS[name]!.package}`,
  })
}

async function loadIfInstalled(name: string, builtins: Builtins, parts: KitParts): Promise<ToolKit | undefined> {
  const kit = KITS[name]!
  try {
    return await kit.load(builtins, parts)
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
