"""spark_test.py PROGRAM ROWS: samples/spark on a local cluster of three executors, of which one is killed in the middle."""

import os
import pathlib
import signal
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "samples/spark")]

import lapilli_spark  # noqa: E402
import rows  # noqa: E402
from pyspark.sql import SparkSession  # noqa: E402
from pyspark.sql.types import BinaryType, IntegerType, StructField, StructType  # noqa: E402

PROGRAM, ROWS = sys.argv[1], int(sys.argv[2])
OPTIONS = {"deterministic": 1}


def executors():
    """Process numbers of this test's executors."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                line = (entry / "cmdline").read_bytes()
            except OSError:
                continue
            if b"CoarseGrainedExecutorBackend" in line and f"spark.driver.port={PORT}".encode() in line:
                found.append(int(entry.name))
    return found


def kill_one(work, killed):
    """As soon as two models are loaded and some rows are done."""
    while not killed.is_set():
        path = os.path.join(work, "loads")
        if os.path.exists(path) and len(rows.loads(path)) >= 2:
            time.sleep(2)
            os.kill(executors()[0], signal.SIGKILL)
            killed.set()
        time.sleep(0.1)


with tempfile.TemporaryDirectory() as work:
    rows.environment(work)
    spark = (
        SparkSession.builder.master("local-cluster[3,1,1024]")
        .config("spark.executorEnv.LAPILLI_LOADS", os.environ["LAPILLI_LOADS"])
        .config("spark.executorEnv.LP_NUM_THREADS", os.environ["LP_NUM_THREADS"])
        .config("spark.executorEnv.PYTHONPATH", os.environ.get("PYTHONPATH", ""))
        .config("spark.executorEnv.LAPILLI_LIBRARY", os.environ.get("LAPILLI_LIBRARY", ""))
        .config("spark.executorEnv.LAPILLI_MODEL", os.environ.get("LAPILLI_MODEL", ""))
        .config("spark.sql.execution.arrow.maxRecordsPerBatch", "32")
        .config("spark.ui.enabled", "false")
        .config("spark.local.dir", work)
        .getOrCreate()
    )
    PORT = spark.conf.get("spark.driver.port")
    spark.sparkContext.setLogLevel("ERROR")
    spark.sparkContext.addPyFile(str(HERE.parents[1] / "samples/spark/lapilli_spark.py"))
    single = rows.program_says(PROGRAM, ROWS)
    schema = StructType([StructField("number", IntegerType()), StructField("text", BinaryType())])
    frame = spark.createDataFrame([(i, row) for i, row in enumerate(rows.inputs(ROWS))], schema).repartition(16, "number")
    frame = frame.withColumn("text", frame.text.cast("string"))

    killed = threading.Event()
    killer = threading.Thread(target=kill_one, args=(work, killed), daemon=True)
    killer.start()
    began = time.time()
    made = lapilli_spark.translated(frame, "text", options=OPTIONS).select("number", "translation", "rejected").collect()
    took = time.time() - began
    assert killed.is_set(), "nothing was killed: more rows are needed"
    rows.check([tuple(row) for row in made], single)
    loaded = rows.loads(os.environ["LAPILLI_LOADS"])
    assert len(loaded) == len(set(loaded)), f"a worker loaded twice: {loaded}"
    assert len(loaded) <= 5, f"{len(loaded)} loads on three executors, of which one was killed"

    lapilli_spark.register(spark, options=OPTIONS)
    frame.createOrReplaceTempView("lines")
    few = spark.sql("SELECT number, t.translation, t.rejected FROM (SELECT number, lapilli_translate(binary(text)) AS t FROM lines)")
    rows.check([tuple(row) for row in few.collect()], single)
    again = rows.loads(os.environ["LAPILLI_LOADS"])
    assert len(again) <= 8, f"{len(again)} loads in all: workers do not keep their models"
    print(f"Spark: {ROWS} rows in {took:.1f} s on three executors, one killed; {len(loaded)} loads; as the single run. "
          f"SQL's function: the same; {len(again)} loads in all")
    spark.stop()
