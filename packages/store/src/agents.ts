import type { Selectable } from "kysely"
import { ToolwrightError } from "@toolwright/toolbox/errors"
import type { Database } from "./database/database.ts"
import type { Execute } from "./database/driver.ts"
import { nameSign } from "./name-sign.ts"
import type { AgentTable } from "./tables.ts"

/** An agent that was made by name, with the files that it owns. Times are milliseconds since 1970. */
export interface AgentRow extends Pick<Selectable<AgentTable>, "id" | "name" | "workspace" | "profile" | "created_at"> {
  /** JSON: what makes it differ from its kind. */
  definition: string
  /** From the top of the workspace, with `/`. */
  files: string[]
}

/** An agent that is to be made. */
export interface NewAgent {
  name: string
  /** The kind of agent that it is one of. */
  profile: string
  /** As JSON can hold it. */
  definition?: object
  files?: readonly string[]
}

/** The agents of one workspace, each with files that no other owns: the database holds that. */
export interface AgentRegistry {
  /** Oldest first. */
  list(): Promise<AgentRow[]>
  get(name: string): Promise<AgentRow | undefined>
  /**
   * Makes an agent; one that is there already and is the same in everything is given back.
   *
   * @throws ToolwrightError `AGENT_EXISTS`, `FILE_OWNED`: then nothing was made
   */
  create(agent: NewAgent): Promise<AgentRow>
  /** Makes several, or none. @throws as `create` */
  createAll(agents: readonly NewAgent[]): Promise<AgentRow[]>
  /** Why these would not be made, each by itself; nothing is. */
  conflicts(agents: readonly NewAgent[]): Promise<{ name: string; error: ToolwrightError }[]>
  /**
   * Lets go of an agent and its files. @throws ToolwrightError `UNKNOWN_AGENT`, `AGENT_BUSY` where tasks of it are open
   */
  remove(name: string): Promise<AgentRow>
}

const COLUMNS = "id, name, workspace, profile, definition, created_at"

/** @param workspace of whose agents; nothing where the database is the folder's own */
export function agentRegistry(database: Database, workspace = "", now: () => number = Date.now): AgentRegistry {
  const withFiles = async (rows: Omit<AgentRow, "files">[]): Promise<AgentRow[]> => {
    const owned = await database.query<{ path: string; agent: string }>(
      "SELECT path, agent FROM owned_files WHERE workspace = ? ORDER BY path",
      [workspace],
    )
    const files = Map.groupBy(owned, ({ agent }) => agent)
    return rows.map((row) => ({ ...row, files: (files.get(row.id) ?? []).map(({ path }) => path) }))
  }
  const get = async (name: string): Promise<AgentRow | undefined> => {
    const rows = await database.query<Omit<AgentRow, "files">>(
      `SELECT ${COLUMNS} FROM agents WHERE workspace = ? AND name = ?`,
      [workspace, name],
    )
    return (await withFiles(rows))[0]
  }
  const createAll = async (agents: readonly NewAgent[]): Promise<AgentRow[]> => {
    await database.transaction(async (execute) => {
      for (const agent of agents) await insertAgent(execute, workspace, agent, now())
    })
    return Promise.all(agents.map(async ({ name }) => (await get(name))!))
  }
  return {
    async list() {
      const rows = await database.query<Omit<AgentRow, "files">>(
        `SELECT ${COLUMNS} FROM agents WHERE workspace = ? ORDER BY created_at, id`,
        [workspace],
      )
      return withFiles(rows)
    },
    get,
    createAll,
    create: async (agent) => (await createAll([agent]))[0]!,
    async conflicts(agents) {
      const found: { name: string; error: ToolwrightError }[] = []
      const undone = new Error("undone")
      const tried = database.transaction(async (execute) => {
        for (const agent of agents) {
          try {
            await insertAgent(execute, workspace, agent, now())
          } catch (error) {
            if (!ToolwrightError.isInstance(error)) throw error
            found.push({ name: agent.name, error })
          }
        }
        throw undone
      })
      await tried.catch((thrown: unknown) => {
        if (thrown !== undone) throw thrown
      })
      return found
    },
    async remove(name) {
      const row = await get(name)
      if (row === undefined) throw unknownAgent(name)
      await database.transaction((execute) => deleteAgent(execute, row))
      return row
    },
  }
}

