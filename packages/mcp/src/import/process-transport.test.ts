import { expect, test } from "vitest"
import { ProcessTransport } from "./process-transport.ts"

const MOST = 1_000_000

/** What a server that runs this script is heard to say, until its connection ends. */
async function heardOf(script: string): Promise<{ messages: unknown[]; errors: string[]; pid: number }> {
  const env = { PATH: process.env.PATH ?? "" }
  const transport = new ProcessTransport({ command: process.execPath, args: ["-e", script], env, maxBytes: MOST })
  const messages: unknown[] = []
  const errors: string[] = []
  transport.onmessage = (message) => void messages.push(message)
  transport.onerror = (error) => void errors.push(error.message)
  const closed = new Promise<void>((resolve) => (transport.onclose = resolve))
  await transport.start()
  const pid = transport.pid!
  await closed
  return { messages, errors, pid }
}

test("a message that has no end ends the connection, and the server", async () => {
  const endless = 'const piece = "x".repeat(60_000); (function pour() { process.stdout.write(piece, pour) })()'
  const { messages, errors, pid } = await heardOf(endless)
  expect(messages).toEqual([])
  expect(errors).toEqual([`The server sent a message of more than ${MOST} bytes.`])
  await expect.poll(() => isThere(pid)).toBe(false)
})

test("messages are heard whatever pieces they come in, and noise between them is passed over", async () => {
  const said = [
    "hello\\n\\n",
    '{"jsonrpc":"2.0","id":1,"res',
    'ult":{}}\\r\\n{"jsonrpc":"2.0","id":2,"result":{"text":"ä"}}\\n',
  ]
  const script = `const pieces = [${said.map((piece) => `'${piece}'`).join()}]
    setInterval(() => (pieces.length > 0 ? process.stdout.write(pieces.shift()) : process.exit()), 50)`
  expect((await heardOf(script)).messages).toEqual([
    { jsonrpc: "2.0", id: 1, result: {} },
    { jsonrpc: "2.0", id: 2, result: { text: "ä" } },
  ])
})

function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
