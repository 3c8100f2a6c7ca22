/* Tokens with which opens of the control node share TSGs. An open is identified by its instance id.
 * Callers hold gpu.lock. */
#ifndef TEGRACL_EMULATOR_SHARE_H
#define TEGRACL_EMULATOR_SHARE_H

#include <stdint.h>

struct emu_object;
struct emu_tsg;

/* Records that an open of the control node owns the TSG. Returns 0 or -ENOMEM. */
int emu_share_own(struct emu_tsg *tsg, uint64_t instance);
/* Returns the TSG of a token and invalidates the token, or returns NULL if it is unknown. */
struct emu_tsg *emu_share_use(uint64_t source, uint64_t target, uint64_t token);
/* Drops all tokens of a TSG (NULL: none) and of a source (0: none). */
void emu_share_forget(const struct emu_tsg *tsg, uint64_t source);
/* Implement the requests GET_SHARE_TOKEN and REVOKE_SHARE_TOKEN. */
int emu_share_get_token(struct emu_object *object, int fd, void *argument);
int emu_share_revoke_token(struct emu_object *object, int fd, void *argument);

#endif
