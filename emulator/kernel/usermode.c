/* The user-mode page and its doorbell. docs/hardware/kernel-interface.md 4.1
 *
 * A program stores the same token again and again, and a store of the same value cannot be seen. So
 * the engine clears each token that it has seen. If two tokens are stored before that, the first
 * one is lost, but not the GP_PUT that was written before it. Therefore a token rings for its
 * channel and for every other channel whose GP_PUT has changed. A GP_PUT without any doorbell is
 * ignored, as on a board. */
#include "emulator/kernel/usermode.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "emulator/engine/channel_engine.h"
#include "emulator/engine/engine.h"
#include "emulator/gpu.h"
#include "emulator/kernel/channel.h"
#include "emulator/kernel/ctrl.h"
#include "emulator/kernel/dmabuf.h"
#include "emulator/kernel/power.h"
#include "emulator/kernel/vma.h"
#include "emulator/objects.h"
#include "gpu/hw/host.h"
#include "gpu/hw/methods.h"

struct emu_usermode emu_usermode;

/* Value of the word without a token; no runlist has this channel number. */
static const uint32_t no_token = UINT32_MAX;

static atomic_bool watched;

static int page_create(void) {
  struct emu_dmabuf *page = emu_dmabuf_create(USERMODE_BYTES);
  if (!page)
    return -ENOMEM;
  page->drivers = true;
  int error = emu_dmabuf_host(page);
  if (error) {
    emu_object_put(&page->object);
    return error;
  }
  page->has_inode = false; /* its fds are not dma-bufs, so they are not found by inode */
  uint32_t *words = (uint32_t *)(void *)page->host;
  words[USERMODE_CFG0 / sizeof(*words)] = CLASS_USERMODE;
  words[USERMODE_NOTIFY_CHANNEL_PENDING / sizeof(*words)] = no_token;
  emu_usermode.page = page;
  if (emu_usermode_watched())
    atomic_store(&emu_engine.bell_cpu, -1); /* the storing CPU is unknown */
  return 0;
}

int emu_usermode_open(struct emu_object *ctrl) {
  int error = emu_usermode.page ? 0 : page_create();
  if (error)
    return error;
  int fd = fcntl(emu_usermode.page->kept_fd, F_DUPFD_CLOEXEC, 0);
  if (fd < 0)
    return -errno;
  error = emu_table_set(fd, ctrl);
  if (error) {
    close(fd);
    return error;
  }
  return fd;
}

void emu_usermode_close(void) {
  if (emu_usermode.page)
    emu_object_put(&emu_usermode.page->object);
  emu_usermode.page = NULL;
}

int emu_usermode_mmap(struct emu_object *object, int fd, size_t length, int protection,
                      off_t offset) {
  const struct emu_ctrl *ctrl = (struct emu_ctrl *)object;
  if (ctrl->mapping)
    return -EBUSY; /* check 2 */
  if (length > USERMODE_BYTES)
    return -EINVAL; /* check 3 */
  if (offset != 0)
    return -EINVAL; /* check 4 */
  return emu_power_use_in_mmap();
}

void emu_usermode_mapped(struct emu_object *object, int fd, void *mapping, size_t length,
                         int protection) {
  struct emu_ctrl *ctrl = (struct emu_ctrl *)object;
  struct stat status;
  ctrl->mapping = mapping;
  ctrl->mapping_length = length;
  ctrl->mapping_protection = protection;
  ctrl->hidden = false;
  ctrl->page_inode = fstat(fd, &status) ? 0 : status.st_ino;
  ctrl->next_mapped = emu_ctrls.mapped;
  emu_ctrls.mapped = ctrl;
  emu_object_get(object);
  /* The engine removes the mapping when the GPU is switched off; if there is no engine, the next
   * request does. */
  emu_engine_start();
  emu_engine_wake();
}

bool emu_usermode_unmapped(const void *address, size_t length) {
  bool found = false;
  for (struct emu_ctrl **link = &emu_ctrls.mapped; *link;) {
    struct emu_ctrl *ctrl = *link;
    if ((uintptr_t)ctrl->mapping - (uintptr_t)address < length) {
      *link = ctrl->next_mapped;
      ctrl->mapping = NULL;
      emu_object_put(&ctrl->object);
      found = true;
    } else {
      link = &ctrl->next_mapped;
    }
  }
  return found;
}

/* Hides the page by mapping a file without pages. Does not change a mapping that the client has
 * replaced. */
bool emu_usermode_remap(struct emu_ctrl *ctrl, bool hide) {
  const int page = emu_usermode.page->kept_fd;
  const int to = hide ? memfd_create("nvgpu-off", MFD_CLOEXEC) : page;
  const ino_t from = hide ? ctrl->page_inode : ctrl->nothing_inode;
  struct emu_vma vma;
  struct stat status;
  bool done = false;
  if (to < 0 || fstat(to, &status) || !emu_vma_find((uintptr_t)ctrl->mapping, &vma) ||
      vma.start > (uintptr_t)ctrl->mapping || vma.inode != from)
    goto out;
  const size_t left = vma.end - (uintptr_t)ctrl->mapping;
  const size_t bytes = left < ctrl->mapping_length ? left : ctrl->mapping_length;
  const void *mapped =
      mmap(ctrl->mapping, bytes, ctrl->mapping_protection, MAP_SHARED | MAP_FIXED, to, 0);
  done = mapped != MAP_FAILED;
  if (done)
    madvise(ctrl->mapping, bytes, MADV_DONTFORK);
  if (done && hide)
    ctrl->nothing_inode = status.st_ino;
out:
  if (hide && to >= 0)
    close(to);
  return done == hide;
}

void emu_usermode_watch(void) {
  atomic_store(&watched, true);
}

bool emu_usermode_watched(void) {
  return atomic_load_explicit(&watched, memory_order_relaxed);
}

/* The page exists as long as the engine runs. */
static _Atomic uint32_t *doorbell_word(void) {
  return (_Atomic uint32_t *)(void *)(emu_usermode.page->host + USERMODE_NOTIFY_CHANNEL_PENDING);
}

static uint32_t token_in_page(void) {
  return emu_usermode_watched() && emu_usermode.page
             ? atomic_load_explicit(doorbell_word(), memory_order_acquire)
             : no_token;
}

bool emu_usermode_rung(void) {
  return token_in_page() != no_token;
}

bool emu_usermode_rung_for_other(const struct emu_channel *channel) {
  uint32_t token = token_in_page();
  return token != no_token && hw_field(token, WORK_SUBMIT_TOKEN_CHANNEL) != channel->id;
}

static bool has_moved(const struct emu_channel *channel) {
  const _Atomic uint32_t *put =
      (const _Atomic uint32_t *)(const void *)(channel->userd->host + USERD_GP_PUT);
  return atomic_load(put) != channel->engine->gp_get;
}

void emu_usermode_collect(void) {
  if (!emu_usermode_rung())
    return;
  uint32_t token = atomic_exchange(doorbell_word(), no_token);
  uint32_t rung = hw_field(token, WORK_SUBMIT_TOKEN_CHANNEL);
  if (rung >= EMU_CHANNELS || hw_field(token, WORK_SUBMIT_TOKEN_RUNLIST))
    return; /* invalid channel: ignored; docs/hardware/command-stream.md 1.4 */
  for (uint32_t id = 0; id < EMU_CHANNELS; id++) {
    const struct emu_channel *channel = emu_channels.by_id[id];
    if (channel && channel->usermode && (id == rung || has_moved(channel)))
      atomic_fetch_or(&emu_engine.doorbells[id / 64], UINT64_C(1) << (id % 64));
  }
}
