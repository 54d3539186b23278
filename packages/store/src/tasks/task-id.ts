/** Makes ids that sort by the time at which they were made, within one process also inside a millisecond. */
export function taskIds(): (now: number) => string {
  let last = 0
  let count = 0
  return (now) => {
    count = now > last ? 0 : count + 1
    last = Math.max(now, last)
    const random = Math.floor(Math.random() * 36 ** 4)
    return `t${last.toString(36)}${count.toString(36).padStart(3, "0")}${random.toString(36).padStart(4, "0")}`
  }
}
