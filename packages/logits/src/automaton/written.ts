/** Languages as their patterns say them, for notations that count better than automata do. */
import { subtractRanges } from "./ranges.ts"
import type { RegexNode } from "./regex-syntax.ts"

/** A way to write texts of a language: all of them, or those that do a model good. */
export interface Written {
  readonly tree: RegexNode
  /** How long its texts are, in characters. */
  readonly min: number
  readonly max: number
}

/** Nodes of a pattern that is worth writing as it is. */
const MOST_NODES = 400

/**
 * The pattern of whole texts, `^…$`. Nothing where it is found within texts, looks around, is large, or may be read in
 * ever more ways: an engine that follows all of them is slow then, where an automaton is not.
 */
export function writtenOf(tree: RegexNode): Written | undefined {
  if (tree.kind !== "sequence" || tree.parts[0]?.kind !== "start" || tree.parts.at(-1)?.kind !== "end") return undefined
  const inner: RegexNode = { kind: "sequence", parts: tree.parts.slice(1, -1) }
  if (countNodes(inner) > MOST_NODES || !isPlain(inner) || !isSteady(inner)) return undefined
  return { tree: inner, ...lengthOf(inner) }
}

/** The form with its lengths within bounds; nothing where that takes more than another count. */
export function withinLength({ tree, min, max }: Written, least: number, most: number): RegexNode | undefined {
  if (least <= min && max <= most) return tree
  const parts = tree.kind === "sequence" ? tree.parts : [tree]
  const loose = parts.filter((part) => lengthOf(part).min !== lengthOf(part).max)
  const [only] = loose
  if (loose.length !== 1 || only?.kind !== "repeat" || only.of.kind !== "chars") return undefined
  const fixed = min - only.min
  const [low, high] = [Math.max(only.min, least - fixed), Math.min(only.max ?? Infinity, most - fixed)]
  if (low > high) return undefined
  const counted: RegexNode = { ...only, min: low, max: high === Infinity ? undefined : high }
  return { kind: "sequence", parts: parts.map((part) => (part === only ? counted : part)) }
}

/** Whether no text of a form can hold the mark, as some character of it stands nowhere in the form. */
export function cannotHold({ tree }: Written, mark: string): boolean {
  return Array.from(mark).some((character) => {
    const code = character.codePointAt(0)!
    return isApart(tree, [[code, code]])
  })
}

function inside(node: RegexNode): readonly RegexNode[] {
  if (node.kind === "sequence") return node.parts
  if (node.kind === "choice") return node.options
  return node.kind === "repeat" ? [node.of] : []
}

function countNodes(node: RegexNode): number {
  return inside(node).reduce((sum, one) => sum + countNodes(one), 1)
}

function isPlain(node: RegexNode): boolean {
  return node.kind !== "start" && node.kind !== "end" && node.kind !== "ahead" && inside(node).every(isPlain)
}

function lengthOf(node: RegexNode): { min: number; max: number } {
  const each = inside(node).map(lengthOf)
  switch (node.kind) {
    case "chars":
      return { min: 1, max: 1 }
    case "sequence":
      return { min: sum(each.map(({ min }) => min)), max: sum(each.map(({ max }) => max)) }
    case "choice":
      return { min: Math.min(...each.map(({ min }) => min)), max: Math.max(...each.map(({ max }) => max)) }
    case "repeat": {
      const { min, max } = each[0]!
      return { min: min * node.min, max: node.max === undefined ? (max === 0 ? 0 : Infinity) : max * node.max }
    }
    default:
      return { min: 0, max: 0 }
  }
}

const sum = (numbers: readonly number[]): number => numbers.reduce((a, b) => a + b, 0)

/** Counts from here on are loops to whoever follows them. */
const MANY = 4

const isLoop = (node: RegexNode): boolean =>
  node.kind === "repeat" && node.min !== node.max && (node.max ?? Infinity) >= MANY

/** Every loop around a loop begins or ends its rounds with characters that stand nowhere else in them. */
function isSteady(node: RegexNode): boolean {
  if (!inside(node).every(isSteady)) return false
  if (!isLoop(node) || node.kind !== "repeat" || !hasLoop(node.of)) return true
  const { of } = node
  if (of.kind !== "sequence") return false
  const marks = [of.parts[0], of.parts.at(-1)].flatMap((part) => (part?.kind === "chars" ? [part] : []))
  return marks.some((mark) => of.parts.every((part) => part === mark || isApart(part, mark.ranges)))
}

const hasLoop = (node: RegexNode): boolean => isLoop(node) || inside(node).some(hasLoop)

function isApart(node: RegexNode, ranges: Parameters<typeof subtractRanges>[0]): boolean {
  if (node.kind !== "chars") return inside(node).every((one) => isApart(one, ranges))
  const size = (some: typeof ranges): number => sum(some.map(([first, last]) => last - first + 1))
  return size(subtractRanges(node.ranges, ranges)) === size(node.ranges)
}
