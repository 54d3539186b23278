import { success, type Reconciled, type ToolDefinition } from "@toolwright/toolbox"
import type { Workspace } from "../paths/workspace.ts"

/**
 * For tools that change files through the workspace and start no program: finds out from its history whether a call
 * took effect. Nothing where no history is kept.
 */
export function reconciledBy(workspace: Workspace): Pick<ToolDefinition, "reconcile"> {
  const { history, policy } = workspace
  if (history === undefined) return {}
  return {
    async reconcile(call): Promise<Reconciled | undefined> {
      const found = await (await history()).outcome(call)
      if (found?.outcome !== "done") return found === undefined ? undefined : { outcome: "not-done" }
      const paths = found.paths.map((path) => policy.show(path))
      const lines = found.id === undefined ? [] : await (await history()).differences(found.id)
      const result = success({
        output: [
          `This was carried out before the run was interrupted (${paths.join(", ")}).`,
          ...lines.map(({ line, diff }) => (diff === "" ? line : `${line}\n${diff}`)),
        ].join("\n"),
        data: { path: paths[0] ?? "" },
        modifiedFiles: paths,
        metadata: { ...(found.id === undefined ? {} : { undo: { id: found.id } }), reconciled: true },
      })
      return { outcome: "done", result }
    },
  }
}
