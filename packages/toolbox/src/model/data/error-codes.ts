/** What is known of an error code, for a person, a program, the command line and a server. */
export interface ErrorCodeEntry {
  /** What it says, in a clause. */
  readonly means: string
  /** The exit code of the command line: 2 where the command line or the configuration has to change; 1 unless given. */
  readonly exit?: 2
  /** The status of an HTTP request that ends in it; 500 unless given. */
  readonly status?: number
  /** Seconds after which a caller over HTTP may come again. */
  readonly retryAfter?: number
  /** The same call may succeed later; a failure says otherwise where it knows better. */
  readonly retryable?: true
  /** It says nothing of a tool's call, but of the server: its answer has the status, where other failures are results. */
  readonly ofServer?: true
}

const entries = <const Codes extends string>(
  codes: Readonly<Record<Codes, ErrorCodeEntry>>,
): Readonly<Record<Codes, ErrorCodeEntry>> => codes

const CALLS = entries({
  CALL_LIMIT: { means: "the tool was called as often as the configuration lets it, or failed so often" },
  CANCELLED: { means: "the caller cancelled the call", retryable: true },
  EXECUTION_FAILED: { means: "what stands around a call failed: middleware, or the question for a permission" },
  INVALID_ARGUMENTS: { means: "the arguments do not fit the tool's parameters", exit: 2, status: 422 },
  INVALID_OUTPUT: { means: "what came out, of a tool or of a run, does not fit the schema it was promised to have" },
  INVALID_RESULT: { means: "a handler returned something that is no result" },
  IDEMPOTENCY_ANSWER_GONE: { means: "the call was made, and its answer is not kept any more", status: 409 },
  IDEMPOTENCY_KEY_REUSED: { means: "the key was used for another call", status: 422 },
  NO_TOOL_FOUND: { means: "no tool that is not shown yet fits the words that were looked for" },
  NO_HANDLER: { means: "the tool was read from JSON and can be shown, not called" },
  NO_HOST: { means: "the tool is run where nothing gives it files, programs or a network" },
  PERMISSION_DENIED: { means: "a rule or a person did not permit the call" },
  RESULT_TOO_LARGE: { means: "the result is larger than the server sends", status: 413 },
  SECRET_HIDDEN: { means: "the arguments hold the mark that stands for a hidden secret" },
  SERVER_BUSY: {
    means: "too much waits to be read or sent",
    status: 503,
    retryAfter: 1,
    retryable: true,
    ofServer: true,
  },
  TIMEOUT: { means: "it took longer than it may", status: 504, retryable: true, ofServer: true },
  TOOL_CRASHED: { means: "the handler threw" },
  TOOL_FAILED: { means: "the tool says that it failed, and no more" },
  TOOL_NOT_AVAILABLE: { means: "the tool is known and cannot be used here" },
  TOOL_NOT_FOUND: { means: "there is no tool of that name", status: 404 },
  TOOL_WITHDRAWN: { means: "the tool was offered and is not any more" },
  TOO_MANY_CALLS: {
    means: "as many calls run as may",
    status: 429,
    retryAfter: 1,
    retryable: true,
    ofServer: true,
  },
  TOO_MUCH_TO_CHECK: { means: "the arguments are too large or too deep to be checked" },
  UNKNOWN_TOOL: { means: "there is no tool of that name" },
})

const DEFINITIONS = entries({
  DUPLICATE_TOOL: { means: "two tools have one name", exit: 2 },
  INVALID_BUNDLE: { means: "a bundle is malformed" },
  INVALID_SCHEMA: { means: "a schema is no JSON Schema, or none that the API takes" },
  INVALID_TOOL: { means: "a definition is malformed: its name, its category, its parameters" },
  INVALID_TOOLS: { means: "tools that were read from JSON are malformed" },
  UNKNOWN_BUNDLE: { means: "there is no bundle of that name" },
})

