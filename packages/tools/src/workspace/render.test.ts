import { execFileSync } from "node:child_process"
import fc from "fast-check"
import { describe, expect, test } from "vitest"
import type { JsonObject } from "@toolwright/toolbox"
import { fromArtifact, toArtifact } from "./artifact.ts"
import { readArtifact, type Element } from "./elements.ts"
import { renderFile, type SourceFile } from "./render.ts"
import { checkSyntax } from "./syntax.ts"

const element = (element_type: string, element_data: JsonObject) =>
  readArtifact({ element_type, element_data }) as Element
const python = (...elements: Element[]) => renderFile("file.py", { elements }, "python")
const typescript = (...elements: Element[]) => renderFile("file.ts", { elements }, "typescript")

const runs = (program: string) => {
  try {
    execFileSync(program, ["--version"], { stdio: "ignore" })
    return true
  } catch {
    return false
  }
}
const hasPython = runs("python3")

const board: SourceFile = {
  docstring: 'A board of <8 x 8> squares & its "pieces".',
  elements: [
    element("import", { module: "math" }),
    element("import", { module: "pieces", names: ["King", { name: "Queen", alias: "Q" }] }),
    element("variable", { name: "SIZE", type: "int", value: 8 }),
    element("variable", { name: "TITLE", type: "str", value: 'it\'s <b>"bold"</b>\n' }),
    element("dataclass", {
      name: "Square",
      docstring: "One square.",
      fields: [
        { name: "file", type: "int" },
        { name: "tags", type: "list[str]", default: [] },
      ],
    }),
    element("class", {
      name: "Board",
      docstring: "All squares.",
      bases: ["object"],
      fields: [{ name: "count", type: "int", default: 0 }],
      methods: [
        { name: "__init__", parameters: [{ name: "size", type: "int", default: 8 }], body: "self.size = size" },
        {
          name: "make",
          static: true,
          return_type: "str",
          body: 'text = """first\n  second\n"""\nif True:\n    return text\nreturn ""',
        },
        { name: "area", decorators: ["property"], return_type: "int", body: "return self.size ** 2" },
      ],
    }),
    element("function", {
      name: "walk",
      docstring: "Walks.\n\nReturns:\n    the last step",
      parameters: [
        { name: "steps", type: "int" },
        { name: "label", type: "str", default: "go" },
        { name: "extra", type: "object", default: { code: "None" } },
        { name: "**rest" },
      ],
      return_type: "int",
      async: true,
      body:
        "last = 0\nfor i in range(steps):\n    if i % 2 == 0:\n        last = i\n\n    else:\n        last = " +
        "-i\nreturn last",
    }),
  ],
}

const BOARD_PY = `"""A board of <8 x 8> squares & its "pieces"."""

from dataclasses import dataclass, field
import math
from pieces import King, Queen as Q

SIZE: int = 8
TITLE: str = "it's <b>\\"bold\\"</b>\\n"


@dataclass
class Square:
    """One square."""

    file: int
    tags: list[str] = field(default_factory=lambda: [])


class Board(object):
    """All squares."""

    count: int = 0

    def __init__(self, size: int = 8):
        self.size = size

    @staticmethod
    def make() -> str:
        text = """first
  second
"""
        if True:
            return text
        return ""

    @property
    def area(self) -> int:
        return self.size ** 2


async def walk(steps: int, label: str = "go", extra: object = None, **rest) -> int:
    """Walks.

    Returns:
        the last step
    """
    last = 0
    for i in range(steps):
        if i % 2 == 0:
            last = i

        else:
            last = -i
    return last
`

