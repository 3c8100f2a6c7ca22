/* dma-bufs, which are memfds of the size rounded up to pages. The client maps the fd; the emulator
 * has a separate mapping for the GPU's accesses. */
#include "emulator/kernel/dmabuf.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/dma-buf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "emulator/descriptors.h"
#include "emulator/kernel/nvmap.h"
#include "emulator/kernel/user_copy.h"
#include "emulator/kernel/vma.h"
#include "emulator/objects.h"
#include "gpu/hw/memory.h"
#include "gpu/nvgpu/uapi.h"

struct emu_memory emu_memory;

#define MEMFD_NAME "dmabuf"
#define MEMFD_LINK "/memfd:" MEMFD_NAME " (deleted)" /* in /proc */

/* Returns the lowest number for fds that only keep pages alive. It is high: a real kernel needs no
 * such fds, and clients expect to get the lowest free numbers. */
static int lowest_kept_fd(void) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur == RLIM_INFINITY)
    return 0;
  return (int)(limit.rlim_cur / 2 < 65536 ? limit.rlim_cur / 2 : 65536);
}

/* Duplicates fd to keep its file open. If the upper half of the numbers is used up this fails, and
 * so does a later GET_FD of the handle. */
static int keep_file_open(int fd) {
  int kept = fcntl(fd, F_DUPFD_CLOEXEC, lowest_kept_fd());
  if (kept >= 0)
    emu_descriptor_hide(kept, true);
  return kept;
}

static void close_kept_file(struct emu_dmabuf *dmabuf) {
  if (dmabuf->kept_fd < 0)
    return;
  emu_descriptor_hide(dmabuf->kept_fd, false);
  close(dmabuf->kept_fd);
  dmabuf->kept_fd = -1;
}

static const struct emu_object_ops dmabuf_ops;

struct emu_dmabuf *emu_dmabuf_create(uint64_t size) {
  struct emu_dmabuf *dmabuf = emu_object_create(&dmabuf_ops, sizeof(*dmabuf));
  if (!dmabuf)
    return NULL;
  dmabuf->size = dmabuf->asked = size;
  dmabuf->serial = emu_memory.next_serial++;
  dmabuf->kept_fd = -1;
  dmabuf->next = emu_memory.dmabufs;
  if (dmabuf->next)
    dmabuf->next->previous = dmabuf;
  emu_memory.dmabufs = dmabuf;
  return dmabuf;
}

static void dmabuf_destroy(struct emu_object *object) {
  struct emu_dmabuf *dmabuf = (struct emu_dmabuf *)object;
  *(dmabuf->previous ? &dmabuf->previous->next : &emu_memory.dmabufs) = dmabuf->next;
  if (dmabuf->next)
    dmabuf->next->previous = dmabuf->previous;
  if (dmabuf->host && !dmabuf->in_place)
    munmap(dmabuf->host, dmabuf->size);
  close_kept_file(dmabuf);
  if (dmabuf->allocated && !dmabuf->from_va && !dmabuf->drivers && !dmabuf->foreign)
    emu_memory.used -= dmabuf->size;
  free(dmabuf);
}

static int client_fd(const struct emu_dmabuf *dmabuf) {
  for (int fd = 0; fd < emu_objects.table_size; fd++) {
    if (emu_objects.table[fd] == &dmabuf->object)
      return fd;
  }
  return -1;
}

static void remember_file(struct emu_dmabuf *dmabuf, const struct stat *status) {
  dmabuf->device = status->st_dev;
  dmabuf->inode = status->st_ino;
  dmabuf->has_inode = true;
}

/* The size of a dma-buf is sealed, because accesses to mappings of truncated pages would raise
 * SIGBUS. */
enum { SEALS = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL };

