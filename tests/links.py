#!/usr/bin/env python3
"""Checks the links in Markdown pages: the file must exist, and the page must have the heading. Pages of
the Debian package may link only to files of the package. Links to other sites are not checked.

links.py TOP
"""
import re
import sys
from pathlib import Path

LINK = re.compile(r'\[[^\]]*\]\(([^)\s]+)\)')
FENCE = re.compile(r'^```.*?^```', re.M | re.S)


def prose(page):
    """Returns the text of a page without code, in which brackets are not links."""
    lines = FENCE.sub('', page.read_text(encoding='utf-8')).splitlines()
    return '\n'.join(re.sub(r'`[^`]*`', '`', line) for line in lines if not line.startswith('    '))


def anchors(page):
    """Returns the anchors of a page's headings, as created by GitHub."""
    found = set()
    text = FENCE.sub('', page.read_text(encoding='utf-8'))
    for heading in re.findall(r'^#+ +(.*)$', text, re.M):
        anchor = re.sub(r'[^\w\- ]', '', heading.lower()).replace(' ', '-')
        number = 0
        while (f'{anchor}-{number}' if number else anchor) in found:
            number += 1
        found.add(f'{anchor}-{number}' if number else anchor)
    return found


def packaged(top):
    """Returns the files of the Debian package, and their folders."""
    if not (top / 'debian').exists():
        return set()
    lines = [line for name in ('docs', 'examples', 'tegracl.install')
             for line in (top / 'debian' / name).read_text(encoding='utf-8').splitlines()]
    patterns = ['LICENSE', 'CHANGELOG.md'] + [
        line.split()[0] for line in lines
        if not line.startswith('#') and (' ' not in line or '/doc/' in line)]
    files = {path.resolve() for pattern in patterns for path in top.glob(pattern)}
    return files | {path.parent for path in files}


def dead(page, package):
    for link in LINK.findall(prose(page)):
        name, _, anchor = link.partition('#')
        if re.match(r'[a-z]+:', name):
            continue
        target = page.parent / name if name else page
        if not target.exists():
            yield f'{page}: {link}: no such file'
        elif page.resolve() in package and target.resolve() not in package:
            yield f'{page}: {link}: not in the Debian package'
        elif anchor and anchor not in anchors(target):
            yield f'{page}: {link}: no such heading'


def main():
    top = Path(sys.argv[1])
    pages = [top / 'README.md', *sorted(top.glob('docs/**/*.md')),
             *sorted(top.glob('conformance/**/*.md'))]
    links = sum(len(LINK.findall(prose(page))) for page in pages)
    package = packaged(top)
    found = [sentence for page in pages for sentence in dead(page, package)]
    print('\n'.join(found) or f'{links} links of {len(pages)} pages are valid')
    return 1 if found or not links else 0


sys.exit(main())
