"""Lapilli in Python: Transformer encoder-decoder models on any Vulkan 1.1 device, over the C interface by ctypes.

    model = lapilli.Model()                      # the bundled English-French model
    print(model.translate(["Where is the station?"])[0].text)

Functions raise lapilli.Error, which says what failed and what to do. A model may be used by several threads at once;
a call does not hold Python's lock.
"""

from __future__ import annotations

import ctypes
import dataclasses
import math
from typing import TYPE_CHECKING, Callable, Iterable, Optional, Sequence as Texts, TypedDict, Union

from . import _c

if TYPE_CHECKING:  # which type checkers know without its being installed
    from typing_extensions import Unpack

__all__ = [
    "CancelToken",
    "Cancelled",
    "Device",
    "Error",
    "Model",
    "Options",
    "Output",
    "PictureClass",
    "PlainOptions",
    "Segment",
    "Sequence",
    "Tuning",
    "Word",
    "version",
]

Progress = Callable[[int, int], Optional[bool]]
Stream = Callable[[int, str], Optional[bool]]
Ids = Iterable[int]


class PlainOptions(TypedDict, total=False):
    """Fields of lapilli_options that are a number or a text; what is not given is the model's."""

    num_beams: int
    num_return_sequences: int
    max_length: int
    max_new_tokens: int
    min_length: int
    min_new_tokens: int
    early_stopping: int
    no_repeat_ngram_size: int
    decoder_start_token: int
    forced_bos_token: int
    forced_eos_token: int
    length_penalty: float
    repetition_penalty: float
    json: str
    batch: int
    steps_in_flight: int
    split_sentences: int
    deterministic: int
    prompt: str
    compression_ratio_threshold: float
    logprob_threshold: float
    no_speech_threshold: float
    condition_on_previous: int
    word_times: int
    classes: int
    interim_samples: int
    pieces: int
    looks: int


class Options(PlainOptions, total=False):
    """What Model.translate() and summarize() take beside texts."""

    source_language: str
    target_language: str
    progress: Optional[Progress]
    stream: Optional[Stream]
    cancel_token: Optional[CancelToken]


class Error(Exception):
    """What failed, where, and what to do; `status` is a lapilli_status of lapilli.h."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class Cancelled(Error):
    """A callback gave False, or a token was cancelled. `outputs` has what was finished; others have an error."""

    def __init__(self, status: int, message: str, outputs: list[Output]) -> None:
        super().__init__(status, message)
        self.outputs = outputs


@dataclasses.dataclass(frozen=True)
class Sequence:
    text: str
    ids: list[int]  # with the end token
    score: float
    token_scores: list[float]  # logarithms of probabilities; NaN for ids that were given
    cut: bool  # at max_length; its end may be missing
    repeats: bool  # it ends in a loop, and is no good


@dataclasses.dataclass(frozen=True)
class Word:
    text: str  # with the space in front and the signs behind
    begin: float  # seconds
    end: float
    probability: float


@dataclasses.dataclass(frozen=True)
class Segment:
    """What was heard in some seconds of a recording."""

    text: str
    begin: float  # seconds
    end: float
    ids: list[int]
    language: Optional[str]
    words: list[Word]  # empty unless word_times asks for them
    log_probability: float


@dataclasses.dataclass(frozen=True)
class PictureClass:
    index: int
    label: str
    probability: float


@dataclasses.dataclass(frozen=True)
class Output:
    """What became of one input: sequences, best first, or an error."""

    sequences: list[Sequence]
    error: Optional[Error] = None
    segments: list[Segment] = dataclasses.field(default_factory=list)  # of a recording
    classes: list[PictureClass] = dataclasses.field(default_factory=list)  # of a picture, the likeliest first

    @property
    def text(self) -> str:
        """The best text. Raises the input's error."""
        if self.error:
            raise self.error
        return self.sequences[0].text


@dataclasses.dataclass(frozen=True)
class Tuning:
    """What Model.tune() found."""

    choices: int  # that are kept for this device now, of all models and shapes
    step_ratio: float  # the time that a decoder step takes with them over without; 1: nothing new
    encode_ratio: float
    complete: bool  # everything was tried


def version() -> str:
    """Of the library that runs."""
    return _c.library.lapilli_version().decode()


def _last_error(status: int) -> Error:
    return Error(status, _c.library.lapilli_last_error().decode(errors="replace"))


def _check(status: int) -> None:
    if status != _c.OK:
        raise _last_error(status)


