/* Warnings about programs that work here but would fail on a board. */
#ifndef TEGRACL_EMULATOR_WARN_H
#define TEGRACL_EMULATOR_WARN_H

/* Prints one line on stderr: what would happen on a board, and the source of that fact. */
void emu_warn(const char *what, const char *source);

#endif
