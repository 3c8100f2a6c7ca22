#!/usr/bin/env python3
"""Checks that TEGRACL_DEBUG prints the topics it lists and nothing else, and reports unknown topics.

debug_topics.py PROGRAM, a program that launches a kernel named culprit.
"""
import os
import subprocess
import sys

LAUNCH = ['tegracl: launch culprit: grid 1 x 1 x 1', 'REGISTER_COUNT_V = 0x10',
          'SEND_SIGNALING_PCAS2_B PCAS_ACTION=PCAS_INVALIDATE_PREFETCH_COPY_SCHEDULE', 'GPFIFO entry 0', 'stack pointer']
IOCTL = ['NVGPU_IOCTL_CHANNEL_SETUP_BIND = 0', 'doorbell 0x1ff', 'NVMAP_IOC_ALLOC = 0']


def output(topics):
    environment = dict(os.environ, TEGRACL_DEBUG=topics)
    result = subprocess.run([sys.argv[1]], env=environment, capture_output=True, text=True,
                            check=True)
    return '\n'.join(line for line in result.stderr.splitlines() if not line.startswith('['))


def main():
    failures = []
    for topics, wanted, unwanted in [('', [], ['tegracl:']),
                                     ('launch', LAUNCH, IOCTL),
                                     ('ioctl', IOCTL, LAUNCH),
                                     ('nothing,ioctl,launch',
                                      LAUNCH + IOCTL + ['unknown topic "nothing"; use api, build, launch'], []),
                                     ('choices', ['choice: copies=unknown',
                                                  'choice: preemption=default'], LAUNCH + IOCTL),
                                     ('api,,', [], ['tegracl:']),
                                     ('launches,oioctl',
                                      ['unknown topic "launches"', 'unknown topic "oioctl"'],
                                      LAUNCH + IOCTL)]:
        text = output(topics)
        failures += [f'TEGRACL_DEBUG={topics}: "{w}" is missing' for w in wanted if w not in text]
        failures += [f'TEGRACL_DEBUG={topics}: "{u}" is there' for u in unwanted if u in text]
    print('\n'.join(failures) or 'topics as listed')
    return 1 if failures else 0


sys.exit(main())
