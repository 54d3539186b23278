import type { JsonSchema, ToolDefinition, ToolHandler } from "@toolwright/toolbox"
import { defineMultiActionTool, type ActionSpecification } from "@toolwright/host"
import type { NetworkHost } from "@toolwright/host/net"
import type { Workspace } from "@toolwright/host/paths"
import type { CalendarConfig } from "./config.ts"

export type { CalendarConfig } from "./config.ts"

const TIME = "2026-11-23T09:00 (in time_zone), 2026-11-23T09:00:00+01:00, or 2026-11-23 for a whole day"
const ZONE: JsonSchema = {
  type: "string",
  description: "IANA name of the time zone for times without an offset and for the answer, e.g. Europe/Paris",
}
const ID: JsonSchema = { type: "string", minLength: 1, description: "The event's id, as list_events gives it" }
const FIELDS: Record<string, JsonSchema> = {
  title: { type: "string", minLength: 1, maxLength: 500 },
  start: { type: "string", description: `When it starts: ${TIME}` },
  end: { type: "string", description: `When it ends, likewise; for whole days the first day after it` },
  duration_minutes: { type: "integer", minimum: 1, maximum: 527040, description: "How long it lasts, instead of end" },
  location: { type: "string", maxLength: 1000 },
  description: { type: "string", maxLength: 10_000 },
  recurrence: {
    type: "string",
    maxLength: 500,
    description: "Recurrence rule of RFC 5545, e.g. FREQ=WEEKLY;BYDAY=MO or FREQ=DAILY;COUNT=5",
  },
  time_zone: ZONE,
}

const EVENT: JsonSchema = {
  type: "object",
  properties: {
    id: { type: "string" },
    title: { type: "string" },
    start: { type: "string", description: "ISO 8601 with offset, or a day" },
    end: { type: "string", description: "Likewise; for whole days the first day after it" },
    all_day: { type: "boolean" },
    time_zone: { type: "string" },
    location: { type: "string" },
    description: { type: "string" },
    url: { type: "string" },
    status: { type: "string" },
    recurring: { type: "boolean" },
    recurrence: { type: "string" },
    next: { type: "array", items: { type: "string" }, description: "Next starts, of get_event" },
  },
  required: ["id", "title", "start", "end", "all_day", "recurring"],
}
const INTERVAL: JsonSchema = {
  type: "object",
  properties: { start: { type: "string" }, end: { type: "string" }, title: { type: "string" } },
  required: ["start", "end"],
}

const OUTPUT: JsonSchema = {
  type: "object",
  properties: {
    events: { type: "array", items: EVENT },
    event: EVENT,
    deleted: { type: "string" },
    available: { type: "boolean" },
    busy: { type: "array", items: INTERVAL },
    free: { type: "array", items: INTERVAL },
    warnings: { type: "array", items: { type: "string" } },
    truncated: { type: "boolean" },
  },
}

const ALIASES: NonNullable<ToolDefinition["aliases"]> = {
  arguments: {
    event_id: "id",
    uid: "id",
    summary: "title",
    start_time: "start",
    end_time: "end",
    timezone: "time_zone",
    rrule: "recurrence",
    max_results: "limit",
  },
}

const READING = { readOnly: true, idempotent: true }
const CHANGING = { readOnly: false }

type About = Omit<ActionSpecification, "execute">