const FILES = entries({
  ACCESS_DENIED: { means: "the path is outside the folders that may be touched, or denied" },
  ALREADY_EXISTS: { means: "something is there already" },
  AMBIGUOUS_CHANGE: { means: "more than one recorded change begins so" },
  BINARY_FILE: { means: "the file is no text" },
  BROKEN_STATE: { means: "the workspace's state file cannot be read" },
  BUSY: { means: "the system says that the file is in use", retryable: true },
  CHANGED_OUTSIDE: { means: "somebody else changed the file since it was read" },
  CROSS_DEVICE: { means: "the two places are not on one file system" },
  EDIT_AMBIGUOUS: { means: "the text to replace is there more than once" },
  EDIT_EMPTY: { means: "an edit says nothing" },
  EDIT_NOT_FOUND: { means: "the text to replace is not there" },
  EDIT_NO_CHANGE: { means: "the edit would change nothing" },
  EDIT_OVERLAP: { means: "two edits touch the same text" },
  ENCODING: { means: "the file is not in an encoding that can be kept" },
  FILE_NOT_READ: { means: "a file that was named cannot be read" },
  FILE_TOO_LARGE: { means: "the file is larger than is read at once" },
  INVALID_ARTIFACT: { means: "the artifact is malformed" },
  INVALID_PATH: { means: "no file can have that path" },
  INVALID_PATTERN: { means: "the pattern is malformed" },
  INVALID_RANGE: { means: "the lines that were asked for are none" },
  INVALID_ROOT: { means: "a folder that tools may touch is not there, or is no folder", exit: 2 },
  IO_ERROR: { means: "the system could not read or write", retryable: true },
  IS_SYMLINK: { means: "the path is a link, and links are not followed here" },
  LINK_OUTSIDE: { means: "a link leads out of the folders that may be touched" },
  MISSING_ARTIFACT: { means: "what the call needs was not made before" },
  NOTHING_TO_UNDO: { means: "no change is recorded that could be taken back" },
  NOT_A_DIRECTORY: { means: "the path is no folder" },
  NOT_A_FILE: { means: "the path is no regular file" },
  NOT_EMPTY: { means: "the folder is not empty" },
  NOT_FOUND: { means: "it is not there", status: 404 },
  NO_SPACE: { means: "the disk or the quota is full" },
  PARENT_NOT_A_DIRECTORY: { means: "what should hold it is no folder" },
  PARENT_NOT_FOUND: { means: "the folder that should hold it is not there" },
  READ_ONLY: { means: "nothing may be written there" },
  STALE: { means: "what is to be taken back was changed since" },
  TOO_DEEP: { means: "folders are nested deeper than is followed" },
  TOO_MANY_EDITS: { means: "more edits at once than are taken" },
  TOO_MANY_OPEN_FILES: { means: "the system has no room for another open file", retryable: true },
  UNKNOWN_CHANGE: { means: "no change of that id is recorded" },
  UNSAFE_FILE: { means: "the file is a link or a device where a plain one must be" },
  UNSAFE_FOLDER: { means: "the folder is a link, or belongs to somebody else" },
})

const PROGRAMS = entries({
  COMMAND_FAILED: { means: "the program ended with another code than 0" },
  COMMAND_NOT_ALLOWED: { means: "the program is not among those that may run" },
  INVALID_CONFIG: { means: "the settings of programs are malformed", exit: 2 },
  DISK_LIMIT: { means: "the program made more files, or wrote more, than it may, and was ended" },
  OUTPUT_LIMIT: { means: "the program wrote more than is kept, and was ended" },
  PROGRAM_NOT_FOUND: { means: "the program is not installed" },
  RUNNER_MISSING: { means: "the test runner is not installed" },
  SANDBOX_REQUIRED: { means: "programs may run in a sandbox alone, and there is none" },
})

