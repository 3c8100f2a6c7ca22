/* Tokens with which another open of the control node can get an fd of a TSG.
 * docs/hardware/kernel-interface.md 3.1 OPEN_TSG, 3.3 GET and REVOKE_SHARE_TOKEN */
#include "emulator/kernel/share.h"

#include <errno.h>
#include <stdlib.h>

#include "emulator/kernel/ctrl.h"
#include "emulator/kernel/tsg.h"
#include "emulator/objects.h"

struct emu_token {
  struct emu_token *next; /* emu_tsgs.tokens */
  struct emu_tsg *tsg;
  uint64_t source, target; /* instance ids of control nodes */
  uint64_t token;          /* counts up separately for each source */
};

static struct emu_ctrl *find_ctrl(uint64_t instance) {
  for (int fd = 0; fd < emu_objects.table_size; fd++) {
    struct emu_ctrl *ctrl = emu_table_get_kind(fd, EMU_CTRL);
    if (ctrl && ctrl->instance == instance)
      return ctrl;
  }
  return NULL;
}

int emu_share_own(struct emu_tsg *tsg, uint64_t instance) {
  for (int i = 0; i < tsg->owner_count; i++) {
    if (tsg->owners[i] == instance)
      return 0;
  }
  if (tsg->owner_count == EMU_OWNERS)
    return -ENOMEM;
  tsg->owners[tsg->owner_count++] = instance;
  return 0;
}

static bool owns_tsg(const struct emu_tsg *tsg, uint64_t instance) {
  for (int i = 0; i < tsg->owner_count; i++) {
    if (tsg->owners[i] == instance)
      return true;
  }
  return false;
}

/* Returns a pointer to the link to a token; the link is NULL if there is no such token. tsg may be
 * NULL for any TSG. */
static struct emu_token **find_token(const struct emu_tsg *tsg, uint64_t source, uint64_t target,
                                     uint64_t token) {
  struct emu_token **link = &emu_tsgs.tokens;
  while (*link && !((*link)->source == source && (*link)->target == target &&
                    (*link)->token == token && (!tsg || (*link)->tsg == tsg)))
    link = &(*link)->next;
  return link;
}

static void unlink_token(struct emu_token **link) {
  struct emu_token *token = *link;
  *link = token->next;
  token->tsg->token_count--;
  free(token);
}

struct emu_tsg *emu_share_use(uint64_t source, uint64_t target, uint64_t token) {
  struct emu_token **link = find_token(NULL, source, target, token);
  if (!*link)
    return NULL;
  struct emu_tsg *tsg = (*link)->tsg;
  unlink_token(link);
  return tsg;
}

void emu_share_forget(const struct emu_tsg *tsg, uint64_t source) {
  for (struct emu_token **link = &emu_tsgs.tokens; *link;) {
    if ((*link)->tsg == tsg || (source && (*link)->source == source))
      unlink_token(link);
    else
      link = &(*link)->next;
  }
}

int emu_share_get_token(struct emu_object *object, int fd, void *argument) {
  struct emu_tsg *tsg = (struct emu_tsg *)object;
  struct nvgpu_tsg_get_share_token_args *a = argument;
  if (!a->source_device_instance_id || !a->target_device_instance_id ||
      !owns_tsg(tsg, a->source_device_instance_id))
    return -EINVAL;
  /* The driver counts one more token than there are: nvgpu, common/fifo/tsg.c,
   * nvgpu_tsg_get_share_token */
  if (tsg->token_count == EMU_VEIDS - 1)
    return -ENOSPC;
  struct emu_ctrl *source = find_ctrl(a->source_device_instance_id);
  if (!source || !find_ctrl(a->target_device_instance_id))
    return -EINVAL;
  struct emu_token *token = malloc(sizeof(*token));
  if (!token)
    return -ENOMEM;
  *token = (struct emu_token){emu_tsgs.tokens, tsg, source->instance, a->target_device_instance_id,
                              ++source->tokens};
  emu_tsgs.tokens = token;
  tsg->token_count++;
  a->share_token = token->token;
  return 0;
}

int emu_share_revoke_token(struct emu_object *object, int fd, void *argument) {
  const struct emu_tsg *tsg = (const struct emu_tsg *)object;
  const struct nvgpu_tsg_revoke_share_token_args *a = argument;
  if (!a->source_device_instance_id || !a->target_device_instance_id || !a->share_token ||
      !owns_tsg(tsg, a->source_device_instance_id))
    return -EINVAL;
  struct emu_token **link =
      find_token(tsg, a->source_device_instance_id, a->target_device_instance_id, a->share_token);
  if (!*link)
    return -EINVAL;
  unlink_token(link);
  return 0;
}
