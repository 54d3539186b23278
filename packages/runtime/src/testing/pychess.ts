import type { createScriptedBackend } from "@toolwright/backends"

type Steps = Parameters<typeof createScriptedBackend>[0]["steps"]
type Reply = { reply: Steps[number]["reply"]; expect?: Steps[number]["expect"] }

const [PIECES, BOARD, ENGINE] = ["src/game/pieces.py", "src/game/board.py", "src/game/engine.py"]
const [AI, GUI, TESTS] = ["src/ai/opponent.py", "src/gui/interface.py", "tests/test_game.py"]

export const PYCHESS_FILES = { PIECES, BOARD, ENGINE, AI, GUI, TESTS }

/** Six agents with a file each, and who builds on whom. */
export const PYCHESS_PLAN = {
  name: "pychess",
  description: "A chess game in Python",
  agents: {
    ChessRulesExpert: { files: [ENGINE] },
    BoardArchitect: { files: [BOARD] },
    PieceDesigner: { files: [PIECES] },
    UIDesigner: { files: [GUI] },
    AIStrategist: { files: [AI] },
    TestEngineer: { files: [TESTS] },
  },
  tasks: {
    pieces: { agent: "PieceDesigner", task: "Write the pieces of chess." },
    board: { agent: "BoardArchitect", task: "Write the board.", after: ["pieces"] },
    engine: { agent: "ChessRulesExpert", task: "Write the rules.", after: ["board", "pieces"] },
    ai: { agent: "AIStrategist", task: "Write the opponent.", after: ["engine"] },
    gui: { agent: "UIDesigner", task: "Write the text interface.", after: ["engine"] },
    tests: {
      agent: "TestEngineer",
      task: "Test the whole game.",
      after: ["pieces", "board", "engine", "ai", "gui"],
    },
  },
}

/** What stands in the project before: tests of the pieces, which fail until they are right. */
export const PYCHESS_PROJECT = {
  "conftest.py": "",
  "tests/test_pieces.py": `from src.game.pieces import Piece, symbol


def test_symbols():
    assert symbol("king", True) == "K"
    assert symbol("knight", False) == "n"


def test_piece():
    assert Piece("queen", False).symbol() == "q"
`,
  ".gitignore": "__pycache__/\n.pytest_cache/\n.toolwright/\n",
}

const write = (path: string, element_type: string, element_data: object) => ({
  name: "workspace",
  arguments: { action: "write", path, json_artifact: { element_type, element_data } },
})

const imported = (path: string, module: string, ...names: string[]) => write(path, "import", { module, names })

const made = (path: string, name: string, parameters: [string, string][], returned: [type: string, body: string]) =>
  write(path, "function", {
    name,
    docstring: `Gives the ${name.replaceAll("_", " ")}.`,
    parameters: parameters.map(([parameter, type]) => ({ name: parameter, type })),
    return_type: returned[0],
    body: returned[1],
  })

const validate = (path: string) => ({ calls: [{ name: "validation", arguments: { file_path: path } }] })
const commit = (path: string) => ({
  calls: [
    {
      name: "git_operations",
      arguments: { operation: "commit", message: `Add ${path}`, files: [path, `.meta/${path}.json`] },
    },
  ],
})

/** Writes, checks, commits, and says that it is done. */
function straight(path: string, calls: object[], knows: readonly string[] = []): Reply[] {
  return [
    { ...(knows.length === 0 ? {} : { expect: { user: { contains: [...knows] } } }), reply: { calls } as never },
    { expect: { success: true }, reply: validate(path) },
    { expect: { success: true }, reply: commit(path) },
    { expect: { success: true }, reply: "TASK_COMPLETE" },
  ]
}

const SYMBOL = (body: string) =>
  made(
    PIECES,
    "symbol",
    [
      ["kind", "str"],
      ["white", "bool"],
    ],
    ["str", body],
  )

const RIGHT = [
  'letters = {"king": "k", "queen": "q", "rook": "r", "bishop": "b", "knight": "n", "pawn": "p"}',
  "letter = letters[kind]",
  "if white:",
  "    return letter.upper()",
  "return letter",
].join("\n")

