"""Directories of models with trained weights: found, or made by the script make.sh of the folder that LAPILLI_REAL names."""
import importlib.util, os, shutil, subprocess, sys

# Modules that make.sh imports for a model (by the beginning of its name), and the packages that have them.
NUMBERS = {"numpy": "numpy", "safetensors": "safetensors"}
NEEDS = {"all": {}, "bge": {**NUMBERS, "onnx": "onnx", "google.protobuf": "protobuf", "ml_dtypes": "ml_dtypes",
                            "typing_extensions": "typing_extensions"},
         "distilbert": {**NUMBERS, "onnx": "onnx", "google.protobuf": "protobuf", "ml_dtypes": "ml_dtypes",
                        "typing_extensions": "typing_extensions"}, "whisper": NUMBERS, "moonshine": {**NUMBERS, "onnxruntime": "onnxruntime", "flatbuffers": "flatbuffers"},
         "flan": {**NUMBERS, "onnx": "onnx", "google.protobuf": "protobuf", "ml_dtypes": "ml_dtypes",
                  "typing_extensions": "typing_extensions"}}

class Skipped(Exception):
    pass

def fetched(what, command, **how):
    """Runs what needs the network; the last line that it says is the reason where it fails."""
    try: done = subprocess.run(command, capture_output=True, text=True, **how)
    except OSError as error: raise Skipped("%s cannot be fetched: %s" % (what, error))
    if done.returncode != 0:
        said = (done.stderr.strip() or done.stdout.strip() or "exit code %d" % done.returncode).splitlines()
        raise Skipped("%s cannot be fetched: %s" % (what, said[-1]))

def is_there(module):
    try: return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError: return False

def python_with(packages, work, env):
    """Has `env` find the packages, in `work` where the system has them not."""
    folder = str(work / "python")
    sys.path.insert(0, folder)
    missing = [package for module, package in packages.items() if not is_there(module)]
    if missing:
        fetched(" ".join(missing), [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--only-binary", ":all:",
                                    "--target", folder, *missing], env=env)
    env["PYTHONPATH"] = folder

def make(given, work, name):
    script = given / "make.sh"
    if not script.exists(): raise Skipped("%s has neither %s nor make.sh" % (given, name))
    if os.environ.get("LAPILLI_OFFLINE"): raise Skipped("LAPILLI_OFFLINE forbids to fetch %s" % name)
    env = dict(os.environ, PYTHON=sys.executable, PIP_RETRIES="1", PIP_DISABLE_PIP_VERSION_CHECK="1")
    part = work / (name + ".part")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True)
    python_with(NEEDS[name.split("-")[0]], work, env)
    fetched(name, ["bash", str(script), str(part), str(part / "downloads"), name], env=env)
    (part / name).rename(work / name)
    shutil.rmtree(part)
    return work / name

def directory(given, work, name):
    for folder in (given / name, work / name):
        if (folder / "model.safetensors").exists(): return folder
    return make(given, work, name)
