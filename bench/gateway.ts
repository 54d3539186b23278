/**
 * The gateway beside a bare proxy, in front of the same model server: processor time for each streamed token and added
 * latency with 1, 32 and 256 streams, memory over many requests (`--requests=10000`), clients that never read and a
 * server that never ends.
 */
import { fork, spawn, type ChildProcess } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { Agent, createServer, request, type IncomingMessage } from "node:http"
import { connect, type AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as pause } from "node:timers/promises"
import type { BenchmarkResult } from "./run.ts"

const CLI = join(import.meta.dirname, "../packages/cli/bin/toolwright.js")
const STREAMS = [1, 32, 256]
/** Tokens of one answer, half of them in a call. */
const TOKENS = 200
/** Streams of one measurement at least, so that short ones are not all noise. */
const LEAST_STREAMS = 128

interface Server {
  child: ChildProcess
  port: number
}

export async function run(): Promise<BenchmarkResult> {
  const requests = Number(/--requests=(\d+)/.exec(process.argv.join(" "))?.[1] ?? 2000)
  const folder = mkdtempSync(join(tmpdir(), "gateway-"))
  const model = await started(["--model"])
  const proxy = await started(["--proxy", String(model.port)])
  const ours = await gateway(model.port, folder)
  const figures: Record<string, number> = {}
  const ratios: Record<string, number> = {}
  try {
    for (const server of [proxy, ours]) await crowd(server, 8)
    for (const streams of STREAMS) {
      const [floor, taken] = [await crowd(proxy, streams), await crowd(ours, streams)]
      Object.assign(figures, {
        [`cpu_us_per_token_${streams}`]: taken.cpuUs,
        [`cpu_us_per_token_proxy_${streams}`]: floor.cpuUs,
        [`first_token_ms_${streams}`]: taken.firstMs,
        [`first_token_proxy_ms_${streams}`]: floor.firstMs,
        [`stream_ms_${streams}`]: taken.wholeMs,
        [`stream_proxy_ms_${streams}`]: floor.wholeMs,
      })
      ratios[`cpu_vs_proxy_${streams}`] = floor.cpuUs / taken.cpuUs
      ratios[`stream_vs_proxy_${streams}`] = floor.wholeMs / taken.wholeMs
    }
    Object.assign(figures, await memory(ours, requests), await neverRead(ours))
  } finally {
    for (const { child } of [ours, proxy, model]) child.kill("SIGKILL")
    rmSync(folder, { recursive: true, force: true })
  }
  return { figures, ratios }
}

interface Taken {
  cpuUs: number
  firstMs: number
  wholeMs: number
}

/** So many streams at once, again and again until there were enough; medians, and the processor time of the server. */
async function crowd(server: Server, streams: number): Promise<Taken> {
  const agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY })
  const rounds = Math.max(1, Math.ceil(LEAST_STREAMS / streams))
  const firsts: number[] = []
  const wholes: number[] = []
  const before = cpuMs(server)
  for (let round = 0; round < rounds; round++)
    await Promise.all(
      Array.from({ length: streams }, async () => {
        const { first, whole } = await streamed(server.port, agent)
        firsts.push(first)
        wholes.push(whole)
      }),
    )
  const spent = cpuMs(server) - before
  agent.destroy()
  const cpuUs = (spent * 1000) / (rounds * streams * TOKENS)
  return { cpuUs, firstMs: median(firsts), wholeMs: median(wholes) }
}

const BODY = {
  model: "qwen2.5-7b-instruct",
  messages: [{ role: "user", content: "Write" }],
  tools: [
    {
      type: "function",
      function: {
        name: "write",
        description: "Writes a text",
        parameters: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
      },
    },
  ],
}

function post(port: number, body: object, agent?: Agent): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const text = JSON.stringify({ ...BODY, ...body })
    const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(text) }
    const path = "/v1/chat/completions"
    const options = {
      host: "127.0.0.1",
      port,
      path,
      method: "POST",
      headers,
      ...(agent === undefined ? {} : { agent }),
    }
    request(options, resolve).on("error", reject).end(text)
  })
}

