import { memory } from "@toolwright/toolbox"
import { circlesOf } from "./circles.ts"
import type { GbnfGrammar, GbnfNode, GbnfPosition, GbnfProblem, GbnfRule } from "./model.ts"
import { readGbnf } from "./parse.ts"

/** The rule that a whole output must match. */
const ROOT = "root"
const NOWHERE: GbnfPosition = { line: 1, column: 1 }

/**
 * Everything that is wrong with a grammar, errors first, then in the order of the text: what llama.cpp refuses
 * (undefined rule, missing root, left recursion, too many repetitions), what it does not notice but suffers from
 * (reversed bounds exhaust memory, a limit above 2,000 becomes none, repetition of something empty), rules that no
 * finite text can satisfy, unused and doubled rules.
 */
export function checkGbnf(text: string, options: { root?: string } = {}): GbnfProblem[] {
  const { grammar, problems } = readGbnf(text)
  if (grammar === undefined) return [...problems]
  return sorted([...problems, ...checkGbnfGrammar(grammar, options)])
}

const errorsOf = memory.latest<readonly GbnfProblem[]>(8)

/**
 * The errors alone of {@link checkGbnf}: what an engine would refuse, or die of. Of the latest texts they are known.
 */
export function gbnfErrors(text: string): readonly GbnfProblem[] {
  return errorsOf.get(text, () => checkGbnf(text).filter(({ severity }) => severity === "error"))
}

/** Notes that a text was made of parts that were checked, and has no errors. */
export function noteChecked(text: string): void {
  errorsOf.put(text, [])
}

/** As {@link checkGbnf}, for a grammar that is already data; what only its text can show is left out. */
export function checkGbnfGrammar(grammar: GbnfGrammar, options: { root?: string } = {}): GbnfProblem[] {
  const root = options.root ?? ROOT
  const rules = new Map<string, GbnfRule>(grammar.rules.map((rule) => [rule.name, rule]))
  return sorted([
    ...nameProblems(grammar),
    ...rootProblems(rules, root),
    ...referenceProblems(rules),
    ...endlessProblems(rules),
    ...unusedProblems(rules, root),
  ])
}

function problem(
  severity: GbnfProblem["severity"],
  code: GbnfProblem["code"],
  message: string,
  rule?: string,
  at: GbnfPosition = NOWHERE,
): GbnfProblem {
  return { severity, code, message, ...(rule === undefined ? {} : { rule }), line: at.line, column: at.column }
}

/** Names that are taken, or that some engines refuse. */
function* nameProblems(grammar: GbnfGrammar): Generator<GbnfProblem> {
  const seen = new Set<string>()
  for (const { name, at } of grammar.rules) {
    if (seen.has(name)) {
      const message = `rule '${name}' is defined again; this definition replaces the earlier one`
      yield problem("warning", "duplicate-rule", message, name, at)
    }
    if (name.includes("_")) {
      const message = `'${name}' holds '_', which releases of llama.cpp up to v0.5.0 refuse; use '-'`
      yield problem("warning", "underscore-in-name", message, name, at)
    }
    seen.add(name)
  }
}

function rootProblems(rules: ReadonlyMap<string, GbnfRule>, root: string): GbnfProblem[] {
  if (rules.has(root)) return []
  return [problem("error", "missing-root", `there is no rule '${root}', where every match begins`)]
}

function referenceProblems(rules: ReadonlyMap<string, GbnfRule>): GbnfProblem[] {
  const problems: GbnfProblem[] = []
  for (const rule of rules.values()) {
    visit(rule.body, (node) => {
      if (node.kind !== "rule" || rules.has(node.name)) return
      const message = `rule '${node.name}' is not defined`
      problems.push(problem("error", "undefined-rule", message, rule.name, node.at ?? rule.at))
    })
  }
  return problems
}

/**
 * What an engine would follow without coming to an end: empty rounds, rules that begin with themselves or never end.
 */
function endlessProblems(rules: ReadonlyMap<string, GbnfRule>): GbnfProblem[] {
  const problems: GbnfProblem[] = []
  const nullable = nullableRules(rules)
  for (const rule of rules.values()) {
    visit(rule.body, (node) => {
      if (node.kind !== "repeat" || node.max !== undefined || !isNullable(node.item, nullable)) return
      const message = "this repeats without limit something that may be empty"
      problems.push(problem("error", "empty-loop", message, rule.name, node.at ?? rule.at))
    })
  }
  for (const name of leftRecursive(rules, nullable)) {
    const message = `rule '${name}' can begin with itself; write it with a repetition instead`
    problems.push(problem("error", "left-recursion", message, name, rules.get(name)?.at))
  }
  const finite = finiteRules(rules)
  for (const [name, { at }] of rules) {
    if (!finite.has(name))
      problems.push(problem("error", "never-ends", `no finite text can match rule '${name}'`, name, at))
  }
  return problems
}

function unusedProblems(rules: ReadonlyMap<string, GbnfRule>, root: string): GbnfProblem[] {
  if (!rules.has(root)) return []
  const used = reachable(rules, root)
  return [...rules.values()]
    .filter(({ name }) => !used.has(name))
    .map(({ name, at }) => problem("warning", "unused-rule", `rule '${name}' is never used from '${root}'`, name, at))
}

