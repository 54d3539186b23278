import { parentPort, workerData } from "node:worker_threads"
import type { ExtractRequest } from "./extract.ts"
import { htmlToMarkdown } from "./html-to-markdown.ts"

parentPort?.postMessage(htmlToMarkdown(workerData as ExtractRequest))
