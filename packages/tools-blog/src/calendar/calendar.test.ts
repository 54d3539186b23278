import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { JsonObject } from "@toolwright/toolbox"
import ICAL from "ical.js"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { createNetworkHost } from "@toolwright/host/net"
import { createWorkspace } from "@toolwright/host/paths"
import { callTool } from "@toolwright/host/testing/call-tool"
import { startLoopback } from "@toolwright/host/testing/loopback-server"
import { createCalendarTool, type CalendarConfig } from "./calendar.ts"

let root: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "calendar-"))
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

const NOW = Date.parse("2026-10-18T00:00:00Z")

function tool(
  ics: string | undefined,
  config: CalendarConfig = { path: "team.ics" },
  access: "read-only" | "read-write" = "read-write",
) {
  if (ics !== undefined) writeFileSync(join(root, "team.ics"), ics)
  const workspace = createWorkspace({
    roots: [{ path: root, access }],
    stateDirectory: join(root, "..", `state-${process.pid}`),
  })
  return createCalendarTool(createNetworkHost({}, {}), workspace, {
    timeZone: "Europe/Paris",
    now: () => NOW,
    ...config,
  })
}

const calendar = (...events: string[]) =>
  [
    "BEGIN:VCALENDAR",
    "VERSION:2.0",
    "PRODID:-//test//EN",
    "X-WR-CALNAME:Team",
    ...events.flatMap((event) => ["BEGIN:VEVENT", "DTSTAMP:20260101T000000Z", ...event.split("\n"), "END:VEVENT"]),
    "END:VCALENDAR",
    "",
  ].join("\r\n")

const WEEKLY =
  "UID:weekly\nDTSTART;TZID=Europe/Paris:20261019T090000\nDTEND;TZID=Europe/Paris:20261019T100000\n" +
  'RRULE:FREQ=WEEKLY\nSUMMARY:Stand-up\\, weekly\nX-KEEP;A="b:c":me\nBEGIN:VALARM\nACTION:DISPLAY\n' +
  "TRIGGER:-PT15M\nEND:VALARM"

async function starts(ics: string, args: JsonObject = {}, config?: CalendarConfig) {
  const result = await callTool(tool(ics, config), { action: "list_events", ...args })
  expect(result.error).toBeUndefined()
  return (result.data as { events: { start: string }[] }).events.map(({ start }) => start)
}

