"""apk_contents.py APK WORK - is in the APK what belongs there, as Android wants it? WORK has what other tools said of it
(app-test). Ends with 1 and a line for each thing that is wrong."""

import pathlib
import re
import struct
import sys
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODEL = ("config.json", "generation_config.json", "tokenizer_config.json", "vocab.json", "model.safetensors",
         "source.spm", "target.spm")
LIBRARY = "lib/x86_64/liblapilli_jni.so"
PAGE = 16384
BADGING = ("package: name='dev.lapilli.sample' versionCode='1' versionName='1.0'", "sdkVersion:'24'",
           "targetSdkVersion:'34'", "launchable-activity: name='dev.lapilli.sample.MainActivity'")

wrong = []


def check(right, what):
    if not right:
        wrong.append(what)


def data_offset(apk, entry):
    """Where an entry's bytes begin: behind its local header, whose fields may be longer than the directory says."""
    apk.fp.seek(entry.header_offset + 26)
    name, extra = struct.unpack("<HH", apk.fp.read(4))
    return entry.header_offset + 30 + name + extra


def check_entries(apk):
    expected = {"AndroidManifest.xml", "resources.arsc", "classes.dex", LIBRARY}
    expected |= {f"assets/en-fr/{name}" for name in MODEL}
    # Folders and the signature's own files are nobody's business.
    found = {e.filename for e in apk.infolist() if not e.is_dir() and not e.filename.startswith("META-INF/")}
    check(found == expected, f"missing: {sorted(expected - found)}, too much: {sorted(found - expected)}")


def check_model(apk):
    for name in MODEL:
        entry = apk.getinfo(f"assets/en-fr/{name}")
        check(entry.compress_type == zipfile.ZIP_STORED, f"{name} is compressed: it has no descriptor")
        check(apk.read(entry) == (ROOT / "models/en-fr" / name).read_bytes(), f"{name} is not the model's")


def check_library(apk, work):
    entry = apk.getinfo(LIBRARY)
    check(entry.compress_type == zipfile.ZIP_STORED, "the library is compressed: it cannot be mapped from the APK")
    check(data_offset(apk, entry) % PAGE == 0, "the library does not begin at a page of 16 KiB")
    aligned = [int(line.split()[-1], 16) for line in (work / "segments").read_text().splitlines() if " LOAD " in line]
    check(aligned and all(size >= PAGE for size in aligned), f"segments are laid out for smaller pages: {aligned}")


def check_bridge(work):
    """Each native method has its function, and the library shows nothing else."""
    source = (ROOT / "samples/android/lapilli/src/main/java/dev/lapilli/Native.java").read_text()
    methods = {f"Java_dev_lapilli_Native_{name}" for name in re.findall(r"static native \S+ (\w+)\(", source)}
    symbols = {line.split()[-1] for line in (work / "symbols").read_text().splitlines()}
    check(methods == symbols, f"methods and functions differ: {sorted(methods ^ symbols)}")


def check_classes(apk):
    dex = apk.read("classes.dex")
    for name in ("dev/lapilli/Native", "dev/lapilli/Translator", "dev/lapilli/TranslationHolder",
                 "dev/lapilli/android/AssetModel", "dev/lapilli/sample/MainActivity"):
        check(f"L{name};".encode() in dex, f"{name} is not in classes.dex")


work = pathlib.Path(sys.argv[2])
with zipfile.ZipFile(sys.argv[1]) as apk:
    check_entries(apk)
    check_model(apk)
    check_library(apk, work)
    check_classes(apk)
check_bridge(work)
badging = (work / "badging").read_text()
for line in BADGING:
    check(line in badging, f"the manifest does not say {line}")
for line in wrong:
    print("WRONG", line)
print("the APK is as it should be" if not wrong else f"{len(wrong)} things are wrong")
sys.exit(1 if wrong else 0)
