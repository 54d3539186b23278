import { expect, test } from "vitest"
import { givenFlags, saidInALine } from "./given-flags.ts"

test("recorded flags that would break a line, hide in it or fill it are not said", () => {
  const plain = { model: "it's; $(x)", "base-url": "http://h/v1", "native-tools": true, rest: ["a b", "-c"] }
  const odd = {
    "api-key-env": "A\nrm -rf x",
    dialect: "a\u001b[2Jb",
    format: "a\rb",
    "format-file": "a\u202eb",
    screenplay: "x".repeat(1001),
    kits: ["a", "b\tc"],
    examined: 3,
    grounding: { a: 1 },
  } as unknown as typeof plain
  expect(saidInALine({ ...plain, ...odd })).toEqual(plain)
  const said = givenFlags(saidInALine({ ...plain, ...odd }), "")
  expect(said).not.toMatch(/[\u0000-\u001f]/u)
  expect(said).toContain(" --model 'it'\\''s; $(x)'")
  expect(said).toContain(" --rest 'a b' --rest=-c")
})
