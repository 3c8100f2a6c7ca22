#!/usr/bin/python3
"""Tests OpenCV's T-API (Debian's python3-opencv): functions on UMat run OpenCL kernels and must
return the same results as on the CPU. A function without a kernel for its arguments silently
computes on the CPU, so the driver's reports of launches are counted. Not part of tests/check,
because the package depends on some 300 others."""
import os
import tempfile

os.environ["TEGRACL_DEBUG"] = "launch"
import cv2
import numpy as np

assert cv2.ocl.haveOpenCL(), "this OpenCV was built without OpenCL"
cv2.ocl.setUseOpenCL(True)
device = cv2.ocl.Device_getDefault()
print("OpenCV", cv2.__version__, device.name())
rng = np.random.default_rng(1)
cv2.setRNGSeed(1)

gray = cv2.GaussianBlur(rng.integers(0, 256, (120, 160), dtype=np.uint8), (5, 5), 0)
gray = cv2.normalize(gray, None, 0, 255, cv2.NORM_MINMAX)
color = np.dstack([gray, gray[::-1], gray[:, ::-1]]).copy()
real = rng.uniform(-1, 1, (96, 80)).astype(np.float32)
square = rng.uniform(-1, 1, (64, 64)).astype(np.float32)
double = rng.uniform(-1, 1, (60, 70))
spectrum = rng.uniform(-1, 1, (64, 64, 2)).astype(np.float32)
kernel = rng.uniform(-1, 1, (5, 5)).astype(np.float32)
turn = cv2.getRotationMatrix2D((80, 60), 30, 1.1)
view = np.float32([[1, .1, 3], [-.05, 1, 2], [1e-4, 2e-4, 1]])
x, y = (a.astype(np.float32) for a in np.meshgrid(np.linspace(0, 159, 100),
                                                  np.linspace(0, 119, 90)))
table = rng.permutation(256).astype(np.uint8)
disc = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (5, 5))

