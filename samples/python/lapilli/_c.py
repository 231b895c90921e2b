"""lapilli.h for ctypes: structs as of version 0.2 or later, in the header's order, and its functions. Later libraries know by
struct_size which fields these are."""

from __future__ import annotations

import array
import ctypes
import math
import os
import pathlib
import sys
from ctypes import POINTER, c_char_p, c_double, c_float, c_int32, c_size_t, c_uint32, c_uint64, c_void_p
from typing import Iterable, Sequence, Union

OK, CANCELLED = 0, 9
INPUT_TEXT, INPUT_IDS, INPUT_SAMPLES, INPUT_PIXELS, INPUT_PICTURE_FILE = 1, 2, 3, 4, 5
FINISH_LENGTH = 2
MODEL_DEFAULT = -1


class Sized(ctypes.Structure):
    """A struct that begins with its size."""

    @classmethod
    def sized(cls):
        made = cls()
        made.struct_size = ctypes.sizeof(cls)
        return made


class DeviceOptions(Sized):
    _fields_ = [
        ("struct_size", c_uint32),
        ("validation", c_int32),
        ("select", c_char_p),
        ("caps", c_char_p),
        ("wait_timeout_s", c_double),
        ("refuse_cpu", c_int32),
        ("ignore_environment", c_int32),
        ("low_priority", c_int32),
        ("debug_names", c_int32),
        ("log", c_void_p),
        ("log_user", c_void_p),
        ("log_level", c_int32),
        ("max_submit_us", c_uint32),
        ("store", c_void_p),
        ("cache_directory", c_char_p),
    ]


# LAPILLI_DTYPE_... by name.
DTYPES = {"fp32": 0, "auto": 1, "bf16": 2, "fp16": 3, "int8": 4, "int4": 5}


class ModelOptions(Sized):
    _fields_ = [
        ("struct_size", c_uint32),
        ("memory_limit", c_uint64),
        ("files", c_void_p),
        ("parts", c_void_p),
        ("part_count", c_uint64),
        ("files_stay", c_int32),
        ("dtype", c_int32),
        ("kv_dtype", c_int32),
        ("reserved", c_int32),
    ]


class ModelInfo(Sized):
    _fields_ = [
        ("struct_size", c_uint32),
        ("has_tokenizer", c_int32),
        ("directory", c_char_p),
        ("family", c_char_p),
        ("device", c_char_p),
        ("parameters", c_uint64),
        ("weight_bytes", c_uint64),
        ("source_vocabulary", c_uint32),
        ("target_vocabulary", c_uint32),
        ("max_source_tokens", c_uint32),
        ("max_target_tokens", c_uint32),
        ("load_ms", c_double),
        ("dtype", c_int32),
        ("fp32_matrices", c_uint32),
        ("sample_rate", c_uint32),
        ("reads_pictures", c_int32),
        ("window_samples", c_uint32),
        ("classes", c_uint32),
        ("input_kind", c_int32),
        ("writes_text", c_int32),
        ("decoder_layers", c_uint32),
        ("decoder_heads", c_uint32),
        ("kv_dtype", c_int32),
        ("reserved", c_uint32),
        ("commands", c_char_p),
        ("tokenizer_error", c_char_p),
    ]


class IdsStruct(ctypes.Structure):
    _fields_ = [("ids", POINTER(c_int32)), ("count", c_size_t)]


class Input(Sized):
    _fields_ = [
        ("struct_size", c_uint32),
        ("kind", c_int32),
        ("text", c_char_p),
        ("text_bytes", c_size_t),
        ("ids", IdsStruct),
        ("samples", c_void_p),
        ("sample_count", c_size_t),
        ("sample_rate", c_uint32),
        ("more_samples", c_int32),
        ("pixels", c_char_p),
        ("row_stride", c_size_t),
        ("width", c_uint32),
        ("height", c_uint32),
        ("channels", c_uint32),
        ("reserved", c_uint32),
        ("source", c_void_p),
    ]


class StreamEvent(Sized):
    _fields_ = [
        ("struct_size", c_uint32),
        ("input", c_size_t),
        ("text", c_void_p),
        ("text_bytes", c_size_t),
        ("ids", IdsStruct),
    ]


ProgressFunction = ctypes.CFUNCTYPE(c_int32, c_void_p, c_uint64, c_uint64)
StreamFunction = ctypes.CFUNCTYPE(c_int32, c_void_p, POINTER(StreamEvent))


