/**
 * A process that rewrites two files of a workspace without end, one with write_file and one with edit_file, until it is
 * killed.
 * Arguments: the workspace, the state directory.
 */
import { flushCompileCache } from "node:module"
import { ToolRegistry } from "@toolwright/toolbox"
import { createFilesystemTools } from "../filesystem/index.ts"
import { createWorkspace } from "@toolwright/host/paths"

const [root, stateDirectory] = process.argv.slice(2) as [string, string]
const workspace = createWorkspace({ roots: [{ path: root, access: "read-write" }], stateDirectory })
const registry = new ToolRegistry()
for (const tool of createFilesystemTools(workspace)) registry.register(tool)

/** Three thousand lines, all of one version. */
export function contentOf(version: number): string {
  return `version ${version} of the file\n`.repeat(3000)
}

for (let version = 1; ; version += 1) {
  const written = await registry.execute("write_file", { path: "written.txt", content: contentOf(version) })
  const { content } = (await registry.execute("read_text_file", { path: "edited.txt", head: 1 })).data as {
    content: string
  }
  const now = Number(/\d+/u.exec(content)?.[0])
  const edited = await registry.execute("edit_file", {
    path: "edited.txt",
    old_text: `version ${now} `,
    new_text: `version ${now + 1} `,
    replace_all: true,
  })
  if (!written.success || !edited.success) throw new Error(`${written.output}\n${edited.output}`)
  if (version > 1) continue
  // Once killed it keeps nothing for the next one, which would compile all of this again.
  flushCompileCache()
  process.stdout.write("writing\n")
}
