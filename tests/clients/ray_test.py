"""ray_test.py PROGRAM ROWS: samples/ray with three actors, of which one is killed in the middle."""

import os
import pathlib
import signal
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "samples/ray")]

import ray  # noqa: E402
import rows  # noqa: E402
from lapilli_ray import Translator, numbered  # noqa: E402

PROGRAM, ROWS = sys.argv[1], int(sys.argv[2])


def kill_one(work, killed):
    """An actor's process, once three have a model and have worked for a while."""
    path = os.path.join(work, "loads")
    while not killed.is_set():
        if os.path.exists(path) and len(rows.loads(path)) >= 3:
            time.sleep(2)
            os.kill(int(rows.loads(path)[0]), signal.SIGKILL)
            killed.set()
        time.sleep(0.1)


with tempfile.TemporaryDirectory() as work:
    rows.environment(work)
    single = rows.program_says(PROGRAM, ROWS)
    paths = os.pathsep.join([*sys.path[:2], os.environ.get("PYTHONPATH", "")])
    ray.init(num_cpus=4, include_dashboard=False, log_to_driver=False, runtime_env={"env_vars": {**{
        name: os.environ[name] for name in ("LAPILLI_LOADS", "LP_NUM_THREADS", "LAPILLI_LIBRARY", "LAPILLI_MODEL")
        if name in os.environ}, "PYTHONPATH": paths}})
    killed = threading.Event()
    killer = threading.Thread(target=kill_one, args=(work, killed), daemon=True)
    killer.start()
    began = time.time()
    data = numbered(rows.inputs(ROWS)).repartition(16)
    made = data.map_batches(Translator, fn_constructor_kwargs={"options": {"deterministic": 1}}, concurrency=3, batch_size=32)
    results = [(row["number"], row["translation"], row["rejected"]) for row in made.sort("number").iter_rows()]
    took = time.time() - began
    assert killed.is_set(), "nothing was killed: more rows are needed"
    assert [number for number, _, _ in results] == list(range(ROWS)), "the order is another"
    rows.check(results, single)
    loaded = rows.loads(os.environ["LAPILLI_LOADS"])
    assert len(loaded) == len(set(loaded)), f"an actor loaded twice: {loaded}"
    assert len(loaded) <= 5, f"{len(loaded)} loads for three actors, of which one was killed"
    print(f"Ray: {ROWS} rows in {took:.1f} s with three actors, one killed; {len(loaded)} loads; in order, as the single run")
    ray.shutdown()
