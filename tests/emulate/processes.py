#!/usr/bin/env python3
"""processes.py EMULATE CLIENT: several processes each have an Orin at the same time, and a
client that is killed at any moment leaves no process, file or shared memory behind.
CLIENT: the program of plain.c.
"""
import os
import random
import signal
import subprocess
import sys
import tempfile
import time

EMULATE, CLIENT = map(os.path.abspath, sys.argv[1:3])
TOGETHER = 4
KILLED = 40


def start(*arguments, **options):
    return subprocess.Popen([EMULATE, CLIENT, *arguments], stdout=subprocess.DEVNULL, **options)


def together():
    clients = [start() for _ in range(TOGETHER)]
    assert [client.wait() for client in clients] == [0] * TOGETHER


def shared_memory():
    """Returns the files of shared memory and the number of lines for System V segments. Memfds end
    with their processes."""
    names = {os.path.join(folder, name) for folder, _, names in os.walk("/dev/shm") for name in names}
    with open("/proc/sysvipc/shm", encoding="ascii") as file:
        segments = len(file.readlines())
    return names, segments


def group_is_gone(group):
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return True
    return False


def killed():
    seed = random.randrange(1 << 32)
    print("seed", seed)
    moments = random.Random(seed)
    names, segments = shared_memory()
    with tempfile.TemporaryDirectory() as folder:
        environment = dict(os.environ, TMPDIR=folder, HOME=folder, XDG_RUNTIME_DIR=folder)
        for _ in range(KILLED):
            client = start("forever", start_new_session=True, cwd=folder, env=environment)
            time.sleep(moments.uniform(0, 0.2))
            assert client.poll() is None, "it ended before the kill"
            client.send_signal(signal.SIGKILL)
            client.wait()
            assert group_is_gone(client.pid), "a process is left"
        assert not os.listdir(folder), os.listdir(folder)
    mine = {name for name in shared_memory()[0] - names if "tegracl" in name}
    assert not mine, mine
    assert shared_memory()[1] <= segments + 1, "System V segments are left"


together()
killed()
together()
