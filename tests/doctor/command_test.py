#!/usr/bin/env python3
"""tegracl-doctor, the command: all steps pass on the software Orin, built in and as
device nodes; the report has no personal data, and what is missing is named.

command_test.py DOCTOR [EMULATE]     OCL_ICD_VENDORS names the driver
"""
import getpass
import os
import platform
import subprocess
import sys
import tempfile
import unittest

DOCTOR = sys.argv[1]
EMULATE = sys.argv[2:]


def walk(folder, command=(), device='emulator', **environment):
    report = os.path.join(folder, 'report.txt')
    result = subprocess.run([*command, DOCTOR, '-o', report], capture_output=True, text=True,
                            check=False,
                            env=dict(os.environ, TEGRACL_DEVICE=device, **environment))
    with open(report, encoding='utf-8') as f:
        return result.returncode, result.stdout, f.read()


class Walk(unittest.TestCase):
    def test_all_steps_pass(self):
        with tempfile.TemporaryDirectory() as folder:
            status, shown, report = walk(folder)
        self.assertIn('21 steps passed, 0 failed, 0 not run\n', report)
        self.assertEqual(status, 0, shown)
        self.assertTrue(shown.startswith(report))

    def test_a_trace_holds_the_driver_as_well(self):
        with tempfile.TemporaryDirectory() as folder:
            trace = os.path.join(folder, 'trace')
            walk(folder, TEGRACL_DEBUG='trace:' + trace)
            shown = subprocess.run([DOCTOR, '--explain', trace], capture_output=True, text=True,
                                   check=True).stdout
        for words in ['QMD in the pushbuffer:', 'C7B5.LAUNCH_DMA', 'DEPENDENT_QMD0_ENABLE = 0x1',
                      'RELEASE0_ENABLE = 0x1', 'SHADER_LOCAL_MEMORY_HIGH_SIZE']:
            self.assertIn(words, shown)
        # the last launch is the driver's, which has 4096 work-items
        self.assertIn('CTA_RASTER_WIDTH', shown[shown.rindex('RELEASE0_ENABLE'):])

    @unittest.skipUnless(EMULATE, 'sanitizers do not go with a preloaded library')
    def test_all_steps_pass_through_system_calls(self):
        with tempfile.TemporaryDirectory() as folder:
            status, shown, report = walk(folder, EMULATE, 'board')
        self.assertIn('GPU through "linux"', report)
        self.assertIn('/dev/nvmap: opened (memory)\n     mode 0', report)
        self.assertIn('21 steps passed, 0 failed, 0 not run\n', report)
        self.assertEqual(status, 0, shown)

    def test_another_release(self):
        with tempfile.TemporaryDirectory() as folder:
            status, _, report = walk(folder, TEGRACL_EMULATOR='l4t:r35')
        self.assertEqual(status, 1)
        self.assertIn('312 bytes of characteristics instead of 328: it is of an older release',
                      report)
        self.assertIn('   FAIL     device\n', report)

    def test_nobody_is_named(self):
        with tempfile.TemporaryDirectory() as folder:
            _, _, report = walk(folder, HOME=folder, TEGRACL_CACHE_DIR=folder,
                                TEGRACL_NVRTC=folder + '/nvrtc')
            self.assertIn('clang or NVRTC is missing', report)
            self.assertNotIn(folder, report)
        self.assertNotIn(platform.node(), report.split())
        self.assertNotIn('/home/', report)
        self.assertNotIn('per_device_identifier', report)
        self.assertNotIn(f'/{getpass.getuser()}/', report)

    def test_no_compiler(self):
        with tempfile.TemporaryDirectory() as folder:
            status, _, report = walk(folder, TEGRACL_NVRTC='/nowhere')
        self.assertEqual(status, 1)
        self.assertIn('programs built elsewhere (tegraclc) still run', report)
        self.assertIn('   FAIL     compiler\n', report)
        self.assertIn('clBuildProgram: OpenCL error', report)
        self.assertIn('19 steps passed, 2 failed', report)

    def test_no_driver(self):
        with tempfile.TemporaryDirectory() as folder:
            status, _, report = walk(folder, OCL_ICD_VENDORS=folder)
        self.assertEqual(status, 1)
        self.assertIn('none of them tegracl: is tegracl.icd in /etc/OpenCL/vendors', report)
        self.assertIn('20 steps passed, 1 failed', report)


class Command(unittest.TestCase):
    def run_doctor(self, *arguments, **environment):
        return subprocess.run([DOCTOR, *arguments], capture_output=True, text=True, check=False,
                              env=dict(os.environ, **environment))

    def test_usage(self):
        self.assertEqual(self.run_doctor('--help').returncode, 0)
        self.assertEqual(self.run_doctor('--walk').returncode, 2)
        self.assertEqual(self.run_doctor('--explain', '/nowhere').returncode, 1)

    def test_device(self):
        result = self.run_doctor('-o', os.devnull, TEGRACL_DEVICE='toaster')
        self.assertEqual(result.returncode, 2)
        self.assertIn('TEGRACL_DEVICE is "toaster"', result.stderr)

    def test_a_board_that_is_not_there(self):
        result = self.run_doctor('-o', os.devnull, TEGRACL_DEVICE='board')
        self.assertEqual(result.returncode, 1)
        self.assertIn('the node does not exist: is this a Jetson', result.stdout)


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