async function streamed(port: number, agent: Agent): Promise<{ first: number; whole: number }> {
  const begun = performance.now()
  const response = await post(port, { stream: true }, agent)
  let first = Number.NaN
  let text = ""
  for await (const piece of response) {
    if (Number.isNaN(first)) first = performance.now() - begun
    text += String(piece)
  }
  if (response.statusCode !== 200 || !text.includes("[DONE]"))
    throw new Error(`a stream ended badly: ${text.slice(-200)}`)
  return { first, whole: performance.now() - begun }
}

/**
 * Memory over many requests that are not streamed: what the heap holds after a collection at the end more than after a
 * quarter, and the resident memory of the last quarter more than that of the second, which grows until V8 collects.
 */
async function memory(server: Server, requests: number): Promise<Record<string, number>> {
  const agent = new Agent({ keepAlive: true, maxSockets: 16 })
  const samples: number[] = []
  let early: number | undefined
  for (let done = 0; done < requests; done += 16) {
    if (done >= requests / 4) early ??= await heldMb(server)
    const answers = Array.from({ length: 16 }, async () => {
      const response = await post(server.port, { stream: false }, agent)
      for await (const _ of response);
    })
    await Promise.all(answers)
    samples.push(residentMb(server))
  }
  agent.destroy()
  const quarter = Math.max(1, Math.floor(samples.length / 4))
  const mean = (part: readonly number[]) => part.reduce((sum, each) => sum + each, 0) / part.length
  const held = await heldMb(server)
  return {
    heap_held_mb: held,
    heap_growth_mb: held - (early ?? held),
    memory_mb: Math.max(...samples),
    memory_growth_mb: mean(samples.slice(-quarter)) - mean(samples.slice(quarter, 2 * quarter)),
    memory_requests: samples.length * 16,
  }
}

/** So many clients that never read, and then so many: what more of them cost is what one costs. */
const UNREAD = [32, 128] as const

/**
 * Clients that ask for a stream without end and never read it: what each costs, and whether they are gone afterwards. A
 * server that has just begun grows by itself, and more with its first streams: each number is looked at after one like
 * it has come and gone, and the cost of one client is the difference of the two.
 */
async function neverRead(server: Server): Promise<Record<string, number>> {
  const [few, many] = UNREAD
  for (const count of UNREAD) (await unread(server, count)).leave()
  await pause(1000)
  const first = await unread(server, few)
  const fewMb = residentMb(server)
  first.leave()
  await pause(1000)
  const second = await unread(server, many)
  const manyMb = residentMb(server)
  const busy = cpuMs(server)
  await pause(4000)
  const idle = (cpuMs(server) - busy) / 4000
  const later = residentMb(server)
  const heldWith = await heldMb(server)
  second.leave()
  await pause(1000)
  const after = cpuMs(server)
  await pause(1000)
  const left = (cpuMs(server) - after) / 1000
  return {
    unread_memory_mb_per_client: (manyMb - fewMb) / (many - few),
    unread_heap_mb_per_client: (heldWith - (await heldMb(server))) / many,
    unread_memory_growth_mb: later - manyMb,
    unread_cpu_share: idle,
    left_cpu_share: left,
  }
}

/** So many clients that read nothing, once what they asked for has come as far as it can. */
async function unread(server: Server, count: number): Promise<{ leave(): void }> {
  const text = JSON.stringify({ ...BODY, stream: true, user: "endless" })
  const head =
    `POST /v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1:${server.port}\r\ncontent-type: application/json\r\n` +
    `content-length: ${Buffer.byteLength(text)}\r\n\r\n${text}`
  const sockets = Array.from({ length: count }, () => {
    const socket = connect(server.port, "127.0.0.1").on("error", () => {})
    socket.pause()
    socket.write(head)
    return socket
  })
  await settled(server)
  return {
    leave: () => {
      for (const socket of sockets) socket.destroy()
    },
  }
}

/** Waits until a server rests, or does not come to rest within half a minute. */
async function settled(server: Server): Promise<void> {
  for (let second = 0; second < 30; second++) {
    const before = cpuMs(server)
    await pause(1000)
    if (cpuMs(server) - before < 20) return
  }
}

/** What the heap holds after a collection. */
async function heldMb({ child }: Server): Promise<number> {
  child.send("held")
  const [bytes] = (await once(child, "message")) as [number]
  return bytes / 1024 / 1024
}

/** Runs in the gateway: answers what its heap holds. */
const TELL_HELD = `data:text/javascript,process.on("message",()=>{gc();gc();process.send(process.memoryUsage().heapUsed)})`

