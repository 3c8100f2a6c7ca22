#!/usr/bin/env python3
"""Checks the memory barriers of a submission in the disassembly of the driver's arm64 code
(docs/hardware/command-stream.md 1.5). The barrier before GP_PUT must also order loads, because
afterwards the GPU may write what the application has read.

barriers.py OBJDUMP LIBTEGRACL.SO"""
import re
import subprocess
import sys

# Byte offsets: USERD_GP_PUT and USERMODE_NOTIFY_CHANNEL_PENDING of gpu/hw/host.h.
GP_PUT, DOORBELL = 0x8c, 0x90
STORE = r'(?:st(?:r|ur|p|lr|lur)\w*)\s'


def code_of(function):
    """Returns the function's instructions in order. Code after an unconditional end is cold
    code."""
    text = subprocess.run([sys.argv[1], f'--disassemble={function}', '--no-show-raw-insn',
                           sys.argv[2]], check=True, capture_output=True, text=True).stdout
    return [' '.join(m[1].split()) for m in re.finditer(r'^ *[0-9a-f]+:\t(.*)$', text, re.M)]


def only(code, pattern, what):
    """Returns the index of an instruction that must occur exactly once."""
    found = [i for i, text in enumerate(code) if re.match(pattern, text)]
    if len(found) != 1:
        sys.exit(f'{what}: {len(found)} places instead of one in:\n' + '\n'.join(code))
    return found[0]


def check(condition, sentence, code):
    if not condition:
        sys.exit(f'not so: {sentence}, in:\n' + '\n'.join(code))
    print('ok', sentence)


ENTRY = r'str x\d+, \[x\d+, [xw]\d+, (?:lsl|uxtw) #3\]'
only(code_of('rt_slice_put'), ENTRY, 'store of the GPFIFO entry')
submit = code_of('rt_slice_submit')
# The compiler may have inlined rt_slice_put.
entry = only(submit, ENTRY + r'|bl [0-9a-f]+ <rt_slice_put>', 'store of the GPFIFO entry, or its call')
barrier = only(submit, r'dmb osh$', 'barrier before GP_PUT')
put = only(submit, rf'str w\d+, \[x\d+, #{GP_PUT}\]', 'store of GP_PUT')
bell = next((i for i in range(put, len(submit)) if submit[i].startswith('blr ')), None)
check(entry < barrier < put, 'GPFIFO entry, dmb osh, GP_PUT', submit)
between = [text for text in submit[barrier + 1:put] if re.match(STORE, text)]
check(not between, 'no other store between the barrier and GP_PUT', submit)
check(bell is not None and not any(re.match(STORE + r'|b\.?\w* |cbn?z|tbn?z', text)
                                   for text in submit[put + 1:bell]),
      'GP_PUT, then straight the doorbell', submit)

doorbell = code_of('os_doorbell')
barrier = only(doorbell, r'dsb st$', 'barrier before the doorbell')
store = only(doorbell, STORE, 'store')
check(re.match(rf'str w1, \[x0, #{DOORBELL}\]', doorbell[store]) and barrier < store,
      'dsb st, then the token to the doorbell', doorbell)
