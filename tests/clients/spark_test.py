"""spark_test.py PROGRAM ROWS EMBEDDER: samples/spark on a local cluster of three executors, of which one is killed in the middle, and
on an executor that has four cores and one GPU."""

import math
import os
import pathlib
import signal
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "samples/spark")]

import lapilli_spark  # noqa: E402
import pyarrow.parquet  # noqa: E402
import rows  # noqa: E402
from pyspark.sql import SparkSession  # noqa: E402
from pyspark.sql.types import BinaryType, IntegerType, StructField, StructType  # noqa: E402

PROGRAM, ROWS, EMBEDDER = sys.argv[1], int(sys.argv[2]), sys.argv[3]
OPTIONS = {"deterministic": 1}
# A device of the driver that the test runs on, shown as NVIDIA's.
GPU = "type=discrete;vendor=0x10de;name=Pretended;uuids=1111aaaa;addresses=0000:41:00.0"


def session(master, work, environment, settings):
    builder = SparkSession.builder.master(master)
    named = ("LAPILLI_LOADS", "LP_NUM_THREADS", "PYTHONPATH", "LAPILLI_LIBRARY", "LAPILLI_MODEL")
    for name, value in {**{name: os.environ.get(name, "") for name in named}, **environment}.items():
        builder = builder.config(f"spark.executorEnv.{name}", value)
    settings = {"spark.ui.enabled": "false", "spark.local.dir": work, "spark.driver.host": "127.0.0.1", **settings}
    for name, value in settings.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    spark.sparkContext.addPyFile(str(HERE.parents[1] / "samples/spark/lapilli_spark.py"))
    return spark


def frame_of(spark, parts):
    schema = StructType([StructField("number", IntegerType()), StructField("text", BinaryType())])
    frame = spark.createDataFrame(list(enumerate(rows.inputs(ROWS))), schema).repartition(parts, "number")
    return frame.withColumn("text", frame.text.cast("string"))


def executors(port):
    """Process numbers of this test's executors."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        try:
            line = (entry / "cmdline").read_bytes() if entry.name.isdigit() else b""
        except OSError:
            continue
        if b"CoarseGrainedExecutorBackend" in line and f"spark.driver.port={port}".encode() in line:
            found.append(int(entry.name))
    return found


def three_executors(spark, single):
    port = spark.conf.get("spark.driver.port")
    frame = frame_of(spark, 9)
    killed = rows.when_loaded(3, lambda _: os.kill(executors(port)[0], signal.SIGKILL))
    # Each row takes a tenth of a second more, so that every executor is at work when one is killed.
    made = lapilli_spark.translated(frame, "text", options=OPTIONS)
    made = made.where("coalesce(reflect('java.lang.Thread', 'sleep', bigint(100)), 'null') = 'null'").select("number", "translation", "rejected")
    with rows.Stopwatch() as took:
        collected = made.collect()
    assert killed.is_set(), "nothing was killed: more rows are needed"
    rows.check([tuple(row) for row in collected], single)
    loads = rows.check_loads(3 + 2)

    lapilli_spark.register(spark, options=OPTIONS)
    frame.createOrReplaceTempView("lines")
    few = spark.sql("SELECT number, t.translation, t.rejected FROM (SELECT number, lapilli_translate(binary(text)) AS t FROM lines)")
    rows.check([tuple(row) for row in few.collect()], single)
    again = rows.check_loads(3 + 2 + 3)
    return f"{ROWS} rows in {took} on three executors, one killed; {loads} loads. SQL's function: {again} loads in all"


def vectors(spark, work):
    """Stored as Parquet, which another program reads."""
    embedded = lapilli_spark.embedded(frame_of(spark, 3), "text", options=OPTIONS, name=EMBEDDER)
    embedded.select("number", "vector", "rejected").write.parquet(f"{work}/vectors")
    table = pyarrow.parquet.read_table(f"{work}/vectors").to_pylist()
    assert sorted(row["number"] for row in table) == list(range(ROWS)), "rows are missing, or came twice"
    expected = rows.program_embeds(PROGRAM, EMBEDDER, ROWS)
    for row in table:
        bad = rows.BAD.get(row["number"], b"")
        if row["number"] not in rows.BAD:
            near = all(math.isclose(a, b, abs_tol=1e-5) for a, b in zip(row["vector"], expected[row["number"]], strict=True))
            assert near and row["rejected"] is None, row
        elif bad is None or bad.strip():
            assert row["vector"] is None and (row["rejected"] is None) == (bad is None), row
        else:
            assert len(row["vector"]) == len(expected[0]) and row["rejected"] is None, row
    return f"{ROWS} vectors of {len(expected[0])} numbers to Parquet"


def one_gpu(work, single):
    """Sixteen partitions on four cores have one worker, which has the GPU that Spark names."""
    script = pathlib.Path(work, "gpus")
    script.write_text('#!/bin/sh\necho \'{"name": "gpu", "addresses": ["0"]}\'\n', encoding="utf-8")
    script.chmod(0o700)
    layer = {"LAPILLI_LAB": GPU, "VK_LAYER_PATH": os.environ["LAPILLI_LAB_LAYER"], "VK_INSTANCE_LAYERS": "VK_LAYER_LAPILLI_lab_device"}
    settings = {"spark.worker.resource.gpu.amount": "1", "spark.worker.resource.gpu.discoveryScript": str(script)}
    spark = session("local-cluster[1,4,1024]", work, layer, {**settings, **lapilli_spark.GPU_SETTINGS})
    made = lapilli_spark.translated(frame_of(spark, 16), "text", options=OPTIONS)
    rows.check([tuple(row) for row in made.select("number", "translation", "rejected").collect()], single)
    assert rows.check_loads(1) == 1
    assert "Pretended" in rows.loaded()[0], f"another device: {rows.loaded()}"
    spark.stop()
    return "four cores and one GPU, 16 partitions: one load"


with tempfile.TemporaryDirectory() as work:
    rows.environment(work, "loads")
    single = rows.program_says(PROGRAM, ROWS)
    spark = session("local-cluster[3,1,1024]", work, {}, {"spark.sql.execution.arrow.maxRecordsPerBatch": "8"})
    print("Spark:", three_executors(spark, single), flush=True)
    print("Spark:", vectors(spark, work), flush=True)
    spark.stop()
    rows.environment(work, "loads of one")
    print("Spark:", one_gpu(work, single), flush=True)