async function gateway(port: number, folder: string): Promise<Server> {
  const args = ["serve", "--port", "0", "--model", BODY.model, "--base-url", `http://127.0.0.1:${port}/v1`]
  const env = { PATH: process.env.PATH, HOME: folder, XDG_STATE_HOME: folder }
  // A small heap, so that what is kept shows and not what has not been collected yet.
  const child = spawn(
    process.execPath,
    [
      "--max-old-space-size=192",
      "--expose-gc",
      "--import",
      TELL_HELD,
      CLI,
      ...args,
      "--native-tools",
      "false",
      "--quiet",
    ],
    {
      cwd: folder,
      env,
      stdio: ["ignore", "pipe", "inherit", "ipc"],
    },
  )
  let text = ""
  for await (const piece of child.stdout!) {
    text += String(piece)
    const found = /http:\/\/127\.0\.0\.1:(\d+)/.exec(text)
    if (found === null) continue
    return { child, port: Number(found[1]) }
  }
  throw new Error(`serve did not start: ${text}`)
}

async function started(args: string[]): Promise<Server> {
  const child = fork(import.meta.filename, args)
  const [port] = (await once(child, "message")) as [number]
  return { child, port }
}

/** Processor time of a process so far, of all its threads. */
function cpuMs({ child }: Server): number {
  const fields = readFileSync(`/proc/${child.pid!}/stat`, "utf8").split(") ")[1]!.split(" ")
  // ticks of a hundredth of a second, in the program and in the system on its behalf
  return (Number(fields[11]) + Number(fields[12])) * 10
}

function residentMb({ child }: Server): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid!}/status`, "utf8"))![1]) / 1024
}

function median(times: number[]): number {
  return times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)]!
}

/** A model server that writes words and then a call, as text. */
function modelServer(): void {
  const word = (content: string) =>
    `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content }, finish_reason: null }] })}\n\n`
  const words = Array.from({ length: TOKENS / 2 - 1 }, (_, index) => word(`word${index} `))
  const call = [
    '<tool_call>\n{"name": "write", "arguments": {"text": "',
    ...Array.from({ length: TOKENS / 2 - 1 }, () => "text "),
    '"}}\n</tool_call>',
  ]
  const chunks = [...words, ...call.map(word)]
  const end = `data: ${JSON.stringify({ choices: [{ index: 0, delta: {}, finish_reason: "stop" }], usage: { prompt_tokens: 9, completion_tokens: TOKENS } })}\n\ndata: [DONE]\n\n`
  const whole = JSON.stringify({
    choices: [{ index: 0, message: { role: "assistant", content: `Word ${call.join("")}` }, finish_reason: "stop" }],
    usage: { prompt_tokens: 9, completion_tokens: TOKENS },
  })
  answering((text, response) => {
    // The gateway asks for a stream whatever its client wants; what is asked for without one is for the proxy.
    if (!text.includes('"stream":true')) return void response.setHeader("content-type", "application/json").end(whole)
    response.writeHead(200, { "content-type": "text/event-stream" })
    const endless = text.includes('"endless"')
    let at = 0
    const next = (): void => {
      if (response.destroyed) return
      if (at >= chunks.length && !endless) return void response.end(end)
      const went = response.write(endless ? words[at % words.length]! : chunks[at]!)
      at++
      if (went) setImmediate(next)
      else response.once("drain", next)
    }
    next()
  })
}

/** The least that stands between a client and a server: it passes bytes on. */
function proxyServer(port: number): void {
  const agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY })
  answering((text, response) => {
    const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(text) }
    const options = { host: "127.0.0.1", port, path: "/v1/chat/completions", method: "POST", headers, agent }
    request(options, (answer) => {
      response.writeHead(answer.statusCode ?? 502, { "content-type": answer.headers["content-type"] ?? "" })
      answer.pipe(response)
    }).end(text)
  })
}

function answering(answer: (text: string, response: import("node:http").ServerResponse) => void): void {
  const server = createServer((incoming, response) => {
    let text = ""
    incoming.on("data", (piece: Buffer) => (text += piece.toString()))
    incoming.on("end", () => answer(text, response))
  })
  server.listen(0, "127.0.0.1", () => process.send!((server.address() as AddressInfo).port))
}

if (process.argv[2] === "--model") modelServer()
if (process.argv[2] === "--proxy") proxyServer(Number(process.argv[3]))
