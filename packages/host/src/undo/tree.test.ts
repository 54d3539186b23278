import { expect, test } from "vitest"
import { TREE_LIMITS } from "./tree.ts"

test("20,000 files and folders, 256 MB in all, and 16 MB a file are the most that is kept", () => {
  expect(TREE_LIMITS).toEqual({ entries: 20_000, bytes: 256 * 1024 * 1024, fileBytes: 16 * 1024 * 1024 })
})
