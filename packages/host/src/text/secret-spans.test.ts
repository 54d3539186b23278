import fc from "fast-check"
import { expect, test } from "vitest"
import { createRedactor, REDACTED } from "./redact.ts"
import { NAMED_SECRET_FORMS } from "./secret-forms.ts"
import { secretsIn } from "./secret-spans.ts"

/** What the form finds, and what must stand around it. */
interface Sample {
  readonly before?: string
  readonly secret: (body: (length: number, letters?: string) => string) => string
  readonly after?: string
}

const UPPER = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
const HEX = "0123456789abcdef"

/** One for each form, in its order. */
const SAMPLES: readonly Sample[] = [
  { secret: (body) => `AKIA${body(16, UPPER)}` },
  { secret: (body) => `ghp_${body(36)}` },
  { secret: (body) => `github_pat_${body(40)}` },
  { secret: (body) => `glpat-${body(20)}` },
  { secret: (body) => `xoxb-${body(24)}` },
  { secret: (body) => `sk-ant-${body(30)}` },
  { secret: (body) => `sk-${body(30)}1` },
  { secret: (body) => `AIza${body(35)}` },
  { secret: (body) => `GOCSPX-${body(28)}` },
  { secret: (body) => `ntn_${body(44)}` },
  { secret: (body) => `hf_${body(34)}` },
  { secret: (body) => `npm_${body(36)}` },
  { before: "//r/:_authToken=", secret: (body) => body(20) },
  { secret: (body) => `dapi${body(32, HEX)}1` },
  { before: "https://hooks.slack.com/services/", secret: (body) => `T0/${body(20)}` },
  { secret: (body) => `eyJ${body(16)}.${body(16)}.${body(16)}` },
  {
    secret: (body) => `-----BEGIN RSA PRIVATE KEY-----\n${body(40)}\n-----END RSA PRIVATE KEY-----`,
  },
  { before: "https://user:", secret: (body) => body(12), after: "@host/x" },
  { before: "postgres://user:", secret: (body) => `${body(6)}/${body(6)}`, after: "@host/x" },
  { before: "https://host/x?access_token=", secret: (body) => `${body(12)}1` },
  { before: "Server=x;Password=", secret: (body) => body(12) },
  { before: "aws_secret_access_key = ", secret: (body) => body(40) },
  { before: "Authorization: Token ", secret: (body) => body(20) },
  { before: "X-Api-Key: ", secret: (body) => `${body(20)}1` },
  { before: "Bearer ", secret: (body) => body(24) },
]

/** Letters at random, the same each time. */
function createBody(seed: number): (length: number, letters?: string) => string {
  let state = seed
  const next = (): number => (state = (state * 1_103_515_245 + 12_345) % 2_147_483_648)
  return (length, letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789") =>
    Array.from({ length }, () => letters[(next() >> 8) % letters.length]).join("")
}

const KNOWN = "kn0wn-Value/of+this"
const redact = createRedactor([KNOWN])

/** What is found where every expression is asked, and no quick look passes by one. */
function byEach(text: string): string {
  const found = secretsIn(text, [KNOWN], NAMED_SECRET_FORMS)
  for (const { name, pattern } of NAMED_SECRET_FORMS) {
    for (const { index, 0: secret } of text.matchAll(pattern)) {
      const whole = found.some(({ start, end }) => start <= index && index + secret.length <= end)
      if (!whole) expect([text, name, secret]).toEqual([text, name, "taken out"])
    }
  }
  return found.reduceRight((safe, { start, end }) => safe.slice(0, start) + REDACTED + safe.slice(end), text)
}

const whole = ({ before = "", secret, after = "" }: Sample, seed: number): string =>
  before + secret(createBody(seed)) + after

const piece = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.tuple(fc.constantFrom(...SAMPLES), fc.nat()).map(([sample, seed]) => whole(sample, seed)),
  },
  { weight: 1, arbitrary: fc.constant(KNOWN) },
  { weight: 3, arbitrary: fc.constantFrom("", "\t", "\n", " ", '"', "\\", "_", "/", "=", ": ", "é", "key", "x") },
)

