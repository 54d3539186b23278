import { describe, expect, it } from "vitest"
import { checkMigration, scanSql } from "./sql-scan.ts"

const texts = (sql: string) => scanSql(sql).map(({ text }) => text)

describe("scanSql", () => {
  it.each([
    ["SELECT 1; SELECT 2", ["SELECT 1", "SELECT 2"]],
    ["SELECT ';'; SELECT 'it''s; fine'", ["SELECT ';'", "SELECT 'it''s; fine'"]],
    ["SELECT E'a\\';b'; SELECT 2", ["SELECT E'a\\';b'", "SELECT 2"]],
    ['SELECT ";" FROM "a;b"; SELECT 2', ['SELECT ";" FROM "a;b"', "SELECT 2"]],
    ["-- one; two\nSELECT 1; /* a; /* b; */ c; */ SELECT 2", ["SELECT 1", "SELECT 2"]],
    ["DO $$ BEGIN COMMIT; END $$; SELECT 2", ["DO $$ BEGIN COMMIT; END $$", "SELECT 2"]],
    [
      "CREATE FUNCTION f() RETURNS int AS $body$ SELECT 1; $body$ LANGUAGE sql; SELECT $1",
      ["CREATE FUNCTION f() RETURNS int AS $body$ SELECT 1; $body$ LANGUAGE sql", "SELECT $1"],
    ],
    [
      "CREATE TRIGGER t AFTER INSERT ON a BEGIN UPDATE a SET x = CASE WHEN 1 THEN 2 END; DELETE FROM b; END; SELECT 2",
      [expect.stringMatching(/^CREATE TRIGGER[^]*END$/), "SELECT 2"],
    ],
    [
      "CREATE FUNCTION f() RETURNS int LANGUAGE sql BEGIN ATOMIC SELECT 1; SELECT 2; END; SELECT 3",
      [expect.stringMatching(/END$/), "SELECT 3"],
    ],
    [" ;; \n-- nothing\n", []],
    ["SELECT 'unclosed; x", ["SELECT 'unclosed; x"]],
  ])("splits %s", (sql, expected) => {
    expect(texts(sql)).toEqual(expected)
  })

  it("takes time in proportion to a script's length", () => {
    expect(scanSql("SELECT 1;\n".repeat(100_000)).at(-1)?.line).toBe(100_000)
  })

  it("knows the line of each statement", () => {
    expect(scanSql("SELECT 1;\n\n  SELECT\n2;\nSELECT 3").map(({ line }) => line)).toEqual([1, 3, 5])
  })
})

describe("checkMigration", () => {
  it.each([
    "COMMIT",
    "BEGIN; SELECT 1",
    "select 1;\ncommit ;",
    "END",
    "ROLLBACK",
    "START TRANSACTION",
    "PREPARE TRANSACTION 'x'",
    "/* */ COMMIT",
  ])("refuses %s", (sql) => {
    expect(() => checkMigration("1_a.up.sql", sql, "postgresql", true)).toThrow(/1_a\.up\.sql, line \d/)
  })

  it.each(["ATTACH DATABASE '/tmp/x' AS x", "select 1; attach '/tmp/x' as y", "VACUUM INTO '/tmp/x'"])(
    "refuses %s on SQLite",
    (sql) => {
      expect(() => checkMigration("1_a.up.sql", sql, "sqlite", true)).toThrow(/its own database file/)
    },
  )

  it("lets through what only looks like it", () => {
    const fine =
      "SAVEPOINT a; ROLLBACK TO a; INSERT INTO t VALUES ('COMMIT;'); CREATE TABLE attach_log (commit TEXT); DO " +
      "$$ BEGIN NULL; END $$"
    expect(() => checkMigration("1_a.up.sql", fine, "sqlite", true)).not.toThrow()
  })
})
