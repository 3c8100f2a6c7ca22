/* Reads tegracl-doctor's results for this board, from which the driver takes its choices. The file
 * is one flat JSON object with strings, unsigned numbers, true and false as values:
 *
 *   format                 RT_BOARD_FORMAT
 *   driver, l4t, kernel    the versions tested; the file is rejected if one differs. A container
 * may hide l4t: then the doctor stores "", and a driver compares only the others choice.NAME a
 * choice (runtime/device/choices.h) texture.check, .board  what tested the texture units, and on
 * which board texture.PART           yes or no, for each part (runtime/device/texture_answers.h)
 *   texture.ORDER.TYPE     what works for images of the format: none, or some of "reads filters
 *                          stores"
 *   step.*, measured.*     for human readers; ignored
 *
 * The file is used only if it is completely valid, belongs to root, and is not writable by others.
 * TEGRACL_BOARD_FILE=FILE specifies another file, which may also belong to the user; 0 means none.
 */
#ifndef TEGRACL_RUNTIME_BOARD_FILE_H
#define TEGRACL_RUNTIME_BOARD_FILE_H

#include <sys/types.h>

#include "runtime/device/choices.h"
#include "runtime/device/texture_answers.h"

#define RT_BOARD_FILE "/var/lib/tegracl/board.json"
enum { RT_BOARD_FORMAT = 1, RT_BOARD_BYTES_MAX = 64 << 10 };

struct rt_board_identity {
  char driver[16];
  char l4t[32]; /* "" if unknown, as in containers */
  char kernel[80];
};

struct rt_board_results {
  struct rt_choices choices;
  struct rt_texture_stored textures;
};

/* Identifies this system, or the software Orin. */
void rt_board_identify(bool emulated, struct rt_board_identity *here);

/* Sets all choices in the text and stores its answers about textures. If the text is invalid,
 * returns false, describes the error in why, and changes nothing. */
bool rt_board_parse(const char *text, size_t bytes, const struct rt_board_identity *here,
                    struct rt_board_results *results, char why[256]);

/* Reads a file, which must belong to owner or other_owner and not be writable by others. Returns -1
 * if there is no file, 0 if it was used, or 1 with the reason in why if it was not. */
int rt_board_read(const char *path, uid_t owner, uid_t other_owner,
                  const struct rt_board_identity *here, struct rt_board_results *results,
                  char why[256]);

/* Reads the file that TEGRACL_BOARD_FILE specifies. The default is RT_BOARD_FILE on a board and no
 * file on the software Orin. A rejected file is reported on stderr; the default file only if
 * TEGRACL_DEBUG contains choices. */
void rt_board_choose(bool emulated, struct rt_board_results *results);

#endif
