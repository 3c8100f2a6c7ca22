#!/usr/bin/env python3
"""Copies in command buffers use kernels, unless the copy engine's methods are known to work on this
board, or check mode tracks the bytes that it copies.

Usage: copies.py COMMAND_BUFFERS, the test program
"""
import os
import subprocess
import sys

COPY_ENGINE = 'C7B5.'


def methods(**environment):
    """Whether the pushbuffers have methods of the copy engine."""
    result = subprocess.run([sys.argv[1], 'random'], capture_output=True, text=True, check=True,
                            env=dict(os.environ, TEGRACL_DEBUG='launch', **environment))
    return COPY_ENGINE in result.stderr


def main():
    failures = []
    for wanted, environment in [(False, {}),
                                (False, {'TEGRACL_CHOICES': 'copies=no'}),
                                (True, {'TEGRACL_CHOICES': 'copies=yes'}),
                                (True, {'TEGRACL_EMULATOR': 'check'}),
                                (False, {'TEGRACL_EMULATOR': 'check',
                                         'TEGRACL_CHOICES': 'copies=no'})]:
        if methods(**environment) != wanted:
            failures.append(f'{environment}: methods of the copy engine: {not wanted}')
    print('\n'.join(failures) or 'as chosen')
    return 1 if failures else 0


sys.exit(main())
