"""For engines that hand out rows to worker processes (Spark, Ray): one model a process, and columns in which a row may be bad."""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING, Any, Iterable, Optional, Union

if TYPE_CHECKING:
    from . import Model

MOST_BYTES = 1 << 20  # of a text, as the program's lines

_models: dict[tuple[Any, ...], Model] = {}
_lock = threading.Lock()


def shared_model(
    name: Optional[str] = None, dtype: str = "fp32", kv_dtype: str = "fp32", select: str = "assigned", refuse_cpu: bool = False
) -> Model:
    """Gives the process's only model of this name and format, on the only device of this choice: the first call loads it, and
    the others, of any thread, get the same one. `select` and `refuse_cpu` as for Device. LAPILLI_LOADS names a file that gets a
    line for each load, so that one can count them."""
    from . import Device, Model

    key = (os.getpid(), name, dtype, kv_dtype, select, refuse_cpu)  # what a parent process has is of no use behind a fork
    with _lock:
        if key not in _models:
            _models[key] = Model(name, Device(select, refuse_cpu=refuse_cpu), dtype=dtype, kv_dtype=kv_dtype)
            _count_load(_models[key].device)
        return _models[key]


def _count_load(device: str) -> None:
    if path := os.environ.get("LAPILLI_LOADS"):
        with open(path, "a", encoding="utf-8") as file:
            file.write(f"{os.getpid()} {device}\n")


def translate_column(
    model: Model, column: Iterable[Union[str, bytes, None, float]], **options: Any
) -> tuple[list[Optional[str]], list[Optional[str]]]:
    """Translates a column of texts (str, or UTF-8 as bytes), and gives two columns of the same length: the translations, and why
    a row was rejected, which is None for all others. A missing value (None, or NaN as pandas has it) gives None, a text of
    nothing but blanks gives "". Options as for Model.generate()."""
    rows = [_read(value) for value in column]
    places = [i for i, (text, _) in enumerate(rows) if text is not None and text.strip()]
    made: list[Optional[str]] = [None if text is None else "" for text, _ in rows]
    reasons = [reason for _, reason in rows]
    outputs = model.translate([rows[i][0] for i in places], **options)
    for i, output in zip(places, outputs):
        made[i], reasons[i] = (output.text, None) if output.error is None else (None, str(output.error))
    return made, reasons


def _read(value: Union[str, bytes, None, float]) -> tuple[Optional[str], Optional[str]]:
    """A text, or why there is none."""
    if value is None or value != value:
        return None, None
    if not isinstance(value, (str, bytes, bytearray, memoryview)):
        return None, f"not a text, but {type(value).__name__}"
    try:
        data = value.encode() if isinstance(value, str) else bytes(value)
        text = data.decode()
    except UnicodeError as error:
        return None, f"not a text in UTF-8: {error}"
    if len(data) > MOST_BYTES:
        return None, f"the text is longer than {MOST_BYTES} bytes"
    return text, None
