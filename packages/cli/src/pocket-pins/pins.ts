/**
 * What the pocket model answers, written down for one model file. With another, answers may
 * differ in good faith; they are read, and written anew with `UPDATE_PINS=1 npx vitest run pocket-pins`.
 */
import { createHash } from "node:crypto"
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { expect } from "vitest"

const FILE = new URL("pins.json", import.meta.url)
const MODEL = fileURLToPath(import.meta.resolve("@toolwright/pocket/pocket-q8_0.gguf"))

interface Pins {
  /** SHA-256 of the model file. */
  model: string
  answers: Record<string, string>
}

const here = { model: createHash("sha256").update(readFileSync(MODEL)).digest("hex") }
const updating = process.env["UPDATE_PINS"] !== undefined
const kept: Pins | undefined = existsSync(FILE) ? (JSON.parse(readFileSync(FILE, "utf8")) as Pins) : undefined
const written: Pins = { ...here, answers: {} }

/** Holds an answer to the one that is written down under its request. */
export function expectPinned(request: string, answer: string): void {
  if (updating) {
    written.answers[request] = answer
    writeFileSync(FILE, `${JSON.stringify(written, undefined, 2)}\n`)
    return
  }
  expect(
    { model: kept?.model },
    "The model has changed: read the answers, then write them down with UPDATE_PINS=1",
  ).toEqual(here)
  expect(answer).toBe(kept?.answers[request])
}
