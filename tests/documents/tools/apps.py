"""Texts of apps written by Python's tools (json, PyYAML, ruamel.yaml, jproperties, plistlib, lxml, translate-toolkit),
translated into capitals, and read by the same tools again: nothing differs but the letters' case.

    apps.py FAKE_TRANSLATION
"""

import io
import json
import plistlib
import random
import sys

sys.dont_write_bytecode = True
import fake

try:
    import jproperties
    import ruamel.yaml
    import yaml
    from lxml import etree
    from translate.storage import aresource, jsonl10n, properties
    from translate.storage.yaml import RubyYAMLFile
except ImportError as missing:
    print(missing)
    sys.exit(77)

FILES = 40  # of each kind, by chance
WORDS = ["the", "Red", "car", "is", "here", "it's", "\"quoted\"", "naïve", "日本", "🙂", "a/b", "x: y", "# no", "- dash", "yes",
         "50%", "a\\b", "tab", "[old]", "(new),", "that's", "e-mail", "& more", "1.", "ok!", "'single'", "comma,", "*star*"]
KEPT = ["%1$s", "%d", "{name}", "{0}", "{{count}}", "${x}", "%{n}", "https://a.b/C?d=E"]
TAGS = [("<b>", "</b>"), ("<a href=\"/Xy\">", "</a>"), ("<0>", "</0>")]


def run(kind, data):
    return fake.run(kind, data, language="fr")


def text(chance, kept=(), tags=(), words=WORDS):
    pieces = [chance.choice(words) for _ in range(chance.randint(1, 8))] + ["Word"]
    if kept and chance.random() < 0.5:
        pieces.insert(chance.randint(0, len(pieces)), chance.choice(kept))
    if tags and chance.random() < 0.3:
        opening, closing = chance.choice(tags)
        at = chance.randint(0, len(pieces) - 1)
        pieces[at] = opening + pieces[at] + closing
    if chance.random() < 0.15:
        pieces.insert(chance.randint(1, len(pieces)), "end.\nNext")
    return " ".join(pieces)


def capitals(words, kept=()):
    """What the fake translation makes of a text: placeholders, addresses and tags stay."""
    out, at = "", 0
    while at < len(words):
        ends = [at + len(k) for k in kept if words.startswith(k, at)]
        end = max(ends, default=at + 1)
        letter = words[at:end]
        out += letter if ends or not letter.isascii() else letter.upper()
        at = end
    return out


ALL_KEPT = KEPT + [tag for pair in TAGS for tag in pair]


def changed(tree):
    """The tree with its texts as they are to come out."""
    if isinstance(tree, dict):
        return {key: changed(value) for key, value in tree.items()}
    if isinstance(tree, list):
        return [changed(value) for value in tree]
    return capitals(tree, ALL_KEPT) if isinstance(tree, str) else tree


def same(kind, data, wanted, found):
    if wanted != found:
        fake.expect_same(data, run(kind, data), [wanted], [found])


def translated(kind, data):
    return fake.translated(kind, data, "fr")


def tree_of(chance, depth=0):
    tree = {}
    for i in range(chance.randint(1, 5)):
        kind = chance.random()
        if kind < 0.2 and depth < 3:
            tree[f"group_{i}"] = tree_of(chance, depth + 1)
        elif kind < 0.3:
            tree[f"list.{i}"] = [text(chance, KEPT, TAGS), i, "Word"]
        elif kind < 0.4:
            tree[f"n{i}"] = chance.choice([1, -2.5, True, None, ""])
        else:
            tree[f"key{i}"] = text(chance, KEPT, TAGS)
    return tree


def check_json(chance):
    tree = tree_of(chance)
    data = json.dumps(tree, ensure_ascii=chance.random() < 0.5, indent=chance.choice([None, 2, "\t"])).encode()
    same("json", data, changed(tree), json.loads(translated("json", data)))


def units(store):
    return [(unit.getid(), unit.target) for unit in store.units if unit.target]


def toolkit_units(cls, data):
    store = cls()
    store.parse(data)
    return units(store)


