import { ToolwrightError, type ToolContext } from "@toolwright/toolbox"
import { type NetworkHost, decodeDocument } from "@toolwright/host/net"
import type { Workspace } from "@toolwright/host/paths"
import type { CalendarConfig } from "./config.ts"

/** Where the calendar is, read and written. */
export interface CalendarSource {
  /** The whole calendar; an empty text when its file does not exist yet. */
  read(context: Pick<ToolContext, "signal">): Promise<string>
  /**
   * Replaces the calendar by what `change` makes of it, atomically, while no other change runs.
   * @returns the file's path as users know it
   */
  change(change: (text: string) => string): Promise<string>
}

const MAX_BYTES = 10 * 1024 * 1024
const NOTHING_SAID = /(?!)/

/**
 * @throws ToolwrightError (from its methods) `NOT_CONFIGURED`, `READ_ONLY`, and what the workspace and the network say
 */
export function calendarSource(host: NetworkHost, workspace: Workspace, config: CalendarConfig): CalendarSource {
  const url = config.url?.replace(/^webcals?:/i, "https:")
  const fetch = host.fetchFor([url])
  const { path } = config
  if (path !== undefined) {
    return {
      async read() {
        try {
          return decode((await workspace.read(path, MAX_BYTES)).bytes)
        } catch (thrown) {
          if (isMissing(thrown)) return ""
          throw thrown
        }
      },
      async change(change) {
        try {
          const written = await workspace.update(path, ({ bytes }) => Buffer.from(change(decode(bytes))))
          return written?.shown ?? path
        } catch (thrown) {
          if (!isMissing(thrown)) throw thrown
          return (await workspace.write(path, change(""), { exclusive: true })).shown
        }
      },
    }
  }
  return {
    async read({ signal }) {
      if (url === undefined) {
        throw new ToolwrightError("NOT_CONFIGURED", "No calendar is configured.", {
          hint:
            "Go on without it. Whoever runs this can configure one: a file (blog.calendar.path) or an address " +
            "(blog.calendar.url).",
        })
      }
      const response = await fetch(url, { signal, limits: { maxBytes: MAX_BYTES } })
      if (response.status >= 400) {
        // The address itself stays unsaid: private calendar addresses are secrets.
        throw new ToolwrightError(
          "SERVICE_FAILED",
          `The calendar's server ${new URL(url).host} answered ${response.status}.`,
        )
      }
      return decode(response.body)
    },
    async change() {
      throw new ToolwrightError("READ_ONLY", "This calendar is read from an address and cannot be changed.", {
        hint: "Only list_events, get_event and check_availability work on it.",
      })
    },
  }
}

function decode(bytes: Uint8Array): string {
  return decodeDocument(bytes, undefined, NOTHING_SAID).text
}

function isMissing(thrown: unknown): boolean {
  const code = (thrown as { code?: unknown } | null)?.code
  return code === "NOT_FOUND" || code === "ENOENT"
}
