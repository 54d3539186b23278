import { relative, resolve, sep } from "node:path"
import type { Workspace } from "@toolwright/host/paths"
import type { TaskRow } from "@toolwright/store"
import type { RunSummary } from "@toolwright/toolbox"
import { interfaceOf } from "@toolwright/tools"
import type { Toolwright } from "../toolwright.ts"
import { toolWorkspace } from "../workspace/tool-workspace.ts"

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
  const { configuration } = toolwright
  const workspace = toolWorkspace({ ...configuration, workspace: { ...configuration.workspace, roots: [root] } }, root)
  const declared: string[] = []
  for (const file of files) {
    const text = await declaredIn(workspace, resolve(root, file))
    if (text !== undefined && text !== "")
      declared.push(`${file.split(sep).join("/")} (by ${row.agent}) declares:\n${text}`)
  }
  if (declared.length > 0) return `${declared.join("\n\n")}\nUse these as they are declared.`
  const words = message.trim()
  return words === "" ? "" : `${row.agent} answered:\n${words.slice(0, MOST_CHARS / 4)}`
}

/** What no tool could read declares nothing here either: a denied file, one outside the workspace, or one too large. */
async function declaredIn(workspace: Workspace, path: string): Promise<string | undefined> {
  try {
    const { bytes } = await workspace.read(path, LARGEST_BYTES)
    return await interfaceOf(path, bytes.toString("utf8"))
  } catch {
    return undefined
  }
}
