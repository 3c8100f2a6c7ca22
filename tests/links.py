#!/usr/bin/env python3
"""The links in the Markdown pages lead somewhere: files that are there, headings that
the page has. Addresses of other machines are not asked for.

links.py TOP
"""
import re
import sys
from pathlib import Path

LINK = re.compile(r'\[[^\]]*\]\(([^)\s]+)\)')
FENCE = re.compile(r'^```.*?^```', re.M | re.S)


def prose(page):
    """A page without its code, in which brackets mean something else."""
    lines = FENCE.sub('', page.read_text(encoding='utf-8')).splitlines()
    return '\n'.join(re.sub(r'`[^`]*`', '`', line) for line in lines if not line.startswith('    '))


def anchors(page):
    """Of its headings, as GitHub and others make them."""
    found = set()
    text = FENCE.sub('', page.read_text(encoding='utf-8'))
    for heading in re.findall(r'^#+ +(.*)$', text, re.M):
        anchor = re.sub(r'[^\w\- ]', '', heading.lower()).replace(' ', '-')
        number = 0
        while (f'{anchor}-{number}' if number else anchor) in found:
            number += 1
        found.add(f'{anchor}-{number}' if number else anchor)
    return found


def dead(page):
    for link in LINK.findall(prose(page)):
        name, _, anchor = link.partition('#')
        if re.match(r'[a-z]+:', name):
            continue
        target = page.parent / name if name else page
        if not target.exists():
            yield f'{page}: {link}: no such file'
        elif anchor and anchor not in anchors(target):
            yield f'{page}: {link}: no such heading'


def main():
    top = Path(sys.argv[1])
    pages = [top / 'README.md', *sorted(top.glob('docs/**/*.md')),
             *sorted(top.glob('conformance/**/*.md'))]
    links = sum(len(LINK.findall(prose(page))) for page in pages)
    found = [sentence for page in pages for sentence in dead(page)]
    print('\n'.join(found) or f'{links} links of {len(pages)} pages lead somewhere')
    return 1 if found or not links else 0


sys.exit(main())
