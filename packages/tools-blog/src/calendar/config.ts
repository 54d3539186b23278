/** Configuration of the calendar: a file in the workspace, which can be changed, or an address, which is only read. */
export interface CalendarConfig {
  /** An ICS file in the workspace; it need not exist yet. */
  path?: string
  /** Address of an ICS calendar (`https:` or `webcal:`). Often a secret: it is never shown. */
  url?: string
  /** Time zone for times that say none; this machine's unless given. */
  timeZone?: string
  /** The current time in milliseconds; the system's unless given. */
  now?: () => number
}
