"""Loads NVRTC from the path that tegraclc finds. For tests that compile CUDA C."""
import ctypes
import subprocess


class Nvrtc:
    def __init__(self, tegraclc):
        found = subprocess.run([tegraclc, "--print-path", "nvrtc"], capture_output=True, text=True,
                               check=False)
        if found.returncode:
            raise SystemExit(found.stderr)
        self.library = ctypes.CDLL(found.stdout.rstrip("\n"))

    def _text(self, kind, program):
        size = ctypes.c_size_t()
        getattr(self.library, f"nvrtcGet{kind}Size")(program, ctypes.byref(size))
        text = ctypes.create_string_buffer(size.value)
        getattr(self.library, f"nvrtcGet{kind}")(program, text)
        return text.raw

    def compile(self, source, options, headers=None):
        """Compiles CUDA C. Returns the CUBIN, or None, and the log. headers maps names to
        contents, as bytes."""
        headers, program = headers or {}, ctypes.c_void_p()
        self.library.nvrtcCreateProgram(
            ctypes.byref(program), source, b"test.cu", len(headers),
            (ctypes.c_char_p * len(headers))(*headers.values()),
            (ctypes.c_char_p * len(headers))(*headers))
        options = [option.encode() for option in options]
        status = self.library.nvrtcCompileProgram(program, len(options),
                                                  (ctypes.c_char_p * len(options))(*options))
        log = self._text("ProgramLog", program).rstrip(b"\0").decode()
        cubin = None if status else self._text("CUBIN", program)
        self.library.nvrtcDestroyProgram(ctypes.byref(program))
        return cubin, log
