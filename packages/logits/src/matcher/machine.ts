/**
 * The automaton of a grammar: a pushdown automaton over bytes, made deterministic one state at a time. A state is the
 * set of all threads that the text so far leaves open; each thread is a lexeme in progress and the stack that waits for
 * it.
 *
 * States are made once and never change, so a matcher that goes back keeps nothing but a state, and whatever is worked
 * out about a state, its transitions or its token mask, is worked out once.
 */
import { grammarOf, value, type Grammar } from "../grammar/rules.ts"
import { afterWhiteSpace, createLexeme, DEAD, type Lexeme } from "../lexeme/lexeme.ts"
import { createFrameStore, type Frame, type Sink } from "./frames.ts"
import { refuseLeftRecursion } from "./check-grammar.ts"
import { createExpressionWriter, type Capture, type ExpressionWriter } from "./expressions.ts"

export interface Thread {
  readonly number: number
  readonly lexeme: Lexeme
  readonly state: number
  readonly frame: Frame
}

export interface State {
  readonly threads: readonly Thread[]
  /** Whether the text may end here. */
  readonly complete: boolean
  /** By byte: the next state, null where the byte is not allowed; nothing where nobody has asked yet. */
  next: Map<number, State | null> | undefined
  /** The bytes that can follow; worked out by {@link Machine.bytes}. */
  bytes: readonly number[] | undefined
}

export interface Machine {
  readonly start: State
  /** The state after a byte, or null. */
  step(state: State, byte: number): State | null
  /** The bytes that can follow, in ascending order. */
  bytes(state: State): readonly number[]
  /** The state in which what a lexeme's end leads to has just begun. */
  afterLexeme(frame: Frame, outcome: number): State
  /** The threads of that state. */
  following(frame: Frame, outcome: number): readonly Thread[]
  /** The state of one thread alone. */
  alone(thread: Thread): State
  /** The state from which goes on what goes on from any of the states; it does not tell whether the text may end. */
  union(states: readonly State[]): State
}

interface Closure {
  readonly threads: readonly Thread[]
  readonly complete: boolean
}

/**
 * A state, of which thousands are made: most are passed through, and whether the text may end in them is never asked.
 */
class Reached implements State {
  readonly threads: readonly Thread[]
  next: Map<number, State | null> | undefined = undefined
  bytes: readonly number[] | undefined = undefined
  readonly #endsText: (thread: Thread) => boolean
  #complete: boolean | undefined

  constructor(threads: readonly Thread[], complete: boolean, endsText: (thread: Thread) => boolean) {
    this.threads = threads
    this.#endsText = endsText
    this.#complete = complete ? true : undefined
  }

  get complete(): boolean {
    return (this.#complete ??= this.threads.some(this.#endsText))
  }
}

/** States kept for reuse; beyond this, all are forgotten and made anew as they are needed. */
const MAX_STATES = 60_000

export function createMachine(grammar: Grammar): Machine {
  return new PushdownMachine(grammar)
}

const ALL_BYTES: readonly number[] = Array.from({ length: 256 }, (_, byte) => byte)

/** The machine of one grammar, with the threads, closures and states that were needed so far. */
class PushdownMachine implements Machine {
  readonly #store = createFrameStore()
  readonly #expressions: ExpressionWriter
  #threadCount = 0
  readonly #threads = new Map<Frame, Map<Lexeme, (Thread | undefined)[]>>()
  readonly #closures = new Map<Frame, Map<number, Closure>>()
  #states = new Map<string, State>()
  #alone = new Map<Thread, State>()
  readonly start: State

  constructor(grammar: Grammar) {
    refuseLeftRecursion(grammar)
    this.#expressions = createExpressionWriter(grammar, this.#store, captureValue)
    this.start = this.#startState()
  }

  #thread(lexeme: Lexeme, state: number, frame: Frame): Thread {
    let byLexeme = this.#threads.get(frame)
    if (byLexeme === undefined) this.#threads.set(frame, (byLexeme = new Map()))
    let list = byLexeme.get(lexeme)
    if (list === undefined) byLexeme.set(lexeme, (list = []))
    return (list[state] ??= { number: this.#threadCount++, lexeme, state, frame })
  }

  #collect(fill: (sink: Sink) => void): Closure {
    const found = new Set<Thread>()
    const entered = new Set<string>()
    let complete = false
    fill({
      add: (lexeme, frame) => found.add(this.#thread(lexeme, lexeme.start, frame)),
      complete: () => (complete = true),
      enter: (mark) => !entered.has(mark) && entered.add(mark) !== undefined,
    })
    return { threads: [...found], complete }
  }

  #closure(frame: Frame, outcome: number): Closure {
    let byOutcome = this.#closures.get(frame)
    if (byOutcome === undefined) this.#closures.set(frame, (byOutcome = new Map()))
    let result = byOutcome.get(outcome)
    if (result === undefined) byOutcome.set(outcome, (result = this.#collect((sink) => frame.after(outcome, sink))))
    return result
  }

  /**
   * A state of threads and what they lead to without reading on: threads whose lexeme may end here stay, and so does
   * what follows.
   */
  #stateOf(list: readonly Thread[], complete: boolean): State {
    if (list.length === 1 && !complete) return this.alone(list[0]!)
    const sorted = list.toSorted((a, b) => a.number - b.number)
    let key = complete ? "!" : ""
    for (const { number } of sorted) key += `${number},`
    let state = this.#states.get(key)
    if (state === undefined) {
      if (this.#states.size + this.#alone.size > MAX_STATES) this.#forget()
      this.#states.set(key, (state = this.#newState(sorted, complete)))
    }
    return state
  }

  alone(thread: Thread): State {
    let state = this.#alone.get(thread)
    if (state === undefined) {
      if (this.#states.size + this.#alone.size > MAX_STATES) this.#forget()
      this.#alone.set(thread, (state = this.#newState([thread], false)))
    }
    return state
  }

  #newState(list: readonly Thread[], complete: boolean): State {
    return new Reached(list, complete, this.#endsText)
  }

  readonly #endsText = ({ lexeme, state, frame }: Thread): boolean => {
    const outcome = lexeme.outcome(state)
    return outcome >= 0 && this.#completes(frame, outcome, 0)
  }

  /** Whether the text may end after an outcome, also by way of things that may be empty. */
  #completes(frame: Frame, outcome: number, depth: number): boolean {
    const { complete, threads } = this.#closure(frame, outcome)
    return (
      complete ||
      (depth < 20 &&
        threads.some(
          ({ lexeme, state, frame }) =>
            lexeme.outcome(state) >= 0 && this.#completes(frame, lexeme.outcome(state), depth + 1),
        ))
    )
  }

  #forget(): void {
    this.#states = new Map()
    this.#alone = new Map()
  }

