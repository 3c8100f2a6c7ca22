#!/usr/bin/env python3
"""Tests tegracl-doctor --json, and the driver's choices with the resulting file.

json_test.py DOCTOR CHOICES
"""
import json
import os
import subprocess
import sys
import tempfile
import unittest

DOCTOR, CHOICES = sys.argv[1:3]


def choices(path, **environment):
    """Returns the choices of a program's driver, and its other messages."""
    result = subprocess.run([CHOICES], capture_output=True, text=True, check=True,
                            env=dict(os.environ, TEGRACL_DEVICE='emulator',
                                     TEGRACL_DEBUG='choices', TEGRACL_BOARD_FILE=path,
                                     **environment))
    chosen, rest = {}, []
    for line in result.stderr.splitlines():
        if line.startswith('tegracl: choice: '):
            name, value = line.removeprefix('tegracl: choice: ').split('=')
            chosen[name] = value
        else:
            rest.append(line)
    return chosen, '\n'.join(rest)


class Json(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.path = os.path.join(cls.folder.name, 'board.json')
        # OpenCL fails here, but the choices do not depend on it.
        cls.shown = subprocess.run(
            [DOCTOR, '-o', os.devnull, '--json', cls.path], capture_output=True, text=True,
            check=False, env=dict(os.environ, TEGRACL_DEVICE='emulator', TEGRACL_COMPILER='/nowhere',
                                  OCL_ICD_VENDORS='/nowhere')).stdout
        with open(cls.path, encoding='utf-8') as f:
            cls.found = json.load(f)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def write(self, **changes):
        with open(self.path, 'w', encoding='utf-8') as f:
            json.dump({**self.found, **changes}, f)

    def test_findings(self):
        # The software Orin does not read /var/lib/tegracl/board.json.
        self.assertIn(f'the software Orin: export TEGRACL_BOARD_FILE={self.path}\n', self.shown)
        self.assertNotIn('sudo install', self.shown)
        self.assertNotIn('lack the L4T release', self.shown)
        self.assertEqual(self.found['choice.preemption'], 'cilp')
        self.assertEqual(self.found['step.host'], 'pass')
        self.assertEqual(self.found['step.opencl'], 'FAIL')
        self.assertEqual(self.found['step.suspend'], 'not run')
        self.assertEqual(self.found['step.textures'], 'pass')
        self.assertEqual(self.found['texture.rows'], 'yes')
        self.assertEqual(self.found['texture.RGBA.UNORM_INT8'], 'reads filters stores')
        self.assertGreater(self.found['measured.launch_ns'], 0)

    def test_the_driver_chooses_by_them(self):
        self.write()
        chosen, _ = choices(self.path)
        self.assertEqual(chosen, {name: self.found['choice.' + name] for name in chosen})
        self.assertIn('yes', chosen.values())
        for name in chosen:
            value = 'wfi' if name == 'preemption' else 'no'
            self.write(**{'choice.' + name: value})
            self.assertEqual(choices(self.path)[0], {**chosen, name: value})

    def test_variables_come_first(self):
        self.write()
        chosen, _ = choices(self.path, TEGRACL_CHOICES='copies=no', TEGRACL_PREEMPTION='cta')
        self.assertEqual((chosen['copies'], chosen['preemption']), ('no', 'cta'))
        self.assertEqual(chosen['priority'], 'yes')
        self.assertEqual(choices('0')[0]['priority'], 'unknown')

    def test_a_wrong_file_is_not_used(self):
        for changes, why in [({'driver': '0.0.1'}, 'written for driver version "0.0.1"'),
                             ({'l4t': '36.4.3'}, 'written for L4T "36.4.3", but this is "software'),
                             ({'format': 7}, 'written for format "7"'),
                             ({'choice.copies': 'maybe'}, '"choice.copies" cannot be "maybe"')]:
            self.write(**changes)
            chosen, rest = choices(self.path)
            self.assertEqual(set(chosen.values()), {'default', 'unknown'})
            self.assertIn(f'tegracl: {self.path} is not used: ', rest)
            self.assertIn(why, rest)

    def test_a_file_that_others_can_write_is_not_used(self):
        self.write()
        os.chmod(self.path, 0o666)
        chosen, rest = choices(self.path)
        os.chmod(self.path, 0o644)
        self.assertEqual(set(chosen.values()), {'default', 'unknown'})
        self.assertIn('it is writable by others (mode 0666): sudo chmod 644', rest)

    @unittest.skipUnless(os.geteuid() == 0, 'only root can change the owner of a file')
    def test_a_file_of_another_user_is_not_used(self):
        self.write()
        os.chown(self.path, 12345, -1)
        chosen, rest = choices(self.path)
        os.chown(self.path, 0, -1)
        self.assertEqual(set(chosen.values()), {'default', 'unknown'})
        self.assertIn('it belongs to user 12345', rest)

    def test_no_file(self):
        self.assertIn('is not used: no such file', choices('/nowhere/board.json')[1])


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