class Device:
    """A device for any number of models, which then share its memory and its pipelines. Models keep it.
    `cache_directory`: a folder for its pipelines, what its self-test and Model.tune() found; "": nothing is kept."""

    def __init__(self, select: str = "", caps: str = "", cache_directory: str = "") -> None:
        options = _c.DeviceOptions.sized()
        options.select = select.encode()
        options.caps = caps.encode()
        options.cache_directory = cache_directory.encode()
        self._handle = ctypes.c_void_p()
        _check(_c.library.lapilli_device_open(ctypes.byref(options), ctypes.byref(self._handle)))

    def __del__(self) -> None:
        if getattr(self, "_handle", None):
            _c.library.lapilli_device_close(self._handle)


class CancelToken:
    """Ends the calls that were given it; cancel() may come from any thread."""

    def __init__(self) -> None:
        self._handle = ctypes.c_void_p()
        _check(_c.library.lapilli_cancel_token_create(ctypes.byref(self._handle)))

    def cancel(self) -> None:
        _c.library.lapilli_cancel_token_cancel(self._handle)

    def __del__(self) -> None:
        if getattr(self, "_handle", None):
            _c.library.lapilli_cancel_token_free(self._handle)


class _Callbacks:
    """Python functions as C ones: what they raise is kept, the call is cancelled, and it is raised behind the call."""

    def __init__(self, progress: Optional[Progress], stream: Optional[Stream]) -> None:
        self.raised: Optional[BaseException] = None

        def on_progress(_user: int, done: int, total: int) -> int:
            return self._guarded(lambda: progress(done, total))

        def on_stream(_user: int, event: ctypes._Pointer[_c.StreamEvent]) -> int:
            e = event.contents
            return self._guarded(lambda: stream(e.input, ctypes.string_at(e.text, e.text_bytes).decode()))

        self.progress = _c.ProgressFunction(on_progress) if progress else _c.ProgressFunction()
        self.stream = _c.StreamFunction(on_stream) if stream else _c.StreamFunction()

    def _guarded(self, call: Callable[[], Optional[bool]]) -> int:
        try:
            return 1 if call() is False else 0
        except BaseException as raised:  # pylint: disable=broad-except
            self.raised = raised
            return 1


