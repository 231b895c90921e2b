"""The program lapilli of the wheel that scripts/package makes: pip installs it as a command."""

import os
import pathlib
import sys


def main():
    program = pathlib.Path(__file__).resolve().parent / "bin" / "lapilli"
    if not program.exists():
        sys.exit("this installation of the module has no program: scripts/package wheel makes a wheel that has it")
    os.execv(program, [str(program), *sys.argv[1:]])