describe("reading", () => {
  it("keeps nine o'clock at nine over the change of daylight saving time, without end", async () => {
    expect(await starts(calendar(WEEKLY), { limit: 3 })).toEqual([
      "2026-10-19T09:00:00+02:00",
      "2026-10-26T09:00:00+01:00",
      "2026-11-02T09:00:00+01:00",
    ])
    expect(await starts(calendar(WEEKLY), { limit: 1, from: "2040-04-01" })).toEqual(["2040-04-02T09:00:00+02:00"])
    expect(await starts(calendar(WEEKLY), { limit: 2, time_zone: "America/New_York" })).toEqual([
      "2026-10-19T03:00:00-04:00",
      "2026-10-26T04:00:00-04:00",
    ])
  })

  it("leaves out EXDATE, adds RDATE, and moves what a RECURRENCE-ID moves, also into the window", async () => {
    const changed = `${WEEKLY}\nEXDATE;TZID=Europe/Paris:20261026T090000\nEXDATE:20261102T080000Z\nRDATE:20261104T120000Z`
    const moved =
      "UID:weekly\nRECURRENCE-ID;TZID=Europe/Paris:20270104T090000\nDTSTART;TZID=Europe/Paris:20261105T140000\n" +
      "DTEND;TZID=Europe/Paris:20261105T150000\nSUMMARY:Moved"
    const listed = await starts(calendar(changed, moved), { to: "2026-11-12" })
    expect(listed).toEqual([
      "2026-10-19T09:00:00+02:00",
      "2026-11-04T13:00:00+01:00",
      "2026-11-05T14:00:00+01:00",
      "2026-11-09T09:00:00+01:00",
    ])
    expect(await starts(calendar(changed, moved), { from: "2027-01-03", to: "2027-01-06" })).toEqual([])
  })

  it("understands whole days, floating times, durations, Outlook's zone names and a zone's own rules", async () => {
    const days =
      "UID:days\nDTSTART;VALUE=DATE:20261030\nDTEND;VALUE=DATE:20261101\nSUMMARY:Fair\nRRULE:FREQ=DAILY;COUNT=4\n" +
      "EXDATE;VALUE=DATE:20261031"
    expect(await starts(calendar(days), { time_zone: "Pacific/Auckland" })).toEqual([
      "2026-10-30",
      "2026-11-01",
      "2026-11-02",
    ])
    const floating = "UID:f\nDTSTART:20261024T090000\nDURATION:PT30M\nRRULE:FREQ=DAILY;COUNT=3\nSUMMARY:Floating"
    expect(await starts(calendar(floating))).toEqual([
      "2026-10-24T09:00:00+02:00",
      "2026-10-25T09:00:00+01:00",
      "2026-10-26T09:00:00+01:00",
    ])
    const rules =
      "BEGIN:VTIMEZONE\r\nTZID:My Zone\r\nBEGIN:STANDARD\r\nDTSTART:16010101T030000\r\nTZOFFSETFROM:+0200\r\n" +
      "TZOFFSETTO:+0100\r\nRRULE:FREQ=YEARLY;BYDAY=-1SU;BYMONTH=10\r\nEND:STANDARD\r\nBEGIN:DAYLIGHT\r\n" +
      "DTSTART:16010101T020000\r\nTZOFFSETFROM:+0100\r\nTZOFFSETTO:+0200\r\n" +
      "RRULE:FREQ=YEARLY;BYDAY=-1SU;BYMONTH=3\r\nEND:DAYLIGHT\r\nEND:VTIMEZONE\r\n"
    const own = calendar(
      "UID:o\nDTSTART;TZID=My Zone:20261024T090000\nRRULE:FREQ=DAILY;COUNT=3\nSUMMARY:Own zone",
    ).replace("BEGIN:VEVENT", `${rules}BEGIN:VEVENT`)
    expect(await starts(own, { time_zone: "UTC" })).toEqual([
      "2026-10-24T07:00:00Z",
      "2026-10-25T08:00:00Z",
      "2026-10-26T08:00:00Z",
    ])
  })

  it("ends a rule at its UNTIL, which is a moment in UTC", async () => {
    const until = (stamp: string) => starts(calendar(WEEKLY.replace("FREQ=WEEKLY", `FREQ=WEEKLY;UNTIL=${stamp}`)))
    expect(await until("20261026T080000Z")).toHaveLength(2)
    expect(await until("20261026T075959Z")).toHaveLength(1)
    expect(await until("20261026")).toHaveLength(2)
  })

  it("bounds rules that recur for ever and every second, and says so", async () => {
    const result = await callTool(
      tool(
        calendar(
          "UID:s\nDTSTART:20200101T000000Z\nRRULE:FREQ=SECONDLY\nSUMMARY:Bomb",
          "UID:h\nDTSTART:20200101T000000Z\n" +
            "RRULE:FREQ=DAILY;BYHOUR=0,1,2,3,4,5,6,7,8,9,10,11,12;BYMINUTE=0,1,2,3,4,5,6,7,8,9;BYSECOND=0,1,2,3,4,5\nSUMMARY:Product",
          "UID:n\nDTSTART:20200101T000000Z\nRRULE:FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30\nSUMMARY:Never",
          WEEKLY,
        ),
      ),
      { action: "list_events", limit: 200 },
    )
    expect((result.data as { warnings: string[] }).warnings).toEqual([
      expect.stringContaining("'Bomb' recurs more than 1000 times"),
      expect.stringContaining("'Product'"),
    ])
    expect((result.data as { truncated: boolean }).truncated).toBe(true)
  })

  it("keeps the other events when one is broken", async () => {
    const broken = [
      "UID:a\nDTSTART:garbage\nSUMMARY:No start",
      "UID:b\nDTSTART:20261020T090000Z\nRRULE:FREQ=SOMETIMES\nSUMMARY:Bad rule",
      "UID:c\nDTSTART:20261021T090000Z\nSUMMARY:Fine",
    ]
    const result = await callTool(tool(calendar(...broken)), { action: "list_events" })
    expect((result.data as { events: { title: string }[] }).events.map(({ title }) => title)).toEqual([
      "Bad rule",
      "Fine",
    ])
    expect((result.data as { warnings: string[] }).warnings).toHaveLength(2)
    expect((await callTool(tool("this is no calendar"), { action: "list_events" })).error?.code).toBe(
      "INVALID_CALENDAR",
    )
    expect((await callTool(tool("BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\n"), { action: "list_events" })).error?.code).toBe(
      "INVALID_CALENDAR",
    )
  })

  it("is not kept busy by events that never end", async () => {
    const ics = `BEGIN:VCALENDAR\r\n${"BEGIN:VEVENT\r\n".repeat(200_000)}`
    expect((await callTool(tool(ics), { action: "list_events" })).error?.code).toBe("INVALID_CALENDAR")
  })

  it("finds by words, and gives one event with its next times", async () => {
    const ics = calendar(WEEKLY, "UID:x\nDTSTART:20261020T090000Z\nSUMMARY:Release \u001b[31mparty\nLOCATION:Paris")
    const found = await callTool(tool(ics), { action: "list_events", query: "PARIS" })
    expect(found.data).toMatchObject({
      events: [{ id: "x", title: "Release party", location: "Paris", start: "2026-10-20T11:00:00+02:00" }],
    })
    const one = await callTool(tool(ics), { action: "get_event", id: "weekly" })
    expect(one.data).toMatchObject({
      event: {
        id: "weekly",
        title: "Stand-up, weekly",
        recurrence: "FREQ=WEEKLY",
        next: [expect.any(String), "2026-10-26T09:00:00+01:00", expect.any(String)],
      },
    })
    expect((await callTool(tool(ics), { action: "get_event", id: "nope" })).error).toMatchObject({
      code: "EVENT_NOT_FOUND",
      hint: expect.stringContaining("list_events"),
    })
  })

  it("reads from an address, which it never shows and never changes", async () => {
    await using server = await startLoopback(({ url }, response) =>
      url.pathname === "/gone" ? response.writeHead(404).end() : response.end(calendar(WEEKLY)),
    )
    const remote = tool(undefined, { url: `${server.origin}/private-canary/basic.ics` })
    expect((await callTool(remote, { action: "list_events", limit: 1 })).data).toMatchObject({
      events: [{ id: "weekly" }],
    })
    expect((await callTool(remote, { action: "delete_event", id: "weekly" })).error?.code).toBe("READ_ONLY")
    const gone = await callTool(tool(undefined, { url: `${server.origin}/gone?secret=canary` }), {
      action: "list_events",
    })
    expect(gone.error?.code).toBe("SERVICE_FAILED")
    const dead = await callTool(tool(undefined, { url: "http://127.0.0.1:1/canary" }), { action: "list_events" })
    expect(JSON.stringify([gone, dead])).not.toContain("canary")
    const missing = tool(undefined, {})
    expect(missing.capabilities).toEqual(["config:blog.calendar"])
    expect((await callTool(missing, { action: "list_events" })).error?.code).toBe("NOT_CONFIGURED")
  })
})

