export type Theme = "system" | "light" | "dark"

const KEY = "toolwright-theme"

export function theme(): Theme {
  try {
    const kept = localStorage.getItem(KEY)
    return kept === "light" || kept === "dark" ? kept : "system"
  } catch {
    return "system"
  }
}

export function applyTheme(chosen: Theme = theme()): void {
  if (chosen === "system") delete document.documentElement.dataset.theme
  else document.documentElement.dataset.theme = chosen
  try {
    localStorage.setItem(KEY, chosen)
  } catch {
    // It then lasts as long as the page.
  }
}
