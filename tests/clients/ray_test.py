"""ray_test.py PROGRAM ROWS: samples/ray with three actors, of which one is killed in the middle."""

import os
import pathlib
import signal
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
PATHS = [str(HERE), str(HERE.parents[1] / "samples/ray")]
sys.path[:0] = PATHS

import ray  # noqa: E402
import rows  # noqa: E402
from lapilli_ray import Translator, numbered  # noqa: E402

PROGRAM, ROWS = sys.argv[1], int(sys.argv[2])


class Slow(Translator):
    """Each batch takes longer than the one before it began, so that all actors are at work when one is killed, and batches end in
    another order than they began."""

    def __call__(self, batch):
        time.sleep(2 if batch["number"][0] % 16 == 0 else 1)
        return super().__call__(batch)


def start():
    paths = os.pathsep.join([*PATHS, os.environ.get("PYTHONPATH", "")])
    named = ("LAPILLI_LOADS", "LP_NUM_THREADS", "LAPILLI_LIBRARY", "LAPILLI_MODEL")
    variables = {name: os.environ[name] for name in named if name in os.environ}
    ray.init(num_cpus=4, object_store_memory=1 << 28, include_dashboard=False, log_to_driver=False, logging_level="error",
             runtime_env={"env_vars": {**variables, "PYTHONPATH": paths}})


def run():
    data = numbered(rows.inputs(ROWS)).repartition(ROWS // 8)
    made = data.map_batches(Slow, fn_constructor_kwargs={"options": {"deterministic": 1}}, concurrency=3, batch_size=8)
    return [(row["number"], row["translation"], row["rejected"]) for row in made.sort("number").iter_rows()]


with tempfile.TemporaryDirectory() as work:
    rows.environment(work, "loads")
    single = rows.program_says(PROGRAM, ROWS)
    start()
    killed = rows.when_loaded(3, lambda workers: os.kill(workers[0], signal.SIGKILL))
    with rows.Stopwatch() as took:
        results = run()
    ray.shutdown()
    assert killed.is_set(), "nothing was killed: more rows are needed"
    assert [number for number, _, _ in results] == list(range(ROWS)), "the order is another"
    rows.check(results, single)
    loads = rows.check_loads(3 + 2)
    print(f"Ray: {ROWS} rows in {took} with three actors, one killed; {loads} loads; in order, as the single run")
