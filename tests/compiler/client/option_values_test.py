#!/usr/bin/env python3
"""Values of build options cannot become options: option_values_test.py TEGRACLC CLANG.

clang expands an argument that begins with @ to the contents of that file. A value that is passed as
a separate argument could thus smuggle in any of clang's options. Each option with a value is tested
with hostile values: separate, attached and quoted. A script in place of clang records the arguments.
If an argument contains @, the real clang runs too, and must not write the file that the response
file requests."""
import os
import subprocess
import sys
import tempfile

TEGRACLC, CLANG = map(os.path.abspath, sys.argv[1:3])
KERNEL = b'kernel void k(global int *o) { *o = 1; }'
failures = 0


def check(condition, sentence):
    global failures
    failures += not condition
    if not condition:
        print('FAIL', sentence)


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    witness, record = os.path.join(folder, 'witness'), os.path.join(folder, 'record')
    with open('f', 'w', encoding='utf-8') as file:
        file.write(f'-dependency-file {witness} -MT x')
    with open('clang', 'w', encoding='utf-8') as file:
        file.write(f"""#!/bin/sh
printf '%s\\0' "$@" > {record}
case "$*" in *@*) exec {CLANG} "$@" ;; esac
echo "stand-in for clang" >&2; exit 1
""")
    os.chmod('clang', 0o755)
    environment = dict(os.environ, TEGRACL_CLANG=os.path.join(folder, 'clang'))

    def run(*options):
        """Returns whether the build succeeds, and clang's arguments, or None if it was not started."""
        if os.path.exists(record):
            os.remove(record)
        done = subprocess.run([TEGRACLC, '--emit', 'ir', *options, '-'], input=KERNEL,
                              capture_output=True, env=environment, timeout=120)
        arguments = None
        if os.path.exists(record):
            with open(record, encoding='utf-8', newline='') as written:
                arguments = written.read().split('\0')[:-1]
        return done.returncode == 0, arguments, done.stderr.decode()

    # Shows that the check can fail: clang expands such arguments.
    subprocess.run([CLANG, '-cc1', '-x', 'cl', '@f', '-E', '-o', '-', '-'], input=KERNEL,
                   capture_output=True, check=True)
    check(os.path.exists(witness), 'clang reads response files')
    os.remove(witness)

    _, plain, _ = run()
    values = ['@f', f'@{folder}/f', '@/dev/stdin', '"@f"', "'@f'", '-load', '-', '--', '-I', '-cc1',
              f'-dependency-file={witness}', '\n@f', '@f\n', 'X\n#include "f"', 'X(a)\n#include "f"\n',
              'X=1\n#include "f"\n', 'X=@f', 'X="@f"', 'X=-load', '"', "'", '\\', ' ', '']
    names = ['-D', '-U', '-I', '-cl-nv-maxrregcount', '-cl-nv-opt-level', '-cl-std', '-cl-nv-cstd']
    built = started = 0
    for name in names:
        for value in values:
            forms = {'apart': [name, value]}
            forms['glued'] = [name + ('=' if name.startswith('-cl') else '') + value]
            for form, words in forms.items():
                good, arguments, log = run(*words)
                what = f'{name} {value!r} {form}'
                built += good
                check(not os.path.exists(witness), f'{what}: wrote a file')
                check(good or log, f'{what}: fails without a message')
                if arguments is None:
                    continue
                started += 1
                extra = list(arguments)
                for argument in plain:
                    if argument in extra:
                        extra.remove(argument)
                check(all(a[:2] in ('-D', '-U', '-I') and len(a) > 2 for a in extra) and
                      len(extra) <= 2, f'{what}: became {extra}')
                # A macro's name must not start a new line of the program.
                check(all('\n' not in a.split('=')[0] for a in extra if a[1:2] in 'DU'),
                      f'{what}: a line of the program in {extra}')
                check('-I-' not in extra, f'{what}: an option of its own')
    check(built > 10 and started > 40, f'only {built} builds succeed, {started} are started')
    # Applications make macros of the device's name, "Orin (GA10B), software Orin". clang ends a
    # macro's name at the comma.
    for value in 'ON_ORIN__GA10B_,_SOFTWARE', 'X-Y', 'X(a)=a':
        good, arguments, log = run('-I', '@', '-D' + value)
        check(good, f'-D{value}: {log}')
    for value in '1X', ',X', '(X)':
        good, arguments, log = run('-D' + value)
        check(not good and 'malformed value' in log, f'-D{value}: {log}')
    good, arguments, log = run('-I', '@f', '-D', 'X=@f', '-I', '-x')
    check(good and arguments[-7:-3] == ['-I@f', '-UX', '-DX=@f', '-I./-x'], f'{arguments} {log}')

print(f'{failures} failed')
sys.exit(failures != 0)
