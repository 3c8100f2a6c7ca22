#!/usr/bin/env python3
"""Tests the command tegracl-doctor: all steps pass on the software Orin, both the built-in one and the
emulated device nodes. The report contains no personal data, and says what is missing.

command_test.py DOCTOR OTHER_PLATFORM OLD_LOADER HARDWARE.md [EMULATE]
OCL_ICD_VENDORS must specify the driver.
"""
import getpass
import os
import platform
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import unittest

DOCTOR, OTHER_PLATFORM, OLD_LOADER, HARDWARE = sys.argv[1:5]
EMULATE = sys.argv[5:]


def walk(folder, command=(), device='emulator', options=('--required',), **environment):
    report = os.path.join(folder, 'report.txt')
    result = subprocess.run([*command, DOCTOR, '-o', report, *options], capture_output=True, text=True,
                            check=False,
                            env=dict(os.environ, TEGRACL_DEVICE=device, **environment))
    with open(report, encoding='utf-8') as f:
        return result.returncode, result.stdout, f.read()


def walk_with_loader(library):
    """Runs the doctor with another ICD loader. An empty file is a loader that cannot be loaded."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copyfile(library, f'{folder}/libOpenCL.so.1')
        return walk(folder, LD_LIBRARY_PATH=folder)


class Walk(unittest.TestCase):
    def test_all_steps_pass(self):
        with tempfile.TemporaryDirectory() as folder:
            status, shown, report = walk(folder, options=())
        self.assertIn('40 steps passed, 0 failed, 1 not run\n', report)
        self.assertEqual(status, 0, shown)
        self.assertTrue(shown.startswith(report))
        answers = re.search(r'== open questions [^\n]*\n(.*?)\n==', report, re.S).group(1)
        with open(HARDWARE, encoding='utf-8') as f:
            rows = re.findall(r'^\| (.*?) \| `[a-z-]+` \|', f.read(), re.M)
        self.assertEqual([line[14:] for line in answers.splitlines()], rows)
        self.assertEqual([line[:14] for line in answers.splitlines()],
                         ['   yes        '] * (len(rows) - 1) + ['   not tried  '])

    def test_a_trace_holds_the_driver_as_well(self):
        with tempfile.TemporaryDirectory() as folder:
            trace = os.path.join(folder, 'trace')
            walk(folder, options=(), TEGRACL_DEBUG='trace:' + trace)
            shown = subprocess.run([DOCTOR, '--explain', trace], capture_output=True, text=True,
                                   check=True).stdout
        for words in ['QMD in the pushbuffer:', 'C7B5.LAUNCH_DMA', 'DEPENDENT_QMD0_ENABLE = 0x1',
                      'RELEASE0_ENABLE = 0x1', 'SHADER_LOCAL_MEMORY_HIGH_SIZE']:
            self.assertIn(words, shown)
        # the driver's test launch has 4096 work-items
        self.assertIn('CTA_RASTER_WIDTH', shown[shown.index('RELEASE0_ENABLE'):])

    @unittest.skipUnless(EMULATE, 'sanitizers exclude a preloaded library')
    def test_all_steps_pass_through_system_calls(self):
        with tempfile.TemporaryDirectory() as folder:
            status, shown, report = walk(folder, EMULATE, 'board', options=())
        self.assertIn('GPU through "linux"', report)
        self.assertIn('/dev/nvmap: opened (memory)\n     mode 0', report)
        self.assertIn('40 steps passed, 0 failed, 1 not run\n', report)
        self.assertEqual(status, 0, shown)

    def test_another_release(self):
        with tempfile.TemporaryDirectory() as folder:
            status, _, report = walk(folder, TEGRACL_EMULATOR='l4t:r35')
        self.assertEqual(status, 0, report)
        self.assertIn('312 bytes of 328', report)
        self.assertIn('L4T r35, whose fields have different offsets', report)
        self.assertIn('/dev/nvhost-ctrl: opened (the same on L4T r35)', report)

    def test_the_report_has_no_personal_data(self):
        with tempfile.TemporaryDirectory() as folder:
            _, _, report = walk(folder, HOME=folder, TEGRACL_CACHE_DIR=folder,
                                TEGRACL_NVRTC=folder + '/nvrtc')
            self.assertIn('NVRTC: TEGRACL_NVRTC=~/nvrtc does not lead to it: unset TEGRACL_NVRTC', report)
            self.assertNotIn(folder, report)
        self.assertNotIn(platform.node(), report.split())
        self.assertNotRegex(report, '/home/(?!USER/)')
        self.assertNotIn('per_device_identifier', report)
        self.assertNotIn(f'/{getpass.getuser()}/', report)

    def test_no_compiler(self):
        with tempfile.TemporaryDirectory() as folder:
            status, _, report = walk(folder, TEGRACL_NVRTC='/nowhere')
        self.assertEqual(status, 1)
        self.assertIn('programs built elsewhere (tegraclc) still run', report)
        self.assertIn('   FAIL      compiler\n', report)
        self.assertIn('clBuildProgram: OpenCL error', report)
        self.assertIn('13 steps passed, 2 failed', report)

    def test_no_driver(self):
        with tempfile.TemporaryDirectory() as folder:
            status, _, report = walk(folder, OCL_ICD_VENDORS=folder)
        self.assertEqual(status, 1)
        self.assertIn('but not tegracl', report)
        self.assertIn('unset OCL_ICD_VENDORS', report)
        self.assertIn('14 steps passed, 1 failed', report)

    def test_another_platform(self):
        with tempfile.TemporaryDirectory() as folder:
            with open(os.environ['OCL_ICD_VENDORS'] + '/tegracl.icd', encoding='utf-8') as f:
                ours = f.read()
            for name, library in [('tegracl', ours), ('other', os.path.abspath(OTHER_PLATFORM))]:
                with open(f'{folder}/{name}.icd', 'w', encoding='utf-8') as f:
                    f.write(library)
            status, shown, report = walk(folder, OCL_ICD_VENDORS=folder)
        self.assertEqual(status, 0, shown)
        self.assertRegex(report, r'platform [01]: Another Platform\n')
        self.assertRegex(report, r'platform [01]: tegracl\n')
        self.assertIn('OCL_ICD_VENDORS=/etc/OpenCL/vendors/tegracl.icd PROGRAM', report)

    def test_an_old_loader(self):
        status, _, report = walk_with_loader(OLD_LOADER)
        self.assertEqual(status, 1)
        self.assertIn('libOpenCL.so.1, unknown loader', report)
        self.assertIn('it lacks OpenCL 3.0 functions; sudo apt install ocl-icd-libopencl1',
                      report)
        self.assertIn('   FAIL      OpenCL\n', report)

    def test_no_loader(self):
        status, _, report = walk_with_loader(os.devnull)
        self.assertEqual(status, 1)
        self.assertIn('no ICD loader found: sudo apt install ocl-icd-libopencl1', report)


class Command(unittest.TestCase):
    def run_doctor(self, *arguments, **environment):
        return subprocess.run([DOCTOR, *arguments], capture_output=True, text=True, check=False,
                              env=dict(os.environ, **environment))

    def test_skip(self):
        experiments = ['fence', 'launch-prefetch', 'launch-copy', 'launch-inline', 'launch-chain',
                       'acquire', 'tsg-reuse', 'contexts', 'priority', 'queues', 'import',
                       'local-growth', 'crowd', 'atomics', 'speed', 'idle', 'copy', 'copy-bare',
                       'cilp', 'cta', 'wfi', 'bad-store', 'beyond']
        shown = self.run_doctor('-o', os.devnull, '--skip', ','.join(experiments),
                                TEGRACL_DEVICE='emulator').stdout
        self.assertRegex(shown, r'pass +copy engine, own channel\n')
        self.assertRegex(shown, r'not run +preemption: CILP\n')

    def test_usage(self):
        self.assertEqual(self.run_doctor('--help').returncode, 0)
        self.assertEqual(self.run_doctor('--walk').returncode, 2)
        result = self.run_doctor('--timeout', '0')
        self.assertEqual(result.returncode, 2)
        self.assertIn('--timeout: "0" is not a number of seconds from 1 to 3600', result.stderr)
        self.assertEqual(self.run_doctor('-o').returncode, 2)
        result = self.run_doctor('--skip', 'cilp,cul')
        self.assertEqual(result.returncode, 2)
        self.assertIn('unknown experiment "cul"', result.stderr)
        self.assertEqual(self.run_doctor('--explain', '/nowhere').returncode, 1)

    def test_file_limit(self):
        with tempfile.TemporaryDirectory() as folder:
            result = subprocess.run(
                [DOCTOR, '-o', folder + '/report', '--json', folder + '/data', '--required'],
                capture_output=True, text=True, check=False,
                env=dict(os.environ, TEGRACL_DEVICE='emulator'),
                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0)))
            self.assertEqual(result.returncode, 1, result.stderr)
            for name in ('report', 'data'):
                self.assertIn(f'{folder}/{name} is incomplete: ', result.stderr)

    def test_a_report_that_cannot_be_written(self):
        for name in ('/dev/full', '/nowhere/report'):
            result = self.run_doctor('-o', name, '--required', TEGRACL_DEVICE='emulator')
            self.assertIn(' 0 failed,', result.stdout)
            self.assertEqual(result.returncode, 1)
            self.assertRegex(result.stderr, f'tegracl-doctor: .*{name}')

    def test_no_process_for_a_step(self):
        result = subprocess.run(
            [DOCTOR, '-o', os.devnull, '--required'], capture_output=True, text=True, check=False,
            env=dict(os.environ, TEGRACL_DEVICE='emulator'),
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (5, 5)))  # a pipe needs two more
        self.assertEqual(result.returncode, 1)
        self.assertIn('cannot create a process for this step: Too many open files', result.stdout)
        self.assertRegex(result.stdout, 'first: system .*\n.*\n   what to do: [a-z]')

    def test_device(self):
        result = self.run_doctor('-o', os.devnull, TEGRACL_DEVICE='toaster')
        self.assertEqual(result.returncode, 2)
        self.assertIn('TEGRACL_DEVICE: unknown value "toaster"', result.stderr)

    def test_a_board_that_is_not_there(self):
        result = self.run_doctor('-o', os.devnull, TEGRACL_DEVICE='board')
        self.assertEqual(result.returncode, 1)
        self.assertIn('the node does not exist: is this a Jetson', result.stdout)


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
