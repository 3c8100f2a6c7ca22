#!/usr/bin/env python3
"""Compares the WPA keys of Debian's wlangenpmkocl (package hcxkeys) with hashlib's."""
import hashlib
import os
import subprocess
import tempfile

ESSID = "tegracl"
WORDS = [f"password{n:04d}" for n in range(61)] + ["x" * 63, "eightchr", "with blanks in it"]

with tempfile.TemporaryDirectory() as folder:
    words, keys = os.path.join(folder, "words"), os.path.join(folder, "keys")
    with open(words, "w") as file:
        file.write("\n".join(WORDS) + "\n")
    subprocess.run(["wlangenpmkocl", "-e", ESSID, "-i", words, "-A", keys], check=True)
    got = dict(line.split(":", 1)[::-1] for line in open(keys).read().splitlines())
assert len(got) == len(WORDS), f"{len(got)} keys for {len(WORDS)} words"
for word in WORDS:
    expected = hashlib.pbkdf2_hmac("sha1", word.encode(), ESSID.encode(), 4096, 32).hex()
    assert got[word] == expected, f"{word}: {got[word]} instead of {expected}"
print(f"{len(WORDS)} keys equal hashlib's")
