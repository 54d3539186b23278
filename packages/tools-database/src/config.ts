import { ToolwrightError } from "@toolwright/toolbox"
import { redact } from "@toolwright/host/net"

/** One database that may be migrated, and where its migrations are. */
export interface DatabaseTarget {
  /** `sqlite:data/app.db` (relative to the workspace) or `postgres://user:password@host/name`. */
  dsn?: string
  /** Name of the environment variable that holds the DSN, where `dsn` is not given. */
  dsnEnv?: string
  /** The folder of the migrations in the workspace; `migrations` unless given. */
  migrations?: string
}

/** Configuration of the database tools. */
export interface DatabaseToolsConfig {
  /** By name. Without it there is one, `default`, whose DSN is in `DATABASE_URL`. */
  databases?: Readonly<Record<string, DatabaseTarget>>
  /** Longest wait for another migrator to finish; 10 s unless given. Milliseconds. */
  lockWaitMs?: number
  /** Longest time for one migration; 5 min unless given. Milliseconds. */
  migrationMs?: number
  env?: Readonly<Record<string, string | undefined>>
}

/** A database that a call is about. `shown` is its DSN without secrets; `redact` takes them out of any text. */
export interface ChosenDatabase {
  name: string
  dialect: "sqlite" | "postgresql"
  dsn: string
  /** The file of an SQLite database, as it was configured. */
  file: string
  migrations: string
  shown: string
  redact(text: string): string
}

/** The databases by name, the default one included. */
export function configuredDatabases(config: DatabaseToolsConfig): Readonly<Record<string, DatabaseTarget>> {
  return config.databases ?? { default: { dsnEnv: "DATABASE_URL" } }
}

/** @throws ToolwrightError `INVALID_ARGUMENTS`, `NOT_CONFIGURED` */
export function chooseDatabase(config: DatabaseToolsConfig, asked: unknown): ChosenDatabase {
  const databases = configuredDatabases(config)
  const names = Object.keys(databases)
  const name = typeof asked === "string" ? asked : names[0]
  if (name === undefined || !Object.hasOwn(databases, name) || (asked === undefined && names.length > 1)) {
    throw new ToolwrightError(
      "INVALID_ARGUMENTS",
      asked === undefined
        ? "There is more than one database."
        : `There is no database '${String(asked).slice(0, 60)}'.`,
      {
        hint: `Name one of: ${names.map((one) => `{"database": "${one}"}`).join(", ")}`,
      },
    )
  }
  const { dsn: given, dsnEnv, migrations = "migrations" } = databases[name] as DatabaseTarget
  const dsn = given ?? (dsnEnv === undefined ? undefined : (config.env ?? process.env)[dsnEnv])
  if (dsn === undefined || dsn === "") {
    throw new ToolwrightError("NOT_CONFIGURED", `The database '${name}' has no address.`, {
      hint:
        `Whoever runs this must set ${dsnEnv ?? "its dsn"}, for instance to sqlite:data/app.db or ` +
        "postgres://user@host/name.",
    })
  }
  return { name, migrations, ...readDsn(dsn, name) }
}

function readDsn(dsn: string, name: string): Pick<ChosenDatabase, "dialect" | "dsn" | "file" | "shown" | "redact"> {
  if (/^postgres(ql)?:/i.test(dsn) && URL.canParse(dsn)) {
    const url = new URL(dsn)
    const parameter = url.searchParams.get("password")
    const secrets = [dsn, url.password, decoded(url.password), ...(parameter === null ? [] : [parameter])].filter(
      (secret) => secret !== "",
    )
    const shown = `postgresql://${url.username === "" ? "" : `${url.username}@`}${url.host}${url.pathname}`
    return { dialect: "postgresql", dsn, file: "", shown, redact: (text) => redact(text, secrets) }
  }
  const sqlite = /^(?:sqlite3?:|file:)(?:\/\/)?(.+)$/i.exec(dsn) ?? /^([^:]+\.(?:db|sqlite3?))$/i.exec(dsn)
  const file = sqlite?.[1]
  if (file !== undefined && !file.includes("\0") && file !== ":memory:") {
    return { dialect: "sqlite", dsn, file: file.replace(/\?.*$/, ""), shown: `sqlite:${file}`, redact: (text) => text }
  }
  // The address itself is not quoted: what cannot be parsed may hold a password anywhere.
  throw new ToolwrightError("NOT_CONFIGURED", `The address of the database '${name}' is not understood.`, {
    hint:
      "Write it as sqlite:data/app.db or postgres://user:password@host:5432/name; special characters in the " +
      "password are percent-encoded.",
  })
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