def check_json_of_toolkit(chance):
    plain, words = text(chance, words=WORDS[:6]), text(chance, words=WORDS[:6])
    count = "{count, plural, one {# car} other {# cars}}"
    upper = "{count, plural, one {# CAR} other {# CARS}}"
    arb = {"@@locale": "en", "title": plain, "@title": {"description": "Stays"}, "cars": count, "hi": "Hi {name}"}
    data = json.dumps(arb).encode()
    found = dict(toolkit_units(jsonl10n.ARBJsonFile, translated("json", data)))
    same("json", data, {"title": capitals(plain), "cars": upper, "hi": "HI {name}"}.items(), {
        key: value for key, value in found.items() if not key.startswith("@")}.items())
    assert json.loads(run("json", data))["@@locale"] == "fr" and json.loads(run("json", data))["@title"] == arb["@title"]
    chrome = {"hello": {"message": plain + " $USER$", "description": "Stays",
                        "placeholders": {"user": {"content": "$1", "example": "Stays"}}}}
    data = json.dumps(chrome, indent=2).encode()
    wanted = {"hello": dict(chrome["hello"], message=capitals(plain) + " $USER$")}
    same("json", data, wanted, json.loads(translated("json", data)))
    same("json", data, [("hello", wanted["hello"]["message"])],
         [(k.strip("."), v) for k, v in toolkit_units(jsonl10n.WebExtensionJsonFile, run("json", data))])
    i18next = {"a": words, "item_one": "{{count}} car", "item_other": "{{count}} cars", "n": "$t(a.b) and {{x, Upper}}"}
    data = json.dumps(i18next, ensure_ascii=False).encode()
    before, after = (toolkit_units(jsonl10n.I18NextV4File, d) for d in (data, translated("json", data)))
    same("json", data, [k for k, _ in before], [k for k, _ in after])
    same("json", data, {"a": capitals(words), "item_one": "{{count}} CAR", "item_other": "{{count}} CARS",
                        "n": "$t(a.b) AND {{x, Upper}}"}, json.loads(run("json", data)))


def check_yaml(chance):
    tree = {"en": tree_of(chance)}
    style = {"allow_unicode": chance.random() < 0.5, "width": chance.choice([20, 80, 1000]),
             "default_style": chance.choice([None, None, "'", '"', "|", ">"]), "sort_keys": False,
             "default_flow_style": chance.choice([False, False, True]), "indent": chance.choice([2, 4])}
    data = yaml.safe_dump(tree, **style).encode()
    if yaml.safe_load(data) != tree:
        return  # PyYAML writes some short lines wrongly
    made = run("yaml", data)
    same("yaml", data, {"fr": changed(tree["en"])}, yaml.safe_load(made))
    reader = ruamel.yaml.YAML(typ="safe", pure=True)
    same("yaml", data, {"fr": changed(tree["en"])}, reader.load(made))
    writer, out = ruamel.yaml.YAML(), io.BytesIO()
    writer.indent(mapping=2, sequence=4, offset=2)
    writer.dump(tree, out)
    data = out.getvalue()
    same("yaml", data, {"fr": changed(tree["en"])}, yaml.safe_load(run("yaml", data)))


def check_rails(chance):
    words = text(chance, words=WORDS[:6])
    data = yaml.safe_dump({"en": {"title": words, "cars": {"one": "%{count} car", "other": "%{count} cars"}}}).encode()
    store = RubyYAMLFile()
    store.parse(run("yaml", data))
    found = {unit.getid(): unit.target for unit in store.units}
    assert capitals(words) in map(str, found.values()) and yaml.safe_load(run("yaml", data))["fr"]["cars"] == {
        "one": "%{count} CAR", "other": "%{count} CARS"}, found


def check_properties(chance):
    entries = {f"key.{i} x": text(chance, [k for k in KEPT if k != "{0}"], TAGS) for i in range(5)}
    made = jproperties.Properties()
    for key, value in entries.items():
        made[key] = value
    out, encoding = io.BytesIO(), chance.choice(["utf-8", "iso-8859-1"])
    made.store(out, encoding=encoding, timestamp=False)
    data, read = out.getvalue(), jproperties.Properties()
    read.load(io.BytesIO(translated("properties", data)), encoding)
    same("properties", data, changed(entries), {key: value.data for key, value in read.items()})
    store = properties.javautf8file() if encoding == "utf-8" else properties.javafile()
    store.parse(run("properties", data))
    found = [str(unit.source) for unit in store.units if unit.name]  # the toolkit leaves both halves of a character
    same("properties", data, list(changed(entries).values()),
         [value.encode("utf-16", "surrogatepass").decode("utf-16") for value in found])


def check_message_format():
    data = "a=It''s {0}''s car\nb=It's a car\nc={0,number,integer} cars\n".encode()
    same("properties", data, "a=IT''S {0}''S CAR\nb=IT'S A CAR\nc={0,number,integer} CARS\n", translated("properties", data).decode())