const ACTIONS: Readonly<Record<string, About>> = {
  list_events: {
    description: "Lists events in order of time, each recurrence as an event of its own",
    properties: {
      from: { type: "string", description: `Beginning of the window, now unless given: ${TIME}` },
      to: { type: "string", description: "End of the window; a year after its beginning unless given" },
      limit: { type: "integer", minimum: 1, maximum: 200, default: 20 },
      query: { type: "string", description: "Only events whose title, description or location contains this" },
      time_zone: ZONE,
    },
    effects: READING,
    examples: [
      { description: "The next five events", input: { limit: 5 } },
      { description: "A month", input: { from: "2026-12-01", to: "2027-01-01", time_zone: "Europe/Paris" } },
    ],
  },
  get_event: {
    description: "Gives one event in full, with its next times",
    properties: { id: ID, time_zone: ZONE },
    required: ["id"],
    effects: READING,
    examples: [{ description: "One event", input: { id: "standup@example.com" } }],
  },
  create_event: {
    description: "Puts a new event into the calendar",
    properties: FIELDS,
    required: ["title", "start"],
    effects: CHANGING,
    examples: [
      {
        description: "An hour in Paris",
        input: {
          title: "Release call",
          start: "2026-11-23T09:00",
          duration_minutes: 60,
          time_zone: "Europe/Paris",
        },
      },
    ],
  },
  update_event: {
    description: "Changes an event; what is not named stays as it is. A recurring event is changed in all its times.",
    properties: { id: ID, ...FIELDS, status: { type: "string", enum: ["CONFIRMED", "TENTATIVE", "CANCELLED"] } },
    required: ["id"],
    effects: { ...CHANGING, idempotent: true },
    examples: [
      {
        description: "Move an event; it stays as long as it was",
        input: { id: "standup@example.com", start: "2026-11-23T10:00", time_zone: "Europe/Paris" },
      },
    ],
  },
  delete_event: {
    description: "Deletes an event; of a recurring one a single time when occurrence is given",
    properties: {
      id: ID,
      occurrence: { type: "string", description: "Start of the single time to delete, as list_events gives it" },
      time_zone: ZONE,
    },
    required: ["id"],
    effects: { ...CHANGING, destructive: true },
    examples: [{ description: "Delete an event with all its times", input: { id: "standup@example.com" } }],
  },
  check_availability: {
    description: "Says whether a time is free, what stands in its way, and which parts are free",
    properties: {
      start: { type: "string", description: `Beginning: ${TIME}` },
      end: { type: "string", description: "End, likewise" },
      duration_minutes: {
        type: "integer",
        minimum: 1,
        maximum: 10080,
        description: "List only free times at least this long",
      },
      time_zone: ZONE,
    },
    required: ["start", "end"],
    effects: READING,
    examples: [
      {
        description: "A morning",
        input: { start: "2026-11-23T09:00", end: "2026-11-23T12:00", duration_minutes: 30 },
      },
    ],
  },
}

/** The tool that reads and changes a calendar in the iCalendar format. */
export function createCalendarTool(
  host: NetworkHost,
  workspace: Workspace,
  config: CalendarConfig = {},
): ToolDefinition {
  let handle: Promise<ToolHandler> | undefined
  const run: ToolHandler = async (args, context) => {
    handle ??= import("./handler.ts").then((module) => module.createCalendarHandler(host, workspace, config))
    return (await handle)(args, context)
  }
  const isConfigured = config.path !== undefined || config.url !== undefined
  // What changes goes to the file of a calendar; the one of an address is only read.
  const effectsOf = ({ effects }: About) => ({ ...effects, network: effects === READING && config.path === undefined })
  return defineMultiActionTool({
    name: "calendar",
    sets: ["blog", "blog-research", "general"],
    title: "Calendar",
    description:
      "Reads and changes a calendar: events with their recurrences in the right time zone, free times, and " +
      "creating, changing and deleting events.",
    category: "research",
    optionality: "optional",
    tags: ["blog"],
    usageHint:
      "Use when: dates of events are needed, for instance for a newsletter, or an event must be put in or moved. " +
      "Don't use when: only today's date matters, or the events are on a web page (use webscrape).",
    outputSchema: OUTPUT,
    aliases: ALIASES,
    effects: { readOnly: false, network: config.url !== undefined },
    capabilities: isConfigured ? [] : ["config:blog.calendar"],
    produces: ["research"],
    timeoutMs: 60_000,
    maxOutputChars: 20_000,
    actions: Object.fromEntries(
      Object.entries(ACTIONS).map(([name, about]) => [name, { ...about, effects: effectsOf(about), execute: run }]),
    ),
  })
}
