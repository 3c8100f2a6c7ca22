#!/usr/bin/env python3
"""Compares our disassembly with nvdisasm's.

    isa_corpus.py ISA_TEXT CORPUS_FOLDER RECORDED [--large] [--record] [--mutants NUMBER]

The kernels of CORPUS_FOLDER and the PTX of isa_ptx.py are compiled for sm_87
(nvcc, ptxas) at several optimisation levels. nvdisasm and ISA_TEXT disassemble each
distinct instruction word, ignoring its scheduling. Then they disassemble mutants of
these words, with one or two bits flipped: both must find the same mutants valid.

nvdisasm is $TEGRACL_NVDISASM or the one in PATH. Only this test uses nvdisasm and
nvcc. Without them it compares only the recorded words and texts, and its last line
says so. --record rewrites RECORDED, with up to three words of each shape of
instruction. --large adds CORPUS_FOLDER/large, the header templates of CUB, libcu++
and cooperative groups, which takes minutes.
"""
import collections
import itertools
import os
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
import isa_ptx  # noqa: E402

FRONT_OPTIONS = [[], ['-use_fast_math'], ['-G']]
BACK_OPTIONS = [['-O3'], ['-O2'], ['-O1'], ['-O0'], ['-O3', '--maxrregcount', '32']]
SCHEDULING = ((1 << 17) - 1) << 105  # all but the reuse flags, which are printed
SHOWN = 20
RECORDED_EACH = 3
MUTANTS = 20000
MUTANTS_MAY_DIFFER = 0.001  # docs/isa-disagreements.md lists how
NOP = 0x000fc000000000000000000000007918


def pack(words):
    return b''.join(struct.pack('<QQ', w & (1 << 64) - 1, w >> 64) for w in words)


def ours(tool, words):
    result = subprocess.run([tool], input=pack(words), capture_output=True, check=True)
    return result.stdout.decode().split('\n')[:-1]


