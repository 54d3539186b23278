/** A run as lists show it. Times are milliseconds since 1970. */
export interface RunDigest {
  id: string
  /** Empty for a single call, made by hand or over a surface. */
  agent: string
  model: string
  /** The task; of a single call the tool. */
  title: string
  surface: string
  /** An outcome, or `running`, `waiting`, `interrupted`. */
  status: string
  started: number
  ended?: number
  ms?: number
  rounds?: number
  calls?: number
  failedCalls?: number
  inputTokens?: number
  outputTokens?: number
  /** What it answered, or why it failed: the beginning. */
  message?: string
  task?: string
  /** The call of another run that asked for it. */
  askedBy?: { run: string; call: string }
  /** How many runs its calls asked for; not there where none did. */
  asks?: number
  /** The run that it branched off, and the last event that they share. */
  parent?: { run: string; seq: number }
  /** The run whose changes it takes back. */
  about?: string
  /** How many files it changed. */
  changed?: number
}

/** What `GET /runs` answers. */
export interface RunList {
  runs: RunDigest[]
  /** Where the next page begins; not there at the end. */
  next?: string
}

/** What `GET /runs/{id}` answers. */
export interface RunDetail extends RunDigest {
  /** The number of the last event. */
  lastSeq: number
  /** Runs that branched off it. */
  branches: { id: string; seq: number; title: string }[]
  /** The records of its changes being taken back: who did, when, and what came of it. */
  undone: { id: string; by: string; time: number; status: string }[]
  /** Runs that its calls asked for, in the order in which they began. */
  asked: RunDigest[]
}

/**
 * An event without its body: what a list of many thousands needs of each. Texts are beginnings; `bytes` is the size of
 * the body, which `GET /runs/{id}/events/{seq}` gives.
 */
export interface EventDigest {
  seq: number
  type: string
  /** Milliseconds since 1970. */
  time: number
  bytes: number
  /** What is said of it in a line. */
  text?: string
  round?: number
  callId?: string
  name?: string
  /** Arguments of a call as JSON: the beginning. */
  args?: string
  ok?: boolean
  code?: string
  /** Who answered, or takes something back: the holder of a token as an opaque name, or a user of the machine. */
  by?: string
  /** How long it took, in milliseconds. */
  ms?: number
  /** Calls of a reply, messages of a request, repairs of a call. */
  count?: number
  tokens?: number
  erased?: true
}

/** What `GET /runs/{id}/events` answers. */
export interface EventPage {
  events: EventDigest[]
  /** Whether there are more after the last of these. */
  more: boolean
}

/** What `GET /runs/{id}/events/{seq}` answers: the body as it was written, or the part of it that was asked for. */
export interface EventBody {
  seq: number
  type: string
  time: number
  hash: string
  /** Characters of the whole body. */
  size: number
  from: number
  text: string
  erased?: true
}

/** What `GET /runs/{id}/events/{seq}/kept/{hash}` answers: a text that the event names by its hash, or a part of it. */
export interface KeptText {
  /** Characters of the whole text. */
  size: number
  from: number
  text: string
  erased?: true
}
