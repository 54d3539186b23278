/** A message as the request event carries it. */
export interface RecordedMessage {
  role: string
  content: string
  toolCalls?: readonly { name: string; arguments: unknown }[]
  name?: string
}

/**
 * The messages of a request for a person to read: all of them, or, where the earlier prompt is its beginning, only
 * those that are new, so that a record grows with the conversation and not with its square.
 */
export function promptText(messages: readonly RecordedMessage[], earlier: readonly RecordedMessage[]): string {
  const continues = earlier.length > 0 && earlier.every((message, index) => message === messages[index])
  const from = continues ? earlier.length : 0
  const parts = messages.slice(from).map((message) => {
    const calls = (message.toolCalls ?? [])
      .map(({ name, arguments: args }) => `\n[calls ${name} ${JSON.stringify(args)}]`)
      .join("")
    const tool = message.name === undefined ? "" : ` (${message.name})`
    return `# ${message.role}${tool}\n\n${message.content}${calls}\n`
  })
  const before = continues ? `(The first ${from} messages are those of the prompt before.)\n\n` : ""
  return before + parts.join("\n")
}
