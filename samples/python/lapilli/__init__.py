"""Lapilli in Python: Transformer encoder-decoder models on any Vulkan 1.1 device, over the C interface by ctypes.

    model = lapilli.Model()                      # the bundled English-French model
    print(model.translate(["Where is the station?"])[0].text)

Functions raise lapilli.Error, which names the failure and its remedy. Several threads may use a model at once; a call
does not hold Python's lock.
"""

from __future__ import annotations

import ctypes
import dataclasses
import json as _json
import math
import os
from typing import TYPE_CHECKING, Any, Callable, Iterable, Iterator, Optional, Sequence as Texts, TypedDict, Union

from . import _c
from ._columns import embed_column, shared_model, translate_column

if TYPE_CHECKING:  # type checkers know this module
    from typing_extensions import Unpack

__all__ = [
    "CancelToken",
    "Cancelled",
    "Device",
    "Error",
    "Event",
    "Job",
    "Model",
    "Neighbour",
    "Options",
    "Output",
    "Part",
    "PictureClass",
    "PlainOptions",
    "Segment",
    "Sequence",
    "Tuning",
    "Vector",
    "Word",
    "devices",
    "embed_column",
    "shared_model",
    "translate_column",
    "version",
]

Progress = Callable[[int, int], Optional[bool]]
Stream = Callable[[int, str], Optional[bool]]
Ids = Iterable[int]
Recording = Union[str, Texts[float]]  # the path of a WAV file, or numbers from -1 to 1
Rows = Any  # lists of numbers of one length, or a buffer of 32-bit floats with two dimensions (NumPy)
Picture = Union[str, tuple[int, int, bytes]]  # the path of a file, or width, height, and the bytes of its pixels


class ChatOptions(TypedDict, total=False):
    """The fields of lapilli_chat_options that are more than a number or a text."""

    chat: int  # not 0: the texts are said in a chat
    messages: Union[str, list[dict]]
    tools: Union[str, list[dict]]
    arguments: Union[str, dict]
    stops: list[str]


class PlainOptions(ChatOptions, total=False):
    """The fields of lapilli_options, and of those for speech, pictures and embeddings, that are a number or a text. Fields
    that are not given have the defaults of lapilli.h."""

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
    word_times: int
    condition_on_previous: int
    compression_ratio_threshold: float
    logprob_threshold: float
    no_speech_threshold: float
    interim_samples: int
    chunks: int
    classes: int
    dimensions: int
    normalize: int
    top_classes: int
    prompt_name: str
    hypothesis: str
    entailment: str
    multi_label: int
    top_spans: int
    aggregation: str
    allow_empty: int
    max_answer_tokens: int
    window: int
    stride: int
    cut_texts: int
    part_words: int
    system: str
    leave_out_thoughts: int


class Options(PlainOptions, total=False):
    """The options of Model.translate() and summarize()."""

    source_language: str
    target_language: str
    progress: Optional[Progress]
    stream: Optional[Stream]
    cancel_token: Optional[CancelToken]


class Error(Exception):
    """A failure, its place and its remedy; `status` is a lapilli_status of lapilli.h."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:  # as exceptions of two arguments need it to be pickled
        return type(self), (self.status, str(self))


class Cancelled(Error):
    """A callback gave False, or a token was cancelled. `outputs` has the finished ones; the others have an error."""

    def __init__(self, status: int, message: str, outputs: list[Output]) -> None:
        super().__init__(status, message)
        self.outputs = outputs

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        return type(self), (self.status, str(self), self.outputs)


@dataclasses.dataclass(frozen=True)
class Part:
    """A run of the model that is a part of a sequence, or a kept text; see lapilli_part."""

    text: str
    ids: list[int]
    score: float
    finish: str
    repeats: bool
    source: tuple[int, int]  # bytes of the input's text
    target: tuple[int, int]  # bytes of the sequence's text


@dataclasses.dataclass(frozen=True)
class Sequence:
    """See lapilli_sequence."""

    text: str
    ids: list[int]  # with the end token
    score: float
    token_scores: list[float]  # logarithms of probabilities; NaN for ids that were given
    finish: str  # "stop", "length" (the end may be missing) or "kept" (the input's text)
    repeats: bool  # it ends in a loop and is unusable
    parts: list[Part]  # one, unless the text was split
    word_tokens: int
    unknown_tokens: int
    lost_address: Optional[str]


@dataclasses.dataclass(frozen=True)
class Word:
    text: str  # with the space in front and the signs behind
    begin: float  # seconds
    end: float
    probability: float


@dataclasses.dataclass(frozen=True)
class Segment:
    """The transcript of some seconds of a recording; see lapilli_segment."""

    text: str
    begin: float  # seconds
    end: float
    ids: list[int]
    language: Optional[str]
    words: list[Word]  # empty unless word_times asks for them
    log_probability: float
    no_speech_probability: Optional[float]  # None: not measured
    repeats: bool = False  # this and the next two are set in outputs, not in events
    doubtful: bool = False
    window_begin: float = 0


@dataclasses.dataclass(frozen=True)
class PictureClass:
    index: int
    label: str
    probability: float
    score: float = math.nan  # the logit
    published_score: float = math.nan  # of a text: the number that the model's publisher calls the score


@dataclasses.dataclass(frozen=True)
class Vector:
    values: list[float]
    tokens: int  # of the text, as the model has read it
    cut: bool  # the text was longer than the model reads


@dataclasses.dataclass(frozen=True)
class Neighbour:
    index: int  # of the vector
    score: float


@dataclasses.dataclass(frozen=True)
class Span:
    """A tag, an answer or a word for a mask; see lapilli_span. Python's slices count characters, as `characters` does."""

    text: str
    score: float
    label: str
    characters: tuple[int, int]
    bytes: tuple[int, int]
    filled: str  # for a mask: the whole text with this word
    token: int


