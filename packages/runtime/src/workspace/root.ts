import { resolve } from "node:path"
import type { Configuration } from "../configuration/settings.ts"

/** The folder that a configuration's tools work in first, by the path that their results name. */
export function workspaceRoot({ workspace }: Pick<Configuration, "workspace">, cwd: string): string {
  return resolve(cwd, workspace.roots?.[0] ?? workspace.readOnly?.[0] ?? ".")
}
