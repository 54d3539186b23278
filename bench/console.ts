/**
 * The console with runs that freeze other pages, in a real Chromium: 50,000 events, and 200 MB of them. The floors are
 * those that the page is to keep: interactive in 1.5 s, 50 frames a second, 250 MB of heap, 300 KB at first load.
 * Beside the wall stands the processor time of the page's thread, which other work on the machine does not change, and
 * the frames of a bare page that is scrolled in the same way.
 */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { consoleFiles } from "@toolwright/console"
import { createApp, listen } from "@toolwright/server"
import { openDatabase, runLog, type NewEvent, type RunLog } from "@toolwright/store"
import { ToolRegistry } from "@toolwright/toolbox"
import { CHROMIUM, launch, NO_CHROMIUM } from "../packages/cli/src/testing/browser.ts"
import type { BenchmarkResult } from "./run.ts"

type Page = Awaited<ReturnType<Awaited<ReturnType<typeof launch>>["newPage"]>>

const FLOORS = { interactive_ms: 1500, frames_per_s: 50, heap_mb: 250, first_load_kb: 300 }
const EVENTS = 50_000
const LARGE = { events: 2_000, bytes: 100_000 }

export async function run(): Promise<BenchmarkResult> {
  if (CHROMIUM === undefined) throw new Error(NO_CHROMIUM)
  const folder = mkdtempSync(join(tmpdir(), "bench-console-"))
  const database = await openDatabase(join(folder, "state.sqlite"))
  const log = runLog(database)
  await write(log, "many", manyEvents())
  await write(log, "large", largeEvents())
  const app = createApp({ tools: new ToolRegistry(), runs: { look: async () => log }, page: consoleFiles() })
  await using server = await listen(app, { port: 0, secured: false })
  const browser = await launch()
  try {
    const figures = await measured(await (await browser.newContext()).newPage(), server.url)
    return { figures, ratios: ratiosOf(figures) }
  } finally {
    await browser.close()
    await database.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

async function measured(page: Page, url: string): Promise<Record<string, number>> {
  page.setDefaultTimeout(120_000)
  const first = await firstLoad(page, url)
  const many = await openRun(page, url, "many")
  const frames = await scrolled(page)
  const bare = await bareFrames(page)
  const heap = await heapOf(page)
  const large = await openRun(page, url, "large")
  return {
    first_load_kb: first,
    interactive_ms: many.interactive,
    all_lines_ms: many.whole,
    frames_per_s: frames.perSecond,
    longest_frame_ms: frames.longest,
    frame_cpu_ms: frames.cpu,
    bare_frames_per_s: bare.perSecond,
    bare_frame_cpu_ms: bare.cpu,
    interactive_cpu_ms: many.cpu,
    heap_mb: heap,
    large_interactive_ms: large.interactive,
    large_all_lines_ms: large.whole,
    large_transferred_mb: large.transferred,
    large_heap_mb: await heapOf(page),
  }
}

/** Of the floor, so many times better. */
function ratiosOf(figures: Record<string, number>): Record<string, number> {
  return {
    interactive_vs_floor: FLOORS.interactive_ms / figures.interactive_ms!,
    frames_vs_floor: figures.frames_per_s! / FLOORS.frames_per_s,
    heap_vs_floor: FLOORS.heap_mb / figures.heap_mb!,
    first_load_vs_floor: FLOORS.first_load_kb / figures.first_load_kb!,
  }
}

/** Kilobytes that come over the wire until the first pane stands. */
async function firstLoad(page: Page, url: string): Promise<number> {
  const session = await page.context().newCDPSession(page)
  await session.send("Network.enable")
  let bytes = 0
  session.on("Network.loadingFinished", ({ encodedDataLength }) => void (bytes += encodedDataLength))
  await page.goto(url)
  await page.getByText("No tools are offered here").waitFor()
  await page.waitForLoadState("networkidle")
  await session.detach()
  return bytes / 1024
}

/** From the list of runs to the first lines that can be clicked, and to all of them. */
async function openRun(page: Page, url: string, id: string) {
  const session = await page.context().newCDPSession(page)
  await session.send("Network.enable")
  let bytes = 0
  session.on("Network.dataReceived", ({ dataLength }) => void (bytes += dataLength))
  await page.goto(`${url}/#/runs`)
  await page.getByRole("link", { name: new RegExp(id) }).waitFor()
  await page.waitForLoadState("networkidle")
  bytes = 0
  const clock = await threadClock(page)
  const started = performance.now()
  await page.getByRole("link", { name: new RegExp(id) }).click()
  await page
    .getByRole("button", { name: /succeeded note/ })
    .first()
    .click()
  await page.getByRole("region", { name: "Arguments of the call" }).waitFor()
  const interactive = performance.now() - started
  const cpu = await clock()
  await page.getByRole("button", { name: "Close the detail" }).click()
  await page.getByText(/^[\d,]+ lines$/).waitFor()
  const whole = performance.now() - started
  await session.detach()
  return { interactive, cpu, whole, transferred: bytes / 1024 / 1024 }
}

interface Frames {
  perSecond: number
  longest: number
  /** Processor time of the page's thread for one frame. */
  cpu: number
}

/** Frames while the list is scrolled from end to end, as a wheel does it. */
async function scrolled(page: Page): Promise<Frames> {
  const clock = await threadClock(page)
  const { frames, seconds, longest } = await page.evaluate(async () => {
    const list = document.querySelector<HTMLElement>('[aria-label="Events"]')!
    const [begin, most] = [performance.now(), 4]
    let [frames, longest, last] = [0, 0, begin]
    while (last - begin < most * 1000) {
      list.scrollTop = ((last - begin) / (most * 1000)) * (list.scrollHeight - list.clientHeight)
      await new Promise(requestAnimationFrame)
      const now = performance.now()
      longest = Math.max(longest, now - last)
      last = now
      frames++
    }
    return { frames, longest, seconds: (last - begin) / 1000 }
  })
  return { perSecond: frames / seconds, longest, cpu: (await clock()) / frames }
}

/** The same for a page that is nothing but as many lines, which the browser itself keeps out of sight. */
async function bareFrames(page: Page): Promise<Frames> {
  const bare = await page.context().newPage()
  const line = '<div style="content-visibility:auto;contain-intrinsic-size:48px;height:48px"><b>note</b> a line</div>'
  await bare.setContent(`<main aria-label="Events" style="height:600px;overflow:auto">${line.repeat(8000)}</main>`)
  const frames = await scrolled(bare)
  await bare.close()
  return frames
}

/** Tells the processor time that the page's thread has taken since, in milliseconds. */
async function threadClock(page: Page): Promise<() => Promise<number>> {
  const session = await page.context().newCDPSession(page)
  await session.send("Performance.enable", { timeDomain: "threadTicks" })
  const now = async (): Promise<number> => {
    const { metrics } = await session.send("Performance.getMetrics")
    return 1000 * (metrics.find(({ name }) => name === "TaskDuration")?.value ?? 0)
  }
  const before = await now()
  return async () => {
    const taken = (await now()) - before
    await session.detach()
    return taken
  }
}

async function heapOf(page: Page): Promise<number> {
  const session = await page.context().newCDPSession(page)
  await session.send("HeapProfiler.collectGarbage")
  const { usedSize } = await session.send("Runtime.getHeapUsage")
  await session.detach()
  return usedSize / 1024 / 1024
}

async function write(log: RunLog, title: string, events: Iterable<NewEvent>): Promise<void> {
  const head = { id: title, agent: "assistant", model: "m", title, surface: "bench", holder: "bench", time: 1000 }
  const writer = await log.begin(head)
  let some: NewEvent[] = []
  for (const event of events) {
    some.push(event)
    if (some.length < 500) continue
    await writer.append(some)
    some = []
  }
  const end: NewEvent = { type: "run-end", time: 9e9, body: '{"summary":{"outcome":"completed","success":true}}' }
  await writer.end([...some, end], { outcome: "completed", summary: "{}", time: 9e9 })
}

/** Rounds of a request, a reply and a call, as a long run has them. */
function* manyEvents(): Generator<NewEvent> {
  const event = (type: string, time: number, body: object): NewEvent => ({ type, time, body: JSON.stringify(body) })
  for (let round = 1; round <= EVENTS / 6; round++) {
    const [time, callId] = [1000 + round * 700, `c${round}`]
    yield event("round-start", time, { round })
    yield event("request", time + 1, { round, messageCount: round, toolCount: 9, delivery: "native" })
    yield event("reply", time + 300, { round, content: `I look at part ${round}.`, calls: [{}], modelMs: 299 })
    yield event("tool-start", time + 301, { callId, name: "note", arguments: { path: `src/part-${round}.ts` } })
    yield event("tool-end", time + 400, {
      callId,
      name: "note",
      result: {
        success: round % 17 !== 0 || round < 5,
        output: `Part ${round} has ${round * 3} lines.`,
        executionTimeMs: 99,
      },
    })
    yield event("round-end", time + 401, { round })
  }
}

function* largeEvents(): Generator<NewEvent> {
  for (let index = 1; index <= LARGE.events / 2; index++) {
    const [time, callId] = [1000 + index * 50, `c${index}`]
    yield { type: "tool-start", time, body: JSON.stringify({ callId, name: "note", arguments: { index } }) }
    const output = String(index).padEnd(LARGE.bytes * 2, " a line of a large output\n")
    yield {
      type: "tool-end",
      time: time + 20,
      body: JSON.stringify({ callId, name: "note", result: { success: true, output, executionTimeMs: 20 } }),
    }
  }
}