@dataclasses.dataclass(frozen=True)
class Output:
    """The output of one input: sequences, best first, or an error."""

    sequences: list[Sequence]
    error: Optional[Error] = None
    segments: list[Segment] = dataclasses.field(default_factory=list)  # of a recording
    classes: list[PictureClass] = dataclasses.field(default_factory=list)  # of a picture, the likeliest first
    vector: Optional[Vector] = None  # of a text, from a model that makes vectors
    spans: list[Span] = dataclasses.field(default_factory=list)  # of a text: tags, answers or words for masks
    windows: int = 0  # of a text, as the encoder has read it: passes of the model
    cut: bool = False  # and whether its end is left out

    @property
    def text(self) -> str:
        """The best text. Raises the input's error."""
        if self.error:
            raise self.error
        return self.sequences[0].text


@dataclasses.dataclass(frozen=True)
class Tuning:
    """The outcome of Model.tune()."""

    choices: int  # stored choices for this device, of all models and shapes
    step_ratio: float  # the time that a decoder step takes with them over without; 1: nothing new
    encode_ratio: float
    complete: bool  # everything was tried


@dataclasses.dataclass(frozen=True)
class Event:
    """An event of a job. `kind` is "text", "progress", "input", "error", "end", "segment" or "interim"; the comments name the
    kinds that set a field."""

    kind: str
    input: int = 0  # text, input, segment, interim
    text: str = ""  # text
    ids: list[int] = dataclasses.field(default_factory=list)  # text
    done: int = 0  # progress
    total: int = 0  # progress
    tokens: int = 0  # progress
    error: Optional[Error] = None  # input, error, end: None if all is well
    segment: Optional[Segment] = None  # segment
    interim: list[Segment] = dataclasses.field(default_factory=list)  # interim: segments that may still change


def version() -> str:
    """Gives the version of the library that runs."""
    return _c.library.lapilli_version().decode()


def devices(select: str = "assigned", caps: str = "") -> list[dict[str, Any]]:
    """Lists every device of this machine, as "lapilli devices --json" does; `select` as for Device says which is `chosen`."""
    options = _c.DeviceOptions.defaults()
    options.select, options.caps = select.encode(), caps.encode()
    text = ctypes.c_char_p()
    _check(_c.library.lapilli_devices_json(ctypes.byref(options), ctypes.byref(text)))
    return _json.loads(text.value)


def _last_error(status: int) -> Error:
    return Error(status, _c.library.lapilli_last_error().decode(errors="replace"))


def _check(status: int) -> None:
    if status != _c.OK:
        raise _last_error(status)