const chess: SourceFile = {
  docstring: "Chess.",
  elements: [
    element("import", { module: "./pieces.ts", names: ["King", { name: "Queen", alias: "Q" }] }),
    element("import", { module: "node:fs", default: "fs" }),
    element("import", { module: "node:path", alias: "path" }),
    element("variable", { name: "SIZE", type: "int", value: 8, docstring: "Squares a side." }),
    element("variable", { name: "title", value: "plain text", mutable: true }),
    element("interface", {
      name: "Piece",
      docstring: "A piece.",
      fields: [{ name: "name", type: "str" }],
      methods: [{ name: "move", parameters: [{ name: "to", type: "int" }], return_type: "boolean" }],
    }),
    element("dataclass", {
      name: "Square",
      fields: [
        { name: "file", type: "int" },
        { name: "rank", type: "int", default: 1 },
      ],
    }),
    element("class", {
      name: "Board",
      bases: ["Base", "Piece"],
      fields: [{ name: "squares", type: "list[Square]", default: [] }],
      methods: [
        { name: "__init__", parameters: [{ name: "size", type: "int" }], body: "super()\nthis.size = size" },
        { name: "text", static: true, return_type: "str", body: "return `first\n  <${1 + 1}>\n`" },
      ],
    }),
    element("function", {
      name: "load",
      docstring: "Loads.\n*/ ends",
      parameters: [{ name: "path", type: "string" }],
      return_type: "Board",
      async: true,
      body: 'if (path === "") {\n  throw new Error("empty")\n}\nreturn new Board(8)',
    }),
  ],
}

const CHESS_TS = `/** Chess. */

import { King, Queen as Q } from "./pieces.ts"
import fs from "node:fs"
import * as path from "node:path"

/** Squares a side. */
export const SIZE: number = 8
export let title = "plain text"

/** A piece. */
export interface Piece {
  name: string
  move(to: number): boolean
}

export class Square {
  file: number
  rank: number

  constructor(file: number, rank: number = 1) {
    this.file = file
    this.rank = rank
  }
}

export class Board extends Base implements Piece {
  squares: Square[] = []

  constructor(size: number) {
    super()
    this.size = size
  }

  static text(): string {
    return \`first
  <\${1 + 1}>
\`
  }
}

/**
 * Loads.
 * *\\/ ends
 */
export async function load(path: string): Promise<Board> {
  if (path === "") {
    throw new Error("empty")
  }
  return new Board(8)
}
`

describe("a rendered file", () => {
  test("in Python, byte for byte", async () => {
    const text = await renderFile("board.py", board, "python")
    expect(text).toBe(BOARD_PY)
    expect(await checkSyntax("board.py", text)).toMatchObject({ status: hasPython ? "passed" : "skipped" })
  })

  test("in TypeScript, byte for byte", async () => {
    const text = await renderFile("chess.ts", chess, "typescript")
    expect(text).toBe(CHESS_TS)
    expect(await checkSyntax("chess.ts", text)).toEqual({ status: "passed" })
  })

  test("in JavaScript has no types", async () => {
    const { elements } = chess
    const text = await renderFile(
      "chess.js",
      { elements: elements.filter((one) => one.kind !== "interface") },
      "javascript",
    )
    expect(text).not.toMatch(/: (?:number|string|Board|Square)/u)
    expect(await checkSyntax("chess.js", text)).toEqual({ status: "passed" })
  })

  test("a long signature takes a line for each parameter", async () => {
    const parameters = Array.from({ length: 6 }, (_, index) => ({ name: `parameter_number_${index}`, type: "int" }))
    const long = element("function", { name: "many", parameters, body: "pass" })
    expect(await python(long)).toContain("def many(\n    parameter_number_0: int,\n")
    expect(await typescript({ ...long, body: "return" } as Element)).toContain(
      "function many(\n  parameter_number_0: number,\n",
    )
  })

  test("can have a template of its own", async () => {
    const template = "# Generated: {{ path }}\n{% for element in elements %}\n{{ element.text }}\n{% endfor %}"
    const text = await renderFile("a.py", { elements: [element("variable", { name: "X", value: 1 })] }, "python", {
      python: template,
    })
    expect(text).toBe("# Generated: a.py\nX = 1\n")
    await expect(renderFile("a.py", { elements: [] }, "python", { python: "{% for %}" })).rejects.toMatchObject({
      code: "TEMPLATE_SYNTAX",
    })
  })
})

