"""Words, file names and code that fill the slots of a request.

A word's hash decides whether it may occur in training or only in the held-out set, so that the evaluation asks for values
that were never seen.
"""
import hashlib
import re
from pathlib import Path

HERE = Path(__file__).parent
WORDS = (HERE / "words.txt").read_text().split()

CODE_WORDS = (
    "TODO TODO FIXME HACK XXX useState useEffect getUser fetchData parseConfig handleClick console.log require import export async await "
    "return function className onChange setTimeout process.env localhost deprecated throw catch password apiKey API_KEY DEBUG "
    "MAX_SIZE user_id created_at __init__ self.assertEqual print( def class interface enum extends implements"
).split()
EXTENSIONS = (
    "txt md json ts js py css html yaml yml csv log sh toml xml tsx jsx go rs java c h cpp sql env ini cfg lock svg conf doc docx xlsx pdf "
    "png jpg wav mp3 tar gz zip tex lua rb php tpl bak tmp dat mjs vue scss ipynb rst kt swift"
).split()
USUAL_EXTENSIONS = "txt txt txt md md json json ts ts js js py py css html yaml csv log sh toml tsx go rs sql conf".split()
KNOWN_FILES = (
    "README.md README.md package.json tsconfig.json .gitignore .env Makefile Dockerfile LICENSE CHANGELOG.md index.ts index.html main.py app.py "
    "setup.py requirements.txt docker-compose.yml Cargo.toml go.mod .eslintrc.json jest.config.js notes.txt todo.txt data.csv "
    "config.json server.log a.txt b.txt hello.txt test.txt"
).split()
KNOWN_FOLDERS = "src src docs lib test tests build dist scripts assets public config examples bin data logs tmp app components utils packages notes".split()
LANGUAGES = {
    "python": "*.py", "typescript": "*.ts", "javascript": "*.js", "markdown": "*.md", "json": "*.json", "text": "*.txt",
    "yaml": "*.yaml", "css": "*.css", "html": "*.html", "rust": "*.rs", "go": "*.go", "log": "*.log", "csv": "*.csv",
    "sql": "*.sql", "shell": "*.sh",
}
PLAIN_TEXTS = (
    "hello|hello|hello world|hello world|hi|hi there|test|this is a test|buy milk|good morning|see you tomorrow|some text|first draft|work in progress|"
    "call the bank|lorem ipsum|it works|done|to be continued|happy birthday|good luck|we meet at noon|nothing here yet|under construction|"
    "do not touch|thank you|see the docs|my first file|welcome|yes|no|ok|all good|remember the milk"
).split("|")
COMMIT_VERBS = "fix add update remove rename refactor improve bump clean handle support drop move test document".split()
COMMIT_KINDS = "fix feat chore docs test refactor".split()
LITTLE_WORDS = "the a to of and for is with my our this in on new not all it you we are".split()
COMMANDS = [
    "npm install {w}", "npm run {w}", "npm install", "npm run build", "npm ci", "node {f}", "python3 {f}", "python {f}", "ls -la {d}",
    "ls -la", "ls", "cat {f} | wc -l", "git log --oneline -{n}", "git checkout -b {w}-{w}", "git push origin {w}", "git pull",
    "docker ps", "docker build -t {w} .", "make {w}", "make", "curl -s https://{w}.com/{w}", "echo $HOME", "du -sh {d}", "df -h",
    "chmod +x {f}", "tar -czf {w}.tar.gz {d}", "pip install {w}", "uname -a", "whoami", "date", "pwd", "grep -rn {w} {d} | head -{n}",
    "find . -name '*.{e}'", "ps aux | grep {w}", "kill {n}", "npx tsc --noEmit", "npx eslint {d} --fix", "cargo build --release",
    "go build ./...", "wc -l {f}", "env", "sleep {n}", "touch {f}", "head -n {n} {f}", "node --version", 'echo "{w} {w}"', "echo {w}",
    "{w}", "{w}", "npm run {w}:{w}", "node {f} --{w}", "./{d}/{w}.sh", "./{w}", "make {w} {w}", "git add {f}", "cargo test", "echo {n}", "python3 {f} {n}",
    "sort {f} | uniq", "{w} --{w}", "./{w}.sh", "{w} {w} --{w} {n}", "bash {f}", "{w} -v", "cd {d} && make",
]
COMMANDS_HELD_OUT = [
    "yarn add {w}", "pnpm run {w}", "ruby {f}", "tail -n {n} {f}", "docker run --rm {w}", "git stash", "git fetch --all",
    "curl -I https://{w}.org", "npx prettier --write {f}", "cargo run", "java {w}", "sed -n {n}p {f}", "ls -R {d}", "mvn package",
    "ping -c {n} {w}.com", "cat {f} | grep {w}",
]
ONSETS = "b bl br c ch cl cr d dr f fl fr g gl gr h j k kl l m n p pl pr qu r s sc sh sk sl sm sn sp st str t th tr tw v w y z".split()
NUCLEI = "a a a e e e i i i o o o u u ai ea ee ie oa oo ou".split()
CODAS = ["", "", "", "", "n", "r", "l", "t", "s", "m", "d", "k", "x", "p", "nd", "rt", "st", "ck", "ng", "lf", "mp", "sh"]


