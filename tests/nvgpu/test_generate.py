#!/usr/bin/env python3
"""Checks that the generator of the kernel interface rejects contradictory tables, and that its
static asserts reject structs whose layout in C differs from the table.

test_generate.py GENERATE TABLE CC
"""
import os
import subprocess
import sys
import tempfile
import unittest

GENERATE, TABLE = sys.argv[1:3]
CC = sys.argv[3:]
HEAD = 'device,struct,ioctl_nr_hex,struct_size,field,offset,size,type,notes\n'


def run(text):
    """Returns (exit status of the generator, its errors, exit status of the compiler)."""
    with tempfile.TemporaryDirectory() as folder:
        table, header = os.path.join(folder, 't.csv'), os.path.join(folder, 't.h')
        with open(table, 'w', encoding='utf-8') as f:
            f.write(text)
        made = subprocess.run([sys.executable, GENERATE, 'structs', table, header],
                              capture_output=True, text=True, check=False)
        if made.returncode:
            return made.returncode, made.stderr, None
        compiled = subprocess.run(CC + ['-fsyntax-only', '-x', 'c', header], capture_output=True,
                                  check=False)
        return 0, made.stderr, compiled.returncode


class Refusals(unittest.TestCase):
    def refuse(self, rows, words):
        status, errors, _ = run(HEAD + rows)
        self.assertEqual(status, 1)
        self.assertIn(words, errors)

    def test_the_real_table_passes(self):
        with open(TABLE, encoding='utf-8') as f:
            self.assertEqual(run(f.read())[::2], (0, 0))

    def test_request_of_another_size(self):
        self.refuse('ctrl,s,0xc0104705,8,a,0,8,__u64,[R]\n', 'does not say 8 bytes')

    def test_type_of_another_size(self):
        self.refuse('ctrl,s,,8,a,0,8,__u32,\n', 'the type has 4')

    def test_unknown_type(self):
        self.refuse('ctrl,s,,8,a,0,8,double,\n', 'unknown type')

    def test_struct_of_two_sizes(self):
        self.refuse('ctrl,s,,8,a,0,4,__u32,\nctrl,s,,12,b,4,4,__u32,\n', 'two sizes')

    def test_names_without_codes(self):
        self.refuse('ctrl,s,0xc0044705,4,a,0,4,__u32,[R S]\n', '2 names for 1')

    def test_an_offset_that_c_does_not_give(self):
        """A 64-bit member at offset 4 requires a packed struct."""
        rows = HEAD + 'ctrl,s,,12,a,0,4,__u32,\nctrl,s,,12,b,4,8,__u64,\n'
        status, _, compiled = run(rows)
        self.assertEqual(status, 0)
        self.assertNotEqual(compiled, 0)

    def test_fields_past_the_end(self):
        status, _, compiled = run(HEAD + 'ctrl,s,,4,a,0,4,__u32,\nctrl,s,,4,b,4,4,__u32,\n')
        self.assertEqual(status, 0)
        self.assertNotEqual(compiled, 0)


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
