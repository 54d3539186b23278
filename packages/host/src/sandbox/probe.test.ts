import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, onTestFinished, test, vi } from "vitest"
import { probeBubblewrap } from "./sandbox.ts"

// In a file of its own: what was found out holds for the process.
test.skipIf(process.platform !== "linux")(
  "where bubblewrap is there and does not work, the reason quotes it",
  async () => {
    const folder = mkdtempSync(join(tmpdir(), "toolwright-probe-"))
    onTestFinished(() => {
      vi.unstubAllEnvs()
      rmSync(folder, { recursive: true })
    })
    const said = "bwrap: setting up uid map: Permission denied"
    writeFileSync(join(folder, "bwrap"), `#!/bin/sh\necho '${said}' >&2\nexit 1\n`)
    chmodSync(join(folder, "bwrap"), 0o755)
    vi.stubEnv("PATH", `${folder}:${process.env.PATH}`)
    expect(await probeBubblewrap()).toEqual({
      reason: `bubblewrap is installed but cannot start here: ${said}`,
    })
  },
)
