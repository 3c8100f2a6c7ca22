#!/usr/bin/env python3
"""Kills a client at random times, COUNT times. It must not leave compile helpers or their
children, files outside the cache, or shared memory.

Usage: killed.py COUNT PROGRAM...
PROGRAM is built from endless.c; tegracl-emulate may run it.
"""
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time
import uuid

COUNT, PROGRAM = int(sys.argv[1]), sys.argv[2:]
MARK = f"TEGRACL_TEST_MARK={uuid.uuid4()}"
# A helper exits soon after its client.
GONE_S = 300


def marked():
    """Yields the processes that a client of this test has started."""
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if MARK.encode() in (folder / "environ").read_bytes().split(b"\0"):
                yield folder.name, (folder / "cmdline").read_bytes().replace(b"\0", b" ")
        except (FileNotFoundError, ProcessLookupError, PermissionError):
            pass


def kill_them(environment, cache):
    # The first client shows how long the second build takes to start.
    begin = time.monotonic()
    for number in range(COUNT):
        client = subprocess.Popen(PROGRAM, env=environment)
        if number == 0:
            while len(list(cache.rglob("*.bin"))) < 2:
                assert client.poll() is None and time.monotonic() < begin + GONE_S
                time.sleep(0.01)
            latest = time.monotonic() - begin
        else:
            time.sleep(moments.uniform(0, latest))
        assert client.poll() is None, "it ended before the kill"
        client.kill()
        client.wait()


def has_unnamed_files(folder):
    try:
        os.close(os.open(folder, os.O_TMPFILE | os.O_WRONLY))
    except OSError:
        return False
    return True


def shared_memory():
    return {path for path in pathlib.Path("/dev/shm").rglob("*tegracl*")}


seed = random.randrange(1 << 32)
print("seed", seed)
moments = random.Random(seed)
before = shared_memory()
with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    cache = folder / "cache"
    kill_them({**os.environ, "TMPDIR": name, "HOME": name, "XDG_RUNTIME_DIR": name,
               "XDG_CACHE_HOME": name, "TEGRACL_CACHE_DIR": str(cache),
               **dict([MARK.split("=")])}, cache)
    end = time.monotonic() + GONE_S
    while (left := list(marked())) and time.monotonic() < end:
        time.sleep(0.1)
    assert not left, left
    files = [path for path in folder.iterdir() if path != cache]
    assert not files, files
    # A file that was being written to the cache has no name yet, and disappears with its writer. On
    # file systems without unnamed files the next writer deletes it.
    suffixes = (".bin",) if has_unnamed_files(name) else (".bin", ".tmp")
    built = list(cache.rglob("*.bin"))
    others = [path for path in cache.rglob("*")
              if path.is_file() and path.suffix not in suffixes]
    assert not others, others
    print(f"{COUNT} clients killed; {len(built)} programs built")
assert not shared_memory() - before, shared_memory() - before