const REPOSITORIES = entries({
  CONFLICTS: { means: "files have conflicts that are to be settled first" },
  GIT_FAILED: { means: "git refused" },
  GIT_MISSING: { means: "git is not installed" },
  INVALID_REF: { means: "the name is no branch, tag or commit that git takes" },
  MISSING_MESSAGE: { means: "the commit has no message" },
  NOTHING_TO_COMMIT: { means: "there is no change to commit" },
  NOT_IN_COMMIT: { means: "a file that was written is missing from the commit" },
  NOT_A_REPOSITORY: { means: "the folder is in no git repository" },
  NO_BRANCH: { means: "the repository stands on no branch" },
  NO_GIT: { means: "git is not installed" },
  PROTECTED_STAGED: { means: "a file that must not be committed is staged" },
  REPOSITORY_REFUSED: { means: "the repository's own settings run programs, and are not trusted" },
  UNKNOWN_REF: { means: "the repository has no such branch, tag or commit" },
  UNKNOWN_REMOTE: { means: "the repository has no such remote" },
})

const CHECKS = entries({
  CONFIGURATION_KEPT: { means: "the configuration of the checks stays as it is" },
  FILTER_NEEDED: { means: "the checks are too many to run all of them" },
  INCOMPLETE: { means: "not everything that was asked for is there" },
  NOTHING_CHECKED: { means: "every check was passed over" },
  NOT_GENERATED: { means: "what is asked for was not made yet" },
  NO_TESTS: { means: "there is nothing to test with" },
  SYNTAX_ERROR: { means: "the source cannot be parsed" },
  TESTS_FAILED: { means: "tests failed" },
  TEST_RUN_FAILED: { means: "the tests could not be run" },
  UNKNOWN_CLASS: { means: "the module has no such class" },
  UNSUPPORTED_LANGUAGE: { means: "the language is not read" },
  VALIDATION_FAILED: { means: "the code does not pass its checks" },
})

const NETWORK = entries({
  ABORTED: { means: "it was cancelled while it ran" },
  BLOCKED_ADDRESS: { means: "the address is private, and private ones are not asked" },
  BLOCKED_PORT: { means: "the port is not one of the web's" },
  CONNECTION_FAILED: { means: "no connection, or it broke" },
  DECOMPRESSION_BOMB: { means: "the answer grows beyond all measure when it is unpacked" },
  DNS_FAILED: { means: "the name has no address" },
  HTTP_ERROR: { means: "the server answered with an error" },
  INVALID_RESPONSE: { means: "the answer is not what was asked for" },
  INVALID_URL: { means: "the address is malformed, or not one of the web" },
  MISSING_API_KEY: { means: "the service wants a key, and none is set" },
  OFFSET_OUT_OF_RANGE: { means: "the page has no such part" },
  PAGE_TOO_COMPLEX: { means: "the page takes too long to turn into text" },
  PAGE_UNREADABLE: { means: "the page could not be turned into text" },
  RATE_LIMITED: { means: "the service wants to be asked less often" },
  REDIRECT_REFUSED: { means: "the answer leads to an address that is not asked" },
  RESPONSE_CUT_OFF: { means: "the answer ended too early" },
  RESPONSE_TOO_LARGE: { means: "the answer is larger than is read" },
  SERVICE_FAILED: { means: "the service failed" },
  TOO_MANY_REDIRECTS: { means: "the answer leads on and on" },
  UNAUTHORIZED: { means: "a key or a token is missing, or refused", status: 401 },
  UNSUPPORTED_CONTENT: { means: "the answer is of a kind that is not read" },
})

