#!/usr/bin/env python3
"""Tests that `meson install` installs the right files, that they work from there, that each program
has a manual page and a completion, and that `ninja uninstall` removes everything.

install_test.py SOURCE BUILD SAMPLES     BUILD must be built
"""
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SOURCE, BUILD, SAMPLES = (Path(argument) for argument in sys.argv[1:4])
PROGRAMS = ['tegraclc', 'tegracl-doctor', 'tegracl-emulate', 'tegracl-report']


def build_options():
    text = subprocess.run(['meson', 'introspect', '--buildoptions', BUILD], check=True,
                          capture_output=True, text=True).stdout
    return {option['name']: option['value'] for option in json.loads(text)}


OPTIONS = build_options()
PREFIX = Path(OPTIONS['prefix'])
LIBRARY = PREFIX / OPTIONS['libdir'] / 'libtegracl.so.1'
ICD = PREFIX / OPTIONS['sysconfdir'] / 'OpenCL/vendors/tegracl.icd'
SHARE = PREFIX / OPTIONS['datadir']
MANUAL = PREFIX / OPTIONS['mandir']
COMPLETIONS = SHARE / 'bash-completion/completions'


def expected():
    folder = LIBRARY.parent
    paths = [ICD, folder / 'libtegracl.so', LIBRARY, folder / 'libtegracl.so.1.0.0',
             folder / 'tegracl/libtegracl-emulate.so', MANUAL / 'man7/tegracl.7',
             PREFIX / OPTIONS['includedir'] / 'CL/cl_tegracl.h']
    for name in PROGRAMS:
        paths += [PREFIX / OPTIONS['bindir'] / name, MANUAL / f'man1/{name}.1', COMPLETIONS / name]
    paths += [SHARE / 'tegracl/device' / path.name
              for path in (SOURCE / 'compiler/device').iterdir()]
    return sorted(map(str, paths))


