import { getEventListeners } from "node:events"
import { expect, test, vi } from "vitest"
import { CallLimits } from "./call-limits.ts"

/** Whoever listens, and what it heard. */
function listening(timeoutMs?: number) {
  const heard: string[] = []
  const aborted = (): void => void heard.push("aborted")
  const late = (): void => void heard.push("late")
  return { heard, limited: { aborted, late, ...(timeoutMs === undefined ? {} : { timeoutMs }) } }
}

const timers = (): number => process.getActiveResourcesInfo().filter((name) => name === "Timeout").length

test("the calls of a run share one listener and one timer, for which nothing is kept alive between them", () => {
  const { signal } = new AbortController()
  const limits = new CallLimits(signal, true)
  const before = timers()
  const calls = Array.from({ length: 100 }, () => listening(60_000).limited)
  for (const call of calls) limits.watch(call)
  expect([getEventListeners(signal, "abort").length, timers() - before]).toEqual([1, 1])
  for (const call of calls) limits.release(call)
  expect(timers() - before).toBe(0)
  limits.watch(calls[0]!)
  expect(timers() - before).toBe(1)
  limits.close()
  expect([getEventListeners(signal, "abort").length, timers() - before]).toEqual([0, 0])
})

test("those of a call by itself are gone with it", () => {
  const { signal } = new AbortController()
  const limits = new CallLimits(signal)
  const before = timers()
  const { limited } = listening(60_000)
  limits.watch(limited)
  limits.release(limited)
  expect([getEventListeners(signal, "abort").length, timers() - before]).toEqual([0, 0])
})

test("an abort is told to each call that is under way, and at once to one that begins afterwards", () => {
  const controller = new AbortController()
  const limits = new CallLimits(controller.signal, true)
  const [over, open, later] = [listening(), listening(), listening()]
  limits.watch(over.limited)
  limits.watch(open.limited)
  limits.release(over.limited)
  controller.abort()
  limits.watch(later.limited)
  expect([over.heard, open.heard, later.heard]).toEqual([[], ["aborted"], ["aborted"]])
})

test("each call has its own time, whichever began first", () => {
  vi.useFakeTimers()
  try {
    const limits = new CallLimits(undefined, true)
    const [long, short, endless, again] = [listening(1000), listening(10), listening(), listening(500)]
    for (const { limited } of [long, short, endless]) limits.watch(limited)
    vi.advanceTimersByTime(20)
    expect([short.heard, long.heard]).toEqual([["late"], []])
    limits.release(short.limited)
    limits.watch(again.limited)
    vi.advanceTimersByTime(600)
    expect([again.heard, long.heard]).toEqual([["late"], []])
    limits.release(again.limited)
    vi.advanceTimersByTime(500)
    expect([long.heard, endless.heard]).toEqual([["late"], []])
    limits.close()
  } finally {
    vi.useRealTimers()
  }
})