class Options(Sized):
    _fields_ = [
        ("struct_size", c_uint32),
        ("num_beams", c_int32),
        ("num_return_sequences", c_int32),
        ("max_length", c_int32),
        ("max_new_tokens", c_int32),
        ("min_length", c_int32),
        ("min_new_tokens", c_int32),
        ("early_stopping", c_int32),
        ("no_repeat_ngram_size", c_int32),
        ("decoder_start_token", c_int32),
        ("forced_bos_token", c_int32),
        ("forced_eos_token", c_int32),
        ("length_penalty", c_float),
        ("repetition_penalty", c_float),
        ("end_tokens", IdsStruct),
        ("suppress_tokens", IdsStruct),
        ("begin_suppress_tokens", IdsStruct),
        ("bad_words", c_void_p),
        ("bad_word_count", c_size_t),
        ("decoder_prompt", IdsStruct),
        ("json", c_char_p),
        ("batch", c_uint32),
        ("steps_in_flight", c_uint32),
        ("progress", ProgressFunction),
        ("progress_user", c_void_p),
        ("task", c_char_p),
        ("source_language", c_char_p),
        ("target_language", c_char_p),
        ("split_sentences", c_int32),
        ("stream", StreamFunction),
        ("stream_user", c_void_p),
        ("input_numbers", POINTER(c_uint64)),
        ("cancel_token", c_void_p),
        ("deterministic", c_int32),
        ("reserved", c_int32),
        ("prompt", c_char_p),
        ("temperatures", POINTER(c_float)),
        ("temperature_count", c_size_t),
        ("compression_ratio_threshold", c_float),
        ("logprob_threshold", c_float),
        ("no_speech_threshold", c_float),
        ("condition_on_previous", c_int32),
        ("word_times", c_int32),
        ("classes", c_uint32),
        ("interim_samples", c_uint32),
        ("pieces", c_uint32),
        ("looks", c_int32),
        ("reserved2", c_int32),
    ]
    _ZERO = ("deterministic", "reserved", "condition_on_previous", "word_times", "looks", "reserved2")

    @classmethod
    def defaults(cls) -> Options:
        """lapilli_default_options()."""
        options = cls.sized()
        for name, kind in cls._fields_:
            if kind is c_float:
                setattr(options, name, math.nan)
            if kind is c_int32 and name not in cls._ZERO:
                setattr(options, name, MODEL_DEFAULT)
        return options

    @classmethod
    def plain(cls) -> dict[str, type]:
        """The fields that are numbers or texts."""
        kinds = (c_int32, c_uint32, c_float, c_char_p)
        own = ("struct_size", "reserved", "reserved2")
        return {name: kind for name, kind in cls._fields_ if kind in kinds and name not in own}

    def set_plain(self, name: str, value: object) -> None:
        if name not in self.plain():
            raise TypeError(f"there is no option {name}")
        setattr(self, name, value.encode() if isinstance(value, str) else value)


class Shape(Sized):
    _fields_ = [
        ("struct_size", c_uint32),
        ("inputs", c_uint32),
        ("source_tokens", c_uint32),
        ("target_tokens", c_uint32),
        ("options", POINTER(Options)),
    ]


class TuningStruct(Sized):
    _fields_ = [
        ("struct_size", c_uint32),
        ("choices", c_uint32),
        ("step_ratio", c_double),
        ("encode_ratio", c_double),
        ("complete", c_int32),
        ("reserved", c_int32),
    ]


class SequenceStruct(Sized):
    _fields_ = [
        ("struct_size", c_uint32),
        ("sequences", c_uint32),
        ("text", c_void_p),
        ("text_bytes", c_size_t),
        ("ids", IdsStruct),
        ("score", c_float),
        ("token_scores", POINTER(c_float)),
        ("pieces", c_size_t),
        ("finish", c_int32),
        ("repeats", c_int32),
        ("word_tokens", c_uint32),
        ("unknown_tokens", c_uint32),
        ("lost_address", c_char_p),
    ]


class SegmentStruct(Sized):
    _fields_ = [
        ("struct_size", c_uint32),
        ("repeats", c_uint32),
        ("begin", c_double),
        ("end", c_double),
        ("text", c_void_p),
        ("text_bytes", c_size_t),
        ("ids", IdsStruct),
        ("language", c_char_p),
        ("words", c_size_t),
        ("log_probability", c_float),
        ("no_speech_probability", c_float),
    ]


class WordStruct(Sized):
    _fields_ = [
        ("struct_size", c_uint32),
        ("probability", c_float),
        ("begin", c_double),
        ("end", c_double),
        ("text", c_void_p),
        ("text_bytes", c_size_t),
        ("ids", IdsStruct),
    ]


class ClassStruct(Sized):
    _fields_ = [
        ("struct_size", c_uint32),
        ("index", c_uint32),
        ("label", c_char_p),
        ("score", c_double),
        ("probability", c_double),
    ]


# By their names in lapilli.h, for the test of their layout.
STRUCTS = {
    "lapilli_device_options": DeviceOptions,
    "lapilli_model_options": ModelOptions,
    "lapilli_model_info": ModelInfo,
    "lapilli_ids": IdsStruct,
    "lapilli_input": Input,
    "lapilli_stream_event": StreamEvent,
    "lapilli_options": Options,
    "lapilli_shape": Shape,
    "lapilli_tuning": TuningStruct,
    "lapilli_sequence": SequenceStruct,
    "lapilli_segment": SegmentStruct,
    "lapilli_word": WordStruct,
    "lapilli_class": ClassStruct,
}


