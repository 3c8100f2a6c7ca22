#!/usr/bin/env python3
"""Tests tegracl-doctor --explain with traces and with the output of strace.

explain_test.py DOCTOR PROGRAM REQUESTS.csv NVGPU-UAPI.csv
PROGRAM launches a kernel named culprit.
"""
import csv
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest

DOCTOR, PROGRAM, REQUESTS, INTERFACE = sys.argv[1:5]

LAUNCH = ['NVGPU_GPU_IOCTL_ALLOC_AS = 0', 'va_range_start=0x4000000 va_range_end=0x2000000000',
          'nvgpu_gpu_characteristics: num_gpc=2', 'chipname="ga10b"',
          'path=/dev/nvgpu/igpu0/ctrl = ', 'work_submit_token=0->0x1ff', 'submit: token 0x1ff',
          'C7C0.SEND_SIGNALING_PCAS2_B PCAS_ACTION=PCAS_INVALIDATE_PREFETCH_COPY_SCHEDULE', 'REGISTER_COUNT_V = 0x10',
          'GPFIFO entry 0 = 0x', 'stack pointer', 'doorbell token=0x1ff']


def explain(text):
    with tempfile.NamedTemporaryFile('w', suffix='.trace') as f:
        f.write(text)
        f.flush()
        return subprocess.run([DOCTOR, '--explain', f.name], capture_output=True, text=True,
                              check=True).stdout


def trace(topics='trace:{}'):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 't')
        result = subprocess.run([PROGRAM], env=dict(os.environ, TEGRACL_DEBUG=topics.format(path)),
                                capture_output=True, text=True, check=True)
        with open(path, encoding='utf-8') as f:
            return f.read(), result.stderr


