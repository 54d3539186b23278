import { execFileSync } from "node:child_process"

/**
 * A branch `bomb` whose newest commit names ten thousand million files: a folder of ten files, which stands ten times
 * in a folder that stands ten times in another, and so on. In the repository it takes twelve objects.
 */
export function commitTreeBomb(top: string): void {
  const script = `
    names() { for at in 0 1 2 3 4 5 6 7 8 9; do printf '%s %s\\td%s\\n' "$1" "$2" "$at"; done; }
    object=$(echo x | git hash-object -w --stdin)
    kind='100644 blob'
    for level in 0 1 2 3 4 5 6 7 8 9; do
      object=$(names "$kind" "$object" | git mktree)
      kind='040000 tree'
    done
    commit=$(git -c user.name=Test -c user.email=test@localhost commit-tree -m bomb "$object")
    git update-ref refs/heads/bomb "$commit"`
  execFileSync("sh", ["-ec", script], { cwd: top, stdio: ["ignore", "ignore", "pipe"] })
}
