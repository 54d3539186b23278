import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { decodeText, encodeText, isBinary } from "./encoding.ts"
import { plainOutput, visibleControls, visibleName } from "./escapes.ts"
import { countLines, dominantEnding, splitLines } from "./lines.ts"
import { createRedactor, REDACTED } from "./redact.ts"
import { NAMED_SECRET_FORMS } from "./secret-forms.ts"
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
    const started = process.cpuUsage()
    plainOutput("\u001b[".repeat(100_000))
    plainOutput("\u001b]".repeat(100_000))
    const { user, system } = process.cpuUsage(started)
    expect((user + system) / 1000).toBeLessThan(1000)
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
      Buffer.from(secret).toString("hex").toUpperCase(),
      encodeURIComponent(secret).toLowerCase(),
    ]) {
      const safe = redact(`before ${form} after`)
      expect([form, safe.includes(REDACTED)]).toEqual([form, true])
      expect(safe).not.toContain(form)
    }
    expect(redact("abc")).toBe("abc")
  })

  test("takes out known values as pages, forms and texts in texts spell them, and each line of a long one", () => {
    const odd = `a"b'c<d>&e \\f 1`
    const found = createRedactor([odd, "first line 1\nsecond-line-of-it-2\n"])
    const html = odd.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;")
    for (const form of [
      odd,
      JSON.stringify(JSON.stringify(odd)).slice(3, -3),
      html.replaceAll('"', "&quot;").replaceAll("'", "&#39;"),
      html.replaceAll('"', "&quot;").replaceAll("'", "&#x27;"),
      new URLSearchParams({ odd }).toString().slice(4),
      "second-line-of-it-2",
    ])
      expect([form, found(`x ${form} y`)]).toEqual([form, `x ${REDACTED} y`])
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

  test("takes out forms beside other words, in quotes that were quoted again, and none of an example", () => {
    const jwt = `eyJ${"a".repeat(12)}.${"b".repeat(12)}.${"c".repeat(12)}`
    for (const [text, secret] of [
      ["redis://:hunter22@localhost:6379", "hunter22"],
      ["postgres://me:p@ss-word@db/x", "p@ss-word"],
      ["mysql+pymysql://me:a/b@db/x", "a/b"],
      ["postgres://me:$ecret1@db/x", "$ecret1"],
      ["https://me:%40hunter@host/x", "%40hunter"],
      [JSON.stringify({ a: JSON.stringify({ Authorization: "Bearer short1" }) }), "short1"],
      ["{'Authorization': 'Basic dXM6cHc='}", "dXM6cHc="],
      ['["Authorization", "Basic dXM6cHc="]', "dXM6cHc="],
      ["Authorization: 0123456789abcdef", "0123456789abcdef"],
      [`backup-sk-proj-${"a1".repeat(12)}.txt`, "a1a1"],
      [`key_xoxb-${"1".repeat(20)}.txt`, "1111"],
      [`session-${jwt}`, jwt],
      ["-----BEGIN PGP PRIVATE KEY BLOCK-----\n\nabc\n-----END PGP PRIVATE KEY BLOCK-----", "abc"],
      ["AccountName=x;EndpointSuffix=y;AccountKey=abc/def+0==;", "abc/def"],
    ] as const)
      expect([text, redact(text).includes(secret), redact(text).includes(REDACTED)]).toEqual([text, false, true])
    for (const plain of [
      "postgres://me:${PASSWORD}@db/x",
      "postgres://me:$PASSWORD@db/x",
      "postgres://me:<password>@db/x",
      "mysql://me:****@db/x",
      "https://cdn.example:443/react@18.2.0/index.js",
      "task-2024-01-01-risk-assessment-of-a-long-name-1",
      "const password = readPassword(); host = other; return password",
      "https://example.com/?token=short&page=2&signature=none",
      "Authorization: required for all of these paths",
      "glob-patterns-of-a-very-long-name",
      "global-configuration-of-things",
    ])
      expect(redact(plain)).toBe(plain)
  })

  // One text for each form, in its order: the quick look must not pass by what the form finds.
  const samples = [
    `${"ASIA"}ABCDEFGHIJKLMNOP`,
    `ghs_${"a".repeat(36)}`,
    `github_pat_${"a".repeat(36)}`,
    `glpat-${"a".repeat(20)}`,
    `xoxp-${"1".repeat(20)}`,
    `rk-live-${"a".repeat(20)}`,
    `pk_${"a1".repeat(12)}`,
    `AIza${"a".repeat(35)}`,
    `ya29.${"a".repeat(35)}`,
    `ntn_${"a".repeat(44)}`,
    `hf_${"a".repeat(34)}`,
    `npm_${"a".repeat(36)}`,
    "//registry/:_password = abcdef123",
    `hvs.${"a1".repeat(15)}`,
    `https://hooks.slack.com/services/T0/${"B1".repeat(12)}`,
    `eyJ${"a".repeat(12)}.${"b".repeat(12)}.${"c".repeat(12)}`,
    "-----BEGIN PRIVATE KEY-----\nabc\n-----END PRIVATE KEY-----",
    "HTTPS://user:hunter2@host/db",
    "redis://:hun/ter2@host/1",
    "https://host/path?x=1&access_token=abcdef123456",
    "Server=db;Database=x;User Id=me;Password=hunter2;",
    `aws_secret_access_key = ${"wJalrXUtnF".repeat(4)}`,
    'AuthoriZation": "BASIC abcdef',
    "X-Api-Key: abcdef123456789",
    `x Bearer ${"a".repeat(20)}`,
  ]
  test("looks closer wherever one of its forms finds something, also in JSON", () => {
    expect(NAMED_SECRET_FORMS.map(({ pattern }, at) => samples[at]!.replace(pattern, "") !== samples[at])).toEqual(
      samples.map(() => true),
    )
    const odd = createRedactor(['two\nlines "quoted" \\'])
    for (const [found, text] of [
      ...samples.map((sample) => [redact, sample] as const),
      [odd, 'two\nlines "quoted" \\'] as const,
      [odd, JSON.stringify('two\nlines "quoted" \\')] as const,
    ])
      expect([text, found(text).includes(REDACTED), found.mayFindIn!(JSON.stringify({ text }))]).toEqual([
        text,
        true,
        true,
      ])
    expect([redact.mayFindIn!('{"a":"plain"}'), redact("plain, and longer")]).toEqual([false, "plain, and longer"])
  })
})
