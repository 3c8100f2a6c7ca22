#!/usr/bin/env python3
"""In a set-user-ID program the driver ignores the caller's environment variables, so it does not
write trace files with the program's rights or run programs of the caller.

Usage: secure.py PROGRAM DRIVER TEGRACLC
The exit status is 77 if this user cannot create a set-user-ID program here.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

program, driver, compiler = map(pathlib.Path, sys.argv[1:])


def variables(folder):
    return {"TEGRACL_DEBUG": f"trace:{folder}/trace,timeline:{folder}/timeline,api",
            "TEGRACL_CACHE_DIR": f"{folder}/cache", "TEGRACL_COMPILER": f"{folder}/compiler",
            "TEGRACL_EMULATOR": f"profile:{folder}/profile.json", "TEGRACL_DEVICE": "emulator",
            "TEGRACL_BOARD_FILE": f"{folder}/board.json",  # its absence is reported
            "HOME": f"{folder}/home", "XDG_CACHE_HOME": f"{folder}/xdg", "TMPDIR": f"{folder}/tmp",
            "PATH": f"{folder}/bin", "CC_PRINT_OPTIONS": "1",
            "CC_PRINT_OPTIONS_FILE": f"{folder}/options"}  # what clang writes


def run(executable, folder):
    """Runs the program. Returns its output and the files that it has created."""
    for name in ("home", "xdg", "tmp", "bin"):
        (folder / name).mkdir(parents=True)
    commands = ["compiler"] + [f"bin/{name}" for name in ("tegraclc", "clang", "clang-15")]
    for name in commands:
        (folder / name).write_text(f"#!/bin/sh\n: > {folder}/ran-{pathlib.Path(name).name}\n")
    for path in [folder, *folder.rglob("*")]:
        path.chmod(0o777)
    before = {str(path.relative_to(folder)) for path in folder.rglob("*")}
    done = subprocess.run([executable, executable.parent / "libtegracl.so.1"],
                          env=variables(folder), capture_output=True, text=True, timeout=100)
    after = {str(path.relative_to(folder)) for path in folder.rglob("*")}
    return done, after - before


def make_secure(executable):
    """Gives the program the rights of another user or of another group of this user."""
    if os.geteuid() == 0:
        os.chown(executable, 1, 1)
        executable.chmod(0o4755)
        return True
    groups = [group for group in os.getgroups() if group != os.getegid()]
    if not groups:
        return False
    os.chown(executable, -1, groups[0])
    executable.chmod(0o2755)
    return True


def main():
    with tempfile.TemporaryDirectory() as name:
        top = pathlib.Path(name)
        top.chmod(0o755)
        shutil.copy(driver, top / "libtegracl.so.1")
        shutil.copy(compiler, top / "tegraclc")
        ordinary, secure = top / "ordinary", top / "secure"
        shutil.copy(program, ordinary)
        shutil.copy(program, secure)
        done, files = run(ordinary, top / "a")
        if done.returncode or "secure 0" not in done.stdout:
            sys.exit(f"the ordinary program: status {done.returncode}\n{done.stdout}{done.stderr}")
        if "board.json is not used" not in done.stderr:
            sys.exit(f"the ordinary program looks for no board.json:\n{done.stderr}")
        for wanted in ("trace", "timeline", "profile.json", "ran-compiler"):
            if wanted not in files:
                sys.exit(f"the ordinary program leaves no {wanted}: {sorted(files)}")
        if not make_secure(secure):
            print("this user has no second group whose rights a program could have")
            return 77
        done, files = run(secure, top / "b")
        if "secure 0" in done.stdout:
            print("programs get no other rights here: nosuid, or no_new_privs")
            return 77
        print(done.stdout + done.stderr, end="")
        if files or "tegracl:" in done.stderr:
            sys.exit(f"the secure program heeds variables: {sorted(files)}\n{done.stderr}")
        if done.returncode not in (0, 2):  # it may find a board, or none; never a crash
            sys.exit(f"the secure program: status {done.returncode}")
    return 0


sys.exit(main())