static int make_memfd(struct emu_dmabuf *dmabuf) {
  struct stat status;
  int fd = memfd_create(dmabuf->drivers ? "nvgpu" : MEMFD_NAME, MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (fd < 0)
    return -errno;
  if (base_truncate(fd, (off_t)dmabuf->size) < 0 || fcntl(fd, F_ADD_SEALS, SEALS) < 0 ||
      fstat(fd, &status) < 0) {
    close(fd);
    return -ENOMEM;
  }
  remember_file(dmabuf, &status);
  return fd;
}

/* Returns a new fd of the file: a duplicate of fd, or a new open if the access mode differs. */
static int reopen_file(int fd, int access) {
  char path[32];
  if ((fcntl(fd, F_GETFL) & O_ACCMODE) == access)
    return fcntl(fd, F_DUPFD_CLOEXEC, 0);
  snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
  return open(path, access | O_CLOEXEC);
}

int emu_dmabuf_fd(struct emu_dmabuf *dmabuf, bool read_only) {
  int source = dmabuf->object.fds ? client_fd(dmabuf) : dmabuf->kept_fd;
  if (source < 0 && dmabuf->has_inode)
    return -EMFILE;
  int made = source < 0 ? make_memfd(dmabuf) : source;
  if (made < 0)
    return made;
  int fd = source < 0 && !read_only ? made : reopen_file(made, read_only ? O_RDONLY : O_RDWR);
  int error = fd < 0 ? -errno : 0;
  /* The client expects the lowest free number, so the new fd replaces the first one. */
  if (!error && source < 0 && fd != made) {
    error = dup3(fd, made, O_CLOEXEC) < 0 ? -errno : 0;
    close(fd);
    fd = made;
  }
  if (!error)
    error = emu_table_set(fd, &dmabuf->object);
  if (error) {
    if (source >= 0 && fd >= 0)
      close(fd);
    if (source < 0) { /* the new file; GET_FD may be called again */
      close(made);
      dmabuf->has_inode = false;
    }
    return error;
  }
  close_kept_file(dmabuf);
  return fd;
}

/* Keeps the file open if the last fd is closed and handles still use the pages. */
static void dmabuf_close(struct emu_object *object, int fd) {
  struct emu_dmabuf *dmabuf = (struct emu_dmabuf *)object;
  if (dmabuf->object.fds == 1 && dmabuf->handles && dmabuf->kept_fd < 0)
    dmabuf->kept_fd = keep_file_open(fd);
}

void emu_dmabuf_drop_kept_fd(struct emu_dmabuf *dmabuf) {
  if (!dmabuf->handles)
    close_kept_file(dmabuf);
}

int emu_dmabuf_host(struct emu_dmabuf *dmabuf) {
  if (dmabuf->host)
    return 0;
  int fd = dmabuf->object.fds ? client_fd(dmabuf) : dmabuf->kept_fd;
  if (fd < 0) {
    int made = make_memfd(dmabuf);
    if (made < 0)
      return made;
    dmabuf->kept_fd = keep_file_open(made);
    close(made);
    if (dmabuf->kept_fd < 0)
      return -EMFILE;
    fd = dmabuf->kept_fd;
  }
  fd = reopen_file(fd, O_RDWR);
  if (fd < 0)
    return -errno;
  void *host = mmap(NULL, dmabuf->size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close(fd);
  if (host == MAP_FAILED)
    return -ENOMEM;
  madvise(host, dmabuf->size, MADV_DONTDUMP);
  madvise(host, dmabuf->size, MADV_DONTFORK); /* or a child would keep the memory alive */
  dmabuf->host = host;
  return 0;
}

/* nvgpu, os/linux/comptags.c, gk20a_alloc_or_get_comptags. There are tags for all memory. */
bool emu_dmabuf_comptags(struct emu_dmabuf *dmabuf) {
  if (!dmabuf->comptags_tried && (!dmabuf->registered || dmabuf->mutable_metadata))
    dmabuf->comptags_tried = dmabuf->comptags = true;
  return dmabuf->comptags;
}

bool emu_dmabuf_read_only(const struct emu_dmabuf *dmabuf, int fd) {
  return dmabuf->read_only || (fcntl(fd, F_GETFL) & O_ACCMODE) == O_RDONLY;
}

bool emu_dmabuf_is(const struct emu_dmabuf *dmabuf, const struct emu_vma *vma) {
  return dmabuf->has_inode && dmabuf->device == vma->device && dmabuf->inode == vma->inode;
}

/* Returns the dma-buf with this file, or NULL. The fd may be unknown because it is a duplicate of a
 * known one. */
static struct emu_dmabuf *find_by_file(const struct stat *status) {
  struct emu_dmabuf *dmabuf = emu_memory.dmabufs;
  while (dmabuf && !(dmabuf->has_inode && dmabuf->device == status->st_dev &&
                     dmabuf->inode == status->st_ino))
    dmabuf = dmabuf->next;
  return dmabuf;
}

/* Returns whether the file is a dma-buf of any process. Every process can create a memfd with this
 * name, so also checks the seals and the size. */
static bool is_dmabuf(int fd, off_t size) {
  char path[32], name[sizeof(MEMFD_LINK) + 1];
  snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
  ssize_t length = readlink(path, name, sizeof(name));
  return length == sizeof(MEMFD_LINK) - 1 && memcmp(name, MEMFD_LINK, (size_t)length) == 0 &&
         (fcntl(fd, F_GET_SEALS) & (SEALS | F_SEAL_WRITE)) == SEALS && size > 0 &&
         size % GPU_PAGE_BYTES == 0;
}

/* Creates a record for a dma-buf of another process, whose fd came by fork or through a socket. The
 * file, and so the pages, are the same. */
static int import_dmabuf(int fd, const struct stat *status, struct emu_dmabuf **adopted) {
  struct emu_dmabuf *dmabuf = emu_dmabuf_create((uint64_t)status->st_size);
  if (!dmabuf)
    return -ENOMEM;
  dmabuf->allocated = dmabuf->foreign = true;
  dmabuf->heap = NVMAP_HEAP_IOVMM;
  remember_file(dmabuf, status);
  dmabuf->kept_fd = keep_file_open(fd);
  int error = dmabuf->kept_fd < 0 ? -EMFILE : emu_dmabuf_host(dmabuf);
  if (error)
    emu_object_put(&dmabuf->object);
  else
    *adopted = dmabuf;
  return error;
}

int emu_dmabuf_from_fd(int fd, struct emu_dmabuf **dmabuf) {
  struct stat status;
  if (fd < 0 || fstat(fd, &status) < 0)
    return -EBADF;
  *dmabuf = find_by_file(&status);
  if (!*dmabuf)
    return is_dmabuf(fd, status.st_size) ? import_dmabuf(fd, &status, dmabuf) : -EINVAL;
  emu_object_get(&(*dmabuf)->object);
  return 0;
}

/* Cache maintenance, which does nothing on a coherent machine; docs/hardware/kernel-interface.md
 * 4.3. */
static int dmabuf_ioctl(struct emu_object *object, int fd, unsigned long request, void *argument) {
  struct dma_buf_sync sync;
  if (request != DMA_BUF_IOCTL_SYNC)
    return -ENOTTY;
  if (emu_copy_from_user(&sync, (uintptr_t)argument, sizeof(sync)))
    return -EFAULT;
  bool known = !(sync.flags & ~(uint64_t)DMA_BUF_SYNC_VALID_FLAGS_MASK);
  return known && (sync.flags & DMA_BUF_SYNC_RW) ? 0 : -EINVAL;
}

/* docs/hardware/kernel-interface.md 4.3, "before ALLOC", "VPR heap", "beyond the end" */
static int dmabuf_mmap(struct emu_object *object, int fd, size_t length, int protection,
                       off_t offset) {
  struct emu_dmabuf *dmabuf = (struct emu_dmabuf *)object;
  uint64_t pages = (length + GPU_PAGE_BYTES - 1) / GPU_PAGE_BYTES * GPU_PAGE_BYTES;
  if (offset < 0 || (uint64_t)offset > dmabuf->size || pages > dmabuf->size - (uint64_t)offset)
    return -EINVAL;
  if (!dmabuf->allocated || (dmabuf->read_only && (protection & PROT_WRITE)))
    return -EPERM;
  return emu_nvmap_share_pages(dmabuf, fd);
}

static const struct emu_object_ops dmabuf_ops = {
    .kind = EMU_DMABUF,
    .ioctl = dmabuf_ioctl,
    .mmap = dmabuf_mmap,
    .close = dmabuf_close,
    .destroy = dmabuf_destroy,
};
