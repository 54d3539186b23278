import { expect, test } from "vitest"
import { parseCargo } from "./cargo.ts"
import { parseGo } from "./go.ts"

const go = (...events: object[]) => events.map((event) => JSON.stringify(event)).join("\n")

test("go: failures with file, line and message; parents of subtests are not counted twice", () => {
  const Package = "example.com/chess"
  const stdout = go(
    { Action: "run", Package, Test: "TestMove" },
    { Action: "run", Package, Test: "TestMove/castle" },
    { Action: "output", Package, Test: "TestMove/castle", Output: "    board_test.go:12: want e1, got e8\n" },
    { Action: "output", Package, Test: "TestMove/castle", Output: "        in game 7\n" },
    { Action: "fail", Package, Test: "TestMove/castle" },
    { Action: "pass", Package, Test: "TestMove/pawn" },
    { Action: "fail", Package, Test: "TestMove" },
    { Action: "output", Package, Test: "TestPanic", Output: "panic: runtime error: index out of range\n" },
    { Action: "fail", Package, Test: "TestPanic" },
    { Action: "skip", Package, Test: "TestLater" },
    { Action: "output", Package, Output: "FAIL\n" },
    { Action: "fail", Package },
  )
  expect(parseGo(stdout, "")).toMatchObject({
    passed: 1,
    failed: 2,
    skipped: 1,
    complete: true,
    failures: [
      { name: "TestMove/castle", file: "board_test.go", line: 12, message: "want e1, got e8\n        in game 7" },
      { name: "TestPanic", message: "panic: runtime error: index out of range" },
    ],
  })
})

test("go: a package that cannot be built", () => {
  const stdout = go(
    { Action: "output", Package: "example.com/chess", Output: "FAIL\texample.com/chess [build failed]\n" },
    { Action: "fail", Package: "example.com/chess" },
  )
  expect(parseGo(stdout, "# example.com/chess\n./board.go:3:9: undefined: x\n")).toMatchObject({
    failed: 1,
    failures: [{ name: "example.com/chess", file: "board.go", line: 3, message: "undefined: x" }],
  })
})

test("cargo: both forms of a panic, and ignored tests", () => {
  const stdout = `
running 4 tests
test tests::good ... ok
test tests::later ... ignored
test tests::new_form ... FAILED
test tests::old_form ... FAILED

failures:

---- tests::new_form stdout ----

thread 'tests::new_form' panicked at src/lib.rs:9:9:
assertion \`left == right\` failed: mean of one
  left: 1
 right: 2
note: run with \`RUST_BACKTRACE=1\` environment variable to display a backtrace

---- tests::old_form stdout ----
thread 'tests::old_form' panicked at 'no squares', src/board.rs:4:5

failures:
    tests::new_form
    tests::old_form

test result: FAILED. 1 passed; 2 failed; 1 ignored; 0 measured; 0 filtered out
`
  expect(parseCargo(stdout, "")).toMatchObject({
    passed: 1,
    failed: 2,
    skipped: 1,
    failures: [
      {
        name: "tests::new_form",
        file: "src/lib.rs",
        line: 9,
        message: "assertion `left == right` failed: mean of one\n  left: 1\n right: 2",
      },
      { name: "tests::old_form", file: "src/board.rs", line: 4, message: "no squares" },
    ],
  })
})
