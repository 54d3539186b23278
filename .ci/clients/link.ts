/**
 * Links what tests find where packages stand, if it is there: the engine of llama.cpp and the driver of a browser. They
 * are a hundred megabytes that nothing else needs, and so are no dependencies of the rooms whose tests use them.
 */
import { existsSync, lstatSync, symlinkSync, unlinkSync } from "node:fs"
import { join } from "node:path"

const LINKED = ["axe-core", "node-llama-cpp", "playwright-core"]

for (const name of LINKED) {
  const link = join(import.meta.dirname, "../../node_modules", name)
  if (lstatSync(link, { throwIfNoEntry: false })?.isSymbolicLink() === true) unlinkSync(link)
  if (!existsSync(link)) symlinkSync(join(import.meta.dirname, "node_modules", name), link, "junction")
}