/** How a text may come to be another: quoted, cut, in other letters. */
const ALTERED: readonly ((text: string, at: number) => string)[] = [
  (text) => text,
  (text) => text,
  (text) => JSON.stringify({ text }),
  (text) => JSON.stringify(JSON.stringify([text])),
  (text, at) => text.slice(at % (text.length + 1)),
  (text, at) => text.slice(0, at % (text.length + 1)),
  (text) => text.replaceAll("s", "\u017F").replaceAll("k", "\u212A"),
  (text, at) => text.slice(0, at % (text.length + 1)) + text.slice(at % (text.length + 1)).replace(/k/iu, "\u212A"),
  (text, at) => text.slice(0, at % (text.length + 1)) + text.slice(at % (text.length + 1)).replace(/s/iu, "\u017F"),
  (text) => text.toUpperCase(),
  (text) => text.toLowerCase(),
]

test("takes out the same by a quick look as by each expression, and looks closer in JSON wherever it does", () => {
  let texts = 0
  fc.assert(
    fc.property(
      fc.array(piece, { minLength: 1, maxLength: 5 }),
      fc.constantFrom(...ALTERED),
      fc.nat(),
      (pieces, alter, at) => {
        const text = alter(pieces.join(""), at)
        const safe = redact(text)
        texts++
        expect([text, safe]).toEqual([text, byEach(text)])
        if (safe !== text && redact.mayFindIn!(JSON.stringify({ text })) === false)
          expect(text).toBe("looked at closer")
      },
    ),
    { numRuns: 2500 },
  )
  expect(texts).toBeGreaterThanOrEqual(2500)
})

test("takes out what stands across the pieces in which words are looked for", () => {
  for (const [at, sample] of SAMPLES.entries()) {
    const secret = whole(sample, at)
    const text = `${"x ".repeat(8 * 1024).slice(0, 16 * 1024 - 1 - (at % 12))} ${secret}`
    expect([secret, redact(text)]).toEqual([secret, byEach(text)])
    expect(redact(text)).toContain(REDACTED)
  }
})

/** Parts of a secret that nobody may see: what is no mark of its kind. */
function parts(body: string[]): string[] {
  return body.flatMap((text) => Array.from({ length: Math.max(1, text.length - 5) }, (_, at) => text.slice(at, at + 6)))
}

test("leaves nothing of two secrets that touch, in whichever order", () => {
  const known: Sample = { secret: () => KNOWN }
  const all = [...SAMPLES, known]
  const seen: string[] = []
  for (const [one, first] of all.entries()) {
    for (const [other, second] of all.entries()) {
      const bodies: string[] = []
      const bodyOf = (seed: number) => {
        const body = createBody(seed)
        return (length: number, letters?: string) => {
          const text = body(length, letters)
          bodies.push(text)
          return text
        }
      }
      // Where something must stand behind a secret, the other one stands behind that.
      const begin = (first.before ?? "") + first.secret(bodyOf(one + 1)) + (first.after === undefined ? "" : "@")
      const text = `a ${begin}${second.before ?? ""}${second.secret(bodyOf(100 + other))}${second.after ?? ""} b`
      const safe = redact(text)
      const hidden = [...bodies, ...(first === known || second === known ? [KNOWN] : [])]
      if (parts(hidden).some((part) => safe.includes(part))) seen.push(`${text} => ${safe}`)
    }
  }
  expect(seen).toEqual([])
})

test("takes little time for a long text of nothing but secrets that touch", () => {
  const begun = process.cpuUsage()
  for (const text of ["eyJaaaaaaaa.aaaaaaaa.", `ghp_${"a1".repeat(18)}`, `AIza${"b".repeat(35)}`, KNOWN])
    expect(redact(text.repeat(20_000))).toContain(REDACTED)
  const { user, system } = process.cpuUsage(begun)
  expect((user + system) / 1000).toBeLessThan(5000)
})