const BLOG = entries({
  AMBIGUOUS_PARENT: { means: "more than one page could hold it" },
  CONFLICT: { means: "the service says that two changes met" },
  EVENT_NOT_FOUND: { means: "the calendar has no such event" },
  FEEDS_UNREACHABLE: { means: "no feed answered" },
  GENERATION_FAILED: { means: "the model did not answer" },
  GENERATION_UNUSABLE: { means: "what the model wrote cannot be used" },
  INVALID_CALENDAR: { means: "the calendar's file is malformed" },
  INVALID_CONTENT: { means: "the service does not take the content" },
  INVALID_RECURRENCE: { means: "the recurrence is malformed" },
  INVALID_TIME: { means: "the time is malformed, or there is none such" },
  MISSING_SECTIONS: { means: "sections of the plan are not written yet" },
  NOT_CONFIGURED: { means: "the tool needs a setting that is not there" },
  NO_GENERATOR: { means: "no model is there to write with" },
  OCCURRENCE_NOT_FOUND: { means: "the event has no such occurrence" },
  POST_TOO_LONG: { means: "the post is longer than the network takes" },
  UNKNOWN_SECTION: { means: "the plan has no such section" },
})

const DATABASES = entries({
  CHECKSUM_DRIFT: { means: "a migration was changed after it was applied" },
  DATABASE_NEWER: { means: "the database was written by a later version" },
  DATABASE_UNAVAILABLE: { means: "the database cannot be opened" },
  FOREIGN_DATABASE: { means: "the database came with the folder and is not this user's" },
  INVALID_MIGRATION: { means: "a migration is malformed" },
  IRREVERSIBLE: { means: "a migration says no way back" },
  LOG_UNWRITABLE: { means: "the log of runs cannot be written" },
  MIGRATION_FAILED: { means: "a migration failed" },
  MIGRATION_LOCKED: { means: "somebody else migrates", retryable: true },
  MIGRATION_MISSING: { means: "an applied migration is not there any more" },
  NO_MIGRATIONS: { means: "there is no migration" },
  OUT_OF_ORDER: { means: "a migration stands before one that was applied" },
  UNKNOWN_VERSION: { means: "there is no migration of that version" },
})

const MODELS = entries({
  CLIENT_TOOL: { means: "the call is one that the client runs itself" },
  CONFLICTING_CONSTRAINTS: { means: "a request has both a grammar and a schema", status: 400 },
  CONSTRAINT_UNSUPPORTED: { means: "the model's server has no word for the constraint", status: 400 },
  CONTEXT_EXCEEDED: { means: "the conversation does not fit the model's window", status: 400 },
  GRAMMAR_DEAD_END: { means: "the grammar leaves the model no token", status: 502 },
  MODEL_BAD_REPLY: { means: "the model's server answered with something unreadable", status: 502 },
  MODEL_ENGINE_MISSING: { means: "the engine that runs models in this process is not installed", exit: 2 },
  MODEL_NOT_FOUND: { means: "the server or the folder has no such model", exit: 2, status: 404 },
  MODEL_RATE_LIMITED: { means: "the model's server wants to be asked less often", status: 429 },
  MODEL_REQUEST_REJECTED: { means: "the model's server does not take the request", status: 400 },
  MODEL_SERVER_ERROR: { means: "the model's server failed", status: 502 },
  MODEL_TIMEOUT: { means: "the model's server did not answer in time", status: 504 },
  MODEL_UNAUTHORIZED: { means: "the model's server refuses the key", status: 502 },
  MODEL_UNREACHABLE: { means: "the model's server does not answer", status: 502 },
  NO_TEMPLATE: { means: "a chat template was looked for where there is none", exit: 2 },
  NO_MODEL: { means: "no model is configured", exit: 2, status: 503 },
  REPLY_TOO_LONG: { means: "the reply is longer than is kept", status: 502 },
  SCREENPLAY_ASSERTION: { means: "what the scripted model was asked is not what its screenplay expects" },
  SCREENPLAY_EXHAUSTED: { means: "the screenplay has no step left" },
  SCREENPLAY_INVALID: { means: "the screenplay is malformed", exit: 2 },
  SCREENPLAY_NOT_SAVED: { means: "the recording could not be written" },
})

