"""lapilli.h for ctypes: the structs of version 0.3 in the header's order, and its functions. Later libraries know by
struct_size which fields these are."""

from __future__ import annotations

import array
import ctypes
import json
import math
import os
import pathlib
import sys
import wave
from ctypes import POINTER, c_char_p, c_double, c_float, c_int32, c_size_t, c_uint32, c_uint64, c_void_p
from typing import Iterable, Optional, Sequence, Union

OK, INVALID_DATA, UNSUPPORTED, CANCELLED = 0, 3, 4, 9
INPUT_TEXT, INPUT_IDS, INPUT_SAMPLES, INPUT_PIXELS, INPUT_PICTURE_FILE = 1, 2, 3, 4, 5
FINISH = {1: "stop", 2: "length", 3: "kept"}
EVENTS = {1: "text", 2: "progress", 3: "input", 4: "error", 5: "end", 6: "segment", 7: "interim"}
MODEL_DEFAULT = -1
LOG_NOTE = 2
UNLIMITED = 2**64 - 1
# LAPILLI_DTYPE_... by name.
DTYPES = {"fp32": 0, "auto": 1, "bf16": 2, "fp16": 3, "int8": 4, "int4": 5}


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
        ("refuse_cpu", c_int32),
        ("select", c_char_p),
        ("caps", c_char_p),
        ("wait_timeout_s", c_double),
        ("ignore_environment", c_int32),
        ("low_priority", c_int32),
        ("validation", c_int32),
        ("debug_names", c_int32),
        ("max_submit_us", c_uint32),
        ("gap_us", c_uint32),
        ("log_level", c_int32),
        ("log", c_void_p),
        ("log_user", c_void_p),
        ("store", c_void_p),
        ("cache_directory", c_char_p),
        ("workers", c_void_p),
        ("trace_file", c_char_p),
    ]

    @classmethod
    def defaults(cls) -> DeviceOptions:
        """lapilli_default_device_options()."""
        options = cls.sized()
        options.log_level = LOG_NOTE
        return options


class ModelOptions(Sized):
    _fields_ = [
        ("struct_size", c_uint32),
        ("dtype", c_int32),
        ("kv_dtype", c_int32),
        ("files_stay", c_int32),
        ("memory_limit", c_uint64),
        ("files", c_void_p),
        ("parts", c_void_p),
        ("part_count", c_size_t),
        ("no_prefix_cache", c_size_t),
    ]


class ModelInfo(Sized):
    _fields_ = [
        ("struct_size", c_uint32),
        ("input_kind", c_int32),
        ("has_tokenizer", c_int32),
        ("writes_text", c_int32),
        ("reads_pictures", c_int32),
        ("sample_rate", c_uint32),
        ("window_samples", c_uint32),
        ("classes", c_uint32),
        ("dimensions", c_uint32),
        ("source_vocabulary", c_uint32),
        ("target_vocabulary", c_uint32),
        ("max_source_tokens", c_uint32),
        ("max_target_tokens", c_uint32),
        ("decoder_layers", c_uint32),
        ("decoder_heads", c_uint32),
        ("dtype", c_int32),
        ("kv_dtype", c_int32),
        ("fp32_matrices", c_uint32),
        ("load_ms", c_double),
        ("parameters", c_uint64),
        ("weight_bytes", c_uint64),
        ("directory", c_char_p),
        ("family", c_char_p),
        ("device", c_char_p),
        ("commands", c_char_p),
        ("tokenizer_error", c_char_p),
    ]


class IdsStruct(ctypes.Structure):
    _fields_ = [
        ("ids", POINTER(c_int32)),
        ("count", c_size_t),
    ]


