/* Tokens with which processes share TSGs. gpu.lock held. */
#ifndef TEGRACL_EMULATOR_SHARE_H
#define TEGRACL_EMULATOR_SHARE_H

#include <stdint.h>

struct emu_object;
struct emu_tsg;

/* Records that an open of the control node has the TSG: 0 or -ENOMEM. */
int emu_share_own(struct emu_tsg *tsg, uint64_t instance);
/* The TSG of a token, which is used up by this; NULL: unknown. */
struct emu_tsg *emu_share_use(uint64_t source, uint64_t target, uint64_t token);
/* Drops the tokens of a TSG, or of an open of the control node (0: not by open). */
void emu_share_forget(const struct emu_tsg *tsg, uint64_t source);
int emu_share_get_token(struct emu_object *object, int fd, void *argument);
int emu_share_revoke_token(struct emu_object *object, int fd, void *argument);

#endif
