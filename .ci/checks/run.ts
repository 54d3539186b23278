/**
 * Runs one of the programs that check the sources: `node .ci/checks/run.ts oxlint --deny-warnings`. They are needed for
 * nothing else, and so are installed here, at the first check and whenever the lock file has changed since.
 */
import { spawnSync } from "node:child_process"
import { createHash } from "node:crypto"
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"

const HERE = import.meta.dirname
const MARK = join(HERE, "node_modules/.installed")

const lock = createHash("sha256")
  .update(readFileSync(join(HERE, "package-lock.json")))
  .digest("hex")
if (!existsSync(MARK) || readFileSync(MARK, "utf8") !== lock) {
  run("npm", ["ci", "--prefix", HERE])
  writeFileSync(MARK, lock)
}
const [program = "", ...rest] = process.argv.slice(2)
run(join(HERE, "node_modules/.bin", program), rest)

function run(command: string, args: readonly string[]): void {
  // Where npm and the programs are scripts of the shell, a shell is needed to start them.
  const { status, error } = spawnSync(command, args, { stdio: "inherit", shell: process.platform === "win32" })
  if (error !== undefined) console.error(`${command} cannot be started: ${error.message}`)
  if (status !== 0) process.exit(status ?? 1)
}
