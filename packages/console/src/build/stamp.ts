import { createHash } from "node:crypto"
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"

export const SOURCE = join(import.meta.dirname, "../page")
export const STAMP = "stamp"

/** What the page is made of, as one hash: the built page carries it, so that a change is noticed. */
export function sourceStamp(): string {
  const hash = createHash("sha256")
  const files = (readdirSync(SOURCE, { recursive: true }) as string[]).filter((file) => /\.\w+$/.test(file)).toSorted()
  const others = ["../in-page.ts", "../../package.json"]
  for (const file of [...files, ...others].map((name) => join(SOURCE, name)))
    hash.update(file.slice(SOURCE.length)).update("\0").update(readFileSync(file)).update("\0")
  return hash.digest("hex")
}

/** Whether the page stands there as its sources are; asked at each start, and so without what builds it. */
export function isBuilt(target: string): boolean {
  const stamp = join(target, STAMP)
  return existsSync(stamp) && readFileSync(stamp, "utf8") === sourceStamp()
}
