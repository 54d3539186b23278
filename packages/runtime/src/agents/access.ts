import { existsSync } from "node:fs"
import { join } from "node:path"
import { profileFrom, PROFILES, readAgentDefinition, type AgentDefinition, type AgentProfile } from "@toolwright/agents"
import { agentRegistry, nameSign, type AgentRegistry, type AgentRow, type NewAgent } from "@toolwright/store"
import { nearest, ToolwrightError } from "@toolwright/toolbox"
import type { LogAccess } from "../assembly/log.ts"
import type { Configuration } from "../configuration/settings.ts"
import type { TaskAccess } from "../tasks/access.ts"
import { ownAgents } from "./own.ts"
import { ownedPath } from "./owned-path.ts"

/** An agent, as it is listed. */
export interface AgentView {
  name: string
  description: string
  /** It comes with Toolwright, stands in the configuration, or was made by name. */
  kind: "shipped" | "own" | "made"
  /** The agent that it starts from. */
  from?: string
  changesWorkspace: boolean
  ownsFiles: boolean
  /** The files that it owns. */
  files?: string[]
  createdAt?: string
}

/** An agent that is to be made by name. */
export interface AgentToMake extends AgentDefinition {
  name: string
}

/** All agents: those that come with Toolwright, those that the configuration describes, and those that were made. */
export interface AgentAccess {
  /** The agents that need no database to be found. */
  readonly known: readonly AgentProfile[]
  list(): Promise<AgentView[]>
  /** @throws ToolwrightError `UNKNOWN_AGENT`, with the nearest names */
  find(name: string): Promise<AgentProfile>
  show(name: string): Promise<AgentView>
  /**
   * The files that an agent is given for one task, each by its one name, where no other agent owns them.
   *
   * @throws ToolwrightError `INVALID_AGENT`, `FILE_OWNED`
   */
  filesFor(agent: AgentProfile, files: readonly string[]): Promise<string[]>
  /**
   * Makes an agent that is kept in the database: `file-owner` where it is given files and does not say what it starts
   * from.
   *
   * @throws ToolwrightError `INVALID_AGENT`, `UNKNOWN_AGENT`, `AGENT_EXISTS`, `FILE_OWNED`
   */
  create(agent: AgentToMake): Promise<AgentView>
  /** Makes several, or none. @throws as `create` */
  createAll(agents: readonly AgentToMake[]): Promise<AgentView[]>
  /** Why these would not be made, each by itself; nothing is. */
  mistakesIn(agents: readonly AgentToMake[]): Promise<{ name: string; error: ToolwrightError }[]>
  /** What an agent would be once it is made. @throws as `create` */
  preview(agent: AgentToMake): Promise<AgentProfile>
  /** @throws ToolwrightError `UNKNOWN_AGENT`, `AGENT_BUSY` */
  remove(name: string): Promise<AgentView>
}

/** What agents are found with. */
export interface AgentParts {
  own: ReadonlyMap<string, AgentProfile>
  log: LogAccess
  /** The top of the workspace. */
  root: string
  /** Whose agents of the database: nothing where that is the folder's own. */
  workspace: string | undefined
}

export function agentAccess(parts: AgentParts): AgentAccess {
  return new Agents(parts)
}

/** The agents of a configuration, without anything else that a run needs. */
export async function agentsFor(
  configuration: Configuration,
  { cwd, tasks }: { cwd: string; tasks: TaskAccess },
): Promise<AgentAccess> {
  const { log, root, workspace } = tasks
  return agentAccess({ own: await ownAgents(configuration, cwd), log, root, workspace })
}

class Agents implements AgentAccess {
  readonly known: readonly AgentProfile[]
  readonly #parts: AgentParts

  constructor(parts: AgentParts) {
    this.#parts = parts
    this.known = [...PROFILES, ...parts.own.values()]
  }

