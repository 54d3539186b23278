import { access, constants } from "node:fs/promises"
import { delimiter, join } from "node:path"

/** The full path of a program on the PATH; undefined when it is not there or cannot be run. */
export async function findProgram(name: string, path = process.env.PATH ?? ""): Promise<string | undefined> {
  for (const folder of path.split(delimiter)) {
    if (folder === "") continue
    const candidate = join(folder, name)
    const runs = await access(candidate, constants.X_OK).then(
      () => true,
      () => false,
    )
    if (runs) return candidate
  }
  return undefined
}
