import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { decodeText, encodeText, isBinary } from "./encoding.ts"
import { plainOutput, visibleControls, visibleName } from "./escapes.ts"
import { countLines, dominantEnding, splitLines } from "./lines.ts"
import { createRedactor, REDACTED } from "./redact.ts"
import { WINDOW_BYTES, windowOf } from "./window.ts"

describe("decoding", () => {
  test("then encoding gives the same bytes, whatever they are", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        const decoded = decodeText(bytes)
        if (decoded === undefined) expect(isBinary(bytes) || bytes[0]! >= 0xfe).toBe(true)
        else expect(Buffer.compare(encodeText(decoded), bytes)).toBe(0)
      }),
      { numRuns: 2000 },
    )
  })

  test("does not guess: a mark, then UTF-8, then one byte per character", () => {
    expect(decodeText(Buffer.from("Grüße"))).toEqual({ text: "Grüße", encoding: "utf-8", bom: false })
    expect(decodeText(Buffer.from("Gr\xfc\xdfe", "latin1"))).toEqual({
      text: "Grüße",
      encoding: "iso-8859-1",
      bom: false,
    })
    expect(decodeText(Buffer.from("\ufeffx"))).toEqual({ text: "x", encoding: "utf-8", bom: true })
    expect(decodeText(Buffer.from([0xff, 0xfe, 0x41]))).toBeUndefined()
    expect(decodeText(Buffer.from([0xff, 0xfe, 0x00, 0xd8]))).toBeUndefined()
    expect(decodeText(Buffer.alloc(0))).toEqual({ text: "", encoding: "utf-8", bom: false })
  })
})

test("lines are split so that joined they are the text, and counted alike", () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom("a", "\n", "\r\n", "\r", ""), { maxLength: 30 }), (parts) => {
      const text = parts.join("")
      expect(splitLines(text).join("")).toBe(text)
      expect(splitLines(text)).toHaveLength(countLines(text))
    }),
  )
  expect(dominantEnding("a\r\nb\r\nc\n")).toBe("\r\n")
})

describe("a window", () => {
  const next = (line: number) => `Use start_line=${line}`
  test("shows whole lines and how to continue", () => {
    expect(windowOf("short\n", { next })).toBe("short\n")
    const shown = windowOf("x".repeat(1023).concat("\n").repeat(100), { next, firstLine: 11, totalLines: 500 })
    expect(shown).toMatch(/\[Showing lines 11–60 of 500\. Use start_line=61 to continue\.\]$/u)
    expect(Buffer.byteLength(shown)).toBeLessThan(WINDOW_BYTES + 200)
  })

  test("cuts one line that is too long, between characters", () => {
    const shown = windowOf("é".repeat(60_000), { next })
    expect(shown).toMatch(/^é+\n\[Line 1 of 1 is 120000 bytes long; the first 51200 are shown\.\]$/u)
  })
})

describe("output of programs", () => {
  test("loses sequences, keeps what a line was overwritten with, and shows the rest", () => {
    expect(plainOutput("\u001b[1;31mred\u001b[0m \u001b]8;;http://x\u0007link\u001b]8;;\u0007 \u009b2Jx")).toBe(
      "red link x",
    )
    expect(plainOutput("10%\r20%\r\ndone\r\n")).toBe("20%\ndone\n")
    expect(plainOutput("long line\rshort")).toBe("shortline")
    expect(plainOutput("a\u202eb\u0000c\u0008")).toBe("a\\u202eb\\u0000c\\u0008")
    expect(plainOutput("\u001bPq#0;data\u001b\\after\u001bcx")).toBe("afterx")
    expect(plainOutput("\u001b]0;never closed")).toBe("")
  })

  test("with a hundred thousand opened sequences is cleaned in no time", () => {
    const started = performance.now()
    plainOutput("\u001b[".repeat(100_000))
    plainOutput("\u001b]".repeat(100_000))
    expect(performance.now() - started).toBeLessThan(1000)
  })

  test("keeps line endings and tabs; names stay on one line", () => {
    expect(visibleControls("a\r\n\tb\rc")).toBe("a\r\n\tb\\u000dc")
    expect(visibleName("a\tb\nc")).toBe("a\\u0009b\\u000ac")
  })
})

describe("redaction", () => {
  const secret = "s3cr3t/value+x"
  const redact = createRedactor([secret, "abc", undefined])

  test("takes out known values in every spelling", () => {
    for (const form of [
      secret,
      encodeURIComponent(secret),
      Buffer.from(secret).toString("base64"),
      Buffer.from(secret).toString("hex"),
      Buffer.from(`user:${secret}`).toString("base64"),
      Buffer.from(`x${secret}y`).toString("base64url"),
    ]) {
      const safe = redact(`before ${form} after`)
      expect([form, safe.includes(REDACTED)]).toEqual([form, true])
      expect(safe).not.toContain(form)
    }
    expect(redact("abc")).toBe("abc")
  })

  test("takes out what has the form of a secret", () => {
    for (const text of [
      `key ${"AKIA"}ABCDEFGHIJKLMNOP`,
      `ghp_${"a".repeat(36)}`,
      "postgres://user:hunter2@host/db",
      "Authorization: Bearer abc.def",
      "-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----",
      `sk-ant-${"x".repeat(30)}`,
    ]) {
      expect([text, redact(text).includes(REDACTED)]).toEqual([text, true])
    }
    expect(redact("https://example.com/a:b@c is a page, sk-short")).toContain("sk-short")
  })
})
