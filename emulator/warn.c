/* Warnings about programs that would fail on a board. */
#include "emulator/warn.h"

#include <stdio.h>

void emu_warn(const char *what, const char *source) {
  fprintf(stderr, "tegracl: emulator: %s (%s)\n", what, source);
}
