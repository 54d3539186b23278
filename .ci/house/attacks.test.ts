import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { attacksPage } from "./attacks.ts"
import { read, root } from "./run-example.ts"

test("the page of attacks lists the tests as they are", () => {
  const page = attacksPage()
  expect(page.split("\n").length).toBeGreaterThan(100)
  if (process.env.UPDATE_DOCS === "1") writeFileSync(join(root, "docs/attacks.md"), page)
  expect(read("docs/attacks.md"), "UPDATE_DOCS=1 npx vitest run .ci/house/attacks.test.ts").toBe(page)
  // Every file of attacks is loaded to read their names: no limit that a busy machine could miss.
}, 600_000)
