"""The rows of the tests of engines, and what the program says of them: rows that are nulls, blanks, no UTF-8 or too long stand among
lines, and each has one result, in its place."""

import json
import os
import pathlib
import subprocess
import threading
import time

BAD = {7: None, 11: b"", 13: b" \t ", 17: b"caf\xe9 au lait", 23: b"long " * 250000}


def lines(count):
    words = "one two three four five six seven eight nine ten".split()
    return [f"I have {words[i % 10]} brothers and {words[i // 10 % 10]} sisters in the house number {i}." for i in range(count)]


def inputs(count):
    rows = [line.encode() for line in lines(count)]
    return [BAD.get(i, row) if i in BAD else row for i, row in enumerate(rows)]


def program_says(program, count):
    """The single run's translations of all lines."""
    text = "\n".join(lines(count)) + "\n"
    command = [program, "translate", "--deterministic", "--quiet", "--no-unsure", "--dtype", "fp32", "-"]
    said = subprocess.run(command, input=text, check=True, stdout=subprocess.PIPE, text=True).stdout
    return said.splitlines()


def check(results, single):
    """`results`: (number, translation, rejected) in any order; equal to the single run."""
    by_number = {}
    for number, translation, rejected in results:
        assert number not in by_number, f"row {number} came twice"
        by_number[number] = (translation, rejected)
    assert len(by_number) == len(single), f"{len(by_number)} rows of {len(single)}"
    for number, line in enumerate(single):
        translation, rejected = by_number[number]
        if number not in BAD:
            assert (translation, rejected) == (line, None), f"row {number}: {translation!r}, {rejected!r}, not {line!r}"
        elif BAD[number] is None:
            assert (translation, rejected) == (None, None), f"a null: {translation!r}, {rejected!r}"
        elif not BAD[number].strip():
            assert (translation, rejected) == ("", None), f"blanks: {translation!r}, {rejected!r}"
        else:
            assert translation is None and rejected, f"row {number} was not rejected: {translation!r}"


def program_embeds(program, model, count):
    """The single run's vectors of all lines."""
    text = "\n".join(lines(count)) + "\n"
    command = [program, "embed", "--model", model, "--deterministic", "--quiet", "--dtype", "fp32", "-"]
    said = subprocess.run(command, input=text, check=True, stdout=subprocess.PIPE, text=True).stdout
    return [json.loads(line)["embedding"] for line in said.splitlines()]


def loaded():
    """The loads so far: a process and its device each."""
    path = pathlib.Path(os.environ["LAPILLI_LOADS"])
    return path.read_text(encoding="utf-8").splitlines() if path.exists() else []


def check_loads(most):
    """No worker loaded twice, and no more workers than that were there; gives their number."""
    workers = [line.split()[0] for line in loaded()]
    assert len(workers) == len(set(workers)), f"a worker loaded twice: {workers}"
    assert len(workers) <= most, f"{len(workers)} loads: workers do not keep their models"
    return len(workers)


def when_loaded(count, act):
    """Calls act(processes) as soon as so many have a model; gives an event that is set then."""
    done = threading.Event()

    def wait():
        while len(loaded()) < count:
            time.sleep(0.1)
        act([int(line.split()[0]) for line in loaded()])
        done.set()

    threading.Thread(target=wait, daemon=True).start()
    return done


class Stopwatch:
    def __enter__(self):
        self.began = self.ended = time.monotonic()
        return self

    def __exit__(self, *_):
        self.ended = time.monotonic()

    def __str__(self):
        return f"{self.ended - self.began:.1f} s"


def environment(work, name):
    """Of workers: the file in which loads are counted; deterministic runs on one thread each."""
    os.environ["LAPILLI_LOADS"] = os.path.join(work, name)
    os.environ.setdefault("LP_NUM_THREADS", "0")