def check_strings(chance):
    """Backslashes and line ends are left out: the toolkit writes them without an escape."""
    kept = ["%@", "%1$@", "%ld"]
    entries = {f"key {i} \"x\"": text(chance, kept, words=[w for w in WORDS if "\\" not in w]).replace("\n", " ")
               for i in range(5)}
    for cls, encoding in ((properties.stringsutf8file, "utf-8"), (properties.stringsfile, "utf-16")):
        store = cls(encoding=encoding)
        for key, value in entries.items():
            unit = store.UnitClass(personality=store.personality.name)
            unit.name, unit.value = key, value
            unit.addnote("/* for translators; \"key\" = \"stays\"; */")
            store.addunit(unit)
        data = bytes(store)
        read = cls(encoding=encoding)
        read.parse(translated("strings", data))
        wanted = {key: capitals(value, kept) for key, value in entries.items()}
        same("strings", data, wanted, {unit.name: unit.value for unit in read.units if unit.name})


def check_stringsdict(chance):
    words = text(chance, words=WORDS[:6] + ["& more", "<tag", "\"x\""])
    forms = {"NSStringFormatSpecTypeKey": "NSStringPluralRuleType", "NSStringFormatValueTypeKey": "ld",
             "one": words, "other": "%ld cars & " + words}
    entry = {"NSStringLocalizedFormatKey": "%#@cars@ are here", "cars": forms}
    data = plistlib.dumps({"%ld cars": entry, "other": entry}, sort_keys=False)
    forms = dict(forms, one=capitals(words), other="%ld CARS & " + capitals(words))
    wanted = {"NSStringLocalizedFormatKey": "%#@cars@ ARE HERE", "cars": forms}
    same("stringsdict", data, {"%ld cars": wanted, "other": wanted}, plistlib.loads(translated("stringsdict", data)))


def unit_of(state, words):
    return {"stringUnit": {"state": state, "value": words}}


def check_xcstrings(chance):
    words, kept = text(chance, ["%@", "%lld"]), ["%@", "%lld"]
    plural = {"variations": {"plural": {"one": unit_of("translated", "%lld car"), "other": unit_of("translated", "%lld cars")}}}
    strings = {"Key itself": {}, "a": {"comment": "Stays", "localizations": {"en": unit_of("translated", words)}},
               "cars": {"localizations": {"en": plural}}, "no": {"shouldTranslate": False},
               "done": {"localizations": {"fr": unit_of("translated", "Fini")}}}
    data = json.dumps({"sourceLanguage": "en", "strings": strings, "version": "1.0"}, indent=2, ensure_ascii=False,
                      separators=(",", " : ")).encode()
    made = json.loads(run("xcstrings", data))
    wanted = json.loads(data)
    wanted["strings"]["Key itself"] = {"localizations": {"fr": unit_of("needs_review", "KEY ITSELF")}}
    wanted["strings"]["a"]["localizations"]["fr"] = unit_of("needs_review", capitals(words, kept))
    french = {"one": unit_of("needs_review", "%lld CAR"), "many": unit_of("needs_review", "%lld CARS"),
              "other": unit_of("needs_review", "%lld CARS")}
    found = made["strings"]["cars"]["localizations"].pop("fr")["variations"]["plural"]
    assert {k: v for k, v in found.items() if k != "many"} == {k: v for k, v in french.items() if k != "many"}, found
    same("xcstrings", data, wanted, made)


def check_android(chance):
    store = aresource.AndroidResourceFile()
    kept, texts = ["%1$s", "%d"], {}
    for i in range(5):
        texts[f"key{i}"] = text(chance, kept, TAGS[:2] if chance.random() < 0.5 else ())
    texts["at"], texts["quote"] = "@ the door", "  Blanks around "
    for key, words in texts.items():
        unit = store.addsourceunit(words)
        unit.setid(key)
        unit.target = words
    data = bytes(store)
    read = aresource.AndroidResourceFile()
    made = translated("android", data)
    read.parse(made)
    wanted = {key: capitals(words, ALL_KEPT) for key, words in texts.items()}
    same("android", data, wanted, {unit.getid(): str(unit.target) for unit in read.units})
    before, after = etree.fromstring(data), etree.fromstring(made)
    same("android", data, [(e.tag, dict(e.attrib)) for e in before.iter()], [(e.tag, dict(e.attrib)) for e in after.iter()])


def main():
    for seed in range(FILES):
        for check in (check_json, check_json_of_toolkit, check_yaml, check_rails, check_properties, check_strings,
                      check_stringsdict, check_xcstrings, check_android):
            check(random.Random(seed))
    check_message_format()
    print(FILES, "files of each kind came back whole")


main()
