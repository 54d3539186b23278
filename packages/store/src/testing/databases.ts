import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe } from "vitest"
import { postgresBinaries, sharedPostgres } from "../../../tools-database/src/testing/postgres-server.ts"

const binaries = postgresBinaries()

/**
 * Declares the same tests for both databases.
 *
 * @param tests gets a function that makes a new, empty database and returns its address
 */
export function onBothDatabases(title: string, tests: (address: () => string) => void): void {
  describe(`${title}, in SQLite`, () => {
    const folder = mkdtempSync(join(tmpdir(), "store-"))
    let count = 0
    afterAll(() => rmSync(folder, { recursive: true, force: true }))
    tests(() => join(folder, `${++count}.sqlite`))
  })
  describe.skipIf(binaries === undefined)(`${title}, in PostgreSQL (skipped where its server is not installed)`, () => {
    let server: Awaited<ReturnType<typeof sharedPostgres>>
    beforeAll(async () => {
      server = await sharedPostgres(binaries!)
    })
    afterAll(() => server[Symbol.asyncDispose]())
    tests(() => server.createDatabase())
  })
}
