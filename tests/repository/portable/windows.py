"""windows.py WINE BUILD - what people do with Lapilli on Windows, in Wine: called by the script mingw beside it."""
import itertools
import json
import pathlib
import re
import shutil
import subprocess
import sys

WINE, BUILD = sys.argv[1], pathlib.Path(sys.argv[2])
ROOT = pathlib.Path(__file__).resolve().parents[3]
MODEL = ROOT / "models/en-fr"
failures = 0


def run(program, *arguments, text=None):
    """The exit code, and what the program said: without the carriage returns of a Windows console."""
    done = subprocess.run([WINE, str(BUILD / program), *arguments], input=text, capture_output=True, timeout=600, cwd=BUILD)
    return done.returncode, done.stdout.decode().replace("\r", ""), done.stderr.decode(errors="replace")


def expect(what, got, wanted):
    global failures
    if got[0] == 0 and got[1] == wanted:
        print(f"right: {what}", flush=True)
        return
    failures += 1
    print(f"WRONG: {what}: exit code {got[0]}, and on stderr:\n{got[2]}", flush=True)
    for had, should in itertools.zip_longest(got[1].splitlines(), wanted.splitlines()):
        if had != should:
            print(f"  wanted {should!r}\n  got    {had!r}", flush=True)


def sentences(way):
    cases = json.loads((MODEL / "expected.json").read_text(encoding="utf-8"))["cases"]
    cases = [case for case in cases if case[way]["robust"] and "\n" not in case["text"]]
    assert len(cases) >= 5, "hardly a test"
    return [case["text"] for case in cases], "".join(case[way]["text"] + "\n" for case in cases)


def check_sentences():
    for way, options in (("greedy", ["--no-split", "--beam", "1"]), ("beam4", ["--no-split", "--beam", "4"])):
        texts, wanted = sentences(way)
        got = run("lapilli.exe", "translate", "--model", str(MODEL), *options, text="".join(t + "\n" for t in texts).encode())
        expect(f"{len(texts)} sentences, {way}", got, wanted)
    one, wanted = texts[0], wanted.split("\n")[0] + "\n"
    expect("a sentence as an argument", run("lapilli.exe", "translate", "--model", str(MODEL), one), wanted)


def check_names():
    """Folders and files with names that no code page of Windows has, given as arguments."""
    folder = BUILD / "Zürich - Ωμέγα - 日本語"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(MODEL, folder / "modèle")
    (folder / "entrée €.txt").write_text("Where is the station?\n", encoding="utf-8")
    written = folder / "翻訳.txt"
    code, _, said = run("lapilli.exe", "translate", "--model", str(folder / "modèle"), str(folder / "entrée €.txt"),
                        "--output", str(written))
    translated = written.read_text(encoding="utf-8") if written.exists() else ""
    expect("names beyond the code page", (code, translated, said), "Où est la gare ?\n")
    code, _, said = run("lapilli.exe", "translate", "--model", str(folder / "日本語"), "Hello.")
    expect("a name that is not there is said", (0 if code else 1, "日本語" if "日本語" in said else "", said), "日本語")


def exported(dll):
    """Names, sorted, one a line: what scripts/abi asks of a shared library elsewhere."""
    dump = shutil.which("x86_64-w64-mingw32-objdump") or "objdump"
    done = subprocess.run([dump, "-p", str(dll)], capture_output=True, timeout=60, text=True)
    table = done.stdout.partition("[Ordinal/Name Pointer] Table")[2].partition("\n\n")[0]
    names = re.findall(r"^\s*\[\s*\d+\].*?(\S+)$", table, re.M)
    return done.returncode, "".join(name + "\n" for name in sorted(names)), done.stderr


def check_dll():
    dlls = list(BUILD.glob("*lapilli*.dll"))
    assert dlls, "there is no DLL"
    listed = (ROOT / "tests/data/abi.txt").read_text(encoding="utf-8")
    expect(f"the names that {dlls[0].name} exports", exported(dlls[0]), listed)
    expect("the DLL, from C", run("sample_minimal_c.exe", "Where is the station?"), "Où est la gare ?\n")


check_dll()
check_sentences()
check_names()
print(f"{failures} wrong")
sys.exit(1 if failures else 0)
