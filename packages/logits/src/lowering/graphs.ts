/**
 * Graphs of texts as plain rules: one for each state at which texts part, meet or may end, the characters between as
 * literals.
 */
import type { TextGraph } from "../lexeme/text-graph.ts"
import { choice, literal, type PlainExpression, rule, sequence } from "../grammar/rules.ts"
import type { CharacterWriter } from "./languages.ts"

/** @param name of the first rule, and what the names of the others begin with */
export function* graphRules(
  graph: TextGraph,
  writer: CharacterWriter,
  name: string,
): Generator<readonly [name: string, body: PlainExpression]> {
  const { first, codes, targets, accept } = graph
  const uses = new Uint8Array(graph.size)
  for (const target of targets) if (uses[target]! < 2) uses[target]!++
  const edgesOf = (state: number): number => first[state + 1]! - first[state]!
  const passes = (state: number): boolean => uses[state] === 1 && accept[state] === 0 && edgesOf(state) === 1
  const names = new Map<number, string>([[graph.start, name]])
  const queue = [graph.start]
  const follow = (edge: number): PlainExpression => {
    let text = String.fromCodePoint(codes[edge]!)
    let state = targets[edge]!
    for (; passes(state); state = targets[first[state]!]!) text += String.fromCodePoint(codes[first[state]!]!)
    if (edgesOf(state) === 0) return literal(writer.text(text))
    let next = names.get(state)
    if (next === undefined) {
      names.set(state, (next = `${name}-${names.size}`))
      queue.push(state)
    }
    return sequence(literal(writer.text(text)), rule(next))
  }
  for (let index = 0; index < queue.length; index++) {
    const state = queue[index]!
    const options: PlainExpression[] = []
    for (let edge = first[state]!; edge < first[state + 1]!; edge++) options.push(follow(edge))
    if (accept[state] === 1) options.push(literal(""))
    yield [names.get(state)!, choice(...options)]
  }
}