class Input(Sized):
    _fields_ = [
        ("struct_size", c_uint32),
        ("kind", c_int32),
        ("text", c_char_p),
        ("text_bytes", c_size_t),
        ("ids", IdsStruct),
        ("samples", c_void_p),
        ("sample_count", c_size_t),
        ("source", c_void_p),
        ("sample_rate", c_uint32),
        ("more_samples", c_int32),
        ("width", c_uint32),
        ("height", c_uint32),
        ("channels", c_uint32),
        ("pixels", c_char_p),
        ("row_stride", c_size_t),
        ("pair", c_char_p),
        ("pair_bytes", c_size_t),
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


class SpeechOptions(Sized):
    _fields_ = [
        ("struct_size", c_uint32),
        ("word_times", c_int32),
        ("condition_on_previous", c_int32),
        ("compression_ratio_threshold", c_float),
        ("logprob_threshold", c_float),
        ("no_speech_threshold", c_float),
        ("interim_samples", c_uint32),
        ("chunks", c_uint32),
        ("temperatures", POINTER(c_float)),
        ("temperature_count", c_size_t),
    ]


class PictureOptions(Sized):
    _fields_ = [
        ("struct_size", c_uint32),
        ("classes", c_uint32),
    ]


class EncoderOptions(Sized):
    _fields_ = [
        ("struct_size", c_uint32),
        ("dimensions", c_uint32),
        ("normalize", c_int32),
        ("top_classes", c_uint32),
        ("prompt_name", c_char_p),
        ("labels", POINTER(c_char_p)),
        ("label_count", c_size_t),
        ("hypothesis", c_char_p),
        ("entailment", c_char_p),
        ("multi_label", c_int32),
        ("top_spans", c_uint32),
        ("aggregation", c_char_p),
        ("allow_empty", c_int32),
        ("max_answer_tokens", c_uint32),
        ("window", c_uint32),
        ("stride", c_uint32),
        ("cut_texts", c_int32),
        ("part_words", c_int32),
        ("ignored_labels", POINTER(c_char_p)),
        ("ignored_label_count", c_size_t),
    ]


class ChatOptions(Sized):
    _fields_ = [
        ("struct_size", c_uint32),
        ("use", c_int32),
        ("leave_out_thoughts", c_int32),
        ("system", c_char_p),
        ("messages", c_char_p),
        ("tools", c_char_p),
        ("arguments", c_char_p),
        ("stops", POINTER(c_char_p)),
        ("stop_count", c_size_t),
    ]


class Options(Sized):
    _fields_ = [
        ("struct_size", c_uint32),
        ("num_beams", c_int32),
        ("task", c_char_p),
        ("source_language", c_char_p),
        ("target_language", c_char_p),
        ("prompt", c_char_p),
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
        ("split_sentences", c_int32),
        ("batch", c_uint32),
        ("steps_in_flight", c_uint32),
        ("deterministic", c_int32),
        ("keep_attention", c_int32),
        ("json", c_char_p),
        ("end_tokens", IdsStruct),
        ("suppress_tokens", IdsStruct),
        ("begin_suppress_tokens", IdsStruct),
        ("bad_words", c_void_p),
        ("bad_word_count", c_size_t),
        ("decoder_prompt", IdsStruct),
        ("input_numbers", POINTER(c_uint64)),
        ("cancel_token", c_void_p),
        ("progress", ProgressFunction),
        ("progress_user", c_void_p),
        ("stream", StreamFunction),
        ("stream_user", c_void_p),
        ("speech", POINTER(SpeechOptions)),
        ("picture", POINTER(PictureOptions)),
        ("encoder", POINTER(EncoderOptions)),
        ("chat", POINTER(ChatOptions)),
    ]


class CallOptions:
    """lapilli_options with those for speech, pictures and vectors, and the memory that they point to."""

    # Integers whose default is not LAPILLI_MODEL_DEFAULT.
    _ZERO = ("deterministic", "keep_attention")
    # Lists of texts, and the fields with their lengths.
    _LISTS = {"labels": "label_count", "ignored_labels": "ignored_label_count"}

    def __init__(self) -> None:
        self.options, self.speech, self.picture = Options.sized(), SpeechOptions.sized(), PictureOptions.sized()
        for struct in (self.options, self.speech):
            for name, kind in struct._fields_:
                if kind is c_float:
                    setattr(struct, name, math.nan)
        for name, kind in Options._fields_:
            if kind is c_int32 and name not in self._ZERO:
                setattr(self.options, name, MODEL_DEFAULT)
        self.picture.classes = 5
        self.encoder = EncoderOptions.sized()
        self.encoder.top_classes = 5
        self.encoder.max_answer_tokens = 15
        self.options.encoder = ctypes.pointer(self.encoder)
        self.chat = ChatOptions.sized()
        self.options.chat = ctypes.pointer(self.chat)
        self.options.speech = ctypes.pointer(self.speech)
        self.options.picture = ctypes.pointer(self.picture)
        self.pointer = ctypes.pointer(self.options)

    @staticmethod
    def plain() -> dict[str, tuple[type, str]]:
        """The fields that are numbers or texts: their kinds, and the struct that holds them."""
        kinds = (c_int32, c_uint32, c_float, c_char_p)
        structs = {
            "options": Options,
            "speech": SpeechOptions,
            "picture": PictureOptions,
            "encoder": EncoderOptions,
            "chat": ChatOptions,
        }
        return {
            name: (kind, of)
            for of, struct in structs.items()
            for name, kind in struct._fields_
            if kind in kinds and name not in ("struct_size", "keep_attention", "label_count", "ignored_label_count", "stop_count")  # nothing here draws
        }

    def set(self, name: str, value: object) -> None:
        if name == "temperatures":
            numbers = list(value)
            self.speech.temperatures = (c_float * max(1, len(numbers)))(*numbers)
            self.speech.temperature_count = len(numbers)
            return
        if name in self._LISTS:
            if isinstance(value, str):
                raise TypeError(f"{name} is a list of texts, not one text")
            texts = [text.encode() for text in value]
            setattr(self.encoder, name, (c_char_p * max(1, len(texts)))(*texts))
            setattr(self.encoder, self._LISTS[name], len(texts))
            return
        if name == "stops":
            if isinstance(value, str):
                raise TypeError("stops is a list of texts, not one text")
            stops = [stop.encode() for stop in value]
            self.chat.stops = (c_char_p * max(1, len(stops)))(*stops)
            self.chat.stop_count = len(stops)
            return
        if name == "chat":
            name = "use"
        if name in ("messages", "tools", "arguments") and not isinstance(value, str):
            value = json.dumps(value)
        if name not in self.plain():
            raise TypeError(f"there is no option {name}")
        struct = getattr(self, self.plain()[name][1])
        setattr(struct, name, value.encode() if isinstance(value, str) else value)


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
        ("complete", c_int32),
        ("step_ratio", c_double),
        ("encode_ratio", c_double),
    ]


