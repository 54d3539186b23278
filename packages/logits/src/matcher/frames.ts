/**
 * The stack of a matcher. A frame waits for something, a lexeme or a whole value, and knows what comes after it. Frames
 * are made once for each content and parent, so two equal stacks are the same object, and everything about a stack can
 * be remembered on it.
 */
import type { Lexeme } from "../lexeme/lexeme.ts"

/** Where the next threads are put. */
export interface Sink {
  /** A lexeme that may begin here; `frame` waits for its outcome. */
  add(lexeme: Lexeme, frame: Frame): void
  /** The whole text may end here. */
  complete(): void
  /**
   * Asked before a frame or expression is entered without reading anything. False where it has been entered already, so
   * that loops that read nothing come to an end.
   */
  enter(mark: string): boolean
}

export interface Frame {
  readonly number: number
  /** What can come after the awaited thing has ended with that outcome. */
  after(outcome: number, sink: Sink): void
  /** Frames right above this one, by content. */
  readonly above: Map<string, Frame>
}

/** Hands out frames and numbers. One per grammar. */
export interface FrameStore {
  /** @param key says the content: equal keys over the same parent are the same frame */
  frame(parent: Frame, key: string, after: (outcome: number, sink: Sink, self: Frame) => void): Frame
  /** A number for an object, the same each time. */
  numberOf(object: object): number
}

export function createFrameStore(): FrameStore & { bottom: Frame } {
  let frames = 0
  let objects = 0
  const numbers = new WeakMap<object, number>()
  const make = (after: (outcome: number, sink: Sink, self: Frame) => void): Frame => {
    const frame: Frame = { number: frames++, above: new Map(), after: (outcome, sink) => after(outcome, sink, frame) }
    return frame
  }
  return {
    bottom: make((_, sink) => sink.complete()),
    frame(parent, key, after) {
      let frame = parent.above.get(key)
      if (frame === undefined) parent.above.set(key, (frame = make(after)))
      return frame
    },
    numberOf(object) {
      let number = numbers.get(object)
      if (number === undefined) numbers.set(object, (number = objects++))
      return number
    },
  }
}