class Model:
    """A model, ready to be used. `path`: a directory as published; None: LAPILLI_MODEL, or else the bundled model.
    `dtype`: how the device holds its matrices, "fp32", "bf16", "fp16", "int8", "int4" or "auto".
    `kv_dtype`: how it holds the keys and values of what is being written, "fp32" or "fp16"."""

    def __init__(
        self,
        path: Optional[str] = None,
        device: Optional[Device] = None,
        memory_limit: int = 0,
        dtype: str = "fp32",
        kv_dtype: str = "fp32",
    ) -> None:
        if dtype not in _c.DTYPES:
            raise ValueError(f"dtype is {dtype!r}, not one of {', '.join(_c.DTYPES)}")
        options = _c.ModelOptions.sized()
        options.memory_limit = memory_limit
        if kv_dtype not in ("fp32", "fp16"):
            raise ValueError(f"kv_dtype is {kv_dtype!r}, not fp32 or fp16")
        options.dtype = _c.DTYPES[dtype]
        options.kv_dtype = _c.DTYPES[kv_dtype]
        self._handle = ctypes.c_void_p()
        device = device or Device()  # lives through the call
        _check(
            _c.library.lapilli_model_load_with(
                device._handle,
                path.encode() if path else None,
                ctypes.byref(options),
                ctypes.byref(self._handle),
            )
        )

    def __del__(self) -> None:
        if getattr(self, "_handle", None):
            _c.library.lapilli_model_free(self._handle)

    @property
    def family(self) -> str:
        return self._info().family.decode()

    @property
    def device(self) -> str:
        return self._info().device.decode()

    @property
    def parameters(self) -> int:
        return self._info().parameters

    @property
    def languages(self) -> list[str]:
        """Of a multilingual model, as its files write them."""
        count = _c.library.lapilli_model_language_count(self._handle)
        return [_c.library.lapilli_model_language(self._handle, i).decode() for i in range(count)]

    def translate(self, texts: Texts[str], **options: Unpack[Options]) -> list[Output]:
        """Translates; for the options see generate()."""
        return self.generate(texts, task="translate", **options)

    def summarize(self, texts: Texts[str], **options: Unpack[Options]) -> list[Output]:
        """Summarizes; for the options see generate()."""
        return self.generate(texts, task="summarize", **options)

    def generate(
        self,
        inputs: Texts[Union[str, Ids]],
        *,
        task: str = "",
        source_language: str = "",
        target_language: str = "",
        progress: Optional[Progress] = None,
        stream: Optional[Stream] = None,
        cancel_token: Optional[CancelToken] = None,
        **options: Unpack[PlainOptions],
    ) -> list[Output]:
        """Runs texts, or ids with their end token, through the model; the outputs are in the order of the inputs.

        `progress(done, total)` is called after each piece of work and `stream(input, text)` as text comes; False cancels.
        Further options are fields of lapilli_options (num_beams, max_new_tokens, length_penalty, json, ...).
        """
        if isinstance(inputs, (str, bytes)):
            raise TypeError("inputs: a list of texts, or of lists of ids, not one text")
        fill = [lambda to, item=item: _c.fill_input(to, item) for item in inputs]
        return self._run(fill, task, source_language, target_language, progress, stream, cancel_token, options)

    def transcribe(
        self,
        recordings: Texts[Texts[float]],
        *,
        rate: int = 16000,
        task: str = "",
        source_language: str = "",
        progress: Optional[Progress] = None,
        stream: Optional[Stream] = None,
        cancel_token: Optional[CancelToken] = None,
        **options: Unpack[PlainOptions],
    ) -> list[Output]:
        """Writes down what is said in recordings: Output.segments, and with word_times=True their words.

        A recording is numbers from -1 to 1, `rate` of them a second, which is sample_rate: a list, or a buffer of 32-bit
        floats (array.array, NumPy). `task`: "transcribe" or "translate", to English. `pieces=8` cuts recordings where they
        are quiet and hears so many pieces at a time, which takes less time. The rest as generate() has it.
        """
        fill = [lambda to, item=item: _c.fill_samples(to, item, rate) for item in recordings]
        return self._run(fill, task, source_language, "", progress, stream, cancel_token, options)

    def describe(
        self,
        pictures: Texts[Union[str, tuple[int, int, bytes]]],
        *,
        progress: Optional[Progress] = None,
        cancel_token: Optional[CancelToken] = None,
        **options: Unpack[PlainOptions],
    ) -> list[Output]:
        """What pictures show, by the kind of model in words (Output.text) or in Output.classes.

        A picture is the path of its file, or its width, its height, and a byte each of red, green and blue of
        its pixels, row by row.
        """
        if isinstance(pictures, (str, bytes)):
            raise TypeError("pictures: a list of paths or of pixels, not one path")
        fill = [
            lambda to, item=item: (
                _c.fill_picture_file(to, item) if isinstance(item, str) else _c.fill_pixels(to, *item)
            )
            for item in pictures
        ]
        return self._run(fill, "", "", "", progress, None, cancel_token, options)

    @property
    def sample_rate(self) -> int:
        """Samples a second of the recordings that the model hears; 0: it hears nothing."""
        return self._info().sample_rate

    def _run(
        self,
        fill: list[Callable[[_c.Input], object]],
        task: str,
        source_language: str,
        target_language: str,
        progress: Optional[Progress],
        stream: Optional[Stream],
        cancel_token: Optional[CancelToken],
        options: PlainOptions,
    ) -> list[Output]:
        given = (_c.Input * max(1, len(fill)))()
        kept = [fill_one(to) for to, fill_one in zip(given, fill)]
        callbacks = _Callbacks(progress, stream)
        o = _c.Options.defaults()
        o.task, o.source_language, o.target_language = task.encode(), source_language.encode(), target_language.encode()
        o.progress, o.stream = callbacks.progress, callbacks.stream
        o.cancel_token = cancel_token._handle if cancel_token else None
        for name, value in options.items():
            o.set_plain(name, value)
        result = ctypes.c_void_p()
        status = _c.library.lapilli_generate(self._handle, given, len(fill), ctypes.byref(o), ctypes.byref(result))
        failure = None if status == _c.OK else _last_error(status)
        del kept
        try:
            if callbacks.raised:
                raise callbacks.raised
            if failure and not result:
                raise failure
            outputs = [_output(result, i) for i in range(len(fill))]
        finally:
            _c.library.lapilli_result_free(result)
        if failure:
            raise Cancelled(failure.status, str(failure), outputs)
        return outputs

    def tune(
        self,
        seconds: float = 120,
        *,
        inputs: int = 1,
        source_tokens: int = 0,
        target_tokens: int = 0,
        num_beams: Optional[int] = None,
        deterministic: bool = False,
        progress: Optional[Progress] = None,
        cancel_token: Optional[CancelToken] = None,
    ) -> Tuning:
        """Finds the fastest kernels for jobs of this shape on the device, in no more than about `seconds`, and keeps them
        in the device's cache_directory, without which it is an error. Devices that are opened with it later use them.

        `inputs` are worked on at a time; source_tokens 0 is 32, target_tokens 0 is 64, num_beams None the model's.
        `progress(done, total)` is told milliseconds. If it gives False, or the token is cancelled, it raises Cancelled, and
        what was found until then is kept.
        """
        callbacks = _Callbacks(progress, None)
        o, shape, found = _c.Options.defaults(), _c.Shape.sized(), _c.TuningStruct.sized()
        if num_beams is not None:
            o.num_beams = num_beams
        o.deterministic, o.progress = int(deterministic), callbacks.progress
        o.cancel_token = cancel_token._handle if cancel_token else None
        shape.inputs, shape.source_tokens, shape.target_tokens = inputs, source_tokens, target_tokens
        shape.options = ctypes.pointer(o)
        status = _c.library.lapilli_model_tune(self._handle, ctypes.byref(shape), seconds, ctypes.byref(found))
        failure = None if status == _c.OK else _last_error(status)
        if callbacks.raised:
            raise callbacks.raised
        if status == _c.CANCELLED:
            raise Cancelled(status, str(failure), [])
        if failure:
            raise failure
        return Tuning(found.choices, found.step_ratio, found.encode_ratio, bool(found.complete))

    def encode(self, text: str, *, task: str = "", source_language: str = "", target_language: str = "") -> list[int]:
        """The ids that generate() would give the model for this text, end token included."""
        given = _c.Input()
        kept = _c.fill_input(given, text)
        o = _c.Options.defaults()
        o.task, o.source_language, o.target_language = task.encode(), source_language.encode(), target_language.encode()
        count = ctypes.c_size_t()
        arguments = (self._handle, ctypes.byref(given), ctypes.byref(o))
        _check(_c.library.lapilli_model_count_tokens(*arguments, ctypes.byref(count)))
        ids = (ctypes.c_int32 * max(1, count.value))()
        _check(_c.library.lapilli_model_encode(*arguments, ids, count.value, ctypes.byref(count)))
        del kept
        return ids[: count.value]

    def count_tokens(
        self, text: str, *, task: str = "", source_language: str = "", target_language: str = ""
    ) -> int:
        """How many ids encode() gives."""
        return len(self.encode(text, task=task, source_language=source_language, target_language=target_language))

    def decode(self, ids: Ids, keep_special: bool = False) -> str:
        """The text of ids that the model wrote."""
        given = _c.Input()
        kept = _c.fill_input(given, ids)
        size = ctypes.c_size_t()
        arguments = (self._handle, ctypes.byref(given), int(keep_special))
        _check(_c.library.lapilli_model_decode(*arguments, None, 0, ctypes.byref(size)))
        text = ctypes.create_string_buffer(size.value + 1)
        _check(_c.library.lapilli_model_decode(*arguments, text, size.value + 1, ctypes.byref(size)))
        del kept
        return text.value.decode()

    def _info(self) -> _c.ModelInfo:
        info = _c.ModelInfo.sized()
        _check(_c.library.lapilli_model_get_info(self._handle, ctypes.byref(info)))
        return info


