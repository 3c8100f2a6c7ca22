#!/usr/bin/env python3
"""conformance/run compares results with expected.csv only if the platform is tegracl. With any other
platform, or with none, it exits with a message before the first test. The CTS here is a script.

run_test.py SOURCE OTHER      OCL_ICD_VENDORS names tegracl; OTHER is another driver's library
"""
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

RUN = Path(sys.argv[1], 'conformance/run')
OTHER = sys.argv[2]

# Lists one test, and exits with 0 after it has written RESULT as the result.
CTS = '''#!/bin/sh
if [ "$1" = --list ]; then
  printf '\\tvector_swizzle\\n'
else
  echo '{"results": {"vector_swizzle": "'"${RESULT:-pass}"'"}}' >"$CL_CONFORMANCE_RESULTS_FILENAME"
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

    def run_it(self, *arguments, **environment):
        return subprocess.run(
            [RUN, '--cts', self.folder / 'cts', '--suite', 'basic', '--logs', self.folder / 'logs',
             *arguments], env=dict(os.environ, **environment), capture_output=True, text=True,
            check=False)

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
