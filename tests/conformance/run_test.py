#!/usr/bin/env python3
"""Checks that conformance/run compares results with expected.csv only if the platform is tegracl. With
another platform, or none, it must exit with a message before the first test. A script replaces the CTS.

run_test.py SOURCE OTHER      OCL_ICD_VENDORS specifies tegracl; OTHER is another driver's library
"""
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

RUN = Path(sys.argv[1], 'conformance/run')
OTHER = sys.argv[2]

# A stand-in for the CTS: lists TESTS, or writes RESULT as the test's result and exits with 0. The test
# HANG does not end.
CTS = '''#!/bin/sh
if [ "$1" = --list ]; then
  printf '\\t%s\\n' ${TESTS:-vector_swizzle}
elif [ "$1" = "$HANG" ]; then
  echo $$ >pid.new
  mv pid.new pid
  exec sleep 1000
else
  echo '{"results": {"'"$1"'": "'"${RESULT:-pass}"'"}}' >"$CL_CONFORMANCE_RESULTS_FILENAME"
fi
'''


class Run(unittest.TestCase):
    def setUp(self):
        # pylint: disable-next=consider-using-with
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        program = self.folder / 'cts/test_conformance/basic/test_basic'
        program.parent.mkdir(parents=True)
        program.write_text(CTS, encoding='utf-8')
        program.chmod(0o755)
        self.vendors = self.folder / 'vendors'
        self.vendors.mkdir()

    def command(self, *arguments):
        return [RUN, '--cts', self.folder / 'cts', '--suite', 'basic', '--logs',
                self.folder / 'logs', *arguments]

    def run_it(self, *arguments, **environment):
        return subprocess.run(self.command(*arguments), env=dict(os.environ, **environment),
                              capture_output=True, text=True, check=False)

    def record(self):
        return json.loads((self.folder / 'logs/results.json').read_text(encoding='utf-8'))

    def refused(self, result, reason):
        self.assertEqual(result.returncode, 1, result.stdout + result.stderr)
        self.assertIn(reason, result.stderr)
        self.assertIn('OCL_ICD_VENDORS', result.stderr)
        self.assertFalse((self.folder / 'logs').exists())

    def test_tegracl(self):
        result = self.run_it()
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assertIn('0 results differ', result.stdout)

    def test_a_failure_that_the_exit_status_hides(self):
        result = self.run_it(RESULT='fail')
        self.assertEqual(result.returncode, 1, result.stdout + result.stderr)
        self.assertIn('basic vector_swizzle: fail (expected pass)', result.stdout)

    def test_resumed(self):
        self.run_it()
        result = self.run_it('--resume', RESULT='fail')
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        record = self.record()
        self.assertEqual(record['results']['basic']['vector_swizzle']['result'], 'pass')
        self.assertEqual(len(record['sessions']), 1)
        vendors = Path(os.environ['OCL_ICD_VENDORS'])
        library = Path(next(vendors.glob('*.icd')).read_text(encoding='utf-8').strip())
        self.assertEqual(record['build']['library'],
                         hashlib.sha256(library.read_bytes()).hexdigest())

    def test_resumed_with_another_build(self):
        self.run_it()
        record = self.record()
        record['build']['library'] = 'another'
        text = json.dumps(record)
        (self.folder / 'logs/results.json').write_text(text, encoding='utf-8')
        result = self.run_it('--resume')
        self.assertEqual(result.returncode, 1, result.stdout + result.stderr)
        self.assertIn("'library': 'another'", result.stderr)
        self.assertEqual((self.folder / 'logs/results.json').read_text(encoding='utf-8'), text)

    def test_stopped_and_resumed(self):
        tests = 'first second third'
        pid_file = self.folder / 'cts/test_conformance/basic/pid'
        with subprocess.Popen(self.command(), env=dict(os.environ, TESTS=tests, HANG='second'),
                              stdout=subprocess.DEVNULL) as process:
            while not pid_file.exists():
                self.assertIsNone(process.poll())
                time.sleep(0.01)
            process.send_signal(signal.SIGTERM)
            self.assertEqual(process.wait(), 128 + signal.SIGTERM)
        status = Path('/proc', pid_file.read_text(encoding='utf-8').strip(), 'status')
        while status.exists() and 'zombie' not in status.read_text(encoding='utf-8'):
            time.sleep(0.01)
        self.assertEqual(list(self.record()['results']['basic']), ['first'])
        self.run_it('--resume', TESTS=tests)
        record = self.record()
        self.assertEqual([test['result'] for test in record['results']['basic'].values()],
                         ['pass'] * 3)
        self.assertEqual(len(record['sessions']), 2)

    def test_results_in_a_file_that_outlives_the_logs(self):
        file = self.folder / 'results.json'
        where = ['--results', file, '--resume']
        self.run_it('--test', 'first', *where, TESTS='first second')
        shutil.rmtree(self.folder / 'logs')
        result = self.run_it(*where, TESTS='first second', RESULT='fail')
        self.assertEqual(result.returncode, 1, result.stdout + result.stderr)
        self.assertIn('of 0.0 hours', result.stdout)
        self.assertFalse((self.folder / 'logs/results.json').exists())
        text = file.read_text(encoding='utf-8')
        record = json.loads(text)
        self.assertEqual({test: outcome['result']
                          for test, outcome in record['results']['basic'].items()},
                         {'first': 'pass', 'second': 'fail'})
        self.assertEqual(len(record['sessions']), 2)
        for test in 'first', 'second':
            self.assertEqual(sum(f'"{test}"' in line for line in text.splitlines()), 1)
            self.assertRegex(text, rf'(?m)^  "{test}": {{"result": .*}},?$')

    def test_overlapping_sessions_count_once(self):
        self.run_it()
        record = self.record()
        hours = [('06:00', '08:00'), ('01:00', '04:00'), ('02:00', '03:00'), ('03:30', '04:30')]
        record['sessions'] = [{'start': f'2026-11-01T{start}:00+00:00', 'end': f'2026-11-01T{end}:00+00:00'}
                              for start, end in hours]
        (self.folder / 'logs/results.json').write_text(json.dumps(record), encoding='utf-8')
        self.assertIn('of 5.5 hours', self.run_it('--resume').stdout)

    def test_quick_results_are_not_those_of_a_full_run(self):
        self.run_it()
        result = self.run_it('--resume', '--full')
        self.assertEqual(result.returncode, 1, result.stdout + result.stderr)
        self.assertIn("'form': 'quick'", result.stderr)

    def test_clones_with_other_tags_are_one_build(self):
        source = self.folder / 'source'
        git = ['git', '-C', source, '-c', 'user.name=A', '-c', 'user.email=a@example.com']
        subprocess.run(['git', 'init', '-q', source], check=True)
        subprocess.run([*git, 'commit', '-q', '--allow-empty', '-m', 'A'], check=True)
        (self.folder / 'cts/CMakeCache.txt').write_text(
            f'CMAKE_HOME_DIRECTORY:INTERNAL={source}\n', encoding='utf-8')
        self.run_it()
        commit = subprocess.run([*git, 'rev-parse', 'HEAD'], check=True, capture_output=True,
                                text=True).stdout.strip()
        self.assertEqual(self.record()['build']['cts'], commit)
        subprocess.run([*git, 'tag', '-a', '-m', 'A', 'v1'], check=True)
        result = self.run_it('--resume', RESULT='fail')
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)

    def test_sample(self):
        tests = ' '.join(f'test_{number}' for number in range(40))
        chosen = {}
        for seed in 'a', 'b':
            self.run_it('--sample', '5', '--seed', seed, TESTS=tests)
            chosen[seed] = set(self.record()['results']['basic'])
            self.assertEqual(len(chosen[seed]), 2)
        self.assertNotEqual(chosen['a'], chosen['b'])
        self.run_it('--sample', '5', '--seed', 'a', TESTS=' '.join(reversed(tests.split())))
        self.assertEqual(set(self.record()['results']['basic']), chosen['a'])

    def test_conversions_that_the_cts_does_not_list(self):
        program = self.folder / 'cts/test_conformance/conversions/test_conversions'
        program.parent.mkdir()
        program.write_text(CTS, encoding='utf-8')
        program.chmod(0o755)
        self.run_it('--suite', 'conversions', '--test', '^(uchar|half)_char$', TESTS='conversions')
        self.assertEqual(set(self.record()['results']['conversions']), {'uchar_char', 'half_char'})
        outcomes = self.folder / 'logs/conversions'
        self.assertIn('uchar_char', (outcomes / 'uchar_char.json').read_text(encoding='utf-8'))

    def test_another_platform(self):
        (self.vendors / 'other.icd').write_text(f'{OTHER}\n', encoding='utf-8')
        for arguments in [], ['--update']:
            result = self.run_it(*arguments, OCL_ICD_VENDORS=str(self.vendors))
            self.refused(result, 'platform 0, which the CTS would test, is "Another Platform"')

    def test_no_platform(self):
        self.refused(self.run_it(OCL_ICD_VENDORS=str(self.vendors)),
                     'platform 0, which the CTS would test, does not exist')
        self.refused(self.run_it(CL_PLATFORM_INDEX='1'), 'platform 1')


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
