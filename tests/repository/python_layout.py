"""python_layout CC INCLUDE - do the structs of samples/python lie in memory as those of lapilli.h?"""

import ctypes
import pathlib
import subprocess
import sys
import tempfile

from lapilli import _c

compiler, include = sys.argv[1:]
lines = []
for name, struct in _c.STRUCTS.items():
    for field, _ in struct._fields_:
        lines.append(f'printf("{name}.{field} %zu\\n", offsetof({name}, {field}));')
with tempfile.TemporaryDirectory() as folder:
    source = pathlib.Path(folder) / "layout.c"
    body = "\n".join(lines)
    source.write_text(f"#include <stdio.h>\n#include <lapilli/lapilli.h>\nint main(void) {{\n{body}\nreturn 0; }}\n")
    subprocess.run([compiler, f"-I{include}", source, "-o", f"{folder}/layout"], check=True)
    printed = subprocess.run([f"{folder}/layout"], check=True, stdout=subprocess.PIPE, text=True).stdout
theirs = dict(line.split() for line in printed.splitlines())
failed = 0
for name, struct in _c.STRUCTS.items():
    for field, _ in struct._fields_:
        ours = getattr(struct, field).offset
        if ours != int(theirs[f"{name}.{field}"]):
            print(f"FAILED: {name}.{field} is at {theirs[f'{name}.{field}']}, not at {ours}")
            failed = 1
sys.exit(failed)