describe("check_availability", () => {
  const ics = calendar(
    "UID:a\nDTSTART:20261123T090000Z\nDTEND:20261123T100000Z\nSUMMARY:Call",
    "UID:b\nDTSTART:20261123T093000Z\nDTEND:20261123T103000Z\nSUMMARY:Overlap",
    "UID:c\nDTSTART:20261123T110000Z\nDTEND:20261123T113000Z\nSUMMARY:Blocked nothing\nTRANSP:TRANSPARENT",
    "UID:d\nDTSTART:20261123T113000Z\nDTEND:20261123T120000Z\nSUMMARY:Off\nSTATUS:CANCELLED",
  )
  it("tells what is in the way and what is free", async () => {
    const check = (args: JsonObject) => callTool(tool(ics), { action: "check_availability", time_zone: "UTC", ...args })
    expect((await check({ start: "2026-11-23T08:00", end: "2026-11-23T12:00", duration_minutes: 60 })).data).toEqual({
      available: false,
      busy: [
        { start: "2026-11-23T09:00:00Z", end: "2026-11-23T10:00:00Z", title: "Call" },
        { start: "2026-11-23T09:30:00Z", end: "2026-11-23T10:30:00Z", title: "Overlap" },
      ],
      free: [
        { start: "2026-11-23T08:00:00Z", end: "2026-11-23T09:00:00Z" },
        { start: "2026-11-23T10:30:00Z", end: "2026-11-23T12:00:00Z" },
      ],
    })
    expect((await check({ start: "2026-11-23T10:30", end: "2026-11-23T12:00" })).data).toMatchObject({
      available: true,
      busy: [],
    })
    expect((await check({ start: "2026-11-23T12:00", end: "2026-11-23T08:00" })).error?.code).toBe("INVALID_TIME")
  })
})