def theirs(nvdisasm, words, folder):
    """Returns nvdisasm's texts, or 'illegal' for words that it rejects (it stops at those)."""
    words, texts = list(words), [None] * len(words)
    path = os.path.join(folder, 'words.bin')
    while True:
        with open(path, 'wb') as f:
            f.write(pack(words))
        result = subprocess.run([nvdisasm, '-b', 'SM87', path], capture_output=True, text=True)
        refused = [int(a, 16) // 16 for a in re.findall(r' at address (0x[0-9a-f]+)', result.stderr)]
        if not refused:
            break
        for i in refused:
            texts[i], words[i] = 'illegal', NOP
    if result.returncode:
        raise RuntimeError(result.stderr[:500])
    # The text ends with " ;", or with ";" at the end of a group. Floats such as infinity are
    # followed by an extra space.
    for address, text in re.findall(r'/\*([0-9a-f]{4,})\*/ +(.*?) ?;', result.stdout):
        i = int(address, 16) // 16
        texts[i] = texts[i] or text
    return texts


def text_sections(path):
    with open(path, 'rb') as f:
        data = f.read()
    table, = struct.unpack_from('<Q', data, 0x28)
    count, names = struct.unpack_from('<HH', data, 0x3c)
    headers = [struct.unpack_from('<IIQQQQIIQQ', data, table + 64 * i) for i in range(count)]
    for h in headers:
        start = headers[names][4] + h[0]
        if data[start:].startswith(b'.text.'):
            yield data[h[4]:h[4] + h[5]]


def compile_corpus(folder, corpus, ptxas, front_options):
    """Yields all instruction words of the compiled corpus."""
    for source in sorted(n for n in os.listdir(corpus) if n.endswith('.cu')):
        for i, front in enumerate(front_options):
            ptx = os.path.join(folder, '%s.%d.ptx' % (source, i))
            subprocess.run(['nvcc', '-arch=compute_87', '-std=c++17', '-w', '-ptx', *front, '-o', ptx,
                            os.path.join(corpus, source)], check=True)
            for back in BACK_OPTIONS:
                if '-G' in front and back != ['-O0']:
                    continue
                cubin = ptx + '.cubin'
                subprocess.run([ptxas, '-arch=sm_87', '-w', *(['-g'] if '-G' in front else []), *back,
                                '-o', cubin, ptx], check=True, stderr=subprocess.DEVNULL)
                for code in text_sections(cubin):
                    for low, high in struct.iter_unpack('<QQ', code):
                        yield low | high << 64


def compile_ptx(folder, ptxas):
    """Yields all instruction words of the PTX operations."""
    ptx = os.path.join(folder, 'operations.ptx')
    for module, back in itertools.product(isa_ptx.modules(), BACK_OPTIONS):
        with open(ptx, 'w') as f:
            f.write(module)
        subprocess.run([ptxas, '-arch=sm_87', '-w', *back, '-o', ptx + '.cubin', ptx], check=True,
                       stderr=subprocess.DEVNULL)
        for code in text_sections(ptx + '.cubin'):
            for low, high in struct.iter_unpack('<QQ', code):
                yield low | high << 64


def mutants(tool, nvdisasm, words, number, folder):
    """Flips one or two bits of words, below the scheduling, and compares the texts.
    Three differences are expected and not counted: a bit that belongs to no field (we
    reject it, nvdisasm ignores it), an instruction that our table lacks, and an
    undefined modifier value (nvdisasm prints ??? or INVALID, we reject it)."""
    generator = random.Random(87)
    changed = []
    for _ in range(number):
        # Uses neutral scheduling, because nvdisasm rejects some combinations.
        word = generator.choice(words) & ~SCHEDULING & ~(7 << 122) | 0xfe2 << 104
        for _ in range(generator.choice((1, 1, 2))):
            word ^= 1 << generator.randrange(0, 102)
        changed.append(word)
    opcodes = {word & 0xfff | (word >> 91 & 1) << 12 for word in words}
    count, differing = collections.Counter(), []
    for word, t, o in zip(changed, theirs(nvdisasm, changed, folder), ours(tool, changed)):
        invalid = t is None or t == 'illegal' or '???' in t or 'INVALID' in t
        if o.startswith('illegal'):
            unknown = word & 0xfff | (word >> 91 & 1) << 12 not in opcodes
            kind = ('both refuse' if invalid else 'bit without meaning' if o == 'illegal bits' else
                    'opcode outside of the corpus' if unknown else 'differ')
        else:
            kind = 'differ' if invalid or t != o else 'equal'
        count[kind] += 1
        if kind == 'differ':
            differing.append((word, t, o))
    for word, t, o in differing:
        print('mutant %032x\n  nvdisasm %r\n  ours     %r' % (word, t, o))
    print('%d mutants: %s' % (number, ', '.join('%d %s' % (n, k) for k, n in count.most_common())))
    return len(differing) > MUTANTS_MAY_DIFFER * number or count['equal'] < number / 4


def mnemonic_and_shape(text):
    return re.sub(r'\d+', '#', re.sub(r'(?<=[ ,\[|+~!-])-?(0x[0-9a-f]+|[0-9.]+(e[+-]\d+)?)', '#', text))


def read_recorded(path):
    words, texts = [], []
    with open(path) as f:
        for line in f:
            if not line.startswith('#'):
                word, text = line.rstrip('\n').split('\t')
                words.append(int(word, 16))
                texts.append(text)
    return words, texts


def record(path, words, texts, nvdisasm, folder):
    kept, seen = [], collections.Counter()
    for word, text in zip(words, texts):
        key = (word & 0xfff, word >> 91 & 1, mnemonic_and_shape(text.split('.reuse')[0]))
        seen[key] += 1
        if seen[key] <= RECORDED_EACH:
            kept.append(word)
    kept.sort(key=lambda w: (w & 0xfff, w >> 91 & 1, w))
    with open(path, 'w') as f:
        f.write('# Words and their text as nvdisasm prints them (at 16 times the number of the line\n'
                '# before), from the kernels of corpus/. Made by isa_corpus.py --record.\n')
        for word, text in zip(kept, theirs(nvdisasm, kept, folder)):
            f.write('%032x\t%s\n' % (word, text))


def report(what, words, expected, got):
    different = [(w, e, g) for w, e, g in zip(words, expected, got) if e != g]
    for word, e, g in different[:SHOWN]:
        print('%032x\n  nvdisasm %r\n  ours     %r' % (word, e, g))
    if len(expected) != len(got):
        print('%s: %d texts for %d words' % (what, len(got), len(expected)))
        return 1
    return len(different)


def main():
    tool, corpus, recorded = sys.argv[1:4]
    nvdisasm = os.environ.get('TEGRACL_NVDISASM') or shutil.which('nvdisasm')
    with tempfile.TemporaryDirectory() as folder:
        if not nvdisasm or not shutil.which('nvcc'):
            words, texts = read_recorded(recorded)
            bad = report('recorded', words, texts, ours(tool, words))
            print('%s not found, no comparison with it; %d recorded words compared, %d differ' %
                  ('nvcc' if nvdisasm else 'nvdisasm', len(words), bad))
            return 1 if bad or not words else 0
        total, distinct = 0, {}
        ptxas = shutil.which('ptxas') or os.path.join(os.path.dirname(shutil.which('nvcc')), 'ptxas')
        sources = [compile_corpus(folder, corpus, ptxas, FRONT_OPTIONS), compile_ptx(folder, ptxas)]
        if '--large' in sys.argv:
            large = os.path.join(corpus, 'large')
            sources.append(compile_corpus(folder, large, ptxas, FRONT_OPTIONS[:1]))
        for word in itertools.chain(*sources):
            total += 1
            distinct.setdefault(word & ~SCHEDULING, word)
        words = list(distinct.values())
        texts = theirs(nvdisasm, words, folder)
        bad = report('compiled', words, texts, ours(tool, words))
        if '--record' in sys.argv:
            record(recorded, words, texts, nvdisasm, folder)
        old_words, old_texts = read_recorded(recorded)
        bad += report('recorded', old_words, old_texts, ours(tool, old_words))
        number = MUTANTS
        if '--mutants' in sys.argv:
            number = int(sys.argv[sys.argv.index('--mutants') + 1])
        bad += mutants(tool, nvdisasm, words, number, folder)
        print('%d instructions, %d distinct, compared with nvdisasm, and %d recorded words: %d differ' %
              (total, len(words), len(old_words), bad))
        return 1 if bad or not words or not old_words else 0


if __name__ == '__main__':
    sys.exit(main())