class Device:
    """A device for any number of models, which share its memory and its pipelines. Models keep it.
    `select`: "assigned", the GPU that a scheduler assigned to this process (CUDA_VISIBLE_DEVICES, SLURM_JOB_GPUS, ...), else
    the best; "", the best; an index, a part of the name, or a UUID.
    `cache_directory`: a folder for its pipelines and the results of its self-test and of Model.tune(); "": none.
    `refuse_cpu`: drivers that compute on the CPU do not count."""

    def __init__(self, select: str = "assigned", caps: str = "", cache_directory: str = "", refuse_cpu: bool = False) -> None:
        options = _c.DeviceOptions.defaults()
        options.refuse_cpu = int(refuse_cpu)
        options.select = select.encode()
        options.caps = caps.encode()
        options.cache_directory = cache_directory.encode()
        self._handle = ctypes.c_void_p()
        _check(_c.library.lapilli_device_open(ctypes.byref(options), ctypes.byref(self._handle)))

    def __del__(self) -> None:
        if getattr(self, "_handle", None):
            _c.library.lapilli_device_close(self._handle)

    def nearest(
        self,
        vectors: Rows,
        queries: Rows,
        top: int = 10,
        similarity: str = "cosine",
        *,
        progress: Optional[Progress] = None,
        cancel_token: Optional[CancelToken] = None,
    ) -> list[list[Neighbour]]:
        """Finds for each query the vectors that are most similar to it, exactly, the best first.

        Vectors and queries are lists of lists, or buffers of 32-bit floats with two dimensions, which are not copied.
        `similarity`: "cosine", "dot" or "euclidean" (the negative distance).
        """
        if similarity not in _c.SIMILARITIES:
            raise ValueError(f"similarity is one of {', '.join(_c.SIMILARITIES)}")
        if top < 1:
            raise ValueError("top is at least 1")
        searched, asked, options = _c.Vectors.sized(), _c.Vectors.sized(), _c.NearestOptions.sized()
        kept = [_c.fill_vectors(searched, vectors), _c.fill_vectors(asked, queries)]
        for none, others in ((searched, asked), (asked, searched)):
            none.dimensions = none.dimensions if none.count else others.dimensions
        calls = _Callbacks(progress, None)
        options.similarity, options.top, options.progress = _c.SIMILARITIES[similarity], top, calls.progress
        options.cancel_token = cancel_token._handle if cancel_token else None
        each = min(top, searched.count)
        indices, scores = (ctypes.c_size_t * (each * asked.count + 1))(), (ctypes.c_double * (each * asked.count + 1))()
        structs = [ctypes.byref(struct) for struct in (searched, asked, options)]
        status = _c.library.lapilli_nearest(self._handle, *structs, indices, scores)
        del kept
        if calls.raised:
            raise calls.raised
        _check(status)
        rows = [range(q * each, (q + 1) * each) for q in range(asked.count)]
        return [[Neighbour(indices[i], scores[i]) for i in row] for row in rows]


class CancelToken:
    """Cancels the calls that got it; any thread may call cancel()."""

    def __init__(self) -> None:
        self._handle = ctypes.c_void_p()
        _check(_c.library.lapilli_cancel_token_create(ctypes.byref(self._handle)))

    def cancel(self) -> None:
        _c.library.lapilli_cancel_token_cancel(self._handle)

    def __del__(self) -> None:
        if getattr(self, "_handle", None):
            _c.library.lapilli_cancel_token_free(self._handle)