/** Calls `see` for a node and everything in it. */
export function visit(node: GbnfNode, see: (node: GbnfNode) => void): void {
  const open = [node]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    see(next)
    if (next.kind === "repeat") open.push(next.item)
    else if (next.kind === "sequence") pushReversed(next.items, open)
    else if (next.kind === "choice") pushReversed(next.options, open)
  }
}

function pushReversed(nodes: readonly GbnfNode[], onto: GbnfNode[]): void {
  for (let index = nodes.length - 1; index >= 0; index--) onto.push(nodes[index]!)
}

/** Whether the empty text matches; of rules, those in `nullable` may be empty. */
export function isNullable(node: GbnfNode, nullable: ReadonlySet<string>): boolean {
  switch (node.kind) {
    case "literal":
      return node.text.length === 0
    case "class":
      return node.ranges.length === 0
    case "any":
    case "token":
      return false
    case "rule":
      return nullable.has(node.name)
    case "sequence":
      return node.items.every((item) => isNullable(item, nullable))
    case "choice":
      return node.options.some((option) => isNullable(option, nullable))
    case "repeat":
      return node.min === 0 || isNullable(node.item, nullable)
  }
}

/** The rules that may match the empty text. */
export function nullableRules(rules: ReadonlyMap<string, GbnfRule>): Set<string> {
  return fixpoint(rules, isNullable)
}

/** The rules that some finite text matches. */
function finiteRules(rules: ReadonlyMap<string, GbnfRule>): Set<string> {
  const canEnd = (node: GbnfNode, known: ReadonlySet<string>): boolean => {
    if (node.kind === "rule") return known.has(node.name) || !rules.has(node.name)
    if (node.kind === "sequence") return node.items.every((item) => canEnd(item, known))
    if (node.kind === "choice") return node.options.some((option) => canEnd(option, known))
    return node.kind !== "repeat" || node.min === 0 || canEnd(node.item, known)
  }
  return fixpoint(rules, canEnd)
}

function fixpoint(
  rules: ReadonlyMap<string, GbnfRule>,
  holds: (node: GbnfNode, known: ReadonlySet<string>) => boolean,
): Set<string> {
  const known = new Set<string>()
  const usedBy = usersOf(rules)
  // Each is looked at again once something that it uses has become known. Rules mostly refer to later ones.
  let open = new Set([...rules.keys()].toReversed())
  while (open.size > 0) {
    const next = new Set<string>()
    for (const name of open) {
      if (known.has(name) || !holds(rules.get(name)!.body, known)) continue
      known.add(name)
      for (const user of usedBy.get(name) ?? []) if (!known.has(user)) next.add(user)
    }
    open = next
  }
  return known
}

/** Which rules use each. */
function usersOf(rules: ReadonlyMap<string, GbnfRule>): Map<string, Set<string>> {
  const users = new Map<string, Set<string>>()
  for (const [name, { body }] of rules) {
    visit(body, (node) => {
      if (node.kind !== "rule") return
      const known = users.get(node.name)
      if (known === undefined) users.set(node.name, new Set([name]))
      else known.add(name)
    })
  }
  return users
}

/** Rules that stand on a circle of "may begin with". */
function leftRecursive(rules: ReadonlyMap<string, GbnfRule>, nullable: ReadonlySet<string>): string[] {
  const beginsWith = new Map<string, string[]>()
  for (const [name, rule] of rules) {
    beginsWith.set(name, [...leadingRules(rule.body, nullable)])
  }
  const circling = new Set(circlesOf(beginsWith).flat())
  return [...rules.keys()].filter((name) => circling.has(name))
}

/** The rules with which a node may begin; what `nullable` names may be empty. */
export function leadingRules(node: GbnfNode, nullable: ReadonlySet<string>): Set<string> {
  const first = new Set<string>()
  leftmost(node, nullable, first)
  return first
}

function leftmost(node: GbnfNode, nullable: ReadonlySet<string>, into: Set<string>): void {
  if (node.kind === "rule") into.add(node.name)
  else if (node.kind === "repeat") leftmost(node.item, nullable, into)
  else if (node.kind === "choice") for (const option of node.options) leftmost(option, nullable, into)
  else if (node.kind === "sequence") {
    for (const item of node.items) {
      leftmost(item, nullable, into)
      if (!isNullable(item, nullable)) break
    }
  }
}

function reachable(rules: ReadonlyMap<string, GbnfRule>, root: string): Set<string> {
  const seen = new Set<string>()
  const open = [root]
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    const rule = rules.get(name)
    if (rule === undefined || seen.has(name)) continue
    seen.add(name)
    visit(rule.body, (node) => {
      if (node.kind === "rule") open.push(node.name)
    })
  }
  return seen
}

function sorted(problems: GbnfProblem[]): GbnfProblem[] {
  const rank = (problem: GbnfProblem) => (problem.severity === "error" ? 0 : 1)
  return problems.sort((a, b) => rank(a) - rank(b) || a.line - b.line || a.column - b.column)
}