class SequenceStruct(Sized):
    _fields_ = [
        ("struct_size", c_uint32),
        ("sequences", c_uint32),
        ("text", c_void_p),
        ("text_bytes", c_size_t),
        ("ids", IdsStruct),
        ("token_scores", POINTER(c_float)),
        ("score", c_float),
        ("finish", c_int32),
        ("repeats", c_int32),
        ("word_tokens", c_uint32),
        ("unknown_tokens", c_uint32),
        ("parts", c_size_t),
        ("lost_address", c_char_p),
    ]


class PartStruct(Sized):
    _fields_ = [
        ("struct_size", c_uint32),
        ("score", c_float),
        ("text", c_void_p),
        ("text_bytes", c_size_t),
        ("ids", IdsStruct),
        ("finish", c_int32),
        ("repeats", c_int32),
        ("source_begin", c_size_t),
        ("source_end", c_size_t),
        ("target_begin", c_size_t),
        ("target_end", c_size_t),
    ]


class SegmentStruct(Sized):
    _fields_ = [
        ("struct_size", c_uint32),
        ("repeats", c_int32),
        ("doubtful", c_int32),
        ("log_probability", c_float),
        ("no_speech_probability", c_float),
        ("begin", c_double),
        ("end", c_double),
        ("window_begin", c_double),
        ("text", c_void_p),
        ("text_bytes", c_size_t),
        ("ids", IdsStruct),
        ("language", c_char_p),
        ("words", c_size_t),
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


class VectorStruct(Sized):
    _fields_ = [
        ("struct_size", c_uint32),
        ("dimensions", c_uint32),
        ("values", POINTER(c_float)),
    ]


class SpanStruct(Sized):
    _fields_ = [
        ("struct_size", c_uint32),
        ("token", c_int32),
        ("label", c_char_p),
        ("text", c_void_p),
        ("text_bytes", c_size_t),
        ("filled", c_void_p),
        ("filled_bytes", c_size_t),
        ("begin", c_size_t),
        ("end", c_size_t),
        ("first_character", c_size_t),
        ("end_character", c_size_t),
        ("score", c_double),
    ]


class ReadingStruct(Sized):
    _fields_ = [
        ("struct_size", c_uint32),
        ("tokens", c_uint32),
        ("windows", c_uint32),
        ("cut", c_int32),
    ]


class ClassStruct(Sized):
    _fields_ = [
        ("struct_size", c_uint32),
        ("index", c_uint32),
        ("label", c_char_p),
        ("score", c_double),
        ("probability", c_double),
        ("published_score", c_double),
    ]


class EventText(ctypes.Structure):
    _fields_ = [
        ("input", c_uint64),
        ("text", c_void_p),
        ("text_bytes", c_size_t),
        ("ids", IdsStruct),
    ]


class EventSegment(ctypes.Structure):
    _fields_ = [
        ("input", c_uint64),
        ("segment", c_uint64),
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


class EventInterim(ctypes.Structure):
    _fields_ = [
        ("input", c_uint64),
        ("segments", c_size_t),
    ]


class EventProgress(ctypes.Structure):
    _fields_ = [
        ("done", c_uint64),
        ("total", c_uint64),
        ("tokens", c_uint64),
    ]


class EventInput(ctypes.Structure):
    _fields_ = [
        ("input", c_uint64),
        ("message", c_char_p),
        ("status", c_int32),
    ]


class EventError(ctypes.Structure):
    _fields_ = [
        ("message", c_char_p),
        ("status", c_int32),
    ]


class EventEnd(ctypes.Structure):
    _fields_ = [
        ("status", c_int32),
    ]


class EventUnion(ctypes.Union):
    _fields_ = [
        ("text", EventText),
        ("progress", EventProgress),
        ("input", EventInput),
        ("error", EventError),
        ("end", EventEnd),
        ("segment", EventSegment),
        ("interim", EventInterim),
        ("size", c_uint64 * 16),
    ]


class EventStruct(Sized):
    _fields_ = [
        ("struct_size", c_uint32),
        ("kind", c_int32),
        ("of", EventUnion),
    ]


# By their names in lapilli.h, for the test of their layout.
class Vectors(Sized):
    _fields_ = [
        ("struct_size", c_uint32),
        ("dimensions", c_uint32),
        ("values", c_void_p),
        ("count", c_size_t),
    ]


class NearestOptions(Sized):
    _fields_ = [
        ("struct_size", c_uint32),
        ("similarity", c_int32),
        ("top", c_size_t),
        ("cancel_token", c_void_p),
        ("progress", ProgressFunction),
        ("progress_user", c_void_p),
    ]


# LAPILLI_COSINE, ... by name.
SIMILARITIES = {"cosine": 0, "dot": 1, "euclidean": 2}


def fill_vectors(to: Vectors, rows: object) -> object:
    """Points `to` at rows of numbers: a buffer of 32-bit floats with two dimensions (NumPy), or lists. The result keeps
    the numbers."""
    if isinstance(rows, (list, tuple)):
        if len({len(row) for row in rows}) > 1:
            raise ValueError("vectors have different numbers of dimensions")
        numbers = array.array("f", [value for row in rows for value in row])
        to.count, to.dimensions = len(rows), len(rows[0]) if rows else 1
        to.values = numbers.buffer_info()[0]
        return numbers
    view = memoryview(rows)
    if view.format != "f" or view.ndim != 2 or not view.c_contiguous:
        raise ValueError("vectors are rows of 32-bit floats without gaps (numpy: ascontiguousarray(rows, float32))")
    to.count, to.dimensions = view.shape
    if view.readonly:  # ctypes points at writable memory only
        view = memoryview(bytearray(view))
    to.values = ctypes.addressof(c_float.from_buffer(view.cast("B"))) if view.nbytes else None
    return view


STRUCTS = {
    "lapilli_device_options": DeviceOptions,
    "lapilli_model_options": ModelOptions,
    "lapilli_model_info": ModelInfo,
    "lapilli_ids": IdsStruct,
    "lapilli_input": Input,
    "lapilli_stream_event": StreamEvent,
    "lapilli_speech_options": SpeechOptions,
    "lapilli_picture_options": PictureOptions,
    "lapilli_encoder_options": EncoderOptions,
    "lapilli_chat_options": ChatOptions,
    "lapilli_options": Options,
    "lapilli_shape": Shape,
    "lapilli_tuning": TuningStruct,
    "lapilli_sequence": SequenceStruct,
    "lapilli_part": PartStruct,
    "lapilli_segment": SegmentStruct,
    "lapilli_word": WordStruct,
    "lapilli_class": ClassStruct,
    "lapilli_vector": VectorStruct,
    "lapilli_vectors": Vectors,
    "lapilli_nearest_options": NearestOptions,
    "lapilli_span": SpanStruct,
    "lapilli_reading": ReadingStruct,
    "lapilli_event_text": EventText,
    "lapilli_event_progress": EventProgress,
    "lapilli_event_input": EventInput,
    "lapilli_event_error": EventError,
    "lapilli_event_end": EventEnd,
    "lapilli_event_segment": EventSegment,
    "lapilli_event_interim": EventInterim,
    "lapilli_event": EventStruct,
}


def fill_input(to: Input, item: Union[str, Iterable[int]]) -> object:
    """Makes an input of a text, a pair of texts or ids; the returned memory must live through the call."""
    to.struct_size = ctypes.sizeof(Input)
    if isinstance(item, tuple) and len(item) == 2 and all(isinstance(text, str) for text in item):
        text, pair = (part.encode() for part in item)
        to.kind, to.text, to.text_bytes, to.pair, to.pair_bytes = INPUT_TEXT, text, len(text), pair, len(pair)
        return (text, pair)
    if isinstance(item, str):
        kept = item.encode()
        to.kind, to.text, to.text_bytes = INPUT_TEXT, kept, len(kept)
        return kept
    ids = list(item)
    array = (c_int32 * max(1, len(ids)))(*ids)
    to.kind, to.ids.ids, to.ids.count = INPUT_IDS, ctypes.cast(array, POINTER(c_int32)), len(ids)
    return array


def floats(samples: Sequence[float]) -> ctypes.Array:
    """A copy of numbers, or of a buffer of 32-bit floats, such as NumPy's."""
    try:
        view = memoryview(samples)
    except TypeError:
        view = memoryview(array.array("f", samples))
    if view.format not in ("f", "<f") or view.ndim != 1 or not view.contiguous:
        view = memoryview(array.array("f", view.tolist()))
    copy = (c_float * len(view))()
    ctypes.memmove(copy, view.tobytes(), view.nbytes)
    return copy


def read_wav(path: str) -> tuple[ctypes.Array, int]:
    """The samples of a WAV file with whole numbers (PCM), its channels averaged, and their rate."""
    with wave.open(path, "rb") as file:
        width, channels, rate = file.getsampwidth(), file.getnchannels(), file.getframerate()
        data = file.readframes(file.getnframes())
    if width == 1:  # these alone have no sign
        data = bytes(b ^ 0x80 for b in data)
    step, scale = width * channels, 1 / (channels << (8 * width - 1))
    samples = (c_float * (len(data) // step))()
    for i in range(len(samples)):
        at = i * step
        frame = (data[at + c * width : at + (c + 1) * width] for c in range(channels))
        samples[i] = sum(int.from_bytes(number, "little", signed=True) for number in frame) * scale
    return samples, rate


def fill_samples(to: Input, samples: Optional[Sequence[float]], rate: int) -> object:
    """Makes an input of a recording: numbers from -1 to 1; None: a recording that continues."""
    kept = floats(samples if samples is not None else [])
    to.struct_size = ctypes.sizeof(Input)
    to.kind, to.samples, to.sample_count = INPUT_SAMPLES, ctypes.cast(kept, c_void_p), len(kept)
    to.sample_rate, to.more_samples = rate, int(samples is None)
    return kept


def fill_picture_file(to: Input, path: str) -> object:
    """Makes an input of a picture's file."""
    kept = os.fsencode(path) if sys.platform != "win32" else path.encode()
    to.struct_size = ctypes.sizeof(Input)
    to.kind, to.text, to.text_bytes = INPUT_PICTURE_FILE, kept, len(kept)
    return kept


def fill_pixels(to: Input, width: int, height: int, rgb: bytes) -> object:
    """Makes an input of a picture's pixels."""
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
_JOB, _OUT = c_void_p, POINTER(c_void_p)
_FUNCTIONS = {
    "lapilli_version": (c_char_p, []),
    "lapilli_last_error": (c_char_p, []),
    "lapilli_device_open": (c_int32, [POINTER(DeviceOptions), POINTER(c_void_p)]),
    "lapilli_device_close": (None, [c_void_p]),
    "lapilli_devices_json": (c_int32, [POINTER(DeviceOptions), POINTER(c_char_p)]),
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
    "lapilli_result_get_part": (c_int32, [c_void_p, c_size_t, c_size_t, c_size_t, POINTER(PartStruct)]),
    "lapilli_result_segments": (c_int32, [c_void_p, c_size_t, POINTER(c_size_t)]),
    "lapilli_result_get_segment": (c_int32, [c_void_p, c_size_t, c_size_t, POINTER(SegmentStruct)]),
    "lapilli_result_get_word": (c_int32, [c_void_p, c_size_t, c_size_t, c_size_t, POINTER(WordStruct)]),
    "lapilli_result_classes": (c_int32, [c_void_p, c_size_t, POINTER(c_size_t)]),
    "lapilli_result_get_class": (c_int32, [c_void_p, c_size_t, c_size_t, POINTER(ClassStruct)]),
    "lapilli_result_get_vector": (c_int32, [c_void_p, c_size_t, POINTER(VectorStruct)]),
    "lapilli_result_spans": (c_int32, [c_void_p, c_size_t, POINTER(c_size_t)]),
    "lapilli_result_get_span": (c_int32, [c_void_p, c_size_t, c_size_t, POINTER(SpanStruct)]),
    "lapilli_chat_prompt": (
        c_int32,
        [c_char_p, c_char_p, POINTER(ChatOptions), c_char_p, c_size_t, POINTER(c_size_t)],
    ),
    "lapilli_result_get_reading": (c_int32, [c_void_p, c_size_t, POINTER(ReadingStruct)]),
    "lapilli_result_free": (None, [c_void_p]),
    "lapilli_nearest": (
        c_int32,
        [
            c_void_p,
            POINTER(Vectors),
            POINTER(Vectors),
            POINTER(NearestOptions),
            POINTER(c_size_t),
            POINTER(c_double),
        ],
    ),
    "lapilli_job_start": (c_int32, [c_void_p, POINTER(Input), c_size_t, POINTER(Options), _OUT]),
    "lapilli_job_pump": (c_int32, [_JOB, c_uint64, POINTER(c_int32)]),
    "lapilli_job_wait": (c_int32, [_JOB, c_uint64, POINTER(c_int32)]),
    "lapilli_job_append_samples": (c_int32, [_JOB, c_size_t, POINTER(c_float), c_size_t]),
    "lapilli_job_end_samples": (c_int32, [_JOB, c_size_t]),
    "lapilli_job_wants_samples": (c_int32, [_JOB, POINTER(c_int32)]),
    "lapilli_job_cancel": (None, [_JOB]),
    "lapilli_job_take": (c_int32, [_JOB, _OUT]),
    "lapilli_job_free": (None, [_JOB]),
    "lapilli_job_next_event": (c_int32, [_JOB, POINTER(EventStruct), POINTER(c_int32)]),
    "lapilli_job_get_word": (c_int32, [_JOB, c_size_t, POINTER(WordStruct)]),
    "lapilli_job_get_interim": (c_int32, [_JOB, c_size_t, POINTER(SegmentStruct)]),
    "lapilli_job_get_interim_word": (c_int32, [_JOB, c_size_t, c_size_t, POINTER(WordStruct)]),
}
for _name, (_result, _arguments) in _FUNCTIONS.items():
    getattr(library, _name).restype = _result
    getattr(library, _name).argtypes = _arguments
