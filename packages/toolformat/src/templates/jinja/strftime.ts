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

function directiveOf(date: Date, directive: string): string | undefined {
  const two = (value: number): string => String(value).padStart(2, "0")
  const year = date.getFullYear()
  const hour12 = date.getHours() % 12 || 12
  const dayOfYear = Math.round((Date.UTC(year, date.getMonth(), date.getDate()) - Date.UTC(year, 0, 1)) / DAY_MS) + 1
  const weekday = date.getDay()
  switch (directive) {
    case "Y":
      return String(year)
    case "y":
      return two(year % 100)
    case "C":
      return two(Math.floor(year / 100))
    case "m":
      return two(date.getMonth() + 1)
    case "B":
      return MONTHS[date.getMonth()]
    case "b":
    case "h":
      return MONTHS[date.getMonth()]?.slice(0, 3)
    case "d":
      return two(date.getDate())
    case "e":
      return String(date.getDate()).padStart(2, " ")
    case "j":
      return String(dayOfYear).padStart(3, "0")
    case "A":
      return DAYS[weekday]
    case "a":
      return DAYS[weekday]?.slice(0, 3)
    case "w":
      return String(weekday)
    case "u":
      return String(weekday || 7)
    case "H":
      return two(date.getHours())
    case "I":
      return two(hour12)
    case "p":
      return date.getHours() < 12 ? "AM" : "PM"
    case "M":
      return two(date.getMinutes())
    case "S":
      return two(date.getSeconds())
    case "f":
      return String(date.getMilliseconds() * 1000).padStart(6, "0")
    case "U":
      return two(Math.floor((dayOfYear + 6 - weekday) / 7))
    case "W":
      return two(Math.floor((dayOfYear + 6 - ((weekday + 6) % 7)) / 7))
    case "F":
      return strftime(date, "%Y-%m-%d")
    case "D":
    case "x":
      return strftime(date, "%m/%d/%y")
    case "T":
    case "X":
      return strftime(date, "%H:%M:%S")
    case "R":
      return strftime(date, "%H:%M")
    case "c":
      return strftime(date, "%a %b %e %H:%M:%S %Y")
    case "s":
      return String(Math.floor(date.getTime() / 1000))
    // A naive `datetime` has no zone.
    case "z":
    case "Z":
      return ""
    case "n":
      return "\n"
    case "t":
      return "\t"
    case "%":
      return "%"
    default:
      return undefined
  }
}
