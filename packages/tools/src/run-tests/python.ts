import { markedLines, reportOf, type TestFramework } from "./report.ts"

const PROLOGUE = `
import json, os, sys, traceback
marker = os.environ.get("TOOLWRIGHT_TEST_MARKER", "")
root = os.getcwd()
real = os.dup(1)
def tell(**event):
    os.write(real, ("\\n" + marker + json.dumps(event) + "\\n").encode())
def innermost(tb):
    place = (None, None)
    while tb is not None:
        name = tb.tb_frame.f_code.co_filename
        if os.path.abspath(name).startswith(root + os.sep) and "site-packages" not in name:
            place = (os.path.abspath(name), tb.tb_lineno)
        tb = tb.tb_next
    return place
`

const UNITTEST = `${PROLOGUE}
import unittest
class Result(unittest.TestResult):
    def addSuccess(self, test):
        super().addSuccess(test); tell(event="pass", name=test.id())
    def addSkip(self, test, reason):
        super().addSkip(test, reason); tell(event="skip", name=test.id())
    def addExpectedFailure(self, test, err):
        super().addExpectedFailure(test, err); tell(event="pass", name=test.id())
    def addUnexpectedSuccess(self, test):
        super().addUnexpectedSuccess(test); tell(event="fail", name=test.id(), message="unexpected success")
    def failed(self, test, err):
        file, line = innermost(err[2])
        text = str(err[1]) or err[0].__name__
        if not isinstance(err[1], AssertionError): text = err[0].__name__ + ": " + text
        stack = "".join(traceback.format_exception(*err))
        tell(event="fail", name=test.id(), message=text, file=file, line=line, stack=stack)
    def addFailure(self, test, err):
        super().addFailure(test, err); self.failed(test, err)
    def addError(self, test, err):
        super().addError(test, err); self.failed(test, err)
    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err is not None: self.failed(subtest, err)
held = {name: value for name, value in vars(unittest.TestCase).items() if name.startswith(("assert", "fail"))}
files, pattern = json.loads(sys.argv[1])
loader = unittest.TestLoader()
if pattern: loader.testNamePatterns = ["*" + pattern + "*"]
suite = unittest.TestSuite()
sys.path.insert(0, root)
if files:
    for path in files:
        folder, name = os.path.split(os.path.join(root, path))
        suite.addTests(loader.discover(path) if os.path.isdir(path) else loader.discover(folder, pattern=name))
else:
    starts = [d for d in ("tests", "test") if os.path.isdir(d)] or ["."]
    for start in starts: suite.addTests(loader.discover(start))
result = Result()
suite.run(result)
for name, value in held.items():
    if vars(unittest.TestCase).get(name) is not value: tell(event="replaced", name="TestCase." + name)
tell(event="end")
sys.stdout.flush()
os._exit(0 if result.wasSuccessful() else 1)
`

const PYTEST = `${PROLOGUE}
import pytest
class Plugin:
    def pytest_runtest_logreport(self, report):
        if report.passed and report.when == "call": tell(event="pass", name=report.nodeid)
        elif report.skipped and report.when in ("setup", "call"): tell(event="skip", name=report.nodeid)
        elif report.failed: self.failed(report)
    def pytest_collectreport(self, report):
        if report.failed: self.failed(report)
    def failed(self, report):
        crash = getattr(report.longrepr, "reprcrash", None)
        file = os.path.abspath(crash.path) if crash else None
        message = crash.message if crash else str(report.longrepr)
        line = crash.lineno if crash else None
        first = message.split("\\n")[0]
        tell(event="fail", name=report.nodeid, message=first, file=file, line=line, stack=report.longreprtext)
files, pattern = json.loads(sys.argv[1])
sys.path.insert(0, root)
chosen = ["-k", pattern] if pattern else []
code = pytest.main(["-q", "-p", "no:cacheprovider", *chosen, "--", *files], plugins=[Plugin()])
if code in (0, 1, 5): tell(event="end")
sys.stdout.flush()
os._exit(int(code))
`

const script = (text: string): TestFramework => ({
  argv: ({ files, name }) => ["python3", "-B", "-c", text, JSON.stringify([files, name ?? ""])],
  parse: ({ stdout }, { root }, marker) => reportOf(markedLines(stdout, marker), root),
})

/** Python's own unittest, with discovery in `tests`, `test` or the top folder. */
export const unittest = script(UNITTEST)
/** pytest, where it is installed. */
export const pytest = script(PYTEST)
