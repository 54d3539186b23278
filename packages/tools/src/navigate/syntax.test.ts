import { describe, expect, test } from "vitest"
import { imports } from "./imports.ts"
import type { Grammar } from "./languages.ts"
import { occurrences } from "./occurrences.ts"
import { outline, type Symbol } from "./outline.ts"

interface Sample {
  grammar: Grammar
  source: string
  outline: string[]
  imports: string[]
  /** Occurrences of `Board`: line, role, kind. */
  board: string[]
}

const samples: Sample[] = [
  {
    grammar: "typescript",
    source: `import fs, { readFile as read } from "node:fs"
import * as path from "node:path"
export { Piece } from "./piece.ts"
// Board in a comment does not count
export abstract class Board<T> extends Base {
  private squares: T[] = []
  static make(): Board<number> { return new Board<number>() }
  get size() { return "Board" }
}
export const move = async (from: number) => { const inner = from; return inner }
const LIMIT = 3, OTHER = 4
interface Rules { depth: number; check(board: Board<string>): boolean }
type Key = keyof Rules
enum Colour { White, Black }
export default function main() { const lazy = require("./lazy.cjs"); return import("./later.ts") }
`,
    outline: [
      "5-9 class Board",
      "  6 field squares",
      "  7 method make",
      "  8 method size",
      "10 function move",
      "11 variable LIMIT",
      "11 variable OTHER",
      "12 interface Rules",
      "  12 field depth",
      "  12 method check",
      "13 type Key",
      "14 enum Colour",
      "15 function main",
    ],
    imports: [
      "1 node:fs default as fs,readFile as read",
      "2 node:path * as path",
      "3 ./piece.ts Piece",
      "15 ./lazy.cjs ",
      "15 ./later.ts ",
    ],
    board: ["5 definition class", "7 reference", "7 call", "12 reference"],
  },
  {
    grammar: "python",
    source: `from __future__ import annotations
import os, numpy as np
from .pieces import King as K, Queen
from math import *

SIZE: int = 8
if SIZE:
    FLAG = True

@total
class Board(Base):
    """Board of squares"""
    squares: list
    def __init__(self, n=1):
        self.n = n
        def helper(): pass
    @property
    async def size(self) -> int:
        return Board.count

def make() -> Board:
    return Board()
`,
    outline: [
      "6 variable SIZE",
      "8 variable FLAG",
      "10-19 class Board",
      "  13 field squares",
      "  14-16 method __init__",
      "  17-19 method size",
      "21-22 function make",
    ],
    imports: ["1 __future__ annotations", "2 os ", "2 numpy numpy as np", "3 .pieces King as K,Queen", "4 math *"],
    board: ["11 definition class", "19 reference", "21 reference", "22 call"],
  },
  {
    grammar: "go",
    source: `package chess

import (
	"fmt"
	str "strings"
)

const Size = 8
var count int

type Board struct {
	squares []int
}
type Mover interface { Move(b Board) error }

func (b *Board) Move() error { return nil }
func Make() *Board { fmt.Println("Board"); return &Board{} }
`,
    outline: [
      "8 constant Size",
      "9 variable count",
      "11-13 struct Board",
      "  12 field squares",
      "14 interface Mover",
      "  14 method Move",
      "16 method Move",
      "17 function Make",
    ],
    imports: ["4 fmt ", "5 strings str"],
    board: ["11 definition struct", "14 reference", "16 reference", "17 reference", "17 reference"],
  },
  {
    grammar: "rust",
    source: `use std::collections::{HashMap, HashSet};
use crate::piece::Piece;
extern crate serde;

pub struct Board { squares: Vec<u8> }
enum Colour { White, Black(i32) }
trait Mover { fn go(&self); }
impl Mover for Board {
    fn go(&self) { let text = "Board"; }
}
impl Board {
    pub const SIZE: usize = 8;
    pub fn new() -> Board { Board { squares: vec![] } }
}
mod tests { fn check() { Board::new(); } }
macro_rules! square { () => {} }
`,
    outline: [
      "5 struct Board",
      "  5 field squares",
      "6 enum Colour",
      "  6 variant White",
      "  6 variant Black",
      "7 trait Mover",
      "  7 method go",
      "8-10 impl Board",
      "  9 method go",
      "11-14 impl Board",
      "  12 constant SIZE",
      "  13 method new",
      "15 module tests",
      "  15 method check",
      "16 macro square",
    ],
    imports: ["1 std::collections HashMap,HashSet", "2 crate::piece Piece", "3 serde "],
    board: ["5 definition struct", "8 reference", "11 reference", "13 reference", "13 reference", "15 reference"],
  },
  {
    grammar: "java",
    source: `package chess;
import java.util.List;
import static java.lang.Math.*;

public class Board extends Base {
    private int size = 8;
    public Board() { super(); }
    List<Board> all() { return List.of(new Board()); } // Board
    enum Colour { WHITE }
    record Pair(int a, int b) {}
}
interface Mover { void move(Board board); }
`,
    outline: [
      "5-11 class Board",
      "  6 field size",
      "  7 constructor Board",
      "  8 method all",
      "  9 enum Colour",
      "    9 constant WHITE",
      "  10 record Pair",
      "12 interface Mover",
      "  12 method move",
    ],
    imports: ["2 java.util List", "3 java.lang.Math *"],
    board: ["5 definition class", "7 definition constructor", "8 reference", "8 call", "12 reference"],
  },
]

const lines = (symbols: readonly Symbol[], margin = ""): string[] =>
  symbols.flatMap((one) => [
    `${margin}${one.line}${one.end_line === one.line ? "" : `-${one.end_line}`} ${one.kind} ${one.name}`,
    ...lines(one.members ?? [], `${margin}  `),
  ])

describe.for(samples)("$grammar", ({ grammar, source, ...expected }) => {
  test("outline", async () => {
    expect(lines(await outline(source, grammar))).toEqual(expected.outline)
  })

  test("imports", async () => {
    expect((await imports(source, grammar)).map((one) => `${one.line} ${one.module} ${one.names.join(",")}`)).toEqual(
      expected.imports,
    )
  })

  test("occurrences in code, not in comments and texts", async () => {
    const found = await occurrences(source, grammar, "Board")
    expect(found.map((one) => [one.line, one.role, one.kind].filter((part) => part !== undefined).join(" "))).toEqual(
      expected.board,
    )
  })

  test("a broken file still has an outline", async () => {
    const broken = await outline(`${source}\n((( {{{ "unfinished`, grammar)
    expect(lines(broken).length).toBeGreaterThan(expected.outline.length / 2)
  })
})

test("columns are right behind characters outside ASCII and outside the basic plane", async () => {
  const found = await occurrences('const é = "😀😀"; use(größe)\nlet größe = 1\n', "typescript", "größe")
  expect(found.map(({ line, column, role }) => [line, column, role])).toEqual([
    [1, 23, "reference"],
    [2, 5, "definition"],
  ])
})

test("javascript and tsx have the same rules", async () => {
  expect(lines(await outline("class A { #x = 1; m() {} }\nexport const View = () => <p>{A}</p>\n", "tsx"))).toEqual([
    "1 class A",
    "  1 field #x",
    "  1 method m",
    "2 function View",
  ])
  expect(lines(await outline("class A { #x = 1; m() {} }\nmodule.exports = { A }\n", "javascript"))).toEqual([
    "1 class A",
    "  1 field #x",
    "  1 method m",
  ])
})
