#!/usr/bin/env python3
"""Compares ffmpeg's OpenCL filters (Debian's ffmpeg) with its CPU filters of the same name."""
import subprocess

WIDTH, HEIGHT, FRAMES = 96, 64, 2
TEST = f"testsrc2=size={WIDTH}x{HEIGHT}:rate=1:duration={FRAMES}"
OTHER = f"smptebars=size={WIDTH}x{HEIGHT}:rate=1:duration={FRAMES}"
FFMPEG = ["ffmpeg", "-hide_banner", "-loglevel", "error", "-filter_threads", "1",
          "-init_hw_device", "opencl=ocl", "-filter_hw_device", "ocl"]
# The edges of the picture are ignored: some filters repeat the last sample there, others mirror
# it.
INSIDE = "crop=w=iw-16:h=ih-16:x=8:y=8"

# filter and its options, pixel format, maximum difference of a sample due to rounding
FILTERS = [
    ("avgblur", "sizeX=3", "yuv420p", 1),
    ("boxblur", "luma_radius=2", "yuv420p", 1),
    ("convolution", "0m='1 2 1 2 4 2 1 2 1':0rdiv=1/16", "gray", 1),
    ("sobel", "scale=1", "gray", 1),
    ("prewitt", "scale=1", "gray", 1),
    ("roberts", "scale=1", "gray", 1),
    ("erosion", "threshold0=60", "gray", 0),
    ("dilation", "threshold0=60", "gray", 0),
    ("transpose", "dir=clock", "yuv420p", 0),
    ("pad", "w=iw+32:h=ih+24:x=16:y=12", "yuv444p", 0),
]
OVERLAY = "x=12:y=10"


def run(graph):
    command = FFMPEG + ["-filter_complex", graph + "[out]", "-map", "[out]", "-f", "rawvideo", "-"]
    done = subprocess.run(command, capture_output=True, timeout=300)
    assert done.returncode == 0, f"{graph}\n{done.stderr.decode()}"
    return done.stdout


def compare(name, got, expected, bound):
    assert got and len(got) == len(expected), f"{name}: {len(got)} bytes, not {len(expected)}"
    difference = max(abs(a - b) for a, b in zip(got, expected))
    print(f"{name}: largest difference {difference}", flush=True)
    assert difference <= bound, name


for name, options, pixels, bound in FILTERS:
    source = f"{TEST},format={pixels}"
    compare(name, run(f"{source},hwupload,{name}_opencl={options},hwdownload,"
                      f"format={pixels},{INSIDE}"),
            run(f"{source},{name}={options},format={pixels},{INSIDE}"), bound)
first, second = (f"{source},format=yuv420p" for source in (TEST, OTHER))
compare("overlay",
        run(f"{first},hwupload[a];{second},hwupload[b];[a][b]overlay_opencl={OVERLAY},"
            "hwdownload,format=yuv420p"),
        run(f"{first}[a];{second}[b];[a][b]overlay={OVERLAY},format=yuv420p"), 0)
print(f"{len(FILTERS) + 1} filters of ffmpeg")
