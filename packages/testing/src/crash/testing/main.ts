import { agentAt, type AgentPlace } from "./agent.ts"

/** A process of its own for the agent, which is killed on the way. */
const [place, runId] = process.argv.slice(2)
await using toolwright = await agentAt(JSON.parse(place!) as AgentPlace)
const summary = await toolwright.complete("Do all of it.", { runId: runId! })
process.stdout.write(JSON.stringify(summary))
