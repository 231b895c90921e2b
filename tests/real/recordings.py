"""The recordings that `run` and `record` give the models: files by their names without ending, and one that is made of others."""
import pathlib, wave

# A recording of two windows: the model's timestamps say where the second one begins.
JOINED = ("joined", ["sense_and_sensibility_01_austen_64kb-0870", "sense_and_sensibility_01_austen_64kb-0880",
                     "sense_and_sensibility_01_austen_64kb-0890", "sense_and_sensibility_01_austen_64kb-0920",
                     "sense_and_sensibility_01_austen_64kb-0930", "something", "goforward", "cards-005"])

def files(folder, work):
    """{name: path} of the recordings in `folder`, and of the joined one, which goes to `work`."""
    found = {p.stem: p for p in sorted(pathlib.Path(folder).iterdir()) if p.suffix in (".wav", ".flac", ".aiff")}
    name, parts = JOINED
    if all(part in found for part in parts):
        found[name] = pathlib.Path(work) / (name + ".wav")
        join([found[part] for part in parts], found[name])
    return found

def join(parts, target):
    with wave.open(str(target), "wb") as out:
        for i, part in enumerate(parts):
            with wave.open(str(part), "rb") as one:
                if i == 0: out.setparams(one.getparams())
                out.writeframes(one.readframes(one.getnframes()))