def fill_input(to: Input, item: Union[str, Iterable[int]]) -> object:
    """Makes an input of a text or of ids; what is given back must live through the call."""
    to.struct_size = ctypes.sizeof(Input)
    if isinstance(item, str):
        kept = item.encode()
        to.kind, to.text, to.text_bytes = INPUT_TEXT, kept, len(kept)
        return kept
    ids = list(item)
    array = (c_int32 * max(1, len(ids)))(*ids)
    to.kind, to.ids.ids, to.ids.count = INPUT_IDS, ctypes.cast(array, POINTER(c_int32)), len(ids)
    return array


def fill_samples(to: Input, samples: Sequence[float], rate: int) -> object:
    """The same of a recording: numbers from -1 to 1, or a buffer of 32-bit floats, such as NumPy's."""
    to.struct_size = ctypes.sizeof(Input)
    try:
        view = memoryview(samples)
    except TypeError:
        view = memoryview(array.array("f", samples))
    if view.format != "f" or view.ndim != 1 or not view.contiguous:
        view = memoryview(array.array("f", view.tolist()))
    kept = (c_float * max(1, len(view)))()
    ctypes.memmove(kept, view.tobytes(), view.nbytes)
    to.kind, to.samples, to.sample_count = INPUT_SAMPLES, ctypes.cast(kept, c_void_p), len(view)
    to.sample_rate = rate
    return kept


def fill_picture_file(to: Input, path: str) -> object:
    """The same of a picture's file."""
    kept = os.fsencode(path) if sys.platform != "win32" else path.encode()
    to.struct_size = ctypes.sizeof(Input)
    to.kind, to.text, to.text_bytes = INPUT_PICTURE_FILE, kept, len(kept)
    return kept


def fill_pixels(to: Input, width: int, height: int, rgb: bytes) -> object:
    """The same of a picture."""
    if len(rgb) != width * height * 3:
        raise ValueError(f"{len(rgb)} bytes are not {width} by {height} pixels of red, green and blue")
    kept = bytes(rgb)
    to.struct_size = ctypes.sizeof(Input)
    to.kind, to.pixels, to.width, to.height = INPUT_PIXELS, kept, width, height
    return kept


def _load() -> ctypes.CDLL:
    """The library that LAPILLI_LIBRARY names, the one in this package, or the system's."""
    name = {"win32": "lapilli.dll", "darwin": "liblapilli.dylib"}.get(sys.platform, "liblapilli.so")
    beside = pathlib.Path(__file__).parent / name
    return ctypes.CDLL(os.environ.get("LAPILLI_LIBRARY") or (str(beside) if beside.exists() else name))


library = _load()
_FUNCTIONS = {
    "lapilli_version": (c_char_p, []),
    "lapilli_last_error": (c_char_p, []),
    "lapilli_device_open": (c_int32, [POINTER(DeviceOptions), POINTER(c_void_p)]),
    "lapilli_device_close": (None, [c_void_p]),
    "lapilli_cancel_token_create": (c_int32, [POINTER(c_void_p)]),
    "lapilli_cancel_token_cancel": (None, [c_void_p]),
    "lapilli_cancel_token_free": (None, [c_void_p]),
    "lapilli_model_load_with": (c_int32, [c_void_p, c_char_p, POINTER(ModelOptions), POINTER(c_void_p)]),
    "lapilli_model_free": (None, [c_void_p]),
    "lapilli_model_get_info": (c_int32, [c_void_p, POINTER(ModelInfo)]),
    "lapilli_model_language_count": (c_size_t, [c_void_p]),
    "lapilli_model_language": (c_char_p, [c_void_p, c_size_t]),
    "lapilli_model_encode": (
        c_int32,
        [c_void_p, POINTER(Input), POINTER(Options), POINTER(c_int32), c_size_t, POINTER(c_size_t)],
    ),
    "lapilli_model_count_tokens": (c_int32, [c_void_p, POINTER(Input), POINTER(Options), POINTER(c_size_t)]),
    "lapilli_model_decode": (c_int32, [c_void_p, POINTER(Input), c_int32, c_char_p, c_size_t, POINTER(c_size_t)]),
    "lapilli_model_tune": (c_int32, [c_void_p, POINTER(Shape), c_double, POINTER(TuningStruct)]),
    "lapilli_generate": (c_int32, [c_void_p, POINTER(Input), c_size_t, POINTER(Options), POINTER(c_void_p)]),
    "lapilli_result_get": (c_int32, [c_void_p, c_size_t, c_size_t, POINTER(SequenceStruct)]),
    "lapilli_result_segments": (c_int32, [c_void_p, c_size_t, POINTER(c_size_t)]),
    "lapilli_result_get_segment": (c_int32, [c_void_p, c_size_t, c_size_t, POINTER(SegmentStruct)]),
    "lapilli_result_get_word": (c_int32, [c_void_p, c_size_t, c_size_t, c_size_t, POINTER(WordStruct)]),
    "lapilli_result_classes": (c_int32, [c_void_p, c_size_t, POINTER(c_size_t)]),
    "lapilli_result_get_class": (c_int32, [c_void_p, c_size_t, c_size_t, POINTER(ClassStruct)]),
    "lapilli_result_free": (None, [c_void_p]),
}
for _name, (_result, _arguments) in _FUNCTIONS.items():
    getattr(library, _name).restype = _result
    getattr(library, _name).argtypes = _arguments
