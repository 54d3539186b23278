import { readFile, realpath, stat } from "node:fs/promises"
import { relative, resolve, sep } from "node:path"
import type { TaskRow } from "@toolwright/store"
import type { RunSummary } from "@toolwright/toolbox"
import { interfaceOf } from "@toolwright/tools"
import type { Toolwright } from "../toolwright.ts"

/** Characters of declarations that are told at most, and of one file that is looked at. */
const MOST_CHARS = 12_000
const LARGEST_BYTES = 256 * 1024

/** What an agent has to know of the tasks that its own comes after: what their files declare, or what they answered. */
export async function earlierTasks(toolwright: Toolwright, task: TaskRow): Promise<string | undefined> {
  if (task.plan === null) return undefined
  const queue = await toolwright.tasks.open()
  const ids = (await queue.dependencies([task.id])).get(task.id) ?? []
  const rows = await Promise.all(ids.map((id) => queue.get(id)))
  const parts: string[] = []
  let room = MOST_CHARS
  for (const row of rows) {
    const part = row === undefined ? "" : await told(toolwright, row)
    if (part === "" || part.length > room) continue
    room -= part.length
    parts.push(part)
  }
  return parts.length === 0 ? undefined : `What was done before, which yours builds on:\n\n${parts.join("\n\n")}`
}

async function told(toolwright: Toolwright, row: TaskRow): Promise<string> {
  const { modifiedFiles = [], message = "" } = JSON.parse(row.result ?? "{}") as Partial<RunSummary>
  const profile = await toolwright.agents.find(row.agent).catch(() => undefined)
  const { root } = toolwright.tasks
  const files = new Set(
    [...(profile?.files ?? []), ...modifiedFiles].map((file) => relative(root, resolve(root, file))),
  )
  const declared: string[] = []
  for (const file of files) {
    const text = await declaredIn(root, file)
    if (text !== undefined && text !== "")
      declared.push(`${file.split(sep).join("/")} (by ${row.agent}) declares:\n${text}`)
  }
  if (declared.length > 0) return `${declared.join("\n\n")}\nUse these as they are declared.`
  const words = message.trim()
  return words === "" ? "" : `${row.agent} answered:\n${words.slice(0, MOST_CHARS / 4)}`
}

/** A file that is not there, is too large, or leads out of the workspace declares nothing. */
async function declaredIn(root: string, file: string): Promise<string | undefined> {
  try {
    const path = await realpath(resolve(root, file))
    if (!path.startsWith(`${await realpath(root)}${sep}`) || (await stat(path)).size > LARGEST_BYTES) return undefined
    return await interfaceOf(path, await readFile(path, "utf8"))
  } catch {
    return undefined
  }
}
