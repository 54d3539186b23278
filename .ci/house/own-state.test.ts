import { statSync } from "node:fs"
import { homedir, tmpdir } from "node:os"
import { dirname } from "node:path"
import { expect, test } from "vitest"

test("what tests keep for their user goes into a folder of their own, for no one else to read", () => {
  const folder = process.env["XDG_STATE_HOME"]!
  expect(folder.startsWith(tmpdir())).toBe(true)
  expect(folder.startsWith(`${homedir()}/.local`)).toBe(false)
  // Below that of the whole run, which goes with it.
  expect(dirname(folder)).toBe(process.env["STATES_OF_TESTS"])
  expect(statSync(folder).mode & 0o777).toBe(0o700)
})
