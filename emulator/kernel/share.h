/* Tokens with which opens of the control node share TSGs. An open is named by its instance.
 * gpu.lock held. */
#ifndef TEGRACL_EMULATOR_SHARE_H
#define TEGRACL_EMULATOR_SHARE_H

#include <stdint.h>

struct emu_object;
struct emu_tsg;

/* Records that an open of the control node has the TSG: 0 or -ENOMEM. */
int emu_share_own(struct emu_tsg *tsg, uint64_t instance);
/* The TSG of a token, which cannot be used again; NULL: unknown. */
struct emu_tsg *emu_share_use(uint64_t source, uint64_t target, uint64_t token);
/* Drops the tokens of a TSG (NULL: of none) and of a source (0: of none). */
void emu_share_forget(const struct emu_tsg *tsg, uint64_t source);
/* The requests GET_SHARE_TOKEN and REVOKE_SHARE_TOKEN. */
int emu_share_get_token(struct emu_object *object, int fd, void *argument);
int emu_share_revoke_token(struct emu_object *object, int fd, void *argument);

#endif