const FORMATS = entries({
  INVALID_CUT: { means: "a cutting of a text is malformed" },
  INVALID_MESSAGES: { means: "the messages of a conversation are malformed" },
  NO_CALL_SYNTAX: { means: "the format has no way to write calls as text" },
  TEMPLATE_FAILED: { means: "the chat template failed" },
  TEMPLATE_LIMIT: { means: "the chat template does more than it may" },
  TEMPLATE_REFUSED: { means: "the chat template says that it cannot render the conversation" },
  TEMPLATE_SYNTAX: { means: "the chat template is malformed" },
  UNKNOWN_FORMAT: { means: "there is no format of that name" },
  UNSUPPORTED_MEDIA: { means: "the API has no form for the picture or sound", status: 400 },
  USE_PARSE_API_RESPONSE: { means: "the format's calls never stand in text" },
})

const GRAMMARS = entries({
  GBNF_INVALID: { means: "the grammar breaks a rule of llama.cpp" },
  GBNF_SYNTAX: { means: "the grammar cannot be parsed" },
  GRAMMAR_MISMATCH: { means: "the text does not fit the grammar" },
  GRAMMAR_REFUSED: { means: "GBNF cannot say the grammar" },
  GRAMMAR_TOO_AMBIGUOUS: { means: "the grammar can be read in too many ways at once" },
  INVALID_GRAMMAR: { means: "the grammar's rules are malformed" },
  INVALID_LINE: { means: "a line of the input is malformed" },
  INVALID_PRESET: { means: "the preset is malformed" },
  INVALID_ROLLBACK: { means: "there are not that many tokens to take back" },
  INVALID_SAFETY: { means: "the safety rules are malformed" },
  INVALID_SAMPLER: { means: "a setting of the sampler is out of its bounds" },
  MISSING_CONSTRAINT: { means: "neither a grammar nor a schema was given" },
  SCHEMA_REFUSED: { means: "the schema cannot be said exactly as a grammar" },
  UNKNOWN_PRESET: { means: "there is no preset of that name" },
  UNSUPPORTED_CONSTRAINT: { means: "the constraint cannot be applied here" },
  UNSUPPORTED_LOGITS: { means: "the logits are of a kind that is not read" },
  UNSUPPORTED_TOKENIZER: { means: "the tokenizer is of a kind that is not read" },
})

