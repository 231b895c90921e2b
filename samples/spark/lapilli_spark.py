"""Translations and vectors on Spark: of a DataFrame by mapInPandas, and as a function of SQL. A Python worker loads the model once
and keeps it for all its tasks; a row that fails stays, with the reason in a column of its own."""

import os

from pyspark import TaskContext
from pyspark.sql.functions import col, pandas_udf
from pyspark.sql.types import ArrayType, BinaryType, FloatType, StringType, StructField, StructType

# For executors with a GPU: a task takes all of it, so that one worker after the other has it, and the worker stays, with its model.
GPU_SETTINGS = {
    "spark.executor.resource.gpu.amount": "1",
    "spark.task.resource.gpu.amount": "1",
    "spark.python.worker.reuse": "true",
}


def translated(frame, column, to="translation", rejected="rejected", options=None, **model):
    """The frame with two more columns: the translations of `column`, and why a row was rejected. `options` are those of
    Model.translate (num_beams, target_language, ...), `model` those of lapilli.shared_model (name, dtype, select, ...)."""
    return _with_columns(frame, column, StructField(to, StringType()), rejected, "translate_column", options, model)


def embedded(frame, column, to="vector", rejected="rejected", options=None, **model):
    """The same with the vectors of the texts, which DataFrameWriter.parquet stores as lists of floats. `options` are those of
    Model.embed (task, normalize, dimensions, ...)."""
    return _with_columns(frame, column, StructField(to, ArrayType(FloatType())), rejected, "embed_column", options, model)


def register(spark, name="lapilli_translate", options=None, **model):
    """SELECT lapilli_translate(binary(text)).translation FROM ...: a struct of the translation and why the row was rejected."""
    kind = StructType([StructField("translation", StringType()), StructField("rejected", StringType())])

    @pandas_udf(kind)
    def translate(texts):
        import pandas

        translations, reasons = _columns("translate_column", texts, model, options or {})
        return pandas.DataFrame({"translation": translations, "rejected": reasons}, dtype=object)

    return spark.udf.register(name, translate)


def _with_columns(frame, column, made, rejected, function, options, model):
    def rows(batches):
        for batch in batches:
            batch[made.name], batch[rejected] = _columns(function, batch[column], model, options or {})
            yield batch

    # As bytes: a string of Spark may hold what is no UTF-8, which would end the stage on its way to Python.
    before = [StructField(f.name, BinaryType() if f.name == column else f.dataType) for f in frame.schema.fields]
    after = StructType([*before, made, StructField(rejected, StringType())])
    done = frame.withColumn(column, col(column).cast("binary")).mapInPandas(rows, after)
    return done.withColumn(column, col(column).cast("string"))


def _columns(function, texts, model, options):
    import lapilli

    _take_gpu()
    return getattr(lapilli, function)(lapilli.shared_model(**model), texts, **options)


def _take_gpu():
    """Spark says which GPU a task has, but sets no variable, which lapilli reads."""
    context = TaskContext.get()
    gpu = context.resources().get("gpu") if context else None
    if gpu:
        os.environ["CUDA_VISIBLE_DEVICES"] = ",".join(gpu.addresses)