describe("changing", () => {
  const file = () => readFileSync(join(root, "team.ics"), "utf8")

  it("creates an event that reads back the same, in a file that did not exist", async () => {
    const created = await callTool(tool(undefined), {
      action: "create_event",
      title: "Release; call",
      start: "2026-11-23T09:00",
      duration_minutes: 45,
      time_zone: "America/New_York",
      recurrence: "FREQ=WEEKLY;COUNT=2",
      description: "line one\nline two",
    })
    expect(created).toMatchObject({ success: true, modifiedFiles: [join(root, "team.ics")] })
    expect(created.data).toMatchObject({
      event: {
        title: "Release; call",
        start: "2026-11-23T09:00:00-05:00",
        end: "2026-11-23T09:45:00-05:00",
        recurring: true,
      },
    })
    expect(await starts(file(), { time_zone: "America/New_York" })).toEqual([
      "2026-11-23T09:00:00-05:00",
      "2026-11-30T09:00:00-05:00",
    ])
    expect(file()).toContain("BEGIN:VTIMEZONE\r\nTZID:America/New_York")
    expect(file()).toContain("DTSTART;TZID=America/New_York:20261123T090000")
    expect(file()).toContain("SUMMARY:Release\\; call")
  })

  it("changes only what was named: alarms, unknown properties and other events stay to the letter", async () => {
    const other = "UID:other\nDTSTART:20261020T090000Z\nSUMMARY:Other\nATTENDEE;CN=Ada:mailto:ada@example.com"
    const before = calendar(WEEKLY, other)
    const changed = await callTool(tool(before), {
      action: "update_event",
      id: "weekly",
      start: "2026-10-19T10:30",
      title: "Later",
    })
    expect(changed.data).toMatchObject({
      event: { title: "Later", start: "2026-10-19T10:30:00+02:00", end: "2026-10-19T11:30:00+02:00" },
    })
    const after = file()
    for (const kept of [
      "X-WR-CALNAME:Team",
      'X-KEEP;A="b:c":me',
      "BEGIN:VALARM\r\nACTION:DISPLAY\r\nTRIGGER:-PT15M\r\nEND:VALARM",
      "RRULE:FREQ=WEEKLY",
      "SEQUENCE:1",
    ])
      expect(after).toContain(kept)
    const blockOf = (text: string) => text.slice(text.lastIndexOf("BEGIN:VEVENT"), text.lastIndexOf("END:VEVENT"))
    const events = (text: string) =>
      text
        .split("BEGIN:VEVENT")
        .find((block) => block.includes("UID:other"))
        ?.split("END:VEVENT")[0]
    expect(events(after)).toBe(events(before))
    expect(blockOf(before)).toContain("UID:other")
    expect(() => ICAL.parse(after)).not.toThrow()
  })

  it("deletes an event, or one time of it", async () => {
    const one = await callTool(tool(calendar(WEEKLY)), {
      action: "delete_event",
      id: "weekly",
      occurrence: "2026-10-26T09:00:00+01:00",
    })
    expect(one.success).toBe(true)
    expect(await starts(file(), { limit: 2 })).toEqual(["2026-10-19T09:00:00+02:00", "2026-11-02T09:00:00+01:00"])
    expect(
      (await callTool(tool(file()), { action: "delete_event", id: "weekly", occurrence: "2026-10-27" })).error?.code,
    ).toBe("OCCURRENCE_NOT_FOUND")
    expect((await callTool(tool(file()), { action: "delete_event", id: "weekly" })).data).toEqual({ deleted: "weekly" })
    expect(await starts(file())).toEqual([])
  })

  it("writes nothing when anything is wrong, and says what is right", async () => {
    const before = calendar(WEEKLY)
    const wrong: [JsonObject, string][] = [
      [{ action: "create_event", title: "x", start: "tomorrow" }, "INVALID_TIME"],
      [{ action: "create_event", title: "x", start: "2026-02-30" }, "INVALID_TIME"],
      [{ action: "create_event", title: "x", start: "2026-11-23T09:00", end: "2026-11-23T08:00" }, "INVALID_TIME"],
      [{ action: "create_event", title: "x", start: "2026-11-23T09:00", time_zone: "Mars/Olympus" }, "INVALID_TIME"],
      [{ action: "create_event", title: "x", start: "2026-11-23", recurrence: "every monday" }, "INVALID_RECURRENCE"],
      [
        {
          action: "create_event",
          title: "x",
          start: "2026-11-23",
          recurrence: "FREQ=DAILY\r\nATTACH:file:///etc/passwd",
        },
        "INVALID_RECURRENCE",
      ],
      [{ action: "update_event", id: "nope", title: "x" }, "EVENT_NOT_FOUND"],
      [{ action: "create_event", title: "x" }, "INVALID_ARGUMENTS"],
    ]
    for (const [args, code] of wrong)
      expect([args, (await callTool(tool(before), args)).error?.code]).toEqual([args, code])
    expect(file()).toBe(before)
  })

  it("cannot be made to write other properties or outside the workspace", async () => {
    await callTool(tool(undefined), {
      action: "create_event",
      title: "x\r\nATTENDEE:mailto:eve@example.com",
      start: "2026-11-23",
    })
    expect(file()).not.toMatch(/^ATTENDEE/m)
    symlinkSync("/etc/hostname", join(root, "link.ics"))
    const escaped = await callTool(tool(undefined, { path: "link.ics" }), {
      action: "create_event",
      title: "x",
      start: "2026-11-23",
    })
    expect(escaped.success).toBe(false)
    const locked = await callTool(tool(calendar(WEEKLY), { path: "team.ics" }, "read-only"), {
      action: "delete_event",
      id: "weekly",
    })
    expect(locked.error?.code).toBe("READ_ONLY")
  })

  it("loses no event when many are created at once", async () => {
    const shared = tool(calendar(WEEKLY))
    const results = await Promise.all(
      Array.from({ length: 12 }, (_, index) =>
        callTool(shared, { action: "create_event", title: `E${index}`, start: "2026-11-23T09:00" }),
      ),
    )
    expect(results.every(({ success }) => success)).toBe(true)
    expect(file().match(/^SUMMARY:E\d+/gm)).toHaveLength(12)
  })

  it("runs its own examples", async () => {
    const one = tool(calendar(WEEKLY.replace("UID:weekly", "UID:standup@example.com")))
    for (const { input } of one.examples ?? [])
      expect([input, (await callTool(one, input)).error]).toEqual([input, undefined])
  })
})
