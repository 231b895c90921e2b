"""columns_test.py FOLDER: lapilli/_columns.py of FOLDER (samples/python) without the library: what a cell may be, and which calls share a
model."""

import importlib
import importlib.util
import os
import pathlib
import sys
import types
import unittest

FOLDER = pathlib.Path(sys.argv.pop(1)) / "lapilli"


class Model:
    """Says a text backwards; loads are counted."""

    loads = 0

    def __init__(self, name=None, device=None, **_):
        Model.loads += 1
        self.device = f"device of {os.environ.get('CUDA_VISIBLE_DEVICES')}"

    def translate(self, texts, **_):
        return [types.SimpleNamespace(text=text[::-1], error=None) for text in texts]

    def generate(self, texts, task, normalize):
        assert (task, normalize) == ("embed", 1)
        vector = lambda text: types.SimpleNamespace(values=[float(len(text))])
        return [types.SimpleNamespace(vector=vector(text), error="no vector" if text == "no" else None) for text in texts]


package = types.ModuleType("lapilli")
package.__path__ = [str(FOLDER)]
package.Model, package.Device = Model, lambda *_, **__: None
sys.modules["lapilli"] = package
columns = importlib.import_module("lapilli._columns")


class Strange:
    """As an array of several numbers: neither equal nor unequal as a whole."""

    def __init__(self, error):
        self.error = error

    def __ne__(self, _):
        return self

    def __bool__(self):
        raise self.error


class Columns(unittest.TestCase):
    def of(self, value):
        made, reasons = columns.translate_column(Model(), ["ab", value, "cd"])
        self.assertEqual([made[0], made[2], reasons[0], reasons[2]], ["ba", "dc", None, None])
        return made[1], reasons[1]

    def test_a_strange_cell_is_one_row(self):
        for value in [Strange(ValueError()), Strange(TypeError()), 7, ["a"], {}]:
            self.assertEqual(self.of(value), (None, f"not a text, but {type(value).__name__}"))

    def test_missing(self):
        for value in [None, float("nan")]:
            self.assertEqual(self.of(value), (None, None))

    @unittest.skipUnless(importlib.util.find_spec("numpy"), "no NumPy")
    def test_what_numpy_has(self):
        import numpy

        for value in [numpy.nan, numpy.float32("nan")]:
            self.assertEqual(self.of(value), (None, None))
        self.assertEqual(self.of(numpy.array([1, 2])), (None, "not a text, but ndarray"))
        self.assertEqual(self.of(numpy.array([numpy.nan])), (None, "not a text, but ndarray"))
        self.assertEqual(self.of(numpy.str_("xy")), ("yx", None))

    @unittest.skipUnless(importlib.util.find_spec("pandas"), "no pandas")
    def test_what_pandas_has(self):
        import pandas

        for value in [pandas.NA, pandas.NaT]:
            self.assertEqual(self.of(value), (None, None))
        self.assertEqual(columns.translate_column(Model(), pandas.Series(["ab", None], dtype="string")), (["ba", None], [None, None]))

    def test_a_pandas_that_is_half_imported(self):
        before, sys.modules["pandas"] = sys.modules.get("pandas"), types.ModuleType("pandas")
        try:
            self.assertEqual(self.of(7), (None, "not a text, but int"))
        finally:
            sys.modules.pop("pandas")
            if before:
                sys.modules["pandas"] = before

    def test_vectors(self):
        made, reasons = columns.embed_column(Model(), ["ab", None, "", b"\xff", "no"], normalize=1)
        self.assertEqual(made, [[2.0], None, [0.0], None, None])
        self.assertEqual([reason is not None for reason in reasons], [False, False, False, True, True])
        self.assertEqual(reasons[4], "no vector")

    def test_each_assigned_gpu_has_a_model(self):
        """A worker of Spark that gets tasks with other addresses."""
        first = Model.loads
        os.environ["CUDA_VISIBLE_DEVICES"] = "0"
        zero = columns.shared_model()
        self.assertIs(zero, columns.shared_model())
        named = columns.shared_model(select="3")
        os.environ["CUDA_VISIBLE_DEVICES"] = "1"
        self.assertIsNot(zero, columns.shared_model())
        self.assertIs(named, columns.shared_model(select="3"))  # no variable counts
        os.environ["CUDA_VISIBLE_DEVICES"] = "0"
        self.assertIs(zero, columns.shared_model())
        self.assertEqual(Model.loads - first, 3)


unittest.main()