class _Callbacks:
    """Python functions as C functions. An exception cancels the call and is raised again after it."""

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
    """A model on a device. `name`: a directory as published, or OWNER/NAME of a fetched model; None: the one that
    LAPILLI_MODEL names, or else the bundled one.
    `device`: None is Device(), on the GPU that is assigned to this process, else on the best.
    `dtype`: the format of its matrices on the device, "fp32", "bf16", "fp16", "int8", "int4" or "auto".
    `kv_dtype`: the format of keys and values, "fp32" or "fp16".
    `prefix_cache`: prompts of a decoder alone that begin alike share what was computed.

    A pickled model is its name and its format: unpickled, it is the process's shared_model() of these."""

    def __init__(
        self,
        name: Optional[str] = None,
        device: Optional[Device] = None,
        memory_limit: int = 0,
        dtype: str = "fp32",
        kv_dtype: str = "fp32",
        prefix_cache: bool = True,
    ) -> None:
        if dtype not in _c.DTYPES:
            raise ValueError(f"dtype is {dtype!r}, not one of {', '.join(_c.DTYPES)}")
        options = _c.ModelOptions.sized()
        options.memory_limit = memory_limit
        if kv_dtype not in ("fp32", "fp16"):
            raise ValueError(f"kv_dtype is {kv_dtype!r}, not fp32 or fp16")
        options.dtype = _c.DTYPES[dtype]
        options.kv_dtype = _c.DTYPES[kv_dtype]
        options.no_prefix_cache = int(not prefix_cache)
        # A directory is found from any folder that another process works in.
        self._pickled = (os.path.abspath(name) if name and os.path.isdir(name) else name, dtype, kv_dtype)
        self._handle = ctypes.c_void_p()
        device = device or Device()  # lives through the call
        _check(
            _c.library.lapilli_model_load_with(
                device._handle,
                name.encode() if name else None,
                ctypes.byref(options),
                ctypes.byref(self._handle),
            )
        )

    def __del__(self) -> None:
        if getattr(self, "_handle", None):
            _c.library.lapilli_model_free(self._handle)

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        return shared_model, self._pickled

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
        """The languages of a multilingual model, as its files write them."""
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

        `progress(done, total)` is called after each unit of work and `stream(input, text)` as text comes; False cancels.
        Further options are fields of lapilli_options (num_beams, max_new_tokens, length_penalty, json, ...).
        """
        texts = (task, source_language, target_language)
        return self._run(_texts(inputs), texts, progress, stream, cancel_token, options)

    def transcribe(
        self,
        recordings: Texts[Recording],
        *,
        rate: int = 16000,
        task: str = "",
        source_language: str = "",
        temperatures: Iterable[float] = (),
        progress: Optional[Progress] = None,
        stream: Optional[Stream] = None,
        cancel_token: Optional[CancelToken] = None,
        **options: Unpack[PlainOptions],
    ) -> list[Output]:
        """Transcribes recordings: Output.segments, and with word_times=True their words.

        A recording is the path of a WAV file with whole numbers (PCM), or numbers from -1 to 1, `rate` of them a second: a
        list, or a buffer of 32-bit floats (array.array, NumPy). Both need the model's sample_rate. `task`: "transcribe" or
        "translate", to English. `chunks=8` cuts recordings where they are quiet and runs this many chunks at a time,
        which takes less time. The rest is as in generate().
        """
        texts = (task, source_language, "")
        more = {**options, "temperatures": temperatures}
        return self._run(self._recordings(recordings, rate), texts, progress, stream, cancel_token, more)

    def describe(
        self,
        pictures: Texts[Picture],
        *,
        progress: Optional[Progress] = None,
        cancel_token: Optional[CancelToken] = None,
        **options: Unpack[PlainOptions],
    ) -> list[Output]:
        """Describes pictures: the model gives texts (Output.text) or Output.classes.

        A picture is the path of its file, or its width, its height, and a byte each of red, green and blue of
        its pixels, row by row.
        """
        return self._run(_pictures(pictures), ("", "", ""), progress, None, cancel_token, options)

    def embed(
        self,
        texts: Texts[Union[str, Ids]],
        *,
        task: str = "",
        progress: Optional[Progress] = None,
        cancel_token: Optional[CancelToken] = None,
        **options: Unpack[PlainOptions],
    ) -> list[Vector]:
        """Makes a vector of each text. Raises the first error of a text.

        `task`: "query" or "document", for directories with such prompts. `prompt_name` is a prompt by its name, `prompt`
        its text ("" for none); `normalize=True` gives vectors length 1, `dimensions` keeps their first numbers alone.
        """
        outputs = self._run(_texts(texts), (task or "embed", "", ""), progress, None, cancel_token, options)
        return [_vector_of(output) for output in outputs]

    def classify(
        self,
        texts: Texts[Union[str, tuple[str, str], Ids]],
        *,
        labels: Optional[Texts[str]] = None,
        progress: Optional[Progress] = None,
        cancel_token: Optional[CancelToken] = None,
        **options: Unpack[PlainOptions],
    ) -> list[Output]:
        """Scores texts, or pairs of texts, with a classifier or a reranker: Output.classes, the likeliest first.

        `labels` are classes that the model was not trained for, if it tells whether a text entails a sentence.
        """
        given: dict[str, Any] = {**options, **({} if labels is None else {"labels": labels})}
        return self._run(_texts(texts), ("classify", "", ""), progress, None, cancel_token, given)

    def tag(
        self,
        texts: Texts[str],
        *,
        ignored_labels: Optional[Texts[str]] = None,
        progress: Optional[Progress] = None,
        cancel_token: Optional[CancelToken] = None,
        **options: Unpack[PlainOptions],
    ) -> list[Output]:
        """Finds names and words with tags: Output.spans. `aggregation` is "none", "simple", "first", "average" or "max".

        `ignored_labels` replaces the one label whose spans are left out, "O".
        """
        given: dict[str, Any] = {**options, **({} if ignored_labels is None else {"ignored_labels": ignored_labels})}
        return self._run(_texts(texts), ("tag", "", ""), progress, None, cancel_token, given)

    def answer(
        self,
        questions_and_texts: Texts[Union[str, tuple[str, str]]],
        *,
        question: Optional[str] = None,
        progress: Optional[Progress] = None,
        cancel_token: Optional[CancelToken] = None,
        **options: Unpack[PlainOptions],
    ) -> list[Output]:
        """Finds answers in texts, each behind its question: Output.spans, the best first, with places in the text.

        `question` is that about every text, and the texts then stand alone.
        """
        pairs = _pairs(questions_and_texts, question)
        return self._run(_texts(pairs), ("answer", "", ""), progress, None, cancel_token, options)

    def fill(
        self,
        texts: Texts[str],
        *,
        progress: Optional[Progress] = None,
        cancel_token: Optional[CancelToken] = None,
        **options: Unpack[PlainOptions],
    ) -> list[Output]:
        """Finds words for the masks of texts: Output.spans, for each mask the likeliest first."""
        return self._run(_texts(texts), ("fill", "", ""), progress, None, cancel_token, options)

    def score(
        self,
        texts: Texts[Union[str, tuple[str, str], Ids]],
        *,
        source_language: str = "",
        target_language: str = "",
        progress: Optional[Progress] = None,
        cancel_token: Optional[CancelToken] = None,
        **options: Unpack[PlainOptions],
    ) -> list[Output]:
        """Scores given texts, or pairs of a source and its target for models with an encoder.

        Of each output's first sequence, `token_scores` has the logarithm of the probability of each id behind those
        before it (NaN for a first one with nothing before it), `score` their sum. `window` and `stride`: tokens that are
        read together, and by which a window of a longer text moves on.
        """
        languages = (source_language, target_language)
        return self._run(_texts(texts), ("score", *languages), progress, None, cancel_token, options)

    @property
    def dimensions(self) -> int:
        """Numbers of each vector; 0: the model makes none of texts."""
        return int(self._info().dimensions)

    def start(
        self,
        inputs: Texts[Union[str, Ids]],
        *,
        task: str = "translate",
        source_language: str = "",
        target_language: str = "",
        cancel_token: Optional[CancelToken] = None,
        **options: Unpack[PlainOptions],
    ) -> Job:
        """Starts a job on texts or ids, which does not wait."""
        return self._start(_texts(inputs), (task, source_language, target_language), cancel_token, options)

    def start_recordings(
        self,
        recordings: Texts[Optional[Recording]],
        *,
        rate: int = 16000,
        task: str = "",
        source_language: str = "",
        temperatures: Iterable[float] = (),
        cancel_token: Optional[CancelToken] = None,
        **options: Unpack[PlainOptions],
    ) -> Job:
        """Starts a job on recordings. None is a recording that continues: Job.append_samples() adds its samples."""
        more = {**options, "temperatures": temperatures}
        return self._start(self._recordings(recordings, rate), (task, source_language, ""), cancel_token, more)

    def start_pictures(
        self,
        pictures: Texts[Picture],
        *,
        cancel_token: Optional[CancelToken] = None,
        **options: Unpack[PlainOptions],
    ) -> Job:
        """Starts a job on pictures, as describe() takes them."""
        return self._start(_pictures(pictures), ("", "", ""), cancel_token, options)

    @property
    def sample_rate(self) -> int:
        """Samples a second of the recordings that the model takes; 0: it takes no sound."""
        return self._info().sample_rate

    def _recordings(self, recordings: Texts[Optional[Recording]], rate: int) -> list[_Fill]:
        if isinstance(recordings, (str, bytes)):
            raise TypeError("recordings: a list of paths or of samples, not one path")

        def fill(to: _c.Input, item: Optional[Recording]) -> object:
            samples, its_rate = _c.read_wav(item) if isinstance(item, str) else (item, rate)
            if isinstance(item, str) and its_rate != self.sample_rate and self.sample_rate:
                raise Error(
                    _c.INVALID_DATA,
                    f"{item} has {its_rate} samples a second, and the model takes {self.sample_rate}: resample it first "
                    f"(ffmpeg -i {item} -ar {self.sample_rate} resampled.wav)",
                )
            return _c.fill_samples(to, samples, its_rate)

        return [lambda to, item=item: fill(to, item) for item in recordings]

    def _run(
        self,
        fill: list[_Fill],
        texts: tuple[str, str, str],
        progress: Optional[Progress],
        stream: Optional[Stream],
        cancel_token: Optional[CancelToken],
        options: Any,
    ) -> list[Output]:
        given, kept = _inputs(fill)
        callbacks = _Callbacks(progress, stream)
        call = _call_options(texts, cancel_token, options)
        call.options.progress, call.options.stream = callbacks.progress, callbacks.stream
        result = ctypes.c_void_p()
        status = _c.library.lapilli_generate(self._handle, given, len(fill), call.pointer, ctypes.byref(result))
        failure = None if status == _c.OK else _last_error(status)
        del kept
        try:
            if callbacks.raised:
                raise callbacks.raised
            return _outputs(result, len(fill), failure)
        finally:
            _c.library.lapilli_result_free(result)

    def _start(
        self, fill: list[_Fill], texts: tuple[str, str, str], cancel_token: Optional[CancelToken], options: Any
    ) -> Job:
        given, kept = _inputs(fill)
        call = _call_options(texts, cancel_token, options)
        handle = ctypes.c_void_p()
        _check(_c.library.lapilli_job_start(self._handle, given, len(fill), call.pointer, ctypes.byref(handle)))
        del kept  # a job has copies
        return Job(handle, len(fill), cancel_token)

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
        """Finds the fastest kernels for jobs of this shape on the device, in about `seconds` at most, and stores them in
        the device's cache_directory; without one it is an error. Devices that are opened with it later use them.

        `inputs` run at a time; source_tokens 0 is 32, target_tokens 0 is 64, num_beams None the model's.
        `progress(done, total)` gets milliseconds. If it gives False, or the token is cancelled, this raises Cancelled and
        keeps the choices so far.
        """
        callbacks = _Callbacks(progress, None)
        shape, found = _c.Shape.sized(), _c.TuningStruct.sized()
        options = {} if num_beams is None else {"num_beams": num_beams}
        call = _call_options(("", "", ""), cancel_token, {**options, "deterministic": int(deterministic)})
        call.options.progress = callbacks.progress
        shape.inputs, shape.source_tokens, shape.target_tokens = inputs, source_tokens, target_tokens
        shape.options = call.pointer
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
        """Gives the ids that generate() would give the model for this text, end token included."""
        given = _c.Input()
        kept = _c.fill_input(given, text)
        call = _call_options((task, source_language, target_language), None, {})
        count = ctypes.c_size_t()
        arguments = (self._handle, ctypes.byref(given), call.pointer)
        _check(_c.library.lapilli_model_count_tokens(*arguments, ctypes.byref(count)))
        ids = (ctypes.c_int32 * max(1, count.value))()
        _check(_c.library.lapilli_model_encode(*arguments, ids, count.value, ctypes.byref(count)))
        del kept
        return ids[: count.value]

    def count_tokens(
        self, text: str, *, task: str = "", source_language: str = "", target_language: str = ""
    ) -> int:
        """Counts the ids that encode() gives."""
        return len(self.encode(text, task=task, source_language=source_language, target_language=target_language))

    def decode(self, ids: Ids, keep_special: bool = False) -> str:
        """Gives the text of ids that the model wrote."""
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


class Job:
    """Inputs on their way through a model, which Model.start() and the like begin. One thread at a time uses it, except for
    cancel(). It works only while it is pumped, by pump(), wait() or events()."""

    def __init__(self, handle: ctypes.c_void_p, inputs: int, cancel_token: Optional[CancelToken]) -> None:
        self._handle, self._inputs, self._token = handle, inputs, cancel_token

    def __del__(self) -> None:
        if getattr(self, "_handle", None):
            _c.library.lapilli_job_free(self._handle)

    def pump(self, budget_us: int = _c.UNLIMITED) -> bool:
        """Advances the job without waiting; True once it has ended."""
        return self._flag(_c.library.lapilli_job_pump, budget_us)

    def wait(self, timeout_us: int = _c.UNLIMITED) -> bool:
        """Pumps until the job has ended (True), the time is up, or the job needs more samples."""
        return self._flag(_c.library.lapilli_job_wait, timeout_us)

    def events(self) -> Iterator[Event]:
        """Pumps the job and gives its events, until it has ended or needs more samples."""
        while True:
            over = self.wait(50_000)
            yield from self.pending_events()
            if over or self.wants_samples():
                return

    def pending_events(self) -> Iterator[Event]:
        """Gives the events that have come, without pumping."""
        event, has = _c.EventStruct.sized(), ctypes.c_int32(1)
        while True:
            _check(_c.library.lapilli_job_next_event(self._handle, ctypes.byref(event), ctypes.byref(has)))
            if not has.value:
                return
            if event.kind in _c.EVENTS:
                yield self._event(event)

    def append_samples(self, input: int, samples: Texts[float]) -> None:
        """Appends samples to a recording that continues."""
        copy = _c.floats(samples)
        _check(_c.library.lapilli_job_append_samples(self._handle, input, copy, len(copy)))

    def end_samples(self, input: int) -> None:
        """Ends a recording."""
        _check(_c.library.lapilli_job_end_samples(self._handle, input))

    def wants_samples(self) -> bool:
        """True if the job can do nothing before more samples come."""
        return self._flag(_c.library.lapilli_job_wants_samples)

    def cancel(self) -> None:
        """Ends the job at its next pump. Any thread may call it."""
        _c.library.lapilli_job_cancel(self._handle)

    def take(self) -> list[Output]:
        """Gives the outputs after the end, once. Raises Cancelled with the finished ones, or the job's error."""
        result = ctypes.c_void_p()
        status = _c.library.lapilli_job_take(self._handle, ctypes.byref(result))
        failure = None if status == _c.OK else _last_error(status)
        try:
            return _outputs(result, self._inputs, failure)
        finally:
            _c.library.lapilli_result_free(result)

    def _flag(self, function: Callable[..., int], *arguments: int) -> bool:
        flag = ctypes.c_int32()
        _check(function(self._handle, *arguments, ctypes.byref(flag)))
        return bool(flag.value)

    def _event(self, event: _c.EventStruct) -> Event:
        kind, of = _c.EVENTS[event.kind], getattr(event.of, _c.EVENTS[event.kind])
        if kind == "text":
            return Event(kind, of.input, _text(of), _ids(of))
        if kind == "progress":
            return Event(kind, done=of.done, total=of.total, tokens=of.tokens)
        if kind == "segment":
            word = lambda i, w: _c.library.lapilli_job_get_word(self._handle, i, w)
            return Event(kind, of.input, segment=_segment(of, word))
        if kind == "interim":
            return Event(kind, of.input, interim=[self._interim(i) for i in range(of.segments)])
        message = of.message.decode() if kind != "end" else ""
        error = None if of.status == _c.OK else Error(of.status, message)
        return Event(kind, of.input if kind == "input" else 0, error=error)

    def _interim(self, number: int) -> Segment:
        s = _c.SegmentStruct.sized()
        _check(_c.library.lapilli_job_get_interim(self._handle, number, ctypes.byref(s)))
        return _segment(s, lambda i, w: _c.library.lapilli_job_get_interim_word(self._handle, number, i, w))


