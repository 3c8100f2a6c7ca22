/* What tegracl-doctor found on this board, for the driver's choices: one flat JSON object of
 * strings, unsigned numbers, true and false.
 *
 *   format                 RT_BOARD_FORMAT
 *   driver, l4t, kernel    what it was found with: another one makes it worthless
 *   choice.NAME            a choice (runtime/device/choices.h)
 *   step.*, measured.*     for people
 *
 * The file is used only if all of it is right; it belongs to root, and others cannot write
 * it. TEGRACL_BOARD_FILE=FILE names another one, which may be the user's own; 0: none.
 */
#ifndef TEGRACL_RUNTIME_BOARD_FILE_H
#define TEGRACL_RUNTIME_BOARD_FILE_H

#include <sys/types.h>

#include "runtime/device/choices.h"

#define RT_BOARD_FILE "/var/lib/tegracl/board.json"
enum { RT_BOARD_FORMAT = 1, RT_BOARD_BYTES_MAX = 64 << 10 };

struct rt_board_identity {
  char driver[16];
  char l4t[32]; /* "" where the system does not say, as in containers */
  char kernel[80];
};

/* Of this system, or of the software Orin. */
void rt_board_identify(bool emulated, struct rt_board_identity *here);

/* Sets all choices that the text has. False: the reason is in why, and no choice has
 * changed. */
bool rt_board_parse(const char *text, size_t bytes, const struct rt_board_identity *here,
                    struct rt_choices *choices, char why[256]);

/* The same from a file, which must belong to one of two users and be writable for no other.
 * -1: there is no file, which is fine; 0: used; 1: not used, and why. */
int rt_board_read(const char *path, uid_t owner, uid_t other_owner,
                  const struct rt_board_identity *here, struct rt_choices *choices, char why[256]);

/* As TEGRACL_BOARD_FILE says. A board uses RT_BOARD_FILE by default, the software Orin none. A
 * file that is not used is reported on stderr, the default one with TEGRACL_DEBUG=choices. */
void rt_board_choose(bool emulated, struct rt_choices *choices);

#endif
