import { existsSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { describe, expect, onTestFinished, test } from "vitest"
import { folderWith, startCli } from "../testing/run-cli.ts"
import { here } from "../testing/run-here.ts"
import { HAS_TERMINAL, startInTerminal } from "../testing/run-terminal.ts"

const DELETE = "  - reply: { calls: [{ name: delete_file, arguments: { path: a.txt } }] }\n"
const play = (...steps: string[]) => `model: player\nsteps:\n${steps.join("")}`
const asking = "permissions:\n  ask: [delete_file]\n"

/** A server that keeps what it was asked, and a picture in a folder. */
async function seeing() {
  const asked: string[] = []
  const server = createServer(async (request, response) => {
    let body = ""
    for await (const chunk of request.setEncoding("utf8")) body += String(chunk)
    if (request.method === "POST" && request.url === "/v1/chat/completions") asked.push(body)
    const chunk = { choices: [{ index: 0, delta: { content: "A dot." }, finish_reason: "stop" }] }
    response.writeHead(200, { "content-type": "text/event-stream" })
    response.end(`data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`)
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  onTestFinished(() => void server.close())
  const cwd = folderWith()
  const png = Buffer.concat([Buffer.from("89504e470d0a1a0a0000000d49484452", "hex"), Buffer.alloc(32)])
  writeFileSync(join(cwd, "dot.png"), png)
  const pictures = () => asked.map((body) => body.split(png.toString("base64")).length - 1)
  return { cwd, pictures, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1` }
}

describe("toolwright chat, from a pipe", () => {
  const chat = (stdin: string, files: Record<string, string>, ...args: string[]) => {
    const cwd = folderWith({ "a.txt": "a\n", ...files })
    return here(["chat", "--screenplay", "play.yaml", ...args], { cwd, stdin }).then((finished) => ({
      ...finished,
      cwd,
    }))
  }

  test("says which model answers, and takes each line as a request that follows those before it", async () => {
    const second = "  - expect: { user: first, any: One., last: second, messages: 4 }\n    reply: Two.\n"
    const { code, stdout, stderr, cwd } = await chat("first\n\nsecond\r\n/exit\nthird\n", {
      "play.yaml": play("  - reply: One.\n", second),
    })
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" })
    expect(stdout).toMatch(
      /^player: a screenplay, its replies were written beforehand \(.*play\.yaml\)\n> first\n {2}One\.\n {2}[\d.]+ s in all\n> second\n {2}Two\.\n/,
    )
    expect(stdout).not.toContain("third")
    expect(JSON.parse((await here(["runs", "--json"], { cwd })).stdout)).toMatchObject([
      { surface: "chat" },
      { surface: "chat" },
    ])
  })

  test("keeps the current request whole where what was said before does not fit into the window", async () => {
    const long = "Of things that were said before. ".repeat(20).trim()
    const task = `Now ${Array.from({ length: 60 }, (_, number) => `step ${number}`).join(", ")}`
    const said = Array.from({ length: 4 }, () => `  - reply: ${JSON.stringify(long)}\n`)
    const last = `  - expect: { last: ${JSON.stringify(task)}, any: Summary of }\n    reply: Done.\n`
    const { stdout, stderr } = await chat(
      [long, long, long, long, task].join("\n"),
      { "play.yaml": `abilities: { nativeTools: true }\n${play(...said, last)}` },
      "--context-tokens",
      "1024",
      "--only-tools",
      "search",
    )
    expect(stderr).toBe("")
    expect(stdout).toContain("Done.")
  })

  test("sends a picture with the first request, keeps it in view, and takes another with /image", async () => {
    const { cwd, url, pictures } = await seeing()
    const { code, stdout } = await here(["chat", "--model", "m", "--base-url", url, "--image", "dot.png"], {
      cwd,
      stdin: "What is this?\nAnd now?\n/image dot.png\nThis one?\n/image none.png\nAnd this?\nWell?\n",
    })
    expect({ code, pictures: pictures() }).toEqual({ code: 0, pictures: [1, 1, 2, 2] })
    expect(stdout).toContain("The next request is sent with dot.png.")
    expect(stdout).toMatch(/failed: .*none\.png cannot be read/)
  })

  test("calls a screenplay one, whichever model it was taken from", async () => {
    expect((await chat("", { "play.yaml": "model: toolwright-pocket\nsteps: [{ reply: Hi. }]\n" })).stdout).toMatch(
      /^toolwright-pocket: a screenplay, its replies were written beforehand/,
    )
  })

  test("shows calls with their arguments and results, and hands both to the next turn with ids of their own", async () => {
    const look = "  - reply: { calls: [{ name: search_grep, arguments: { pattern: needle } }] }\n"
    const after = "  - expect: { result: hay.txt }\n    reply: Found.\n"
    const { stdout } = await chat("find it\nagain\n", {
      "hay.txt": "a needle\n",
      "play.yaml": play(look, after, look, after),
    })
    expect(stdout).toMatch(
      /call {3}search_grep \{"pattern":"needle"\}\n {2}ok {5}search_grep pattern=needle .* s\n {4}.*hay\.txt[^]*Found\.\n {2}1 call · /,
    )
  })

  test("denies what needs approval, since nobody can be asked", async () => {
    const { stdout, cwd } = await chat("delete a.txt\n", {
      "toolwright.yaml": asking,
      "play.yaml": play(DELETE, "  - reply: No.\n"),
    })
    expect(stdout).toContain("'delete_file' needs approval, and nobody is there to give it.")
    expect(existsSync(join(cwd, "a.txt"))).toBe(true)
  })

  test("runs dry from the start or from /dry on, and deletes once it is told to run", async () => {
    const steps = play(DELETE, "  - reply: Would be gone.\n", DELETE, "  - reply: Gone.\n")
    const dry = await chat("delete a.txt\n", { "play.yaml": steps }, "--dry-run")
    expect(dry.stdout).toMatch(/Dry run: calls are shown[^]*well-formed, not run[^]*1 call, none run/)
    expect(existsSync(join(dry.cwd, "a.txt"))).toBe(true)
    const both = await chat("/dry\ndelete a.txt\n/dry\ndelete a.txt\n", { "play.yaml": steps })
    expect(both.stdout).toMatch(
      /Calls are shown and not run[^]*Would be gone\.[^]*Calls are run\.[^]*Deleted [^]*Gone\./,
    )
    expect(existsSync(join(both.cwd, "a.txt"))).toBe(false)
  })

  test("forgets at /clear, names its tools and commands, and knows a wrong one", async () => {
    const fresh = "  - expect: { user: second }\n    reply: Two.\n"
    const { stdout } = await chat("first\n/clear\nsecond\n/tools\n/help\n/model\n/hlep\n /usr is a folder\n", {
      "play.yaml": play("  - reply: One.\n", fresh, "  - expect: { last: /usr is a folder }\n    reply: It is.\n"),
    })
    expect(stdout).toMatch(
      /forgotten[^]*Two\.[^]*delete_file +Deletes a file[^]*\/clear +forget[^]*There is no command \/hlep[^]*It is\./,
    )
    expect(stdout).not.toContain("failed")
  })

  test("ends at once where no such agent is, or where the pocket model cannot be it", async () => {
    expect(await here(["chat", "--agent", "nobody"], { cwd: folderWith() })).toMatchObject({
      code: 2,
      stdout: "",
      stderr: expect.stringMatching(/^toolwright: There is no agent 'nobody'/) as string,
    })
    const { code, stdout, stderr } = await here(["chat", "--agent", "builder"], {
      cwd: folderWith(),
      stdin: "fix it\nfix it\n",
    })
    expect([code, stdout.match(/> fix it/g)?.length]).toEqual([2, 1])
    expect(stderr).toMatch(/^toolwright: The agent 'builder' needs a real model/)
  })

  test("is answered by the pocket model where none is configured, which says what it is and has its own tools", async () => {
    const { code, stdout } = await here(["chat"], { cwd: folderWith(), stdin: "/tools\n" })
    expect(code).toBe(0)
    expect(stdout).toMatch(
      /^toolwright-pocket: a demonstration model of 2\.9 million parameters .* is no assistant[^]*--base-url/,
    )
    expect(stdout.match(/^ {2}\w+ {2,}/gm)).toHaveLength(20)
  })

  test("shows what is in the pipe without letting it command the terminal", async () => {
    const { stdout } = await chat("\u001b[2Jfirst\u001b]0;title\u0007\n", { "play.yaml": play("  - reply: One.\n") })
    expect(stdout).toContain("> ␛[2Jfirst␛]0;title␇\n")
    expect(stdout).not.toMatch(/[\u001b\u0007]/)
  })

  test("goes on after a turn that failed", async () => {
    const { code, stdout } = await chat("one\ntwo\n", {
      "play.yaml": play("  - reply: { error: { status: 500, message: overloaded } }\n", "  - reply: Two.\n"),
    })
    expect(code).toBe(0)
    expect(stdout).toMatch(/failed[^]*> two\n {2}Two\./)
  })

  test.each(["exit", " quit ", "/quit"])("leaves at %j too, and does not ask the model", async (word) => {
    const cwd = folderWith({ "play.yaml": play("  - reply: You're welcome!\n") })
    const { code, stdout } = await here(["chat", "--screenplay", "play.yaml"], { cwd, stdin: `${word}\nmore\n` })
    expect(code).toBe(0)
    expect(stdout).not.toContain("welcome")
  })

  test("ends with the exit code of its last task, whatever came of those before it", async () => {
    const failing = "  - reply: { error: { status: 500, message: overloaded } }\n"
    const code = async (stdin: string, ...steps: string[]) => (await chat(stdin, { "play.yaml": play(...steps) })).code
    expect(await code("one\n", failing)).toBe(1)
    expect(await code("one\ntwo\n", "  - reply: One.\n", failing)).toBe(1)
    expect(await code("one\ntwo\n/tools\n/exit\n", "  - reply: One.\n", failing)).toBe(1)
    expect(await code("one\ntwo\n", failing, "  - reply: Two.\n")).toBe(0)
    expect(await code("one\n/image none.png\ntwo\n", "  - reply: One.\n")).toBe(1)
    expect(await code("/tools\n", failing)).toBe(0)
  })

  test("leaves at /exit and at an interrupt though the pipe stays open", async () => {
    const cwd = folderWith({ "play.yaml": play("  - reply: { text: Well, hang: true }\n") })
    const { child, until, finished } = startCli(["chat", "--screenplay", "play.yaml"], {
      cwd,
      stdin: "go\n",
      keepOpen: true,
    })
    await until(/Well/)
    child.kill("SIGINT")
    expect((await finished).code).toBe(130)
    const left = startCli(["chat", "--screenplay", "play.yaml"], { cwd, stdin: "/exit\n", keepOpen: true })
    expect((await left.finished).code).toBe(0)
  })
})

// Needs a pseudo terminal, made by util-linux's `script`.
describe.skipIf(!HAS_TERMINAL)("toolwright chat, in a terminal", () => {
  const open = (steps: string, files: Record<string, string> = {}) => {
    const cwd = folderWith({ "a.txt": "a\n", "toolwright.yaml": asking, "play.yaml": steps, ...files })
    return { cwd, terminal: startInTerminal(["chat", "--screenplay", "play.yaml"], { cwd }) }
  }

  test("asks before a call that needs approval: yes runs it, anything else does not", async () => {
    const { cwd, terminal } = open(play(DELETE, "  - reply: Kept.\n", DELETE, "  - reply: Gone.\n"))
    await terminal.until(/> /)
    terminal.type("delete a.txt\r")
    await terminal.until(/Allow delete_file path=a\.txt\? \[y\/N\] /)
    terminal.type("\r")
    await terminal.until(/was not approved[^]*Kept\.[^]*> /)
    expect(existsSync(join(cwd, "a.txt"))).toBe(true)
    terminal.type("delete it now\r")
    await terminal.until(/\[y\/N\] /)
    terminal.type("y\r")
    await terminal.until(/Gone\.[^]*> /)
    expect(existsSync(join(cwd, "a.txt"))).toBe(false)
    terminal.type("\u0004")
    expect(await terminal.exited).toBe(0)
  })

  test("Ctrl-C stops an answer and an open question, and the conversation goes on; twice it leaves", async () => {
    const { cwd, terminal } = open(
      play(
        "  - reply: { text: slowly, hang: true }\n",
        DELETE,
        "  - expect: { last: { equals: third } }\n    reply: Third.\n",
      ),
    )
    await terminal.until(/> /)
    terminal.type("first\r")
    await terminal.until(/slowly/)
    terminal.type("\u0003")
    await terminal.until(/cancelled[^]*> /)
    terminal.type("second\r")
    await terminal.until(/\[y\/N\] /)
    terminal.type("ye\u0003")
    await terminal.until(/cancelled[^]*> /)
    expect(existsSync(join(cwd, "a.txt"))).toBe(true)
    terminal.type("third\r")
    await terminal.until(/Third\.[^]*> /)
    terminal.type("half a line\u0003")
    await terminal.until(/\^C[^]*> /)
    terminal.type("\u0003")
    await terminal.until(/Ctrl-C again leaves[^]*> /)
    terminal.type("\u0003")
    expect(await terminal.exited).toBe(130)
  })

  test("what is typed ahead is the next request, and answers no question", async () => {
    const { cwd, terminal } = open(play("  - reply: { text: One., delayMs: 1500 }\n", DELETE, "  - reply: Done.\n"))
    await terminal.until(/> /)
    terminal.type("first\r")
    await terminal.until(/waiting for the model/)
    terminal.type("second\ry\r")
    await terminal.until(/> second[^]*\[y\/N\] /)
    expect(existsSync(join(cwd, "a.txt"))).toBe(true)
    terminal.type("n\r")
    await terminal.until(/Done\.[^]*> y/)
  })
})
