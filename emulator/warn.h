/* Warnings about programs that a board would punish and this device does not. */
#ifndef TEGRACL_EMULATOR_WARN_H
#define TEGRACL_EMULATOR_WARN_H

/* One line on stderr: what would happen on a board, and the source of that fact. */
void emu_warn(const char *what, const char *source);

#endif
