#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Builds and runs every test; scripts/test.sh calls this.

A runner is one line of RUNNERS. Its totals are what its programs report; a
runner that runs nothing has failed. The last line printed is
`N passed, N failed`, the sum over all runners, and the exit code is 0 only if
nothing failed. Tests that were skipped are listed as `SKIPPED: TEST: reason`.
"""

import argparse
import concurrent.futures
import dataclasses
import glob
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree
from typing import Any, Callable, Dict, List, Optional, Tuple

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PROGRAM_TIME_LIMIT = 2400  # seconds


@dataclasses.dataclass
class Result:
    passed: int = 0
    failures: List[str] = dataclasses.field(default_factory=list)
    failed: int = 0
    skipped: List[str] = dataclasses.field(default_factory=list)

    def fail(self, message: str, count: int = 1) -> None:
        self.failures.append(message)
        self.failed += count

    def add(self, other: "Result") -> None:
        self.passed += other.passed
        self.failures += other.failures
        self.failed += other.failed
        self.skipped += other.skipped


@dataclasses.dataclass
class Runner:
    name: str
    kind: Callable[["Runner", str], Result]
    # What to run; the first word is a glob. {build} is the build directory.
    command: str
    # The preset that must be built first.
    preset: Optional[str] = None
    # Only with --full.
    full: bool = False
    env: Dict[str, str] = dataclasses.field(default_factory=dict)


def execute(command: List[str], env: Dict[str, str]) -> Tuple[int, str]:
    """The exit code and the output; a program past the time limit is ended with its children."""
    process = subprocess.Popen(
        command, cwd=ROOT, env={**os.environ, **env}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, start_new_session=True)
    try:
        output, _ = process.communicate(timeout=PROGRAM_TIME_LIMIT)
        return process.returncode, output.decode(errors="replace")
    except BaseException as error:
        os.killpg(process.pid, signal.SIGKILL)
        output, _ = process.communicate()
        if not isinstance(error, subprocess.TimeoutExpired):
            raise
        return -signal.SIGKILL, output.decode(errors="replace") + f"\nended after {PROGRAM_TIME_LIMIT} s\n"


def describe_exit(code: int) -> str:
    return f"ended by {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"


def tail(text: str, lines: int = 40) -> str:
    kept = text.rstrip().splitlines()[-lines:]
    return "\n".join("    " + line for line in kept)


def expand(command: str) -> List[List[str]]:
    """One command line for each program that the first word matches."""
    words = shlex.split(command)
    programs = sorted(p for p in glob.glob(os.path.join(ROOT, words[0])) if os.path.isfile(p) and os.access(p, os.X_OK))
    return [[program] + words[1:] for program in programs]


def for_each_program(function: Callable[[Any], Result], commands: List[Any]) -> Result:
    total = Result()
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for result in pool.map(function, commands):
            total.add(result)
    return total


# The kinds of runner.


def gtest(runner: Runner, command: str) -> Result:
    """GoogleTest programs, each in as many parts as there are cores: one of them has most of the work."""
    parts = os.cpu_count() or 1

    def run(part: Tuple[List[str], int]) -> Result:
        words, index = part
        result = Result()
        program = os.path.basename(words[0])
        env = {**runner.env, "GTEST_TOTAL_SHARDS": str(parts), "GTEST_SHARD_INDEX": str(index)}
        with tempfile.TemporaryDirectory() as folder:
            report = os.path.join(folder, "report.xml")
            code, output = execute(words + [f"--gtest_output=xml:{report}"], env)
            try:
                cases = list(ElementTree.parse(report).getroot().iter("testcase"))
            except (OSError, ElementTree.ParseError):
                # It died: what it said until then, and one failure.
                result.passed = len(re.findall(r"^\[       OK \]", output, re.MULTILINE))
                failed = len(re.findall(r"^\[  FAILED  \] .* ms\)$", output, re.MULTILINE))
                result.fail(f"{program}: {describe_exit(code)}\n{tail(output)}", failed + 1)
                return result
        for case in cases:
            name = f"{program}: {case.get('classname')}.{case.get('name')}"
            skip = case.find("skipped")
            if case.find("failure") is not None:
                message = "\n".join(f.get("message", "") for f in case.findall("failure"))
                result.fail(f"{name}\n{tail(message)}")
            elif case.get("status") == "notrun":
                result.skipped.append(f"{name}: disabled")
            elif skip is not None or case.get("result") == "skipped":
                message = (skip.get("message", "") if skip is not None else "").strip().splitlines()
                result.skipped.append(f"{name}: {message[-1] if message else 'no reason given'}")
            else:
                result.passed += 1
        if code != 0 and result.failed == 0:
            result.fail(f"{program}: {describe_exit(code)}\n{tail(output)}")
        return result

    return for_each_program(run, [(words, index) for words in expand(command) for index in range(parts)])


COUNTS = re.compile(r"^(?:\w+: )?(\d+) passed, (\d+) failed(?:, \d+ skipped)?$", re.MULTILINE)


def counted(runner: Runner, command: str) -> Result:
    """Programs whose last line is `N passed, N failed`."""

    def run(words: List[str]) -> Result:
        result = Result()
        program = os.path.basename(words[0])
        code, output = execute(words, runner.env)
        counts = COUNTS.findall(output)
        for reason in re.findall(r"^SKIPPED: (.*)$", output, re.MULTILINE):
            result.skipped.append(f"{program}: {reason}")
        failed = 0
        if counts:
            result.passed, failed = (int(n) for n in counts[-1])
        elif code == 0:
            result.fail(f"{program}: did not print `N passed, N failed`\n{tail(output)}")
        if failed or code != 0:
            result.fail(f"{program}: {describe_exit(code)}\n{tail(output)}", max(failed, 1))
        return result

    return for_each_program(run, expand(command))


def lit(runner: Runner, command: str) -> Result:
    """A folder of lit tests."""
    result = Result()
    folder = os.path.join(ROOT, command)
    if not os.path.isdir(folder):
        return result
    with tempfile.TemporaryDirectory() as temporary:
        report = os.path.join(temporary, "report.json")
        lit_main = [sys.executable, "-c", "from lit.main import main; main()"]
        code, output = execute(lit_main + ["-q", "--output", report, folder], runner.env)
        try:
            with open(report, encoding="utf-8") as file:
                tests = json.load(file)["tests"]
        except (OSError, ValueError, KeyError):
            result.fail(f"lit: {describe_exit(code)}\n{tail(output)}")
            return result
    for test in tests:
        if test["code"] in ("PASS", "XFAIL", "FLAKYPASS"):
            result.passed += 1
        elif test["code"] in ("UNSUPPORTED", "SKIPPED", "EXCLUDED"):
            reason = (test.get("output") or "").strip().splitlines()
            result.skipped.append(f"{test['name']}: {reason[-1] if reason else test['code'].lower()}")
        else:
            result.fail(f"{test['name']}: {test['code']}\n{tail(test.get('output') or '', 60)}")
    if code != 0 and result.failed == 0:
        result.fail(f"lit: {describe_exit(code)}\n{tail(output)}")
    return result


def list_sources(*suffixes: str) -> List[str]:
    """The tree's files, new ones included, that end in one of the suffixes."""
    output = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT, check=True,
        stdout=subprocess.PIPE).stdout.decode()
    return sorted(f for f in set(output.split("\0")) if f.endswith(suffixes) and os.path.isfile(os.path.join(ROOT, f)))


