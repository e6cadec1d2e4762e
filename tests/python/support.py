"""What the tests of the Python package share: the sample recording, opened once, and what SQL says of a database."""
import functools
import os
import pathlib
import sqlite3

import rocm_perf

SAMPLE = os.environ["PERFLAB_SAMPLE"]
SHARED = pathlib.Path(os.environ["PERFLAB_SHARED"]) / "data/rocpd"


def sample_passes():
    return sorted(str(file) for file in pathlib.Path(os.environ["PERFLAB_SAMPLE_PASSES"]).rglob("*.db"))


@functools.cache
def sample():
    """The sample recording alone."""
    return rocm_perf.open(SAMPLE)


@functools.cache
def sample_with_counters():
    return rocm_perf.open(SAMPLE, counters=sample_passes())


def query(file, text):
    """Rows of a query; of none where a database has no such table."""
    database = sqlite3.connect(f"file:{file}?mode=ro&immutable=1", uri=True)
    try:
        return database.execute(text).fetchall()
    except sqlite3.OperationalError as error:
        if "no such table" in str(error):
            return []
        raise
    finally:
        database.close()
