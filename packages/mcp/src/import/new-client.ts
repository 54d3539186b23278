import type { Client } from "@modelcontextprotocol/client"

/**
 * A protocol client of this project. Over HTTP the era is found out; over stdio the older handshake is used, since
 * asking would start the server twice and wait on those that do not answer.
 */
export async function newClient(era: "auto" | "legacy"): Promise<Client> {
  const { Client: ProtocolClient } = await import("@modelcontextprotocol/client")
  return new ProtocolClient(
    { name: "toolwright", version: "0.1.0" },
    { capabilities: { elicitation: {} }, versionNegotiation: { mode: era } },
  )
}