def clang_format(runner: Runner, command: str) -> Result:
    """One test: every C and C++ file is formatted."""
    result = Result()
    files = list_sources(".c", ".h", ".cpp", ".inc")
    if files:
        code, output = execute(shlex.split(command) + files, runner.env)
        if code == 0:
            result.passed = 1
        else:
            result.fail(f"{describe_exit(code)}; scripts/run_tests.py --fix-format changes the files\n{tail(output)}")
    return result


# What clang-tidy reads in seconds. A file that includes MLIR takes half a minute,
# so the others are for --full and --tidy.
TIDY_FOLDERS = ("runtime/src/", "tools/lib/")


def clang_tidy(runner: Runner, command: str) -> Result:
    """One test for each source file that the build compiles, of those folders or of --tidy."""
    words = shlex.split(command)
    wanted = tuple(words[1:])
    with open(os.path.join(ROOT, words[0], "compile_commands.json"), encoding="utf-8") as file:
        compiled = {os.path.relpath(entry["file"], ROOT) for entry in json.load(file)}
    sources = sorted(f for f in compiled if f.startswith(wanted) and not f.startswith(("build/", "..")))
    # The build's options and precompiled headers are those of GCC.
    extra = ["--extra-arg=-Wno-unknown-warning-option", "--extra-arg=-Wno-ignored-gch"]
    tidy = ["clang-tidy-22", "-p", words[0], "--quiet", "--warnings-as-errors=*", *extra]

    def run(files: List[str]) -> Result:
        result = Result()
        code, output = execute(tidy + files, runner.env)
        if code == 0:
            result.passed = 1
        else:
            result.fail(f"{files[0]}: {describe_exit(code)}\n{tail(output)}")
        return result

    return for_each_program(run, [[f] for f in sources])


# libLLVM and libMLIR are not instrumented, so containers that cross into them
# look overflown, their allocators do not undo what ours poison, and what they
# keep until exit looks leaked. scripts/build.sh runs tools with the same options.
ASAN = {"ASAN_OPTIONS": "allow_user_poisoning=0:detect_container_overflow=0:detect_leaks=1", "UBSAN_OPTIONS": "print_stacktrace=1"}
ASAN_TOOLS = {**ASAN, "ASAN_OPTIONS": "allow_user_poisoning=0:detect_container_overflow=0:detect_leaks=0"}