const RUNS = entries({
  AGENT_BUSY: { means: "tasks of the agent have not ended", status: 409 },
  AGENT_EXISTS: { means: "there is another agent of that name", status: 409 },
  AGENT_FAILED: { means: "an agent that was called as a tool did not finish" },
  APPROVAL_CLOSED: { means: "the question was answered, has expired or was withdrawn", status: 409 },
  ARGUMENTS_NOT_KEPT: { means: "an interrupted call held a secret, which the log does not keep, and was not run" },
  BUDGET_USED: { means: "the run used the tokens or the time that it may" },
  CHECKS_CHANGED: { means: "the run changed what its work is checked by" },
  CHECKS_WEAKENED: { means: "the work does not pass the checks as they were" },
  COMMIT_REFUSED: { means: "the work may not be committed yet" },
  COMMIT_UNCHECKED: { means: "a commit was made that nobody checked" },
  COMMIT_UNDONE: { means: "a commit was taken back" },
  DECLINED: { means: "the model declined a part of the task" },
  FILE_OWNED: { means: "another agent owns the file", status: 409 },
  FILES_NEEDED: { means: "the agent was given no files to own", status: 422 },
  FILES_NOT_OWNED: { means: "files were changed that the agent does not own", status: 422 },
  MISSING_TOOLS: { means: "the agent is not offered the tools that its task needs" },
  MAX_ROUNDS: { means: "the run used all its rounds" },
  NESTING_DEPTH_EXCEEDED: { means: "agents called agents too deep", status: 422 },
  NOT_OWNED: { means: "the agent does not own that file" },
  NO_REPOSITORY: { means: "the agent must commit, and there is no repository" },
  NO_TOOLS: { means: "the run has no tool to call" },
  READ_ONLY_AGENT: { means: "the agent only reads" },
  REPOSITORY_GONE: { means: "the repository is not there any more" },
  NOTHING_TO_RESUME: { means: "nothing of the run can be gone on with", status: 409 },
  OUTCOME_UNKNOWN: { means: "whether an interrupted call took effect is not known, and it was not run again" },
  RUN_EXISTS: { means: "a run of that id is here already", status: 409 },
  RUN_ENDED: { means: "the run has ended, and nothing is added to it" },
  RUN_FAILED: { means: "the run failed", status: 502 },
  RUN_HELD: { means: "another process holds the run" },
  RUN_UNREADABLE: { means: "what a run needs to go on was erased, or was never written" },
  RUN_WITHOUT_END: { means: "the run's events end without an end" },
  STALE_RUN: { means: "the run was taken over by another process" },
  INVALID_AGENT: { means: "an agent is not described as it should be", exit: 2, status: 422 },
  INVALID_PLAN: { means: "a plan is not as it should be", exit: 2, status: 422 },
  INVALID_TASK: { means: "a task does not say what is to be done", exit: 2, status: 422 },
  QUEUE_FULL: { means: "as many tasks wait as may", status: 429, retryAfter: 5, retryable: true },
  STALE_TASK: { means: "the task was taken over by another worker" },
  TASK_CYCLE: { means: "tasks would wait for each other", status: 422 },
  TASK_ENDED: { means: "the task has ended", status: 409 },
  TASK_OPEN: { means: "the task has not ended yet", status: 409 },
  UNKNOWN_APPROVAL: { means: "there is no question of that id", status: 404 },
  WAITING_FOR_APPROVAL: { means: "the run waits for a person's answer, and goes on from its record" },
  TOO_MUCH_AT_ONCE: { means: "one reply asks for more calls than are run" },
  UNCHECKED: { means: "the work was changed after its last check" },
  UNKNOWN_AGENT: { means: "there is no agent of that name", exit: 2, status: 404 },
  UNKNOWN_EVENT: { means: "the run has no such event", status: 404 },
  UNKNOWN_PLAN: { means: "there is no plan of that id", exit: 2, status: 404 },
  UNKNOWN_RESULT: { means: "no result of that call is kept" },
  UNKNOWN_TASK: { means: "there is no task of that id", exit: 2, status: 404 },
  UNKNOWN_RUN: { means: "there is no run of that id", exit: 2, status: 404 },
  WORKSPACE_BUSY: { means: "another run works in the workspace" },
  WORKSPACE_READ_ONLY: { means: "the agent changes files, and the workspace is read-only" },
})

const SETTINGS = entries({
  INVALID_CONFIGURATION: { means: "a setting is malformed", exit: 2 },
  TRUST_UNWRITABLE: { means: "what is trusted cannot be kept" },
  USAGE: { means: "the command line is wrong", exit: 2 },
})

const SOURCES = entries({
  INVALID_MCP_TOOL: { means: "a tool of an MCP server is malformed" },
  SOURCE_BAD_REPLY: { means: "the service answered with something unreadable" },
  SOURCE_FAILED: { means: "the service answered with an error" },
  SOURCE_UNAUTHORIZED: { means: "a key or a token is missing, or refused", status: 401 },
  SOURCE_UNAVAILABLE: {
    means: "the tools service or MCP server is away",
    status: 503,
    retryAfter: 5,
    retryable: true,
    ofServer: true,
  },
})