def is_held_out(word):
    return hashlib.md5(word.lower().encode()).digest()[0] % 6 == 0


TRAINED_WORDS = [word for word in WORDS if not is_held_out(word)]
HELD_OUT_WORDS = [word for word in WORDS if is_held_out(word)]


class Slots:
    """Random values. With `held_out` only of words that training never sees."""

    def __init__(self, random, held_out=False):
        self.r, self.held_out = random, held_out

    def invented(self):
        r = self.r
        while True:
            count = r.choice([1, 1, 1, 2, 2, 2, 3])
            word = "".join(r.choice(ONSETS) + r.choice(NUCLEI) + r.choice(CODAS) for _ in range(count))
            if is_held_out(word) == self.held_out and len(word) > 2:
                return word

    def random_characters(self):
        """Nothing but copying gives these."""
        r = self.r
        while True:
            word = "".join(r.choice("abcdefghijklmnopqrstuvwxyz0123456789") for _ in range(r.randint(2, 7)))
            if is_held_out(word) == self.held_out:
                return word

    def word(self):
        share = self.r.random()
        if share < 0.55:
            return self.r.choice(HELD_OUT_WORDS if self.held_out else TRAINED_WORDS)
        return self.invented() if share < 0.93 else self.random_characters()

    def number(self):
        r = self.r
        return r.choice([r.randint(1, 9), r.randint(10, 99), r.choice([5, 10, 20, 50, 100]), r.randint(100, 999), r.randint(1000, 9999)])

    def line_count(self):
        r = self.r
        return r.choice([1, 2, 3, 4, 5, 5, 6, 7, 8, 9, 10, 10, 12, 15, 20, 20, 25, 30, 40, 50, 100, r.randint(1, 120)])

    def line_range(self):
        first = self.r.choice([1, 1, 2, 5, 10, 20, 50, 100, self.r.randint(1, 400)])
        return first, first + self.r.choice([1, 2, 4, 5, 9, 10, 20, 50, self.r.randint(1, 100)])

    @staticmethod
    def capital(word):
        return word[0].upper() + word[1:]

    def identifier(self):
        r = self.r
        share, one, two = r.random(), self.word(), self.word()
        if share < 0.45:
            return one
        if share < 0.58:
            return one + "-" + two
        if share < 0.74:
            return one + "_" + two
        if share < 0.84:
            return one + self.capital(two)
        if share < 0.88:
            return self.capital(one) + self.capital(two)
        if share < 0.93:
            return one + r.choice(["", "_", "-", "_v", "-v"]) + str(r.choice([r.randint(1, 99), r.randint(2019, 2029)]))
        if share < 0.97:
            mark = r.choice("-_")
            return mark.join([one, two, self.word() if r.random() < 0.6 else str(r.randint(1, 2030))])
        return one.upper() if share < 0.985 else f"{r.randint(0, 99):02}{r.choice('-_')}{one}"

    def file_name(self):
        r = self.r
        share = r.random()
        if share < (0.0 if self.held_out else 0.14):
            return r.choice(KNOWN_FILES)
        if share < 0.90:
            return self.identifier() + "." + r.choice(USUAL_EXTENSIONS if r.random() < 0.75 else EXTENSIONS)
        if share < 0.95:
            return f"{self.identifier()}.{r.choice(['test', 'spec', 'config', 'min', 'd'])}.{r.choice(['ts', 'js'])}"
        return "." + self.identifier() if share < 0.98 else self.identifier()

    def folder_name(self):
        return self.r.choice(KNOWN_FOLDERS) if self.r.random() < (0.25 if self.held_out else 0.4) else self.identifier()

    def prefix(self):
        share = self.r.random()
        steps = [(0.06, "./"), (0.09, "/tmp/"), (0.11, f"/home/{self.word()}/"), (0.14, "../"), (0.155, "~/"), (0.17, "/")]
        return next((text for limit, text in steps if share < limit), "")

    def folder(self):
        names = "/".join(self.folder_name() for _ in range(self.r.choice([1, 1, 1, 1, 1, 2, 2, 3])))
        return self.prefix() + names + ("/" if self.r.random() < 0.06 else "")

    def file(self):
        depth = self.r.choice([0, 0, 0, 0, 1, 1, 1, 2, 2, 3])
        return self.prefix() + "".join(self.folder_name() + "/" for _ in range(depth)) + self.file_name()

    def phrase(self, least=1, most=7):
        r = self.r
        if least <= 2 and r.random() < (0.0 if self.held_out else 0.1):
            return r.choice(PLAIN_TEXTS)
        count = r.randint(least, most)
        words = [
            r.choice(LITTLE_WORDS) if (0 < i < count - 1 and r.random() < 0.3) else self.word() if r.random() < 0.93 else str(self.number())
            for i in range(count)
        ]
        text = " ".join(words)
        if r.random() < 0.4:
            text = self.capital(text)
        share = r.random()
        if count > 2 and share < 0.1:
            text = text.replace(" ", ", ", 1)
        return text + r.choice(".!?!.") if share > 0.9 else text

    def few_words(self):
        if not self.held_out and self.r.random() < 0.12:
            return self.r.choice(PLAIN_TEXTS)
        return " ".join(self.word() for _ in range(self.r.choice([1, 1, 2, 2, 3])))

    def code(self):
        r = self.r
        one, two, number = self.identifier(), self.identifier(), self.number()
        return r.choice([
            f'console.log("{one}")', f'print("{self.phrase(1, 3)}")', f"const {one} = {number};", f"{one} = {number}",
            f'import {one} from "./{two}";', f"import {one}", f"export default {one};", f"def {one}(): return {number}",
            f'{{"{one}": {number}}}', f'{{"{one}": "{two}"}}', f"{one},{two},{number},{self.number()}", f"# {self.phrase(1, 4)}",
            f"<h1>{self.phrase(1, 3)}</h1>", f"return {one};", f"let {one} = '{two}';", f"{one}: {two}", f"{one}({two})",
            f"function {one}() {{}}", f"if ({one} > {number}) {two}();", f"export {one.upper()}={number}", f"port: {number}",
            f'version = "{r.randint(0, 9)}.{r.randint(0, 20)}.{r.randint(0, 9)}"', f"- {self.phrase(1, 4)}",
            f"{one}={number}", f"{one.upper()}={number}", f"{one}: {number}", f"{one} = '{two}'", f"{one}-{two}", f"{r.randint(0, 9)}.{r.randint(0, 20)}.{r.randint(0, 9)}",
            f"{one} - {two}", f"{one} + {two}", f"return {one} + {two}", f"return {one} * {number}", f"{one} < {number}",
        ])

    def content(self):
        share = self.r.random()
        if share < 0.62:
            return self.phrase(1, 8)
        return self.code() if share < 0.9 else str(self.number()) if share < 0.94 else self.identifier()

    def fragment(self):
        """A piece of a file, to be replaced or to replace."""
        share = self.r.random()
        if share < 0.4:
            return self.identifier()
        if share < 0.6:
            return self.code()
        return self.phrase(1, 3) if share < 0.85 else str(self.number()) if share < 0.95 else self.r.choice(CODE_WORDS)

    def changed(self, text):
        """What somebody would put in place of a text: most often something like it."""
        r = self.r
        numbers = list(re.finditer(r"[0-9]+", text))
        words = list(re.finditer(r"[A-Za-z]{3,}", text))
        share = r.random()
        if numbers and share < 0.6:
            match = r.choice(numbers)
            value = str(r.choice([int(match[0]) + 1, self.number(), int(match[0]) * 10]))
        elif words and share < 0.85:
            match = r.choice(words)
            at = r.randrange(1, len(match[0]) - 1)
            value = match[0][:at] + match[0][at + 1] + match[0][at] + match[0][at + 2 :] if share < 0.7 else self.word()
        else:
            return text + r.choice(["s", "2", " " + self.word(), "_" + self.word(), "!"])
        return text[: match.start()] + value + text[match.end() :]

    def moved(self, path):
        """Where somebody would move a file: the same name elsewhere, or another name beside it."""
        r = self.r
        folder, _, name = path.rpartition("/")
        stem, dot, extension = name.rpartition(".")
        share = r.random()
        if share < 0.4:
            return self.folder().rstrip("/") + "/" + name
        if share < 0.5 and folder:
            return folder + "/" + self.folder_name() + "/" + name
        before = folder + "/" if folder else ""
        if not stem:
            return before + name + r.choice([".bak", ".old", "2"])
        if share < 0.8:
            return before + stem + r.choice(["-old", "_old", "2", "-v2", "_backup", "-" + self.word(), "_" + self.word(), str(r.randint(1, 2030))]) + dot + extension
        return before + (self.word() if share < 0.92 else self.changed(stem)) + dot + (extension if share < 0.96 else r.choice(USUAL_EXTENSIONS))

    def glob(self):
        r = self.r
        extension, share = r.choice(EXTENSIONS), r.random()
        steps = [
            (0.40, f"*.{extension}"), (0.50, f"**/*.{extension}"), (0.60, f"{self.identifier()}*"), (0.72, f"*{self.word()}*"),
            (0.76, f"*.test.{r.choice(['ts', 'js'])}"), (0.86, f"{self.word()}*.{extension}"), (1.00, f"*_{self.word()}.{extension}"),
        ]
        return next(text for limit, text in steps if share < limit)

    def needle(self):
        share = self.r.random()
        if share < 0.2:
            return self.r.choice(CODE_WORDS)
        if share < 0.7:
            return self.identifier()
        return self.phrase(2, 3).rstrip(".!?") if share < 0.85 else self.code() if share < 0.95 else str(self.number())

    def commit_message(self):
        r = self.r
        share, verb = r.random(), r.choice(COMMIT_VERBS)
        if share < 0.45:
            text = verb + " " + self.few_words()
        else:
            text = f"{r.choice(COMMIT_KINDS)}: {verb} {self.few_words()}" if share < 0.65 else self.phrase(1, 5)
        return self.capital(text) if r.random() < 0.3 else text

    def query(self):
        r, word = self.r, self.word
        return r.choice([
            lambda: f"how to {word()} a {word()}", lambda: f"best {word()} for {word()}", lambda: f"latest {word()} release",
            lambda: f"{word()} {word()} tutorial", lambda: f"{self.capital(word())} {self.number()} {word()}", lambda: f"{word()} vs {word()}",
            self.few_words, self.few_words, lambda: f"{word()} documentation", lambda: f"what is {word()}",
            lambda: f"{self.capital(word())} {self.capital(word())}", lambda: f"weather in {self.capital(word())}",
            lambda: f"{word()} error {self.number()}", lambda: f"{word()} price", lambda: f"news about {word()}",
        ])()

    def command(self):
        fill = {"w": self.word, "f": self.file, "d": self.folder, "n": self.number, "e": lambda: self.r.choice(EXTENSIONS)}
        template = self.r.choice(COMMANDS_HELD_OUT if self.held_out else COMMANDS)
        return re.sub(r"\{(\w)\}", lambda match: str(fill[match[1]]()), template)