RUNNERS = [
    Runner("format", clang_format, "clang-format-22 --dry-run -Werror"),
    Runner("license", counted, "scripts/check-license.py"),
    Runner("tidy", clang_tidy, "{build} {tidy}", "dev"),
    Runner("unit", gtest, "{build}/tests/bin/unit/*", "dev"),
    Runner("numerics", counted, "{build}/tests/bin/numerics/* {full}", "dev"),
    Runner("c", counted, "{build}/tests/bin/c/*", "dev"),
    Runner("lit", lit, "{build}/tests/lit", "dev"),
    Runner("specs", counted, "{python} scripts/quickstart.py --prefix {build} --output {build}/specs --length 40"
           " --isa x86-64 --no-bench", "dev"),
    Runner("emulated", counted, "tests/emulated/run.sh {build}", "dev"),
    Runner("fuzz", counted, "{build}/tests/bin/fuzz/* {fuzz}", "dev"),
    Runner("install", counted, "tests/install/run.sh {build}", "dev"),
    Runner("asan-unit", gtest, "{build}/tests/bin/unit/*", "asan", env=ASAN),
    Runner("asan-c", counted, "{build}/tests/bin/c/*", "asan", env=ASAN),
    Runner("asan-lit", lit, "{build}/tests/lit", "asan", env=ASAN_TOOLS),
    Runner("asan-fuzz", counted, "{build}/tests/bin/fuzz/* {fuzz}", "asan", env=ASAN_TOOLS),
    Runner("asan-numerics", counted, "{build}/tests/bin/numerics/* {full}", "asan", full=True, env=ASAN_TOOLS),
    Runner("tsan-c", counted, "{build}/tests/bin/c/*", "tsan", full=True),
]
FUZZ, FUZZ_FULL = "--seconds 10", "--runs 1000000000 --seconds 60"


def build(preset: str) -> bool:
    print(f"== build/{preset}", flush=True)
    start = time.monotonic()
    code = subprocess.run(["scripts/build.sh", preset], cwd=ROOT, stdin=subprocess.DEVNULL).returncode
    print(f"   built in {time.monotonic() - start:.0f} s" if code == 0 else f"   failed: {describe_exit(code)}", flush=True)
    return code == 0


def main() -> int:
    parser = argparse.ArgumentParser(prog="scripts/test.sh", description="Builds posenc and runs its tests.")
    parser.add_argument("--full", action="store_true", help="also run the slow runners, and fuzz for longer")
    parser.add_argument("--filter", metavar="RUNNER", action="append", default=[],
                        help="only run these (may be repeated): " + ", ".join(r.name for r in RUNNERS))
    parser.add_argument("--no-sanitizers", action="store_true", help="leave out the runners of sanitizer builds")
    parser.add_argument("--no-build", action="store_true", help="run what was built before")
    parser.add_argument("--tidy", metavar="PATH", action="append", default=[],
                        help="let clang-tidy read what begins with this, for example passes/ (may be repeated; "
                        "--full: everything)")
    parser.add_argument("--fix-format", action="store_true", help="format the files and do nothing else")
    options = parser.parse_args()

    if options.fix_format:
        return subprocess.run(["clang-format-22", "-i"] + list_sources(".c", ".h", ".cpp", ".inc"), cwd=ROOT).returncode

    unknown = set(options.filter) - {r.name for r in RUNNERS}
    if unknown:
        parser.error(f"no runner is called {', '.join(sorted(unknown))}")
    selected = [
        r for r in RUNNERS
        if (r.name in options.filter if options.filter else options.full or not r.full)
        and not (options.no_sanitizers and r.preset in ("asan", "tsan"))
    ]
    if not selected:
        parser.error("these options leave no runner")

    tidy = options.tidy or (
        ["dialect/", "passes/", "generators/", "runtime/src/", "tools/"] if options.full else TIDY_FOLDERS)
    start = time.monotonic()
    built: Dict[str, bool] = {}
    total = Result()
    lines = []
    for runner in selected:
        if runner.preset and runner.preset not in built:
            built[runner.preset] = options.no_build or build(runner.preset)
        print(f"== {runner.name}", flush=True)
        runner_start = time.monotonic()
        result = Result()
        if runner.preset and not built[runner.preset]:
            result.fail(f"build/{runner.preset} was not built")
        else:
            try:
                result = runner.kind(runner, runner.command.format(
                    build=f"build/{runner.preset}", python=sys.executable, fuzz=FUZZ_FULL if options.full else FUZZ,
                    full="--full" if options.full else "", tidy=shlex.join(tidy)))
            except (OSError, subprocess.SubprocessError) as error:
                result.fail(str(error))
            if result.passed + result.failed == 0:
                result.fail("ran nothing")
        for failure in result.failures:
            print(f"FAILED: {runner.name}: {failure}")
        line = f"{result.passed} passed, {result.failed} failed, {len(result.skipped)} skipped"
        lines.append(f"   {runner.name:14} {line}")
        print(f"   {line} in {time.monotonic() - runner_start:.1f} s", flush=True)
        result.skipped = [f"{runner.name}: {reason}" for reason in result.skipped]
        total.add(result)

    print("== all")
    print("\n".join(lines))
    for reason in total.skipped:
        print(f"SKIPPED: {reason}")
    print(f"{len(total.skipped)} skipped; total time {time.monotonic() - start:.0f} s")
    print(f"{total.passed} passed, {total.failed} failed")
    return 1 if total.failed else 0


if __name__ == "__main__":
    sys.exit(main())