class Traces(unittest.TestCase):
    def test_a_launch(self):
        text = explain(trace()[0])
        for words in LAUNCH:
            self.assertIn(words, text)
        self.assertNotIn('did not return', text)

    def test_each_ioctl_has_an_end(self):
        lines = trace()[0].splitlines()
        calls = [line for line in lines if ' ioctl ' in line]
        ends = [line for line in lines if ' end ns=' in line]
        self.assertGreater(len(calls), 100)
        self.assertGreater(len(ends), len(calls))

    def test_topics_go_together(self):
        text, errors = trace('ioctl,trace:{},launch')
        self.assertIn('ALLOC_AS', explain(text))
        self.assertIn('NVGPU_GPU_IOCTL_ALLOC_AS = 0', errors)

    def test_two_processes_share_a_file(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, 't')
            environment = dict(os.environ, TEGRACL_DEBUG='trace:' + path)
            for _ in range(2):  # the second trace replaces the first
                both = [subprocess.Popen([PROGRAM], env=environment, stdout=subprocess.DEVNULL,
                                         stderr=subprocess.DEVNULL) for _ in range(2)]
                self.assertEqual([p.wait() for p in both], [0, 0])
                with open(path, encoding='utf-8') as f:
                    lines = f.read().splitlines()
                self.assertEqual(lines[0], 'tegracl-trace 1')
                threads = {line.split()[1] for line in lines[1:]}
                self.assertLessEqual(len(threads), 2)

    def test_control_characters_in_files(self):
        """Control characters must not reach the terminal, and an endless line must not exhaust
        memory."""
        strange = '\x1b]0;title\x07 \x9b31m \x7f\r\b \u00e9\u20ac'
        call = 'ioctl(3, 0xc0104101, {' + strange + '}) = 0\n'
        chip = ''.join('%02x' % b for b in b'\x1b[2J' * 60)
        for text in (call, strange + '\n', 'tegracl-trace 1\n1.0 7 ' + strange + '\n' +
                     '1.0 7 open path=' + strange + '\n1.0 7 end ns=1 result=3\n' +
                     '1.0 7 struct type=nvgpu_gpu_characteristics data=' + chip + '\n' +
                     '1.0 7 submit token=0x1 ' + strange + '\n'):
            out = explain(text)
            self.assertTrue(all(c.isprintable() or c in '\n\t' for c in out), repr(out))
        # Invalid UTF-8 that some terminals take for control characters, and right-to-left text.
        broken = b'\xc0\x9b[31m \xe0\x82\x9b[31m \xff\x9b[31m \xe2\x80\xae'
        out = subprocess.run([DOCTOR, '--explain', '-'], input=b'ioctl(3, 5, {' + broken + b'}) = 0\n',
                             capture_output=True, check=True).stdout
        self.assertTrue(out.isascii() and b'[31m' in out, repr(out))
        result = subprocess.run([DOCTOR, '--explain', '/dev/zero'], capture_output=True, text=True,
                                timeout=100, check=False)
        self.assertEqual(result.returncode, 1)
        self.assertIn('/dev/zero: neither a trace nor strace output: a line has more than 16 MiB', result.stderr)

    def test_control_characters_in_names(self):
        """Control characters in a file name must not reach the terminal in an error message."""
        with tempfile.TemporaryDirectory() as folder:
            name = os.fsencode(folder) + b'/\x1b]0;title\x07\x9b31m\xc0\x9b\xe2\x80\xae\rend'
            for make in (lambda: None, lambda: os.mkdir(name),
                         lambda: (os.rmdir(name), os.symlink('/dev/zero', name))):
                make()
                result = subprocess.run([DOCTOR, '--explain', name], capture_output=True,
                                        timeout=100, check=False)
                shown = result.stderr.removesuffix(b'\n')
                self.assertEqual(result.returncode, 1)
                self.assertTrue(all(0x20 <= c < 0x7f for c in shown), repr(shown))
                self.assertIn(os.fsencode(folder) + b'/?]0;title??31m?????', shown)

    def test_a_trace_that_cannot_be_written(self):
        result = subprocess.run([PROGRAM], env=dict(os.environ, TEGRACL_DEBUG='trace:/nowhere/t'),
                                capture_output=True, text=True, check=True)
        self.assertEqual(result.stderr.count('tegracl: no trace in /nowhere/t: '), 1)

    def test_every_end_of_the_file_is_read(self):
        """A program may be killed after any byte of the trace."""
        text = trace()[0]
        for length in range(0, 6000, 37):
            shown = explain(text[:length])
            if length > 100 and text[length - 1] != '\n':
                self.assertIn('the trace ends within a record', shown)

    def test_the_call_that_never_returned(self):
        text = trace()[0]
        place = text.index('request=0xc0404708')
        shown = explain(text[:text.index('\n', place) + 1])
        self.assertIn('NVGPU_GPU_IOCTL_ALLOC_AS did not return\n', shown)
        self.assertIn('va_range_end=0x2000000000', shown.splitlines()[-1])

    def test_a_killed_program(self):
        """Linux may end a write at a page boundary, within the last record."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, 't')
            for _ in range(10):
                with subprocess.Popen([PROGRAM], stdout=subprocess.DEVNULL,
                                      stderr=subprocess.DEVNULL,
                                      env=dict(os.environ, TEGRACL_DEBUG='trace:' + path)) as p:
                    while p.poll() is None and not (os.path.exists(path) and os.path.getsize(path)):
                        time.sleep(0.001)
                    time.sleep(0.005)
                    p.send_signal(signal.SIGKILL)
                with open(path, encoding='utf-8') as f:
                    text = f.read()
                self.assertTrue(text.startswith('tegracl-trace 1\n'))
                self.assertEqual('the trace ends within a record' in explain(text),
                                 not text.endswith('\n'))
                os.remove(path)

    def test_nonsense(self):
        for text in ['', '\n', 'tegracl-trace 1\n\n\n', 'tegracl-trace 1\n0.1 1 submit\n',
                     'tegracl-trace 1\n0.1 1 ioctl fd=1 request=0xc0404708 arg=zz\n0.2 1 end\n',
                     'tegracl-trace 1\n0.1 1 submit token=0x1 entry=0xffffffffffffffff gpu=0x4 '
                     'data=00112233\n', 'tegracl-trace 1\nx\nend \n0.1 1 struct type=a data=0\n',
                     'tegracl-trace 1\n0.1 1 end result=0\n']:
            explain(text)


class Strace(unittest.TestCase):
    NAME = 'NVGPU_GPU_IOCTL_GET_CHARACTERISTICS /* L4T r36, struct ' \
           'nvgpu_gpu_get_characteristics of 16 bytes'

    def check(self, line, shown):
        self.assertEqual(explain(line + '\n'), shown + '\n')

    def test_raw(self):
        self.check('12 ioctl(0x4, 0xc0104705, 0xffffe0) = 0',
                   f'12 ioctl(0x4, {self.NAME} */, 0xffffe0) = 0')

    def test_default(self):
        self.check('ioctl(4, _IOC(_IOC_READ|_IOC_WRITE, 0x47, 0x5, 0x10), 0xffe0) = 0 <0.000071>',
                   f'ioctl(4, {self.NAME} */, 0xffe0) = 0 <0.000071>')

    def test_descriptors_and_errors(self):
        self.check('[pid 7] 10:00:00.1 ioctl(5</dev/nvgpu/igpu0/ctrl>, '
                   '_IOC(_IOC_READ|_IOC_WRITE, 0x47, 0x8, 0x40), 0xff) = -1 EINVAL (Invalid)',
                   '[pid 7] 10:00:00.1 ioctl(5</dev/nvgpu/igpu0/ctrl>, NVGPU_GPU_IOCTL_ALLOC_AS '
                   '/* L4T r36, struct nvgpu_alloc_as_args of 64 bytes */, 0xff) = -1 EINVAL '
                   '(Invalid)')

    def test_what_strace_prints(self):
        """Traces every request of the table with strace on this machine."""
        program = 'import fcntl, sys\nfor code in sys.argv[1:]:\n' \
                  '  try: fcntl.ioctl(0, int(code, 16))\n  except OSError: pass\n'
        with open(INTERFACE, newline='', encoding='utf-8') as f:
            codes = sorted({c for r in csv.DictReader(f) for c in r['ioctl_nr_hex'].split()})
        for options in [], ['-X', 'raw'], ['-X', 'verbose'], ['-f', '-tt', '-T', '-y']:
            with tempfile.NamedTemporaryFile() as out:
                subprocess.run(['strace', '-e', 'trace=ioctl', '-o', out.name, *options,
                                sys.executable, '-c', program, *codes], stdin=subprocess.DEVNULL,
                               check=True)
                with open(out.name, encoding='utf-8') as f:
                    shown = explain(f.read())
            named = [line for line in shown.splitlines() if '/* L4T r36' in line]
            self.assertEqual(len(named), len(codes), (options, shown[-9000:]))

    def test_names_of_terminals(self):
        self.check('ioctl(7, TCSETSW, 0) = 0',
                   'ioctl(7, NVGPU_IOCTL_TSG_ENABLE /* L4T r36 */, 0) = 0')
        self.check('ioctl(7, SNDCTL_TMR_STOP or TCSETSW, NULL) = 0',
                   'ioctl(7, NVGPU_IOCTL_TSG_ENABLE /* L4T r36 */, NULL) = 0')

    def test_other_lines_do_not_change(self):
        for line in ['openat(AT_FDCWD, "/dev/nvmap", O_RDWR) = 3', 'ioctl(1, TCGETS, 0xf) = 0',
                     'ioctl(4, 0x12345678, 0xf) = 0', 'ioctl(4, _IOC(_IOC_READ, 0x47', 'ioctl(',
                     'ioctl(4, _IOC(', '+++ exited with 0 +++']:
            self.check(line, line)

    def test_every_request_of_the_table(self):
        with open(REQUESTS, newline='', encoding='utf-8') as f:
            rows = list(csv.DictReader(f))
        shown = explain(''.join(f"ioctl(3, {r['code']}, 0x0) = 0\n" for r in rows)).splitlines()
        self.assertGreater(len(rows), 40)
        for row, line in zip(rows, shown):
            self.assertIn(row['name'], line)


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
