import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { ToolRegistry, validate, type JsonObject, type ToolResult } from "@toolwright/toolbox"
import { withFormerNames } from "../compat/former-names.ts"
import { createCodeEditTool } from "../code-edit/code-edit.ts"
import { createFileTool } from "../file/file.ts"
import { createFilesystemTools } from "../filesystem/index.ts"
import { createWorkspace, type Workspace, type WorkspaceConfig } from "@toolwright/host/paths"
import { createSearchTool } from "../search/search.ts"

/** A temporary workspace with the file tools in a registry; disposing it removes everything. */
export interface FileFixture extends Disposable {
  /** Holds `root` and may hold what lies outside of it. */
  readonly folder: string
  readonly root: string
  readonly workspace: Workspace
  readonly registry: ToolRegistry
  /** Calls a tool through the whole pipeline; the data of a success must fit the tool's output schema. */
  call(name: string, args: JsonObject): Promise<ToolResult>
  text(path: string): string
}

export function fileFixture(
  files: Readonly<Record<string, string | Uint8Array>> = {},
  config: Partial<WorkspaceConfig> = {},
): FileFixture {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "toolwright-files-")))
  const root = join(folder, "ws")
  mkdirSync(root)
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), content)
  }
  const workspace = createWorkspace({
    roots: [{ path: root, access: "read-write" }],
    stateDirectory: join(folder, "state"),
    ...config,
  })
  const registry = new ToolRegistry()
  const tools = [
    ...createFilesystemTools(workspace),
    createFileTool(workspace),
    createCodeEditTool(workspace),
    createSearchTool(workspace),
  ].map(withFormerNames)
  for (const tool of tools) registry.register(tool)
  return {
    folder,
    root,
    workspace,
    registry,
    async call(name, args) {
      const result = await registry.execute(name, args)
      const schema = tools.find((tool) => tool.name === name)?.outputSchema
      const errors = result.success && schema !== undefined ? await validate(schema, result.data) : []
      if (errors.length > 0)
        throw new Error(`The data of ${name} does not fit its output schema: ${JSON.stringify(errors)}`)
      return result
    },
    text: (path) => readFileSync(join(root, path), "utf8"),
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  }
}