describe("values", () => {
  test.each([
    [{ name: "a", value: "hello" }, 'a = "hello"', 'const a = "hello"'],
    [{ name: "a", value: "42" }, "a = 42", "const a = 42"],
    [{ name: "a", type: "str", value: "42" }, 'a: str = "42"', 'const a: string = "42"'],
    [{ name: "a", type: "str", value: "'quoted'" }, "a: str = 'quoted'", "const a: string = 'quoted'"],
    [{ name: "a", type: "float", value: "1 / 3" }, "a: float = 1 / 3", "const a: number = 1 / 3"],
    [{ name: "a", value: { code: "f(x)" } }, "a = f(x)", "const a = f(x)"],
    [{ name: "a", value: "f(x)" }, "a = f(x)", "const a = f(x)"],
    [{ name: "a", value: [true, null, "x"] }, 'a = [True, None, "x"]', 'const a = [true,null,"x"]'],
    [
      { name: "a", type: "dict[str, int]", value: { x: 1 } },
      'a: dict[str, int] = {"x": 1}',
      'const a: Record<string, number> = {"x":1}',
    ],
  ])("%j", async (data, inPython, inTypeScript) => {
    expect(await python(element("variable", data))).toBe(`${inPython}\n`)
    expect(await typescript(element("variable", data))).toBe(`export ${inTypeScript}\n`)
  })
})

describe("round trip", () => {
  const text = fc.string({
    unit: fc.constantFrom("a", '"', "'", "\\", "\n", "<", ">", "&", "{", "}", "#", "`", "$", "%", "é", "😀", " ", "\t"),
    maxLength: 30,
  })

  test("an artifact that was read, written and read again is the same", () => {
    const name = fc.constantFrom("alpha", "beta_2", "_gamma")
    const method = fc.record({
      name,
      docstring: text,
      parameters: fc.array(
        fc.record({ name, type: fc.constantFrom("int", "str"), default: fc.oneof(fc.integer(), text) }),
      ),
      body: text.map((one) => `x${one}`),
      async: fc.boolean(),
    })
    const data = fc.record({
      name,
      docstring: text,
      bases: fc.array(name),
      fields: fc.array(fc.record({ name, type: fc.constantFrom("int", "str"), default: fc.jsonValue() })),
      methods: fc.array(method),
    })
    fc.assert(
      fc.property(data, fc.constantFrom("class", "dataclass"), (element_data, element_type) => {
        const first = readArtifact({ element_type, element_data }) as Element
        expect(fromArtifact(JSON.parse(JSON.stringify(toArtifact(first))))).toEqual(JSON.parse(JSON.stringify(first)))
      }),
      { numRuns: 300 },
    )
  })

  test.skipIf(!hasPython)("Python reads back every text value and docstring exactly", async () => {
    const values = fc.sample(text, 150)
    const elements = values.flatMap((value, index) => [
      element("variable", { name: `v${index}`, type: "str", value: JSON.stringify(value) }),
      element("function", {
        name: `f${index}`,
        ...(value.trim() === "" ? {} : { docstring: value }),
        body: "return 1",
      }),
    ])
    const source = await python(...elements)
    const script =
      "import ast, json, sys\ntree = ast.parse(sys.stdin.read())\nprint(json.dumps([[ast.literal_eval(n.value) " +
      "if isinstance(n, ast.AnnAssign) else ast.get_docstring(n)] for n in tree.body]))"
    const read = JSON.parse(execFileSync("python3", ["-c", script], { input: source, encoding: "utf8" })) as [
      string | null,
    ][]
    values.forEach((value, index) => {
      expect(read[2 * index]![0]).toBe(value)
      const said = read[2 * index + 1]![0]
      const flat = (one: string) =>
        one
          .split("\n")
          .map((line) => line.replace(/[ \t]+/gu, " ").trim())
          .join("\n")
          .trim()
      expect(said === null ? "" : flat(said)).toBe(flat(value))
    })
  })

  test.skipIf(!hasPython)("Python bodies keep what they return, whatever strings and blocks they hold", async () => {
    const piece = fc.constantFrom(
      'out.append("""a\n  b\n""")',
      "out.append('''\n\tq''' + \"it's\")",
      "if True:\n    out.append('x')\n\n    for i in range(2):\n        out.append(i)",
      'out.append("# no comment")',
      "out.append('<>&')  # it's",
      'out.append("a\\\n  b")',
      "out.append(f'''{1 +\n  1}\n ''')",
    )
    const bodies = fc
      .sample(fc.array(piece, { minLength: 1, maxLength: 5 }), 60)
      .map((pieces) => ["out = []", ...pieces, "return out"].join("\n"))
    const source = await python(
      element("class", {
        name: "C",
        methods: bodies.map((body, index) => ({ name: `m${index}`, static: true, body })),
      }),
      ...bodies.map((body, index) => element("function", { name: `f${index}`, body })),
    )
    const script =
      `import json, sys\nexec(sys.stdin.read())\nprint(json.dumps([[globals()["f%d" % i](), getattr(C, "m%d" % ` +
      `i)()] for i in range(${bodies.length})]))`
    const results = JSON.parse(execFileSync("python3", ["-c", script], { input: source, encoding: "utf8" })) as [
      unknown,
      unknown,
    ][]
    const expected = JSON.parse(
      execFileSync(
        "python3",
        [
          "-c",
          "import json, sys\nbodies = json.load(sys.stdin)\nresult = []\nfor body in bodies:\n    scope = {}\n   " +
            " exec(body.rsplit('\\n', 1)[0], scope)\n    result.append(scope['out'])\nprint(json.dumps(result))",
        ],
        { input: JSON.stringify(bodies), encoding: "utf8" },
      ),
    ) as unknown[]
    results.forEach(([inFunction, inMethod], index) => {
      expect(inFunction).toEqual(expected[index])
      expect(inMethod).toEqual(expected[index])
    })
  })
})

