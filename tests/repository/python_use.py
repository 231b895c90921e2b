"""What a Python program does with lapilli, on the bundled model."""

import array
import ctypes
import importlib.resources
import inspect
import math
import os
import pickle
import shutil
import tempfile
import threading
import typing
import unittest
import unittest.mock
import wave

import lapilli

STATION, GARE = "Where is the station?", "Où est la gare ?"


class Use(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.device = lapilli.Device()
        cls.model = lapilli.Model(device=cls.device)

    def test_translates(self):
        outputs = self.model.translate([STATION, "Hello."])
        self.assertEqual(outputs[0].text, GARE)
        best = outputs[0].sequences[0]
        self.assertEqual(len(best.ids), len(best.token_scores))
        self.assertEqual((best.finish, len(best.parts), best.lost_address), ("stop", 1, None))
        self.assertFalse(best.repeats or any(math.isnan(s) for s in best.token_scores))
        self.assertEqual(self.model.translate([]), [])

    def test_has_a_device_of_its_own(self):
        self.assertEqual(lapilli.Model().translate([STATION])[0].text, GARE)

    def test_takes_the_assigned_gpu(self):
        """No task of a scheduler takes another's GPU, and none runs on the CPU in silence."""
        with unittest.mock.patch.dict(os.environ, {"CUDA_VISIBLE_DEVICES": "77"}):
            for make in (lapilli.Device, lapilli.Model):
                with self.assertRaisesRegex(lapilli.Error, "is assigned to this process"):
                    make()
            self.assertFalse(any(device["chosen"] for device in lapilli.devices()))
            lapilli.Device("")

    def test_options(self):
        outputs = self.model.translate([STATION], num_beams=3, num_return_sequences=2, max_new_tokens=3)
        self.assertEqual(len(outputs[0].sequences), 2)
        self.assertEqual(outputs[0].sequences[0].finish, "length")
        with self.assertRaisesRegex(TypeError, "no option beams"):
            self.model.translate([STATION], beams=3)
        with self.assertRaises(TypeError):
            self.model.translate(STATION)

    def test_is_pickled_by_its_name(self):
        shared = lapilli.shared_model(select="")
        self.assertIs(shared, lapilli.shared_model(select=""))
        other = pickle.loads(pickle.dumps(self.model))
        self.assertIs(other, pickle.loads(pickle.dumps(lapilli.Model(device=self.device))))
        self.assertEqual(other.translate([STATION])[0].text, GARE)
        error = pickle.loads(pickle.dumps(lapilli.Error(3, "why")))
        self.assertEqual((error.status, str(error)), (3, "why"))

    def test_columns(self):
        column = [STATION, None, "", " \t ", float("nan"), b"caf\xe9", "\ud800", "long " * 250000, 7, STATION.encode()]
        texts, reasons = lapilli.translate_column(self.model, column)
        self.assertEqual(texts, [GARE, None, "", "", None, None, None, None, None, GARE])
        self.assertEqual([reason is not None for reason in reasons], [False] * 5 + [True] * 4 + [False])
        self.assertIn("longer than", reasons[7])
        self.assertEqual(lapilli.translate_column(self.model, []), ([], []))

    def test_types(self):
        """Type checkers are told of this package, and of the options that there are, with the kinds that they have."""
        self.assertTrue(importlib.resources.files(lapilli).joinpath("py.typed").is_file())
        kinds = {ctypes.c_int32: int, ctypes.c_uint32: int, ctypes.c_float: float, ctypes.c_char_p: str}
        named = set(inspect.signature(lapilli.Model.generate).parameters)
        chat = typing.get_type_hints(lapilli.ChatOptions)
        fields = {n: kinds[kind] for n, (kind, _) in lapilli._c.CallOptions.plain().items()
                  if n not in named and n not in chat and n != "use"}
        self.assertEqual(typing.get_type_hints(lapilli.PlainOptions), {**chat, **fields})
        more = set(typing.get_type_hints(lapilli.Options)) - set(fields) - set(chat)
        self.assertEqual(more | {"self", "inputs", "task", "options"}, named)

    def test_nearest(self):
        vectors = [[1, 0], [0, 1], [0.6, 0.8], [-1, 0]]
        found = self.device.nearest(vectors, [[0, 2], [1, 0]], top=2)
        self.assertEqual([[n.index for n in best] for best in found], [[1, 2], [0, 2]])
        self.assertAlmostEqual(found[0][1].score, 0.8, places=6)
        far = self.device.nearest(vectors, [[1, 0]], top=9, similarity="euclidean")[0]
        self.assertEqual([n.index for n in far], [0, 2, 1, 3])
        self.assertEqual(far[-1].score, -2)
        rows = memoryview(array.array("f", [1, 0, 0, 1])).cast("B").cast("f", (2, 2))
        self.assertEqual(self.device.nearest(rows, [[0, 1]], top=1)[0][0].index, 1)
        self.assertEqual(self.device.nearest([], [[0, 1]]), [[]])
        with self.assertRaises(lapilli.Error):
            self.device.nearest(vectors, [[1, 0, 0]])
        with self.assertRaisesRegex(ValueError, "numbers of dimensions"):
            self.device.nearest([[1], [1, 2]], [[1]])
        with self.assertRaisesRegex(ValueError, "similarity"):
            self.device.nearest(vectors, [[1, 0]], similarity="manhattan")
        with self.assertRaises(ZeroDivisionError):
            self.device.nearest(vectors, [[1, 0]], progress=lambda done, total: 1 / 0)

    def test_ids_and_back(self):
        ids = self.model.encode(STATION)
        self.assertEqual(self.model.count_tokens(STATION), len(ids))
        said = self.model.generate([ids])[0].sequences[0]
        self.assertEqual(said.text, GARE)
        self.assertEqual(self.model.decode(said.ids), GARE)
        self.assertEqual(self.model.decode(said.ids, keep_special=True), GARE + "</s>")

    def test_errors(self):
        with self.assertRaises(lapilli.Error) as caught:
            lapilli.Model("no/such/model", self.device)
        self.assertEqual(caught.exception.status, 2)
        self.assertIn("no/such/model", str(caught.exception))
        outputs = self.model.generate([[10**6], self.model.encode(STATION)])
        self.assertEqual(outputs[1].text, GARE)
        with self.assertRaisesRegex(lapilli.Error, "outside the model's source vocabulary"):
            print(outputs[0].text)

    def test_callbacks(self):
        steps, texts = [], []
        self.model.translate([STATION], progress=lambda *n: steps.append(n), stream=lambda i, text: texts.append((i, text)))
        self.assertEqual(steps[-1], (1, 1))
        self.assertEqual("".join(text for _, text in texts), GARE)
        with self.assertRaises(lapilli.Cancelled) as caught:
            self.model.translate([STATION], stream=lambda i, text: False)
        self.assertEqual(len(caught.exception.outputs), 1)

        def fails(done, total):
            raise KeyError("mine")

        with self.assertRaisesRegex(KeyError, "mine"):
            self.model.translate([STATION], progress=fails)

    def test_cancel_token(self):
        token = lapilli.CancelToken()
        token.cancel()
        with self.assertRaises(lapilli.Cancelled):
            self.model.translate([STATION], cancel_token=token)

    def test_threads(self):
        texts = []
        run = lambda: texts.append(self.model.translate([STATION])[0].text)
        threads = [threading.Thread(target=run) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(texts, [GARE] * 4)

    def test_recordings_and_pictures(self):
        with self.assertRaisesRegex(lapilli.Error, "marian models read text"):
            self.model.transcribe([[0.0, 0.5]])
        with self.assertRaisesRegex(ValueError, "are not 2 by 2 pixels"):
            self.model.describe([(2, 2, b"123")])
        self.assertEqual(self.model.sample_rate, 0)
        models = os.environ.get("LAPILLI_TEST_MODELS")
        whisper = lapilli.Model(os.path.join(models, "whisper-long", "model"), self.device)
        sound = array.array("f", (0.3 * math.sin(i * i / 90000) for i in range(40000)))
        outputs = whisper.transcribe([sound, list(sound)], source_language="en", max_new_tokens=24)
        self.assertGreater(len(outputs[0].segments), 1)
        self.assertEqual(outputs[0].segments, outputs[1].segments)
        self.assertEqual(outputs[0].segments[0].language, "en")
        joined = [i for s in outputs[0].segments for i in s.ids]
        self.assertEqual(joined, outputs[0].sequences[0].ids)
        chunks = whisper.transcribe([sound], source_language="en", max_new_tokens=24, chunks=4)[0]
        self.assertNotEqual(chunks.segments, outputs[0].segments)
        self.assertGreater(len(chunks.segments), 1)
        self.of_wav_files(whisper)
        self.of_live_sound(whisper, sound, outputs[0].segments)
        with self.assertRaisesRegex(lapilli.Error, "8000 samples a second"):
            whisper.transcribe([sound], rate=8000)
        with tempfile.TemporaryDirectory() as folder:
            vit = os.path.join(folder, "vit")
            shutil.copytree(os.path.join(models, "vit-image-classification", "model"), vit)
            with open(os.path.join(vit, "preprocessor_config.json"), "w", encoding="utf-8") as file:
                file.write('{"image_processor_type": "ViTImageProcessor", "size": 32}')
            model = lapilli.Model(vit, self.device)
            seen = model.describe([(4, 3, bytes(range(36)))], classes=2)[0]
            plain = os.path.join(models, "..", "pictures", "plain.png")
            file, nowhere = model.describe([plain, "nowhere.png"], classes=3)
            self.assertEqual(len(file.classes), 3)
            self.assertIn("nowhere.png", str(nowhere.error))
            with self.assertRaisesRegex(TypeError, "not one path"):
                model.describe(plain)
        self.assertEqual(len(seen.classes), 2)
        self.assertEqual(seen.text, seen.classes[0].label)

    def of_wav_files(self, whisper):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "sound.wav")
            numbers = array.array("h", (int(9000 * math.sin(i * i / 90000)) for i in range(16000)))
            for channels in (1, 2):
                with wave.open(path, "wb") as file:
                    file.setparams((channels, 2, 16000, 0, "NONE", ""))
                    file.writeframes(array.array("h", (n for n in numbers for _ in range(channels))).tobytes())
                told = whisper.transcribe([path], source_language="en", max_new_tokens=24)[0]
                same = whisper.transcribe([[n / 32768 for n in numbers]], source_language="en", max_new_tokens=24)[0]
                self.assertEqual(told.text, same.text)
            with wave.open(path, "wb") as file:
                file.setparams((1, 2, 8000, 0, "NONE", ""))
                file.writeframes(numbers.tobytes())
            with self.assertRaisesRegex(lapilli.Error, "ffmpeg -i .* -ar 16000"):
                whisper.transcribe([path])
            with self.assertRaisesRegex(TypeError, "not one path"):
                whisper.transcribe(path)

    def of_live_sound(self, whisper, sound, segments):
        job = whisper.start_recordings([None], source_language="en", max_new_tokens=24, interim_samples=4000)
        seen, interim = [], 0
        for at in range(0, len(sound) + 8000, 8000):
            job.append_samples(0, sound[at : at + 8000]) if at < len(sound) else job.end_samples(0)
            for event in job.events():
                seen += [event.segment] if event.kind == "segment" else []
                interim += len(event.interim)
        self.assertGreater(len(seen), 1)
        self.assertGreater(interim, 0)
        self.assertEqual("".join(s.text for s in seen), job.take()[0].text)
        self.assertEqual(seen[0].language, segments[0].language)

    def test_jobs(self):
        job = self.model.start([STATION, "Hello."])
        events = list(job.events())
        self.assertEqual("".join(e.text for e in events if e.kind == "text" and e.input == 0), GARE)
        self.assertEqual(events[-1].kind, "end")
        self.assertEqual(sum(e.kind == "input" for e in events), 2)
        outputs = job.take()
        self.assertEqual(outputs[0].text, GARE)
        with self.assertRaises(lapilli.Error):
            job.take()
        job = self.model.start([STATION])
        job.cancel()
        self.assertTrue(job.wait())
        with self.assertRaises(lapilli.Cancelled) as caught:
            job.take()
        self.assertEqual(len(caught.exception.outputs), 1)

    def test_devices(self):
        found = lapilli.devices()
        self.assertGreater(len(found), 0)
        self.assertIsInstance(found[0], dict)

    def test_parts(self):
        best = self.model.translate(["What time is it? " + STATION], split_sentences=1)[0].sequences[0]
        self.assertEqual([p.finish for p in best.parts], ["stop", "stop"])
        self.assertEqual(best.parts[1].text, GARE)
        self.assertEqual(self.model.translate(["12:30"])[0].sequences[0].finish, "kept")

    def test_tunes(self):
        with self.assertRaisesRegex(lapilli.Error, "keeps nothing between runs"):
            self.model.tune(1)
        with tempfile.TemporaryDirectory() as folder:
            model = lapilli.Model(device=lapilli.Device(cache_directory=folder))
            steps = []
            found = model.tune(2, num_beams=1, target_tokens=8, progress=lambda *n: steps.append(n))
            self.assertEqual(steps[-1][1], 2000)
            self.assertLessEqual(found.step_ratio, 1.1)
            self.assertGreater(found.encode_ratio, 0)
            self.assertEqual(model.tune(0).choices, found.choices)
            with self.assertRaises(lapilli.Cancelled) as caught:
                model.tune(60, progress=lambda done, total: False)
            self.assertEqual(caught.exception.outputs, [])
            token = lapilli.CancelToken()
            token.cancel()
            with self.assertRaises(lapilli.Cancelled):
                model.tune(60, cancel_token=token)
            with self.assertRaisesRegex(lapilli.Error, "seconds"):
                model.tune(-1)

            def fails(done, total):
                raise KeyError("mine")

            with self.assertRaisesRegex(KeyError, "mine"):
                model.tune(60, progress=fails)
            del model
            self.assertTrue(os.listdir(folder))
            again = lapilli.Model(device=lapilli.Device(cache_directory=folder))
            self.assertEqual(again.translate([STATION])[0].text, GARE)

    def encoder(self, name):
        folder = os.path.join(os.environ["LAPILLI_TEST_MODELS"], "..", "sentences", name, "model")
        return lapilli.Model(folder, device=self.device)

    def test_tags(self):
        tagger, text = self.encoder("dslim__bert-base-NER"), "Anna Müller lives in Genève."
        joined, single = (tagger.tag([text, ""], aggregation=how) for how in ("simple", "none"))
        self.assertGreaterEqual(len(single[0].spans), len(joined[0].spans))
        for span in joined[0].spans + single[0].spans:
            self.assertEqual(text[slice(*span.characters)], span.text)
            self.assertEqual(text.encode()[slice(*span.bytes)].decode(), span.text)
            self.assertTrue(span.label and 0 < span.score <= 1)
        self.assertEqual((joined[1].spans, joined[0].windows, joined[0].cut), ([], 1, False))
        self.assertTrue(tagger.tag([text * 9], cut_texts=1)[0].cut)
        with self.assertRaisesRegex(lapilli.Error, "average"):
            tagger.tag([text], aggregation="sum")
        everything = tagger.tag([text], ignored_labels=[])[0].spans
        self.assertGreater(len(everything), len(joined[0].spans))
        names = {span.label for span in joined[0].spans}
        self.assertEqual(names, {span.label for span in everything} - {"O"})
        self.assertEqual(tagger.tag([text], ignored_labels=sorted(names | {"O"}))[0].spans, [])
        with self.assertRaisesRegex(lapilli.Error, "lapilli tag"):
            tagger.answer([("Who?", text)])

    def test_answers(self):
        model, text = self.encoder("deepset__roberta-base-squad2"), "The quick brown fox is called Reinhard."
        best = model.answer([("Who is the fox?", text)], top_spans=3)[0].spans
        self.assertEqual(best, model.answer([text], question="Who is the fox?", top_spans=3)[0].spans)
        for wrong in (lambda: model.answer([text]), lambda: model.answer(text, question="Who?"),
                      lambda: model.answer([("Who?", text)], question="Who?")):
            with self.assertRaisesRegex(TypeError, "list of pairs"):
                wrong()
        self.assertEqual(len(best), 3)
        self.assertTrue(best[0].score >= best[1].score >= best[2].score)
        self.assertTrue(all(text[slice(*span.characters)] == span.text for span in best))
        with self.assertRaisesRegex(lapilli.Error, "pair"):
            model.generate([text], task="answer")

    def test_fills(self):
        model = self.encoder("google-bert__bert-base-uncased@2018")
        spans = model.fill(["[MASK] ate a [MASK]."], top_spans=2)[0].spans
        self.assertEqual([span.characters for span in spans], [(0, 6), (0, 6), (13, 19), (13, 19)])
        self.assertTrue(all("ate a" in span.filled and span.token >= 0 for span in spans))
        failed = model.fill(["no mask"])[0]
        self.assertRegex(str(failed.error), r"\[MASK\]")

    def test_own_labels(self):
        model = self.encoder("zero-shot-bart")
        classes = model.classify(["My phone is broken."], labels=["a phone", "food"], top_classes=9)[0].classes
        self.assertEqual({c.label for c in classes}, {"a phone", "food"})
        self.assertAlmostEqual(sum(c.probability for c in classes), 1, places=6)
        with self.assertRaisesRegex(lapilli.Error, "{}"):
            model.classify(["a"], labels=["b"], hypothesis="none")
        with self.assertRaisesRegex(TypeError, "a list of texts"):
            model.classify(["a"], labels="food")
        with self.assertRaisesRegex(lapilli.Error, "empty"):
            model.classify(["a"], labels=[" "])

    def test_info(self):
        self.assertEqual(self.model.family, "marian")
        self.assertGreater(self.model.parameters, 10**6)
        self.assertEqual(self.model.languages, [])
        self.assertEqual(lapilli.version().count("."), 2)


if __name__ == "__main__":
    unittest.main()
