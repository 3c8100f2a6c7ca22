#!/usr/bin/env python3
"""Checks that the table generator rejects tables that contradict themselves."""
import os
import subprocess
import sys
import tempfile
import unittest

GENERATE, QMD, METHODS, VALUES = sys.argv[1:5]
TEXTURES = HEADER, SAMPLER, FORMATS = sys.argv[5:8]


def run(kind, *texts):
    """Each text is one of the tables required for this kind of output."""
    with tempfile.TemporaryDirectory() as folder:
        tables = [os.path.join(folder, f'table{i}.csv') for i in range(len(texts))]
        for table, text in zip(tables, texts):
            with open(table, 'w', encoding='utf-8') as f:
                f.write(text)
        return subprocess.run([sys.executable, GENERATE, kind, *tables,
                               os.path.join(folder, 'out.h')], capture_output=True, text=True,
                              check=False)


def lines(path):
    with open(path, encoding='utf-8') as f:
        return f.read().splitlines()


class Refusals(unittest.TestCase):
    def refuse(self, kind, table, words, values=()):
        texts = ['\n'.join(table) + '\n']
        if kind == 'methods':
            texts.append('\n'.join(['set,name,value,meaning', *values]) + '\n')
        result = run(kind, *texts)
        self.assertEqual(result.returncode, 1)
        self.assertIn(words, result.stderr)

    def edited_qmd(self, old, new):
        table = lines(QMD)
        found = [i for i, line in enumerate(table) if line.startswith(old)]
        self.assertEqual(len(found), 1)
        table[found[0]] = new + table[found[0]][len(old):]
        return table

    def test_the_real_tables_pass(self):
        self.assertEqual(run('qmd', '\n'.join(lines(QMD)) + '\n').returncode, 0)
        for kind, paths in (('methods', (METHODS, VALUES)), ('textures', TEXTURES)):
            texts = ['\n'.join(lines(path)) + '\n' for path in paths]
            self.assertEqual(run(kind, *texts).returncode, 0)

    def test_overlapping_qmd_fields(self):
        self.refuse('qmd', self.edited_qmd('BARRIER_COUNT,767,763', 'BARRIER_COUNT,768,763'),
                    'overlap at bit 768')

    def test_gap_in_the_qmd(self):
        self.refuse('qmd', self.edited_qmd('BARRIER_COUNT,767,763', 'BARRIER_COUNT,767,764'),
                    'bit 763 belongs to no field')

    def test_reversed_bits(self):
        self.refuse('qmd', self.edited_qmd('BARRIER_COUNT,767,763', 'BARRIER_COUNT,763,767'),
                    'below low bit')

    def test_field_listed_twice(self):
        self.refuse('qmd', self.edited_qmd('IS_QUEUE', 'QMD_GROUP_ID'), 'listed twice')

    def test_overlapping_method_fields(self):
        self.refuse('methods', [lines(METHODS)[0], 'c7c0,0x0100,M,7:0=A x | 8:7=B y,'],
                    'B and A overlap at bit 7')

    def test_unreadable_field(self):
        self.refuse('methods', [lines(METHODS)[0], 'c7c0,0x0100,M,bits=A,'], 'cannot read')

    def test_two_methods_in_one_place(self):
        self.refuse('methods', [lines(METHODS)[0], 'c7c0,0x0100,M,7:0=A x,',
                                'c7c0,0x0100,N,7:0=A x,'], 'two methods at 0x100')

    def test_method_wider_than_a_word(self):
        self.refuse('methods', [lines(METHODS)[0], 'c7c0,0x0100,M,32:0=A x,'], '32 bits')

    def test_unknown_set_of_values(self):
        self.refuse('methods', [lines(METHODS)[0], 'c7c0,0x0100,M,7:0=A:s x,'],
                    'no set of values is called s')

    def test_set_of_no_field(self):
        self.refuse('methods', [lines(METHODS)[0], 'c7c0,0x0100,M,7:0=A x,'],
                    'no field has the values s', ['s,S_ONE,1,'])

    def test_value_listed_twice(self):
        self.refuse('methods', [lines(METHODS)[0], 'c7c0,0x0100,M,7:0=A:s x,'],
                    'S_ONE is listed twice', ['s,S_ONE,1,', 's,S_ONE,2,'])

    def test_two_names_of_a_value(self):
        self.refuse('methods', [lines(METHODS)[0], 'c7c0,0x0100,M,7:0=A:s x,'],
                    'S_TWO is not above', ['s,S_ONE,1,', 's,S_TWO,1,'])

    def refuse_texture(self, changed, old, new, words):
        texts = ['\n'.join(lines(path)) + '\n' for path in TEXTURES]
        i = TEXTURES.index(changed)
        self.assertIn(old, texts[i])
        texts[i] = texts[i].replace(old, new)
        result = run('textures', *texts)
        self.assertEqual(result.returncode, 1)
        self.assertIn(words, result.stderr)

    def test_gap_in_the_texture_header(self):
        self.refuse_texture(HEADER, '2 PITCH,PITCH_BIT21,145,145', '2 PITCH,PITCH_BIT21,146,146',
                            'overlap at bit 146')
        self.refuse_texture(HEADER, '2 PITCH,BORDER_SIZE,159,157', '2 PITCH,BORDER_SIZE,159,158',
                            'bit 157 belongs to no field')

    def test_sampler_with_wrong_fields(self):
        self.refuse_texture(SAMPLER, 'MAG_FILTER,1,2,0,34,32', 'MAG_FILTER,1,2,0,34,31', 'overlap')
        self.refuse_texture(SAMPLER, 'UNLISTED_63_63,1,31,31,63,63,', 'UNLISTED_63_63,1,31,31,63,63,'
                            ',,,\nMORE,8,0,0,256,256,', 'beyond bit 255')

    def test_a_value_name_with_two_numbers(self):
        self.refuse_texture(HEADER, '2 PITCH,BORDER_SIZE,159,157,0=BORDER_SIZE_ONE',
                            '2 PITCH,BORDER_SIZE,159,157,4=BORDER_SIZE_ONE', 'has two values')
        self.refuse_texture(SAMPLER, '1=MIRROR|', '1=WRAP|', 'listed twice')

    def test_format_with_the_code_of_another(self):
        self.refuse_texture(FORMATS, 'R8,0x1d', 'R8,0x1b', 'has another code')


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