  async list(): Promise<AgentView[]> {
    const made = (await (await this.#look())?.list()) ?? []
    return [...this.known.map((profile) => this.#viewOf(profile)), ...made.map((row) => this.#madeView(row))]
  }

  async find(name: string): Promise<AgentProfile> {
    const profile = this.known.find((each) => each.name === name)
    if (profile !== undefined) return this.#soleOwner(profile)
    const registry = await this.#look()
    const row = await registry?.get(name)
    if (row !== undefined) return this.#profileOf(row)
    const names = [...this.known.map((each) => each.name), ...((await registry?.list()) ?? []).map((each) => each.name)]
    const close = nearest(name, names)[0]
    const meant = close === undefined ? "" : `Did you mean '${close}'? `
    throw new ToolwrightError("UNKNOWN_AGENT", `There is no agent '${name}'.`, {
      hint: `${meant}'toolwright agents' lists them all.${this.#untakenFile(name)}`,
    })
  }

  /** What to do about an agent that lies where `toolwright new agent` puts it, and that nothing takes. */
  #untakenFile(name: string): string {
    const file = join("agents", `${name}.yaml`)
    if (!/^[\w-]+$/.test(name) || !existsSync(join(this.#parts.root, file))) return ""
    return ` ${file} is there: take it with --agents ./agents, or 'agents: { files: [./agents] }' in toolwright.yaml.`
  }

  async show(name: string): Promise<AgentView> {
    const known = this.known.some((each) => each.name === name)
    const row = known ? undefined : await (await this.#look())?.get(name)
    return row === undefined ? this.#viewOf(await this.find(name)) : this.#madeView(row)
  }

  async filesFor({ name, files: own = [] }: AgentProfile, files: readonly string[]): Promise<string[]> {
    const { root } = this.#parts
    const paths = [...new Set(files.map((file) => ownedPath(root, file)))]
    const others = paths.filter((path) => !own.includes(path))
    if (others.length === 0) return paths
    const made = (await (await this.#look())?.list()) ?? []
    for (const path of others) {
      const described = this.#describedOwners(path).filter((owner) => owner !== name)
      const [owner] = [
        ...described,
        ...made.filter((row) => row.name !== name && owns(row, path)).map((row) => row.name),
      ]
      if (owner !== undefined) throw this.#owned(path, owner, name)
    }
    return paths
  }

  async create(agent: AgentToMake): Promise<AgentView> {
    return (await this.createAll([agent]))[0]!
  }

  async createAll(agents: readonly AgentToMake[]): Promise<AgentView[]> {
    const made = await Promise.all(agents.map((agent) => this.#prepared(agent)))
    const rows = await (await this.#open()).createAll(made)
    return rows.map((row) => this.#madeView(row))
  }

  async mistakesIn(agents: readonly AgentToMake[]): Promise<{ name: string; error: ToolwrightError }[]> {
    const found: { name: string; error: ToolwrightError }[] = []
    const made: NewAgent[] = []
    for (const agent of agents) {
      try {
        made.push(await this.#prepared(agent))
      } catch (error) {
        if (!ToolwrightError.isInstance(error)) throw error
        found.push({ name: agent.name, error })
      }
    }
    return [...found, ...((await (await this.#look())?.conflicts(made)) ?? [])]
  }

  async preview(agent: AgentToMake): Promise<AgentProfile> {
    const { name, profile, definition = {}, files = [] } = await this.#prepared(agent)
    return profileFrom(name, { ...definition, ...owning(files), files: [...files] }, this.#base(profile, name))
  }

  /** As it is kept in the database. @throws as `create` */
  async #prepared({ name, ...given }: AgentToMake): Promise<NewAgent> {
    const { root } = this.#parts
    const { files = [], ...definition } = await readAgentDefinition(name, given)
    if (this.known.some((each) => each.name === name)) throw this.#taken(name)
    const owned = [...new Set(files.map((file) => ownedPath(root, file)))]
    for (const path of owned) this.#notDescribed(path, name)
    const profile = definition.from ?? (owned.length > 0 ? "file-owner" : "assistant")
    const base = this.#base(profile, name)
    checkOwner(profileFrom(name, { ...definition, ...owning(owned) }, base), owned)
    return { name, profile, definition, files: owned }
  }

  async remove(name: string): Promise<AgentView> {
    const registry = await this.#look()
    if (registry === undefined || this.known.some((each) => each.name === name)) {
      const profile = await this.find(name)
      throw new ToolwrightError("UNKNOWN_AGENT", `'${profile.name}' was not made here, so it cannot be removed.`, {
        hint: "It comes with Toolwright, or stands in the configuration.",
      })
    }
    const view = await this.show(name)
    await registry.remove(name)
    return view
  }

  #profileOf({ name, profile, definition, files }: AgentRow): AgentProfile {
    const given = JSON.parse(definition) as AgentDefinition
    return profileFrom(name, { ...given, ...owning(files), files }, this.#base(profile, name))
  }

  #base(name: string, asked: string): AgentProfile {
    const base = this.known.find((each) => each.name === name)
    if (base !== undefined) return base
    const close = nearest(
      name,
      this.known.map((each) => each.name),
    )[0]
    throw new ToolwrightError("UNKNOWN_AGENT", `'${asked}' starts from '${name}', and there is no such agent here.`, {
      hint: close === undefined ? "'toolwright agents' lists them." : `Did you mean '${close}'?`,
    })
  }

  #viewOf(profile: AgentProfile): AgentView {
    const { name, description, changesWorkspace, ownsFiles = false, files } = profile
    const kind = PROFILES.includes(profile) ? "shipped" : "own"
    return {
      name,
      description,
      kind,
      changesWorkspace,
      ownsFiles,
      ...(files === undefined ? {} : { files: [...files] }),
    }
  }

  /** One whose base is not described any more is still there: whoever sees it can let go of it. */
  #madeView(row: AgentRow): AgentView {
    const { name, profile: from, files, created_at } = row
    const {
      ownsFiles = false,
      changesWorkspace,
      description,
    } = this.known.some((each) => each.name === from)
      ? this.#profileOf(row)
      : { changesWorkspace: true, ownsFiles: files.length > 0, description: `Starts from '${from}', which is gone` }
    const createdAt = new Date(created_at).toISOString()
    return { name, description, kind: "made", from, changesWorkspace, ownsFiles, files, createdAt }
  }

  /** Which agents of the configuration own a file, where it has one name however it is written. */
  #describedOwners(path: string): string[] {
    const { own, root } = this.#parts
    return [...own.values()]
      .filter(({ files = [] }) => files.some((file) => isOneFile(placeOf(root, file), path)))
      .map(({ name }) => name)
  }

  /**
   * An agent of the configuration, whose files no other one there was given too. @throws ToolwrightError `FILE_OWNED`
   */
  #soleOwner(profile: AgentProfile): AgentProfile {
    const { own, root } = this.#parts
    for (const file of own.has(profile.name) ? (profile.files ?? []) : []) {
      const path = ownedPath(root, file)
      // What an agent has from the one that it starts from belongs to both of them.
      const other = this.#describedOwners(path).find((name) => own.get(name)!.files !== profile.files)
      if (other !== undefined) throw this.#owned(path, other, profile.name)
    }
    return profile
  }

  #notDescribed(path: string, name: string): void {
    const [owner] = this.#describedOwners(path)
    if (owner !== undefined) throw this.#owned(path, owner, name)
  }

  #owned(path: string, owner: string, name: string): ToolwrightError {
    return new ToolwrightError("FILE_OWNED", `${path} is owned by '${owner}', so '${name}' cannot own it.`, {
      hint: `A file has one owner: give the work to '${owner}', or take another file.`,
    })
  }

  #taken(name: string): ToolwrightError {
    return new ToolwrightError("AGENT_EXISTS", `There is an agent '${name}' already, which is another one.`, {
      hint: `Give it another name, and start from that one: --from ${name}`,
    })
  }

  async #open(): Promise<AgentRegistry> {
    const { log, workspace } = this.#parts
    return agentRegistry((await log.open()).database, workspace)
  }

  async #look(): Promise<AgentRegistry | undefined> {
    const { log, workspace } = this.#parts
    const found = await log.look()
    return found === undefined ? undefined : agentRegistry(found.database, workspace)
  }
}

/** The one name of a file; nothing where it is none that can be owned. */
function placeOf(root: string, file: string): string | undefined {
  try {
    return ownedPath(root, file)
  } catch {
    return undefined
  }
}

const owns = ({ files }: AgentRow, path: string): boolean => files.some((file) => isOneFile(file, path))

/** Whether some file system takes two names for one. */
function isOneFile(one: string | undefined, other: string): boolean {
  return one !== undefined && nameSign(one) === nameSign(other)
}

/** Whoever is given files writes these and no other. */
function owning(files: readonly string[]): AgentDefinition {
  return files.length > 0 ? { mode: "owns" } : {}
}

function checkOwner({ name, ownsFiles }: AgentProfile, files: readonly string[]): void {
  if (ownsFiles !== true || files.length > 0) return
  throw new ToolwrightError("FILES_NEEDED", `The agent '${name}' has to be told which files it owns.`, {
    hint: `Name them: toolwright agents create ${name} --file src/area.py`,
  })
}