  #addStep(from: Thread, byte: number, into: Set<Thread>, depth: number): void {
    const { lexeme, state, frame } = from
    const next = lexeme.next(state, byte)
    if (next !== DEAD) into.add(this.#thread(lexeme, next, frame))
    const outcome = lexeme.outcome(state)
    if (outcome < 0 || depth > 50) return
    for (const following of this.#closure(frame, outcome).threads) this.#addStep(following, byte, into, depth + 1)
  }

  step(state: State, byte: number): State | null {
    const known = state.next?.get(byte)
    if (known !== undefined) return known
    const { threads } = state
    let result: State | null
    if (threads.length === 1 && threads[0]!.lexeme.outcome(threads[0]!.state) < 0) {
      const [{ lexeme, state: at, frame }] = threads as [Thread]
      const next = lexeme.next(at, byte)
      result = next === DEAD ? null : next === at ? state : this.alone(this.#thread(lexeme, next, frame))
    } else {
      const into = new Set<Thread>()
      for (const one of threads) this.#addStep(one, byte, into, 0)
      result = into.size === 0 ? null : this.#stateOf([...into], false)
    }
    ;(state.next ??= new Map()).set(byte, result)
    return result
  }

  #candidates(list: readonly Thread[], into: Set<number>, depth: number): boolean {
    for (const { lexeme, state, frame } of list) {
      const bytes = lexeme.bytes(state)
      if (bytes === undefined) return false
      for (const byte of bytes) into.add(byte)
      const outcome = lexeme.outcome(state)
      if (outcome >= 0 && (depth > 50 || !this.#candidates(this.#closure(frame, outcome).threads, into, depth + 1)))
        return false
    }
    return true
  }

  #startState(): State {
    const { threads, complete } = this.#collect((sink) => this.#expressions.start(this.#store.bottom, sink))
    return this.#stateOf(threads, complete)
  }

  bytes(state: State): readonly number[] {
    if (state.bytes !== undefined) return state.bytes
    const few = new Set<number>()
    const tried = this.#candidates(state.threads, few, 0) ? [...few].toSorted((a, b) => a - b) : ALL_BYTES
    return (state.bytes = tried.filter((byte) => this.step(state, byte) !== null))
  }

  afterLexeme(frame: Frame, outcome: number): State {
    const { threads, complete } = this.#closure(frame, outcome)
    return this.#stateOf(threads, complete)
  }

  following(frame: Frame, outcome: number): readonly Thread[] {
    return this.#closure(frame, outcome).threads
  }

  union(list: readonly State[]): State {
    if (list.length === 1) return list[0]!
    return this.#stateOf([...new Set(list.flatMap(({ threads }) => threads))], false)
  }
}

/** A machine of its own inside a lexeme, whose states know the text that led to them. */
const captureValue: Capture = (type, notation, grounding) => {
  const own = grammarOf(value(type, notation))
  const machine = createMachine(grounding === undefined ? own : { ...own, grounding })
  const texts: string[] = []
  const numbers = new Map<string, number>()
  const decoder = new TextDecoder()
  const number = (text: string): number => {
    let known = numbers.get(text)
    if (known === undefined) numbers.set(text, (known = texts.push(text) - 1))
    return known
  }
  interface Capturing {
    readonly state: State
    readonly bytes: readonly number[]
  }
  const lexeme = createLexeme<Capturing>({
    start: { state: machine.start, bytes: [] },
    step({ state, bytes }, byte) {
      const next = machine.step(state, byte)
      return next === null ? undefined : { state: next, bytes: [...bytes, byte] }
    },
    outcome: ({ state, bytes }) => (state.complete ? number(decoder.decode(Uint8Array.from(bytes))) : -1),
    key: ({ bytes }) => bytes.join(),
    bytes: ({ state }) => machine.bytes(state),
    keepsText: true,
  })
  return {
    lexeme: notation.whitespace === "json" ? afterWhiteSpace(lexeme) : lexeme,
    textOf: (outcome) => texts[outcome]!,
  }
}
