import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, test } from "vitest"
import { findDenied, type ReadRules } from "./denied-files.ts"

test("200,000 entries are looked through, and beyond them it is told that there are too many", async () => {
  const top = mkdtempSync(join(tmpdir(), "denied-"))
  try {
    const [thousand, one] = [join(top, "thousand"), join(top, "one")]
    mkdirSync(thousand)
    mkdirSync(one)
    for (let file = 0; file < 1000; file++) writeFileSync(join(thousand, `${file}.txt`), "")
    writeFileSync(join(one, ".env"), "")
    const rules: ReadRules = { readable: (real) => !real.endsWith(".env"), mentions: () => false }
    const found = (times: number) => findDenied([one, ...Array<string>(times).fill(thousand)], rules)
    // The last folder is looked at first.
    expect(await found(199)).toMatchObject({ files: [join(one, ".env")], incomplete: false })
    expect(await found(200)).toMatchObject({ files: [], incomplete: true })
  } finally {
    rmSync(top, { recursive: true })
  }
})