class Install(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.root = Path(cls.folder.name, 'root')
        subprocess.run(['meson', 'install', '-C', BUILD, '--no-rebuild', '--quiet', '--destdir',
                        cls.root], check=True)

    @classmethod
    def tearDownClass(cls):
        """Runs last, because the uninstall log describes the last installation."""
        subprocess.run(['ninja', '-C', BUILD, 'uninstall'], check=True,
                       stdout=subprocess.DEVNULL, env=dict(os.environ, DESTDIR=str(cls.root)))
        left = [str(path) for path in cls.root.rglob('*')]
        cls.folder.cleanup()
        if left:
            raise AssertionError(f'left after uninstalling: {left}')

    def at(self, path):
        return self.root / path.relative_to('/')

    def page(self, name):
        """Returns a manual page as plain text. Warnings of groff are errors."""
        result = subprocess.run(['groff', '-mandoc', '-Tascii', '-P-cbou', '-ww',
                                 self.at(MANUAL / f'man{name[-1]}' / name)], check=True,
                                capture_output=True, text=True)
        self.assertEqual(result.stderr, '')
        return result.stdout

    def test_files(self):
        found = sorted('/' + str(path.relative_to(self.root))
                       for path in self.root.rglob('*') if not path.is_dir())
        self.assertEqual(found, expected())

    def test_library(self):
        shown = subprocess.run(['readelf', '-d', self.at(LIBRARY)], check=True,
                               capture_output=True, text=True).stdout
        self.assertIn('Library soname: [libtegracl.so.1]', shown)
        self.assertNotIn('RUNPATH', shown)
        subprocess.run([SOURCE / 'tests/icd/loader/exports.sh', self.at(LIBRARY)], check=True)
        self.assertEqual(self.at(ICD).read_text(encoding='utf-8'), f'{LIBRARY}\n')

    def test_a_program_runs(self):
        """The environment contains only the driver's path and NVRTC's."""
        icd = Path(self.folder.name, 'tegracl.icd')
        icd.write_text(f'{self.at(LIBRARY)}\n', encoding='utf-8')
        kept = {name: value for name, value in os.environ.items()
                if name.endswith('SAN_OPTIONS') or
                (name == 'LD_LIBRARY_PATH' and 'ASAN_OPTIONS' in os.environ)}
        nvrtc = subprocess.run([BUILD / 'compiler/tegraclc', '--print-path', 'nvrtc'], check=True,
                               capture_output=True, text=True).stdout.rstrip('\n')
        result = subprocess.run([SAMPLES, 'vadd'], capture_output=True, text=True, check=False,
                                env=dict(kept, TEGRACL_NVRTC=nvrtc, OCL_ICD_VENDORS=str(icd), HOME=self.folder.name,
                                         PATH='/usr/bin:/bin'))
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assertTrue(Path(self.folder.name, '.cache/tegracl').is_dir())

    def test_programs_are_described(self):
        """Manual pages and completions must contain all options of --help."""
        for name in PROGRAMS:
            with self.subTest(program=name):
                help_text = subprocess.run([self.at(PREFIX / OPTIONS['bindir'] / name), '--help'],
                                           capture_output=True, text=True, check=False)
                options = set(re.findall(r'(?<![\w-])(--[a-z-]+|-o)\b',
                                         help_text.stdout + help_text.stderr))
                manual = self.page(name + '.1').split('\nDESCRIPTION\n')[1]
                completion = self.at(COMPLETIONS / name).read_text(encoding='utf-8')
                for option in options:
                    self.assertRegex(manual, rf'(?m)^ +(--?\w+( \w+)?, )*{option}\b')
                    self.assertRegex(completion, rf"[ ']{option}\b")

    def test_help(self):
        """--help exits successfully."""
        for name in PROGRAMS:
            with self.subTest(program=name):
                result = subprocess.run([self.at(PREFIX / OPTIONS['bindir'] / name), '--help'],
                                        capture_output=True, text=True, check=False)
                self.assertEqual((result.returncode, result.stderr), (0, ''))
                self.assertIn(name, result.stdout)

    def test_every_word_of_the_emulator_is_described(self):
        """The manual page must describe all words of the option table and all settings in its
        message."""
        source = (SOURCE / 'emulator/options.c').read_text(encoding='utf-8')
        table = re.search(r'struct word \{.*?\n};\n', source, re.DOTALL)[0]
        words = set(re.findall(r'^    \{"(\w+)",', table, re.MULTILINE))
        message = ''.join(re.findall(r'"(.*)"', source[source.index('"tegracl: TEGRACL_EMULATOR'):]))
        self.assertGreater(len(words), 4)
        self.assertEqual(words - set(re.findall(r'\w+', message)), set())
        words |= set(re.findall(r'\[:([a-z]+=?)', message))
        for alternatives in re.findall(r':([\w|]+\|[\w|]+)', message):
            words |= set(alternatives.split('|'))
        manual = re.search(r'TEGRACL_EMULATOR\n(.*?)\n *TEGRACL_DEBUG', self.page('tegracl.7'),
                           re.DOTALL)[1]
        self.assertEqual({word for word in words if word not in re.findall(r'\w+=?', manual)}, set())

    def test_the_version_is_one(self):
        """The version in meson.build must match Debian's changelog."""
        project = subprocess.run(['meson', 'introspect', '--projectinfo', BUILD], check=True,
                                 capture_output=True, text=True).stdout
        version = json.loads(project)['version']
        shown = subprocess.run([self.at(PREFIX / OPTIONS['bindir'] / 'tegraclc'), '--version'],
                               check=True, capture_output=True, text=True).stdout
        self.assertEqual(shown, f'tegraclc {version}\n')
        first = (SOURCE / 'debian/changelog').read_text(encoding='utf-8').splitlines()[0]
        self.assertTrue(first.startswith(f'tegracl ({version}) '), first)

    def test_completion(self):
        for words, wanted in [(['tegraclc', '--em'], ['--emit']),
                              (['tegraclc', '--emit', 'c'], ['cuda', 'cubin']),
                              (['tegracl-doctor', '--e'], ['--explain'])]:
            script = '. "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); ' \
                     '"_${1//-/_}" && printf "%s\\n" "${COMPREPLY[@]}"'
            shown = subprocess.run(['bash', '-c', script, 'bash', self.at(COMPLETIONS / words[0]),
                                    *words], check=True, capture_output=True, text=True).stdout
            self.assertEqual(shown.split(), wanted)

    def test_every_variable_is_described(self):
        manual = self.page('tegracl.7')
        read = set()
        for folder in ['base', 'gpu', 'emulator', 'runtime', 'compiler', 'icd', 'tools']:
            for path in (SOURCE / folder).rglob('*.[ch]'):
                read |= set(re.findall(r'"(TEGRACL_[A-Z_]+)"', path.read_text(encoding='utf-8')))
        self.assertGreater(len(read), 10)
        self.assertEqual(read, set(re.findall(r'TEGRACL_[A-Z_]+', manual)))


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
