import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, beforeEach, describe } from "vitest"
import { postgresBinaries, sharedPostgres } from "../../../tools-database/src/testing/postgres-server.ts"

const binaries = postgresBinaries()

/** Ends what an earlier test left connected, and takes every row out of our tables. */
const EMPTY = `
  SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid();
  SET session_replication_role = replica;
  DO $$
  DECLARE one text;
  BEGIN
    FOR one IN SELECT tablename FROM pg_tables WHERE schemaname = 'toolwright' AND tablename !~ '^toolwright_migrations'
    LOOP EXECUTE format('DELETE FROM toolwright.%I', one); END LOOP;
  END $$`

/**
 * Declares the same tests for both databases.
 *
 * @param tests gets two functions, each of which returns the address of a database that holds nothing. Those of the
 *   first may have our tables already: in PostgreSQL an earlier test of these had it, since to make one, and our tables
 *   in it, takes longer than most tests. Those of the second are new
 */
export function onBothDatabases(
  title: string,
  tests: (address: () => string, newDatabase: () => string) => void,
): void {
  describe(`${title}, in SQLite`, () => {
    const folder = mkdtempSync(join(tmpdir(), "store-"))
    let count = 0
    afterAll(() => rmSync(folder, { recursive: true, force: true }))
    const address = () => join(folder, `${++count}.sqlite`)
    tests(address, address)
  })
  describe.skipIf(binaries === undefined)(`${title}, in PostgreSQL (skipped where its server is not installed)`, () => {
    let server: Awaited<ReturnType<typeof sharedPostgres>>
    beforeAll(async () => {
      server = await sharedPostgres(binaries!)
    })
    afterAll(() => server[Symbol.asyncDispose]())
    const taken: string[] = []
    const left: string[] = []
    beforeEach(() => void left.push(...taken.splice(0)))
    const emptied = (address: string): string => {
      server.say(address, EMPTY)
      return address
    }
    const address = (): string => {
      const earlier = left.pop()
      const given = earlier === undefined ? server.createDatabase() : emptied(earlier)
      taken.push(given)
      return given
    }
    tests(address, () => server.createDatabase())
  })
}
