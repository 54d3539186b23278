const DAYS = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"]
const MONTHS = [
  "January",
  "February",
  "March",
  "April",
  "May",
  "June",
  "July",
  "August",
  "September",
  "October",
  "November",
  "December",
]
const DAY_MS = 86_400_000

/**
 * `datetime.strftime` in the C locale, in the clock's local time; `%-d` leaves padding out. Unknown directives stay as
 * they are.
 */
export function strftime(date: Date, format: string): string {
  return format.replace(/%([-_0^]?)([a-zA-Z%])/g, (whole, flag: string, directive: string) => {
    const text = directiveOf(date, directive)
    if (text === undefined) return whole
    if (flag === "-") return text.replace(/^0+(?=\d)/, "").trimStart()
    if (flag === "_") return text.replace(/^0+(?=\d)/, (zeros) => " ".repeat(zeros.length))
    return flag === "^" ? text.toUpperCase() : text
  })
}

/** The parts of a date, in local time, that directives print. */
interface Parts {
  date: Date
  year: number
  /** From 1. */
  dayOfYear: number
  /** From Sunday, 0. */
  weekday: number
}

/** What each directive prints. */
const DIRECTIVES: Readonly<Record<string, (parts: Parts) => string | undefined>> = {
  Y: ({ year }) => String(year),
  y: ({ year }) => padded(year % 100),
  C: ({ year }) => padded(Math.floor(year / 100)),
  m: ({ date }) => padded(date.getMonth() + 1),
  B: ({ date }) => MONTHS[date.getMonth()],
  b: ({ date }) => MONTHS[date.getMonth()]?.slice(0, 3),
  h: ({ date }) => MONTHS[date.getMonth()]?.slice(0, 3),
  d: ({ date }) => padded(date.getDate()),
  e: ({ date }) => String(date.getDate()).padStart(2, " "),
  j: ({ dayOfYear }) => padded(dayOfYear, 3),
  A: ({ weekday }) => DAYS[weekday],
  a: ({ weekday }) => DAYS[weekday]?.slice(0, 3),
  w: ({ weekday }) => String(weekday),
  u: ({ weekday }) => String(weekday || 7),
  H: ({ date }) => padded(date.getHours()),
  I: ({ date }) => padded(date.getHours() % 12 || 12),
  p: ({ date }) => (date.getHours() < 12 ? "AM" : "PM"),
  M: ({ date }) => padded(date.getMinutes()),
  S: ({ date }) => padded(date.getSeconds()),
  f: ({ date }) => padded(date.getMilliseconds() * 1000, 6),
  U: ({ dayOfYear, weekday }) => padded(Math.floor((dayOfYear + 6 - weekday) / 7)),
  W: ({ dayOfYear, weekday }) => padded(Math.floor((dayOfYear + 6 - ((weekday + 6) % 7)) / 7)),
  F: ({ date }) => strftime(date, "%Y-%m-%d"),
  D: ({ date }) => strftime(date, "%m/%d/%y"),
  x: ({ date }) => strftime(date, "%m/%d/%y"),
  T: ({ date }) => strftime(date, "%H:%M:%S"),
  X: ({ date }) => strftime(date, "%H:%M:%S"),
  R: ({ date }) => strftime(date, "%H:%M"),
  c: ({ date }) => strftime(date, "%a %b %e %H:%M:%S %Y"),
  s: ({ date }) => String(Math.floor(date.getTime() / 1000)),
  // A naive `datetime` has no zone.
  z: () => "",
  Z: () => "",
  n: () => "\n",
  t: () => "\t",
  "%": () => "%",
}

function directiveOf(date: Date, directive: string): string | undefined {
  if (!Object.hasOwn(DIRECTIVES, directive)) return undefined
  const year = date.getFullYear()
  const dayOfYear = Math.round((Date.UTC(year, date.getMonth(), date.getDate()) - Date.UTC(year, 0, 1)) / DAY_MS) + 1
  return DIRECTIVES[directive]?.({ date, year, dayOfYear, weekday: date.getDay() })
}

function padded(value: number, digits = 2): string {
  return String(value).padStart(digits, "0")
}