export const PYCHESS_PIECE = write(PIECES, "class", {
  name: "Piece",
  docstring: "A piece on the board.",
  methods: [
    {
      name: "__init__",
      parameters: [{ name: "self" }, { name: "kind", type: "str" }, { name: "white", type: "bool" }],
      return_type: "None",
      body: "self.kind = kind\nself.white = white",
    },
    {
      name: "symbol",
      parameters: [{ name: "self" }],
      return_type: "str",
      body: "return symbol(self.kind, self.white)",
    },
    { name: "_secret", parameters: [{ name: "self" }], return_type: "None", body: "return None" },
  ],
})

export const PYCHESS_SYMBOL = SYMBOL(RIGHT)

/** Pieces fails its check, insists, and fails for good; at the next try it fails once more and is put right. */
const pieces: Reply[] = [
  { reply: { calls: [SYMBOL("return kind"), PYCHESS_PIECE] as never } },
  { expect: { success: true }, reply: validate(PIECES) },
  { expect: { success: false, result: "AssertionError" }, reply: "TASK_COMPLETE" },
  { reply: "TASK_COMPLETE" },
  { reply: "TASK_COMPLETE" },
  { reply: "TASK_COMPLETE" },
  {
    expect: { user: { contains: ["An earlier try of this failed"] } },
    reply: { calls: [SYMBOL("return kind[0]")] as never },
  },
  { expect: { success: true }, reply: validate(PIECES) },
  { expect: { success: false }, reply: { calls: [PYCHESS_SYMBOL] as never } },
  { expect: { success: true }, reply: validate(PIECES) },
  { expect: { success: true }, reply: commit(PIECES) },
  { expect: { success: true }, reply: "TASK_COMPLETE" },
]

/** What each agent's model replies, by its file; each expects to be told what the files before its own declare. */
export const PYCHESS_SCRIPTS: Readonly<Record<string, Steps>> = {
  [PIECES]: pieces,
  [BOARD]: straight(
    BOARD,
    [
      imported(BOARD, "src.game.pieces", "Piece"),
      made(BOARD, "new_board", [], ["dict", 'return {"e1": Piece("king", True), "e8": Piece("king", False)}']),
    ],
    ["src/game/pieces.py (by PieceDesigner) declares:", "class Piece", "def symbol(kind: str, white: bool) -> str"],
  ),
  [ENGINE]: straight(
    ENGINE,
    [
      imported(ENGINE, "src.game.board", "new_board"),
      made(
        ENGINE,
        "legal_moves",
        [
          ["board", "dict"],
          ["square", "str"],
        ],
        [
          "list",
          'if square not in board:\n    return []\nfile, rank = square\nreturn [f"{file}{step}" for step in ' +
            "(int(rank) - 1, int(rank) + 1) if 1 <= step <= 8]",
        ],
      ),
    ],
    ["def new_board() -> dict", "class Piece"],
  ),
  [AI]: straight(
    AI,
    [
      imported(AI, "src.game.engine", "legal_moves"),
      made(
        AI,
        "choose",
        [["board", "dict"]],
        [
          "tuple",
          "for square in sorted(board):\n    for target in legal_moves(board, square):\n        return square, " +
            "target\nreturn ()",
        ],
      ),
    ],
    ["def legal_moves(board: dict, square: str) -> list"],
  ),
  [GUI]: straight(
    GUI,
    [
      made(
        GUI,
        "draw",
        [["board", "dict"]],
        ["str", 'return "\\n".join(f"{at} {board[at].symbol()}" for at in sorted(board))'],
      ),
    ],
    ["def legal_moves("],
  ),
  [TESTS]: straight(
    TESTS,
    [
      imported(TESTS, "src.game.board", "new_board"),
      imported(TESTS, "src.ai.opponent", "choose"),
      imported(TESTS, "src.gui.interface", "draw"),
      made(
        TESTS,
        "test_game",
        [],
        ["None", 'board = new_board()\nassert choose(board) == ("e1", "e2")\nassert draw(board) == "e1 K\\ne8 k"'],
      ),
    ],
    ["def choose(board: dict) -> tuple", "def draw(board: dict) -> str"],
  ),
}
