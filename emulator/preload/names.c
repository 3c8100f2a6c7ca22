/* Redirected functions that take a path: open, stat and access of the nodes. */
#include <errno.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "emulator/descriptors.h"
#include "emulator/emulator.h"
#include "emulator/preload/next.h"

/* No header declares these. Fortified programs call __open_2 and similar functions for an open
 * without a mode, and old programs call __xstat and similar functions for stat. */
int __open_2(const char *path, int flags);
int __open64_2(const char *path, int flags);
int __openat_2(int folder, const char *path, int flags);
int __openat64_2(int folder, const char *path, int flags);
int __xstat(int version, const char *path, struct stat *status);
int __xstat64(int version, const char *path, struct stat64 *status);
int __lxstat(int version, const char *path, struct stat *status);
int __lxstat64(int version, const char *path, struct stat64 *status);
int __fxstat(int version, int fd, struct stat *status);
int __fxstat64(int version, int fd, struct stat64 *status);

_Static_assert(sizeof(struct stat) == sizeof(struct stat64),
               "struct stat and struct stat64 must be the same");

/* Runs before the program makes any call. */
__attribute__((constructor)) static void watch_doorbell(void) {
  emulator_watch_doorbell();
}

static bool is_node(const char *path) {
  struct stat status;
  return emulator_node_status(path, &status);
}

static int open_node(const char *path, int flags) {
  int fd = nvgpu_os_emulator.open(path, flags);
  if (fd >= 0 && !(flags & O_CLOEXEC))
    fcntl(fd, F_SETFD, 0);
  return next_result(fd);
}

REDIRECT int open(const char *path, int flags, ...) {
  if (is_node(path))
    return open_node(path, flags);
  return NEXT(open)(path, flags, OPEN_MODE(flags));
}
REDIRECT_ALIAS(open) int open64(const char *path, int flags, ...);

REDIRECT int openat(int folder, const char *path, int flags, ...) {
  if (is_node(path))
    return open_node(path, flags);
  return NEXT(openat)(folder, path, flags, OPEN_MODE(flags));
}
REDIRECT_ALIAS(openat) int openat64(int folder, const char *path, int flags, ...);

REDIRECT int __open_2(const char *path, int flags) {
  return is_node(path) ? open_node(path, flags) : NEXT(__open_2)(path, flags);
}
REDIRECT_ALIAS(__open_2) int __open64_2(const char *path, int flags);

REDIRECT int __openat_2(int folder, const char *path, int flags) {
  return is_node(path) ? open_node(path, flags) : NEXT(__openat_2)(folder, path, flags);
}
REDIRECT_ALIAS(__openat_2) int __openat64_2(int folder, const char *path, int flags);

REDIRECT int stat(const char *path, struct stat *status) {
  return emulator_node_status(path, status) ? 0 : NEXT(stat)(path, status);
}
REDIRECT_ALIAS(stat) int stat64(const char *path, struct stat64 *status);

REDIRECT int lstat(const char *path, struct stat *status) {
  return emulator_node_status(path, status) ? 0 : NEXT(lstat)(path, status);
}
REDIRECT_ALIAS(lstat) int lstat64(const char *path, struct stat64 *status);

REDIRECT int fstatat(int folder, const char *path, struct stat *status, int flags) {
  return emulator_node_status(path, status) ? 0 : NEXT(fstatat)(folder, path, status, flags);
}
REDIRECT_ALIAS(fstatat)
int fstatat64(int folder, const char *path, struct stat64 *status, int flags);

REDIRECT int __xstat(int version, const char *path, struct stat *status) {
  return emulator_node_status(path, status) ? 0 : NEXT(__xstat)(version, path, status);
}
REDIRECT_ALIAS(__xstat) int __xstat64(int version, const char *path, struct stat64 *status);

REDIRECT int __lxstat(int version, const char *path, struct stat *status) {
  return emulator_node_status(path, status) ? 0 : NEXT(__lxstat)(version, path, status);
}
REDIRECT_ALIAS(__lxstat) int __lxstat64(int version, const char *path, struct stat64 *status);

REDIRECT int statx(int folder, const char *path, int flags, unsigned mask, struct statx *status) {
  struct stat s;
  if (!emulator_node_status(path, &s))
    return NEXT(statx)(folder, path, flags, mask, status);
  *status = (struct statx){
      .stx_mask = STATX_TYPE | STATX_MODE | STATX_NLINK | STATX_UID | STATX_GID,
      .stx_blksize = (uint32_t)s.st_blksize,
      .stx_nlink = (uint32_t)s.st_nlink,
      .stx_uid = s.st_uid,
      .stx_gid = s.st_gid,
      .stx_mode = (uint16_t)s.st_mode,
      .stx_rdev_major = major(s.st_rdev),
      .stx_rdev_minor = minor(s.st_rdev),
  };
  return 0;
}

/* Implements access as if the program were a member of the nodes' group. */
static int access_node(const struct stat *status, int mode) {
  bool allowed = !(mode & X_OK) && (!(mode & (R_OK | W_OK)) || (status->st_mode & S_IWGRP));
  return next_result(allowed ? 0 : -EACCES);
}

REDIRECT int access(const char *path, int mode) {
  struct stat status;
  return emulator_node_status(path, &status) ? access_node(&status, mode)
                                             : NEXT(access)(path, mode);
}

REDIRECT int euidaccess(const char *path, int mode) {
  struct stat status;
  return emulator_node_status(path, &status) ? access_node(&status, mode)
                                             : NEXT(euidaccess)(path, mode);
}
REDIRECT_ALIAS(euidaccess) int eaccess(const char *path, int mode);

REDIRECT int faccessat(int folder, const char *path, int mode, int flags) {
  struct stat status;
  return emulator_node_status(path, &status) ? access_node(&status, mode)
                                             : NEXT(faccessat)(folder, path, mode, flags);
}
