/**
 * A process that keeps swapping a file and a directory of a workspace for symbolic links to the outside, as fast as it
 * can, until it is killed. Arguments: the workspace and the directory with the secret.
 */
import { linkSync, mkdirSync, renameSync, symlinkSync, unlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"

const [root, outside] = process.argv.slice(2) as [string, string]
const at = (name: string) => join(root, name)

function quietly(task: () => void): void {
  try {
    task()
  } catch {
    // The other side may have taken the name away; the next round puts it back.
  }
}

writeFileSync(at("harmless"), "inside\n")
quietly(() => mkdirSync(at("dir/nested"), { recursive: true }))
writeFileSync(join(at("dir"), "file.txt"), "inside\n")
symlinkSync(outside, at("evil"))
process.stdout.write("ready\n")
for (;;) {
  for (let round = 0; round < 100; round += 1) {
    quietly(() => linkSync(at("harmless"), at("swap")))
    quietly(() => renameSync(at("swap"), at("victim.txt")))
    quietly(() => symlinkSync(join(outside, "file.txt"), at("swap")))
    quietly(() => renameSync(at("swap"), at("victim.txt")))
    quietly(() => renameSync(at("dir"), at("away")))
    quietly(() => renameSync(at("evil"), at("dir")))
    quietly(() => renameSync(at("dir"), at("evil")))
    quietly(() => renameSync(at("away"), at("dir")))
    quietly(() => unlinkSync(at("swap")))
  }
}