def _output(result: ctypes.c_void_p, index: int) -> Output:
    sequences: list[Sequence] = []
    s = _c.SequenceStruct.sized()
    while not sequences or len(sequences) < s.sequences:
        status = _c.library.lapilli_result_get(result, index, len(sequences), ctypes.byref(s))
        if status != _c.OK:
            return Output([], _last_error(status), _segments(result, index))
        scores = s.token_scores[: s.ids.count] if s.token_scores else [math.nan] * s.ids.count
        text = ctypes.string_at(s.text, s.text_bytes).decode()
        ids = s.ids.ids[: s.ids.count] if s.ids.count else []
        sequences.append(Sequence(text, ids, s.score, scores, s.finish == _c.FINISH_LENGTH, bool(s.repeats)))
    return Output(sequences, None, _segments(result, index), _classes(result, index))


def _text(struct: Union[_c.SegmentStruct, _c.WordStruct]) -> str:
    return ctypes.string_at(struct.text, struct.text_bytes).decode()


def _segments(result: ctypes.c_void_p, index: int) -> list[Segment]:
    count = ctypes.c_size_t()
    _check(_c.library.lapilli_result_segments(result, index, ctypes.byref(count)))
    return [_segment(result, index, i) for i in range(count.value)]


def _segment(result: ctypes.c_void_p, index: int, number: int) -> Segment:
    s, w = _c.SegmentStruct.sized(), _c.WordStruct.sized()
    _check(_c.library.lapilli_result_get_segment(result, index, number, ctypes.byref(s)))
    words = []
    for i in range(s.words):
        _check(_c.library.lapilli_result_get_word(result, index, number, i, ctypes.byref(w)))
        words.append(Word(_text(w), w.begin, w.end, w.probability))
    ids = s.ids.ids[: s.ids.count] if s.ids.count else []
    language = s.language.decode() if s.language else None
    return Segment(_text(s), s.begin, s.end, ids, language, words, s.log_probability)


def _classes(result: ctypes.c_void_p, index: int) -> list[PictureClass]:
    count, c = ctypes.c_size_t(), _c.ClassStruct.sized()
    _check(_c.library.lapilli_result_classes(result, index, ctypes.byref(count)))
    found = []
    for i in range(count.value):
        _check(_c.library.lapilli_result_get_class(result, index, i, ctypes.byref(c)))
        found.append(PictureClass(c.index, c.label.decode(), c.probability))
    return found
