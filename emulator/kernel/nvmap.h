/* /dev/nvmap: handles, and the rare requests. */
#ifndef TEGRACL_EMULATOR_NVMAP_H
#define TEGRACL_EMULATOR_NVMAP_H

#include <stdbool.h>
#include <stdint.h>

struct emu_dmabuf;

/* An nvmap handle: one id of the process's nvmap client. */
struct emu_handle {
  struct emu_handle *next;
  uint32_t id;
  bool read_only;
  struct emu_dmabuf *dmabuf;
};

extern struct emu_nvmap {
  int opens;
  struct emu_handle *handles;
  uint32_t next_handle;
  uint64_t tags[1024]; /* SET_TAG_LABEL: one bit for each of 65536 */
} emu_nvmap;

/* A new fd, or -errno. */
int emu_nvmap_open(void);
/* The handle of an id, or NULL. */
struct emu_handle *emu_handle_find(uint32_t id);
/* A handle with a new dma-buf of size bytes (rounded up to pages); NULL: no memory. */
struct emu_handle *emu_handle_create(uint64_t size);
void emu_handle_free(struct emu_handle *handle);

/* nvmap_rare.c */
int emu_nvmap_from_va(void *argument);
/* Call before a FROM_VA dma-buf is mapped: its pages and the client's become those of the fd's
 * file. Stores of other threads meanwhile may be lost. */
int emu_nvmap_share_pages(struct emu_dmabuf *dmabuf, int fd);
/* The process is about to fork. gpu.lock held. */
void emu_nvmap_forking(void);
int emu_nvmap_gup_test(void *argument);
int emu_nvmap_range(void *argument);
int emu_nvmap_ivm_heaps(void *argument);
int emu_nvmap_ivm_alloc(void *argument);
int emu_nvmap_ivc_get(void *argument);
int emu_nvmap_ivc_open(void *argument);
int emu_nvmap_sciipc(void *argument);
int emu_nvmap_vpr_floor(void *argument);
/* 0 if the bytes lie in one mapping of the dma-buf, or -errno. */
int emu_nvmap_cache_range(uint64_t address, uint64_t bytes, const struct emu_dmabuf *dmabuf);

#endif