_Fill = Callable[[_c.Input], object]


def _texts(inputs: Texts[Union[str, tuple[str, str], Ids]]) -> list[_Fill]:
    if isinstance(inputs, (str, bytes)):
        raise TypeError("inputs: a list of texts, or of lists of ids, not one text")
    return [lambda to, item=item: _c.fill_input(to, item) for item in inputs]


def _pairs(inputs: Texts[Union[str, tuple[str, str]]], question: Optional[str]) -> list[tuple[str, str]]:
    alone = isinstance(inputs, (str, bytes)) or any(isinstance(item, str) for item in inputs)
    if isinstance(inputs, (str, bytes)) or alone != (question is not None):
        raise TypeError("answer takes a list of pairs, [(question, text)], or of texts with question=...")
    return [item if question is None else (question, item) for item in inputs]


def _pictures(pictures: Texts[Picture]) -> list[_Fill]:
    if isinstance(pictures, (str, bytes)):
        raise TypeError("pictures: a list of paths or of pixels, not one path")
    return [
        lambda to, item=item: _c.fill_picture_file(to, item) if isinstance(item, str) else _c.fill_pixels(to, *item)
        for item in pictures
    ]


def _inputs(fill: list[_Fill]) -> tuple[ctypes.Array[_c.Input], list[object]]:
    """The C inputs, and the memory that they point to."""
    given = (_c.Input * max(1, len(fill)))()
    return given, [fill_one(to) for to, fill_one in zip(given, fill)]


