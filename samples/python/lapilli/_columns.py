"""For engines that hand out rows to worker processes (Spark, Ray): one model a process, and columns in which a row may be bad."""

from __future__ import annotations

import numbers
import os
import sys
import threading
from typing import TYPE_CHECKING, Any, Callable, Iterable, Optional, Union

if TYPE_CHECKING:
    from . import Model

MOST_BYTES = 1 << 20  # of a text, as the program's lines

_models: dict[tuple[Any, ...], Model] = {}
_lock = threading.Lock()

# By these the environment assigns GPUs: lapilli.h, lapilli_device_options.
_ASSIGNING = ("CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER", "ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ZE_AFFINITY_MASK",
              "_CONDOR_AssignedGPUs", "SLURM_STEP_GPUS", "SLURM_JOB_GPUS", "SLURM_LOCALID")  # fmt: skip


def shared_model(
    name: Optional[str] = None, dtype: str = "fp32", kv_dtype: str = "fp32", select: str = "assigned", refuse_cpu: bool = False
) -> Model:
    """Gives the process's only model of this name and format, on the only device of this choice: the first call loads it, and
    the others, of any thread, get the same one. `select` and `refuse_cpu` as for Device: where the variables that assign GPUs have
    changed since, another GPU is meant, which gets a model of its own. LAPILLI_LOADS names a file that gets a line for each load,
    so that one can count them."""
    from . import Device, Model

    # A parent's model is of no use behind a fork.
    key = (os.getpid(), name, dtype, kv_dtype, select, refuse_cpu, *_assigned(select))
    with _lock:
        if key not in _models:
            _models[key] = Model(name, Device(select, refuse_cpu=refuse_cpu), dtype=dtype, kv_dtype=kv_dtype)
            _count_load(_models[key].device)
        return _models[key]


def _assigned(select: str) -> tuple[Optional[str], ...]:
    """What assigns the GPU, if that is the choice."""
    return tuple(os.environ.get(name) for name in _ASSIGNING) if select == "assigned" else ()


def _count_load(device: str) -> None:
    if path := os.environ.get("LAPILLI_LOADS"):
        with open(path, "a", encoding="utf-8") as file:
            file.write(f"{os.getpid()} {device}\n")


def translate_column(
    model: Model, column: Iterable[Union[str, bytes, None, float]], **options: Any
) -> tuple[list[Optional[str]], list[Optional[str]]]:
    """Translates a column of texts (str, or UTF-8 as bytes), and gives two columns of the same length: the translations, and why
    a row was rejected, which is None for all others. A missing value (None, NaN, or pandas' NA and NaT) gives None, a text of
    nothing but blanks gives "". Options as for Model.generate()."""
    rows = [_read(value) for value in column]
    places = [i for i, (text, _) in enumerate(rows) if text is not None and text.strip()]
    made: list[Optional[str]] = [None if text is None else "" for text, _ in rows]
    return _filled(made, rows, places, model.translate([rows[i][0] for i in places], **options), lambda output: output.text)


def embed_column(
    model: Model, column: Iterable[Union[str, bytes, None, float]], **options: Any
) -> tuple[list[Optional[list[float]]], list[Optional[str]]]:
    """Makes a vector of each text of a column, and gives two columns as translate_column() does: the vectors, and why a row was
    rejected. A missing value gives None. Options as for Model.embed()."""
    rows = [_read(value) for value in column]
    places = [i for i, (text, _) in enumerate(rows) if text is not None]
    outputs = model.generate([rows[i][0] for i in places], **{"task": "embed", **options})
    return _filled([None] * len(rows), rows, places, outputs, lambda output: output.vector.values)


def _filled(made: list[Any], rows: list[Any], places: list[int], outputs: list[Any], value: Callable[[Any], Any]) -> Any:
    """The values of the rows that the model has read, in their places, and all reasons."""
    reasons = [reason for _, reason in rows]
    for i, output in zip(places, outputs):
        made[i], reasons[i] = (value(output), None) if output.error is None else (None, str(output.error))
    return made, reasons


def _read(value: Union[str, bytes, None, float]) -> tuple[Optional[str], Optional[str]]:
    """A text, or why there is none."""
    if not isinstance(value, (str, bytes, bytearray, memoryview)):
        return None, None if _is_missing(value) else f"not a text, but {type(value).__name__}"
    try:
        data = value.encode() if isinstance(value, str) else bytes(value)
        text = data.decode()
    except UnicodeError as error:
        return None, f"not a text in UTF-8: {error}"
    if len(data) > MOST_BYTES:
        return None, f"the text is longer than {MOST_BYTES} bytes"
    return text, None


def _is_missing(value: Any) -> bool:
    """None and what pandas has for it. Only numbers are compared: arrays and NA give no bool."""
    pandas = sys.modules.get("pandas")  # a value of its own comes from it
    if value is None or (pandas and (value is getattr(pandas, "NA", None) or value is getattr(pandas, "NaT", None))):
        return True
    return isinstance(value, numbers.Real) and bool(value != value)