const SERVERS = entries({
  BODY_TOO_LARGE: { means: "the body is larger than is taken", status: 413 },
  BODY_TOO_SLOW: { means: "the body did not come in time", status: 408 },
  BODY_UNREADABLE: { means: "the body broke off", status: 400 },
  DUPLICATE_PROMPT: { means: "two prompts have one name" },
  HOST_NOT_ALLOWED: { means: "the request names another host", status: 403 },
  INTERNAL_ERROR: { means: "the server failed", status: 500 },
  INVALID_JSON: { means: "the body is no JSON", status: 400 },
  INVALID_PROMPT: { means: "a prompt's file is malformed" },
  LISTEN_FAILED: { means: "the server cannot listen there" },
  METHOD_NOT_ALLOWED: { means: "the address takes another method", status: 405 },
  NOT_INITIALIZED: { means: "conversations are not set up", status: 500 },
  ORIGIN_NOT_ALLOWED: { means: "the page that asks is from elsewhere", status: 403 },
  PORT_IN_USE: { means: "something else listens on the port" },
  PROMPT_FAILED: { means: "the prompt cannot be rendered" },
  PROMPT_NOT_FOUND: { means: "there is no prompt of that name", status: 404 },
  TOKEN_REQUIRED: { means: "the address takes requests with a token alone", status: 401 },
  TOKEN_TOO_NARROW: { means: "the token may not do that", status: 403 },
  UNKNOWN_CONVERSATION: { means: "there is no conversation of that id", status: 404 },
  UNKNOWN_PROMPT: { means: "there is no prompt of that name" },
  UNSUPPORTED_MEDIA_TYPE: { means: "the body is not declared as JSON", status: 415 },
})

const TESTS = entries({
  NOT_ENDED: { means: "the run that is asked about has not ended" },
  RECORDING_CHANGED: { means: "the model is asked something else than when it was recorded" },
  RECORDING_EXHAUSTED: { means: "the recording has no reply left" },
  RECORDING_FAILED: { means: "the run that was to be recorded failed" },
  RECORDING_INVALID: { means: "the recording is malformed" },
  RECORDING_MISSING: { means: "nothing was recorded yet" },
  RECORDING_UNPLAYED: { means: "replies of the recording were never asked for" },
  RUN_TIMEOUT: { means: "the run took longer than the test gives it" },
  SCREENPLAY_UNPLAYED: { means: "replies of the script were never asked for" },
  SCREENPLAY_WRONG_CALL: { means: "the script calls a tool as nobody may" },
  STUB_WRONG_ANSWER: { means: "the stand-in's answer is not what the tool promises" },
  WORKSPACE_FILE: { means: "the file is not in the test's folder" },
  WORKSPACE_GIT: { means: "git failed in the test's folder" },
  WORKSPACE_GONE: { means: "the test's folder was removed" },
  WORKSPACE_INVALID: { means: "the test's folder cannot be made so" },
})

/** Every code by the part of the project that it speaks of: what `docs/errors.md` is written from. */
export const ERROR_AREAS = {
  "Calls of tools": CALLS,
  "Definitions of tools": DEFINITIONS,
  Files: FILES,
  Programs: PROGRAMS,
  Repositories: REPOSITORIES,
  "Checks of work": CHECKS,
  Network: NETWORK,
  "Blog and calendar": BLOG,
  Databases: DATABASES,
  Models: MODELS,
  "Formats and templates": FORMATS,
  "Grammars and sampling": GRAMMARS,
  "Agents and runs": RUNS,
  Settings: SETTINGS,
  "Sources of tools": SOURCES,
  Servers: SERVERS,
  "Tests of agents": TESTS,
} as const

/** A code that this project gives. Tools of applications have their own. */
export type ErrorCode = {
  [Area in keyof typeof ERROR_AREAS]: keyof (typeof ERROR_AREAS)[Area]
}[keyof typeof ERROR_AREAS]

/** The one catalogue of error codes: exit codes, statuses and whether to try again follow from it. */
export const ERROR_CODES: Readonly<Record<ErrorCode, ErrorCodeEntry>> = Object.assign({}, ...Object.values(ERROR_AREAS))

/** What is known of a code; nothing of one that is an application's own. */
export function aboutCode(code: string): ErrorCodeEntry | undefined {
  return Object.hasOwn(ERROR_CODES, code) ? ERROR_CODES[code as ErrorCode] : undefined
}