def _call_options(texts: tuple[str, str, str], cancel_token: Optional[CancelToken], options: Any) -> _c.CallOptions:
    call = _c.CallOptions()
    o = call.options
    o.task, o.source_language, o.target_language = (text.encode() for text in texts)
    o.cancel_token = cancel_token._handle if cancel_token else None
    for name, value in options.items():
        call.set(name, value)
    return call


def _outputs(result: ctypes.c_void_p, count: int, failure: Optional[Error]) -> list[Output]:
    if failure and not result:
        raise failure
    outputs = [_output(result, i) for i in range(count)]
    if failure:
        raise Cancelled(failure.status, str(failure), outputs)
    return outputs


def _ids(struct: Any) -> list[int]:
    return struct.ids.ids[: struct.ids.count] if struct.ids.count else []


def _output(result: ctypes.c_void_p, index: int) -> Output:
    sequences: list[Sequence] = []
    s = _c.SequenceStruct.sized()
    while not sequences or len(sequences) < s.sequences:
        status = _c.library.lapilli_result_get(result, index, len(sequences), ctypes.byref(s))
        if status != _c.OK:
            return Output([], _last_error(status), _segments(result, index))
        sequences.append(_sequence(result, index, len(sequences), s))
    reading = _c.ReadingStruct.sized()
    _c.library.lapilli_result_get_reading(result, index, ctypes.byref(reading))  # all 0 where no encoder has read it
    return Output(
        sequences,
        None,
        _segments(result, index),
        _classes(result, index),
        _vector(result, index, reading),
        _spans(result, index),
        reading.windows,
        bool(reading.cut),
    )