# name, function that is called with the arrays, arrays, maximum difference, share of samples
# that may differ by more (if rounding selects another pixel)
TESTS = [
    ("add", cv2.add, (color, color[::-1].copy()), 0, 0),
    ("subtract", cv2.subtract, (gray, gray[::-1].copy()), 0, 0),
    ("multiply", cv2.multiply, (real, real), 1e-6, 0),
    ("divide", cv2.divide, (real, real + 3), 1e-6, 0),
    ("addWeighted", lambda a, b: cv2.addWeighted(a, .3, b, .7, 5), (gray, gray[::-1].copy()), 1, 0),
    ("absdiff", cv2.absdiff, (gray, gray[::-1].copy()), 0, 0),
    ("bitwise_xor", cv2.bitwise_xor, (gray, gray[::-1].copy()), 0, 0),
    ("compare", lambda a, b: cv2.compare(a, b, cv2.CMP_GT), (gray, gray[::-1].copy()), 0, 0),
    ("min", cv2.min, (real, -real), 0, 0),
    ("inRange", lambda a: cv2.inRange(a, 40, 90), (gray,), 0, 0),
    ("exp", cv2.exp, (real,), 1e-5, 0),
    ("log", cv2.log, (real + 2,), 1e-5, 0),
    ("pow", lambda a: cv2.pow(a, 2.5), (real + 2,), 1e-3, 0),
    ("sqrt", cv2.sqrt, (real + 2,), 1e-6, 0),
    ("magnitude", cv2.magnitude, (real, real[::-1].copy()), 1e-6, 0),
    ("polarToCart", cv2.polarToCart, (real, real[::-1].copy()), 1e-6, 0),
    ("phase", cv2.phase, (real, real[::-1].copy()), 1e-3, 0),
    ("add, double", cv2.add, (double, double), 0, 0),
    ("gemm", lambda a: cv2.gemm(a, a, 1, a, .5), (square,), 1e-4, 0),
    ("dft", cv2.dft, (spectrum,), 1e-3, 0),
    ("mulSpectrums", lambda a: cv2.mulSpectrums(a, a, 0), (spectrum,), 1e-5, 0),
    ("transpose", cv2.transpose, (color,), 0, 0),
    ("flip", lambda a: cv2.flip(a, -1), (color,), 0, 0),
    ("LUT", lambda a: cv2.LUT(a, table), (gray,), 0, 0),
    ("merge", lambda a, b: cv2.merge([a, b]), (gray, gray[::-1].copy()), 0, 0),
    ("repeat", lambda a: cv2.repeat(a, 2, 3), (gray,), 0, 0),
    ("copyMakeBorder", lambda a: cv2.copyMakeBorder(a, 3, 4, 5, 6, cv2.BORDER_REFLECT), (color,), 0,
     0),
    ("reduce", lambda a: cv2.reduce(a, 0, cv2.REDUCE_SUM, dtype=cv2.CV_32F), (gray,), 0, 0),
    # Without a mask the Python module passes an empty one, and OpenCV then computes on the CPU.
    ("meanStdDev", lambda a, m: cv2.meanStdDev(a, mask=m), (gray, gray[::-1] // 2), 1e-3, 0),
    ("norm", lambda a, m: np.float64([cv2.norm(a, cv2.NORM_L2, m)]), (gray, gray[::-1] // 2), 1e-3,
     0),
    ("minMaxLoc", lambda a: np.float64(cv2.minMaxLoc(a)[:2]), (real,), 0, 0),
    ("countNonZero", lambda a: np.int64([cv2.countNonZero(a)]), (gray,), 0, 0),
    ("GaussianBlur", lambda a: cv2.GaussianBlur(a, (7, 7), 1.5), (gray,), 1, 0),
    ("blur", lambda a: cv2.blur(a, (5, 5)), (color,), 1, 0),
    ("boxFilter", lambda a: cv2.boxFilter(a, cv2.CV_32F, (3, 3)), (real,), 1e-6, 0),
    ("filter2D", lambda a: cv2.filter2D(a, -1, kernel), (real,), 1e-5, 0),
    ("sepFilter2D", lambda a: cv2.sepFilter2D(a, cv2.CV_32F, kernel[0], kernel[1]), (gray,), 1e-2,
     0),
    ("Sobel", lambda a: cv2.Sobel(a, cv2.CV_16S, 1, 1), (gray,), 0, 0),
    ("Scharr", lambda a: cv2.Scharr(a, cv2.CV_32F, 1, 0), (gray,), 1e-3, 0),
    ("Laplacian", lambda a: cv2.Laplacian(a, cv2.CV_16S, ksize=3), (gray,), 0, 0),
    ("medianBlur", lambda a: cv2.medianBlur(a, 5), (gray,), 0, 0),
    ("bilateralFilter", lambda a: cv2.bilateralFilter(a, 5, 30, 5), (gray,), 1, 0),
    ("erode", lambda a: cv2.erode(a, disc), (gray,), 0, 0),
    ("dilate", lambda a: cv2.dilate(a, disc, iterations=2), (gray,), 0, 0),
    ("morphologyEx", lambda a: cv2.morphologyEx(a, cv2.MORPH_TOPHAT, disc), (gray,), 0, 0),
    ("Canny", lambda a: cv2.Canny(a, 60, 150), (gray,), 0, .002),
    ("cornerHarris", lambda a: cv2.cornerHarris(a, 3, 3, .04), (gray,), 1e-4, 0),
    ("threshold", lambda a: cv2.threshold(a, 100, 200, cv2.THRESH_BINARY)[1], (gray,), 0, 0),
    ("equalizeHist", cv2.equalizeHist, (gray,), 0, 0),
    ("CLAHE", lambda a: cv2.createCLAHE(3, (4, 4)).apply(a), (gray,), 1, 0),
    ("calcHist", lambda a: cv2.calcHist([a], [0], None, [256], [0, 256]), (gray,), 0, 0),
    ("integral", cv2.integral, (gray,), 0, 0),
    ("resize linear", lambda a: cv2.resize(a, (100, 90)), (color,), 1, 0),
    ("resize area", lambda a: cv2.resize(a, (80, 60), interpolation=cv2.INTER_AREA), (color,), 1,
     0),
    ("warpAffine", lambda a: cv2.warpAffine(a, turn, (160, 120)), (gray,), 2, .02),
    ("warpPerspective", lambda a: cv2.warpPerspective(a, view, (160, 120)), (gray,), 2, .02),
    ("remap", lambda a: cv2.remap(a, x, y, cv2.INTER_LINEAR), (gray,), 2, .02),
    ("pyrDown", cv2.pyrDown, (gray,), 1, 0),
    ("pyrUp", cv2.pyrUp, (gray,), 1, 0),
    ("cvtColor gray", lambda a: cv2.cvtColor(a, cv2.COLOR_BGR2GRAY), (color,), 1, 0),
    ("cvtColor HSV", lambda a: cv2.cvtColor(a, cv2.COLOR_BGR2HSV), (color,), 1, .01),
    ("cvtColor Lab", lambda a: cv2.cvtColor(a, cv2.COLOR_BGR2Lab), (color,), 1, .01),
    ("cvtColor YUV", lambda a: cv2.cvtColor(a, cv2.COLOR_BGR2YUV), (color,), 1, 0),
    ("matchTemplate", lambda a: cv2.matchTemplate(a, gray[30:50, 40:65], cv2.TM_CCORR_NORMED),
     (gray,), 1e-3, 0),
    ("fastNlMeansDenoising", lambda a: cv2.fastNlMeansDenoising(a, None, 10, 3, 7), (gray,), 1,
     0),
]


def array(value):
    if isinstance(value, tuple):
        return np.array([array(part) for part in value])
    return np.asarray(value.get() if isinstance(value, cv2.UMat) else value, np.float64)


def count_launches(function, *arguments):
    """Returns the function's result, and how many kernels it ran on the device."""
    with tempfile.TemporaryFile("w+", errors="replace") as messages:
        stderr = os.dup(2)
        os.dup2(messages.fileno(), 2)
        try:
            result = array(function(*arguments))
        finally:
            os.dup2(stderr, 2)
            os.close(stderr)
        messages.seek(0)
        return result, messages.read().count("tegracl: launch ")


bad = 0
for name, function, arrays, bound, share in TESTS:
    expected, on_cpu = count_launches(function, *arrays)
    got, launches = count_launches(function, *(cv2.UMat(a) for a in arrays))
    if on_cpu or not launches:
        print(f"{name}: {launches} kernels ran on the device, and {on_cpu} for the CPU's result")
        bad += 1
        continue
    if got.shape != expected.shape:
        print(f"{name}: shape {got.shape}, not {expected.shape}")
        bad += 1
        continue
    difference = np.abs(got - expected)
    over = np.count_nonzero(difference > bound)
    verdict = "ok" if over <= share * difference.size else "FAILED"
    bad += verdict != "ok"
    print(f"{name}: {launches} kernels, largest difference {difference.max():.3g}, {over} over "
          f"{bound}: {verdict}", flush=True)
print(f"{len(TESTS) - bad} of {len(TESTS)} functions equal the CPU's")
raise SystemExit(bad != 0)