async function insertAgent(execute: Execute, workspace: string, agent: NewAgent, time: number): Promise<void> {
  const { name, profile, definition = {}, files = [] } = agent
  const json = JSON.stringify(definition)
  const values = [crypto.randomUUID(), workspace, name, profile, json, time, time]
  const { changed } = await execute(
    `INSERT INTO agents (id, workspace, name, profile, definition, created_at, updated_at)
     VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (workspace, name) DO NOTHING`,
    values,
  )
  const [row] = (
    await execute<{ id: string; profile: string; definition: string }>(
      "SELECT id, profile, definition FROM agents WHERE workspace = ? AND name = ?",
      [workspace, name],
    )
  ).rows
  const { id } = row!
  if (changed === 0) {
    const owned = await execute<{ path: string }>("SELECT path FROM owned_files WHERE workspace = ? AND agent = ?", [
      workspace,
      id,
    ])
    const same = owned.rows.length === new Set(files).size && owned.rows.every(({ path }) => files.includes(path))
    if (same && row!.profile === profile && row!.definition === json) return
    throw new ToolwrightError("AGENT_EXISTS", `There is an agent '${name}' already, which is another one.`, {
      hint: `'toolwright agents show ${name}' shows it, 'toolwright agents remove ${name}' lets go of it.`,
    })
  }
  for (const path of new Set(files)) await ownFile(execute, { workspace, path, agent: id, name }, time)
}

/** The keys of the table keep a second owner out, also where two are made at once. */
async function ownFile(
  execute: Execute,
  { workspace, path, agent, name }: { workspace: string; path: string; agent: string; name: string },
  time: number,
): Promise<void> {
  const sign = nameSign(path)
  const { changed } = await execute(
    "INSERT INTO owned_files (workspace, path, agent, created_at, sign) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
    [workspace, path, agent, time, sign],
  )
  if (changed === 1) return
  const [owner] = (
    await execute<{ name: string; path: string }>(
      `SELECT a.name, f.path FROM owned_files f JOIN agents a ON a.id = f.agent
       WHERE f.workspace = ? AND (f.path = ? OR f.sign = ?)`,
      [workspace, path, sign],
    )
  ).rows
  const spelled = owner === undefined || owner.path === path ? "" : `, which is one file with ${path} on some systems,`
  throw new ToolwrightError(
    "FILE_OWNED",
    `${owner?.path ?? path}${spelled} is owned by '${owner?.name}', so '${name}' was not made.`,
    {
      hint:
        `A file has one owner. Give '${name}' another file, or let go of the owner: toolwright agents remove ` +
        `${owner?.name}`,
    },
  )
}

async function deleteAgent(execute: Execute, { id, name, workspace }: AgentRow): Promise<void> {
  const [open] = (
    await execute<{ id: string }>(
      `SELECT id FROM tasks WHERE agent = ? AND COALESCE(workspace, '') = ?
       AND state IN ('queued', 'waiting', 'running', 'needs-approval') LIMIT 1`,
      [name, workspace],
    )
  ).rows
  if (open !== undefined)
    throw new ToolwrightError("AGENT_BUSY", `The task ${open.id} of '${name}' has not ended.`, {
      hint: `Wait for it, or cancel it first: toolwright tasks cancel ${open.id}`,
    })
  await execute("DELETE FROM owned_files WHERE agent = ?", [id])
  await execute("DELETE FROM agents WHERE id = ?", [id])
}

function unknownAgent(name: string): ToolwrightError {
  return new ToolwrightError("UNKNOWN_AGENT", `There is no agent '${name}' that was made here.`, {
    hint: "'toolwright agents' lists them.",
  })
}