def _vector(result: ctypes.c_void_p, index: int, reading: _c.ReadingStruct) -> Optional[Vector]:
    v = _c.VectorStruct.sized()
    if _c.library.lapilli_result_get_vector(result, index, ctypes.byref(v)) != _c.OK:
        return None
    return Vector(v.values[: v.dimensions], reading.tokens, bool(reading.cut))


def _spans(result: ctypes.c_void_p, index: int) -> list[Span]:
    count = ctypes.c_size_t()
    _check(_c.library.lapilli_result_spans(result, index, ctypes.byref(count)))
    return [_span(result, index, i) for i in range(count.value)]


def _span(result: ctypes.c_void_p, index: int, number: int) -> Span:
    s = _c.SpanStruct.sized()
    _check(_c.library.lapilli_result_get_span(result, index, number, ctypes.byref(s)))
    filled = ctypes.string_at(s.filled, s.filled_bytes).decode()
    places = (s.first_character, s.end_character), (s.begin, s.end)
    return Span(_text(s), s.score, s.label.decode(), *places, filled, s.token)


def _vector_of(output: Output) -> Vector:
    if output.error:
        raise output.error
    if output.vector is None:
        raise Error(_c.UNSUPPORTED, "the model makes no vectors of texts")
    return output.vector


def _sequence(result: ctypes.c_void_p, index: int, number: int, s: _c.SequenceStruct) -> Sequence:
    return Sequence(
        text=_text(s),
        ids=_ids(s),
        score=s.score,
        token_scores=s.token_scores[: s.ids.count] if s.token_scores else [math.nan] * s.ids.count,
        finish=_c.FINISH[s.finish],
        repeats=bool(s.repeats),
        parts=[_part(result, index, number, i) for i in range(s.parts)],
        word_tokens=s.word_tokens,
        unknown_tokens=s.unknown_tokens,
        lost_address=s.lost_address.decode() if s.lost_address else None,
    )