describe("a wrong artifact", () => {
  test.each<[JsonObject | string, RegExp]>([
    [{ element_type: "func", element_data: {} }, /\/element_type must be one of function, method/u],
    [{ element_data: {} }, /\/element_type must be one of/u],
    [{ element_type: "function" }, /\/element_data .*must be an object/u],
    [
      { element_type: "function", element_data: { name: "not a name", body: "pass" } },
      /\/element_data\/name must be a name/u,
    ],
    [{ element_type: "function", element_data: { name: "f" } }, /\/element_data\/body is missing or empty/u],
    [
      { element_type: "function", element_data: { name: "f", body: "def f(x):\n    return x" } },
      /\/element_data\/body repeats the header of 'f'/u,
    ],
    [
      { element_type: "function", element_data: { name: "f", body: "x", parameters: [{ type: "int" }] } },
      /\/element_data\/parameters\/0\/name/u,
    ],
    [
      { element_type: "function", element_data: { name: "f", body: "x", return_type: "int:\n    evil()" } },
      /\/element_data\/return_type must be on one line/u,
    ],
    [{ element_type: "method", element_data: { name: "f", body: "x" } }, /\/element_data\/class_name/u],
    [{ element_type: "import", element_data: { module: "os; evil()" } }, /\/element_data\/module/u],
    ["def f(): pass", /must be an object/u],
  ])("%j is answered with the field and a right artifact", (artifact, message) => {
    try {
      readArtifact(artifact)
      expect.unreachable()
    } catch (thrown) {
      expect((thrown as Error).message).toMatch(message)
      expect((thrown as { hint: string }).hint).toContain('"element_type":"function"')
    }
  })
})
