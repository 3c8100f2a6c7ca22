#!/usr/bin/env python3
"""Tests the answers about the texture units that tegracl-doctor stores.

    texture_answers.py DOCTOR PROGRAM

PROGRAM (texture_faults.c) reads and writes images and compares the results with the CPU. A fault of the texture
units shows who reads: its results are wrong if the texture units do what the fault breaks.
"""
import json
import os
import subprocess
import sys
import tempfile
import unittest

DOCTOR, PROGRAM = sys.argv[1:3]
FAULT = 'border'  # breaks samplers, which all images but those in buffers need
NONE_STORED = 'texture units: no answers, '
FOUND = 'texture units, as tegracl-doctor has found: '
SELF_CHECK = 'self-check of the texture units: '


def ask_doctor(path, fault=None):
    """Runs the doctor without compiler and most experiments. Returns its report."""
    skipped = ('acquire,tsg-reuse,contexts,priority,import,local-growth,crowd,atomics,speed,idle,copy-bare,cilp,cta,'
               'wfi,queues,bad-store,beyond')
    emulator = f'fault:texture-{fault}' if fault else ''
    return subprocess.run([DOCTOR, '-o', os.devnull, '--skip', skipped, '--json', path],
                          env=dict(os.environ, TEGRACL_DEVICE='emulator', TEGRACL_EMULATOR=emulator,
                                   TEGRACL_COMPILER='/nowhere', OCL_ICD_VENDORS='/nowhere'),
                          capture_output=True, text=True, check=False).stdout


def run(path, fault=None, images='', arguments=(), debug='choices'):
    """Returns whether the program's results are right, and its messages."""
    emulator = f'fault:texture-{fault}' if fault else ''
    done = subprocess.run([PROGRAM, *arguments],
                          env=dict(os.environ, TEGRACL_IMAGES=images, TEGRACL_BOARD_FILE=path,
                                   TEGRACL_EMULATOR=emulator, TEGRACL_DEBUG=debug),
                          capture_output=True, text=True, check=False)
    return done.returncode == 0, done.stdout + done.stderr


class StoredAnswers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.path = os.path.join(cls.folder.name, 'board.json')
        cls.report = ask_doctor(cls.path)
        with open(cls.path, encoding='utf-8') as f:
            cls.healthy = json.load(f)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def write(self, **changes):
        with open(self.path, 'w', encoding='utf-8') as f:
            json.dump({**self.healthy, **changes}, f)

    def test_healthy_texture_units_are_used(self):
        self.assertIn('   pass      texture units\n', self.report)
        self.write()
        for images in '', 'checked':
            right, said = run(self.path, images=images)
            self.assertTrue(right, said)
            self.assertIn(FOUND + 'all right', said)
            self.assertNotIn(SELF_CHECK, said)
        # It was not software: the fault of another board, which this file is not of, is seen.
        right, _ = run(self.path, FAULT)
        self.assertFalse(right)

    def test_all_reported_formats_have_answers(self):
        self.write()
        right, said = run(self.path, arguments=['formats'], debug='api')
        self.assertTrue(right, said)
        self.assertNotIn('by software', said)
        stored = [name for name in self.healthy if name.startswith('texture.') and name.count('.') == 2]
        self.assertIn(f'{len(stored)} formats\n', said)

    def test_answers_of_another_check_or_driver_are_not_used(self):
        for changes, why in [({'texture.check': '0123456789abcdef'}, 'of another version of the self-check'),
                             ({'driver': '0.0.1'}, 'tegracl-doctor has stored none'),
                             ({'kernel': '5.10.1'}, 'tegracl-doctor has stored none')]:
            self.write(**changes)
            right, said = run(self.path, FAULT)
            self.assertTrue(right, said)
            self.assertIn(why + ': software reads all images', said)
            self.assertNotIn(SELF_CHECK, said)

    def test_without_answers_the_driver_may_check(self):
        self.write(**{'texture.check': '0123456789abcdef'})
        right, said = run(self.path, FAULT, 'checked')
        self.assertTrue(right, said)
        self.assertIn(NONE_STORED, said)
        self.assertRegex(said, SELF_CHECK + '(software does these: samplers|undecided)')

    def test_without_answers_software_reads(self):
        right, said = run('0', FAULT)
        self.assertTrue(right, said)
        self.assertIn(NONE_STORED, said)
        self.assertNotIn(SELF_CHECK, said)

    def test_the_users_choice_comes_first(self):
        self.write()
        right, said = run(self.path, FAULT, 'software')
        self.assertTrue(right, said)

    def test_software_does_what_the_doctor_found_wrong(self):
        for fault, wrong in [(FAULT, 'samplers'), ('swizzle', 'reads of 24 of 75 formats'),
                             ('weights', 'linear filters'), ('store', 'typed stores of 21 of 75 formats'),
                             ('lost', 'rows')]:
            report = ask_doctor(self.path, fault)
            self.assertIn(f'wrong, so software does these: {wrong}', report)
            self.assertIn('   FAIL      texture units\n', report)
            self.assertIn('   pass      copy engine\n', report)  # later steps are not affected
            right, said = run(self.path, fault)
            self.assertTrue(right, said)
            self.assertIn(f'{FOUND}software does these: {wrong}', said)
            self.assertNotIn(SELF_CHECK, said)


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