def _part(result: ctypes.c_void_p, index: int, sequence: int, number: int) -> Part:
    p = _c.PartStruct.sized()
    _check(_c.library.lapilli_result_get_part(result, index, sequence, number, ctypes.byref(p)))
    source, target = (p.source_begin, p.source_end), (p.target_begin, p.target_end)
    return Part(_text(p), _ids(p), p.score, _c.FINISH[p.finish], bool(p.repeats), source, target)


def _text(struct: Any) -> str:
    return ctypes.string_at(struct.text, struct.text_bytes).decode()


def _segments(result: ctypes.c_void_p, index: int) -> list[Segment]:
    count = ctypes.c_size_t()
    _check(_c.library.lapilli_result_segments(result, index, ctypes.byref(count)))
    return [_result_segment(result, index, i) for i in range(count.value)]


def _result_segment(result: ctypes.c_void_p, index: int, number: int) -> Segment:
    s = _c.SegmentStruct.sized()
    _check(_c.library.lapilli_result_get_segment(result, index, number, ctypes.byref(s)))
    plain = _segment(s, lambda i, w: _c.library.lapilli_result_get_word(result, index, number, i, w))
    return dataclasses.replace(
        plain, repeats=bool(s.repeats), doubtful=bool(s.doubtful), window_begin=s.window_begin
    )


def _segment(s: Any, get_word: Callable[[int, Any], int]) -> Segment:
    w = _c.WordStruct.sized()
    words = []
    for i in range(s.words):
        _check(get_word(i, ctypes.byref(w)))
        words.append(Word(_text(w), w.begin, w.end, w.probability))
    language = s.language.decode() if s.language else None
    silence = None if math.isnan(s.no_speech_probability) else s.no_speech_probability
    return Segment(_text(s), s.begin, s.end, _ids(s), language, words, s.log_probability, silence)


def _classes(result: ctypes.c_void_p, index: int) -> list[PictureClass]:
    count, c = ctypes.c_size_t(), _c.ClassStruct.sized()
    _check(_c.library.lapilli_result_classes(result, index, ctypes.byref(count)))
    found = []
    for i in range(count.value):
        _check(_c.library.lapilli_result_get_class(result, index, i, ctypes.byref(c)))
        found.append(PictureClass(c.index, c.label.decode(), c.probability, c.score, c.published_score))
    return found
