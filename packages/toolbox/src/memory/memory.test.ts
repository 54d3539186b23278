import { expect, test, vi } from "vitest"
import { Latest, memory } from "./memory.ts"

test("what follows from an object is worked out once, until it is forgotten, and undefined is a value too", () => {
  const make = vi.fn((owner: { text: string }): string | undefined => (owner.text === "" ? undefined : owner.text))
  const derived = memory.derived(make)
  const [some, none] = [{ text: "a" }, { text: "" }]
  for (let time = 0; time < 3; time++) expect([derived(some), derived(none)]).toEqual(["a", undefined])
  expect(make).toHaveBeenCalledTimes(2)
  memory.forget()
  expect(derived(some)).toBe("a")
  expect(make).toHaveBeenCalledTimes(3)
})

test("objects are told apart by numbers, which are never given again", () => {
  const numberOf = memory.numbers()
  const [one, other] = [{}, {}]
  expect([numberOf(one), numberOf(other), numberOf(one)]).toEqual([0, 1, 0])
  memory.forget()
  expect([numberOf(other), numberOf(one)]).toEqual([2, 3])
})

test("the latest values are kept, so many and no more, and those asked for outlast the others", () => {
  const latest = new Latest<number>(3)
  const make = vi.fn((value: number) => value)
  for (const [at, key] of ["a", "b", "c"].entries()) latest.get(key, () => make(at))
  latest.get("a", () => make(9))
  latest.get("d", () => make(3))
  expect(latest.get("a", () => make(9))).toBe(0)
  expect(make).toHaveBeenCalledTimes(4)
  expect(latest.get("b", () => make(9))).toBe(9)
})

test("what throws is not kept", () => {
  const latest = memory.latest<number>(2)
  const refuse = (): never => {
    throw new Error("no")
  }
  expect(() => latest.get("a", refuse)).toThrow("no")
  expect(latest.get("a", () => 1)).toBe(1)
})
