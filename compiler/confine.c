/* The confinement of the helper process; see confine.h. JetPack's kernels and their headers may
 * lack the interfaces used here, so this file defines their numbers. */
#include "compiler/confine.h"

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "compiler/find.h"

/* ---- descriptors ------------------------------------------------------------------ */

enum { NR_CLOSE_RANGE = 436 }; /* Linux 5.9 */

static void close_files(void) {
  if (syscall(NR_CLOSE_RANGE, STDERR_FILENO + 1, ~0u, 0) == 0)
    return;
  DIR *list = opendir("/proc/self/fd");
  if (!list)
    return;
  for (struct dirent *item; (item = readdir(list));) {
    const int fd = (int)strtol(item->d_name, NULL, 10);
    if (fd > STDERR_FILENO && fd != dirfd(list))
      close(fd);
  }
  closedir(list);
}

/* ---- files: linux/landlock.h -------------------------------------------------------- */

enum { NR_CREATE_RULESET = 444, NR_ADD_RULE = 445, NR_RESTRICT_SELF = 446 };
enum { RULESET_VERSION = 1, RULE_PATH_BENEATH = 1 };

#define FS_EXECUTE    (1ull << 0)
#define FS_WRITE_FILE (1ull << 1)
#define FS_READ_FILE  (1ull << 2)
#define FS_READ_DIR   (1ull << 3)

struct ruleset {
  uint64_t fs, net, scoped;
};
struct path_rule {
  uint64_t allowed;
  int32_t parent_fd;
} __attribute__((packed));

/* Everything that each version of Landlock can restrict. */
static const struct ruleset versions[] = {
    {(1ull << 13) - 1, 0, 0}, /* 1: Linux 5.13 */
    {(1ull << 14) - 1, 0, 0}, /* 2, 5.19: renaming into other folders */
    {(1ull << 15) - 1, 0, 0}, /* 3, 6.2: truncation */
    {(1ull << 15) - 1, 3, 0}, /* 4, 6.7: TCP */
    {(1ull << 16) - 1, 3, 0}, /* 5, 6.10: requests to devices */
    {(1ull << 16) - 1, 3, 3}, /* 6, 6.12: abstract sockets, signals */
};
enum { VERSIONS = sizeof versions / sizeof versions[0], SIGNALS_VERSION = 6 };

static long landlock_version(void) {
  return syscall(NR_CREATE_RULESET, NULL, 0, RULESET_VERSION);
}

static void allow_path(int rules, const char *path, uint64_t access) {
  const struct path_rule rule = {access, open(path, O_PATH | O_CLOEXEC)};
  if (rule.parent_fd < 0)
    return;
  syscall(NR_ADD_RULE, rules, RULE_PATH_BENEATH, &rule, 0);
  close(rule.parent_fd);
}

/* Reads the name of the loader from an executable, or "" if it has none. Returns
 * false if the file is not ELF, for example a script. */
static bool read_loader(const char *path, char loader[CC_PATH_MAX]) {
  Elf64_Ehdr header;
  Elf64_Phdr segment;
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  bool good = fd >= 0 && pread(fd, &header, sizeof header, 0) == sizeof header &&
              memcmp(header.e_ident, ELFMAG, SELFMAG) == 0;
  loader[0] = 0;
  for (unsigned i = 0; good && i < header.e_phnum; i++) {
    good = pread(fd, &segment, sizeof segment, (off_t)(header.e_phoff + i * sizeof segment)) ==
           sizeof segment;
    if (!good || segment.p_type != PT_INTERP)
      continue;
    good =
        segment.p_filesz > 0 && segment.p_filesz < CC_PATH_MAX &&
        pread(fd, loader, segment.p_filesz, (off_t)segment.p_offset) == (ssize_t)segment.p_filesz &&
        loader[segment.p_filesz - 1] == 0;
  }
  if (fd >= 0)
    close(fd);
  return good;
}

/* Allows a tool and its loader to be executed. If the tool is a wrapper (a script,
 * ccache), which may start any program, everything may be executed. */
static void allow_tool(int rules, const char *path, const char *name) {
  char real[CC_PATH_MAX], loader[CC_PATH_MAX];
  if (!realpath(path, real))
    return;
  const char *base = strrchr(real, '/');
  if (!base || !strstr(base, name) || !read_loader(real, loader)) {
    allow_path(rules, "/", FS_EXECUTE);
    return;
  }
  allow_path(rules, real, FS_EXECUTE);
  if (*loader)
    allow_path(rules, loader, FS_EXECUTE);
}

/* Does not restrict reading: #include may refer to any of the user's files. */
static bool confine_files(void) {
  char path[CC_PATH_MAX], translator[CC_PATH_MAX];
  long version = landlock_version();
  if (version < 1)
    return false;
  if (version > VERSIONS)
    version = VERSIONS;
  struct ruleset refused = versions[version - 1];
  refused.fs &= ~(FS_READ_FILE | FS_READ_DIR);
  const long rules = syscall(NR_CREATE_RULESET, &refused, sizeof refused, 0);
  if (rules < 0)
    return false;
  if (cc_find_clang(path))
    allow_tool((int)rules, path, "clang");
  if (cc_find_spirv_tools(path, translator)) {
    allow_tool((int)rules, path, "spirv-val");
    allow_tool((int)rules, translator, "llvm-spirv");
  }
  allow_path((int)rules, "/dev/null", FS_WRITE_FILE);
  const bool done = syscall(NR_RESTRICT_SELF, rules, 0) == 0;
  close((int)rules);
  return done;
}

/* ---- system calls ------------------------------------------------------------------- */

#if defined(__x86_64__)
#define THIS_ARCH AUDIT_ARCH_X86_64
#else
#define THIS_ARCH AUDIT_ARCH_AARCH64
#endif

/* Numbers that are the same on all architectures and missing in some headers. */
enum {
  NR_PIDFD_SEND_SIGNAL = 424,
  NR_IO_URING_SETUP = 425,
  NR_IO_URING_ENTER = 426,
  NR_IO_URING_REGISTER = 427,
  NR_OPEN_TREE = 428,
  NR_MOVE_MOUNT = 429,
  NR_FSOPEN = 430,
  NR_FSCONFIG = 431,
  NR_FSMOUNT = 432,
  NR_FSPICK = 433,
  NR_PIDFD_OPEN = 434,
  NR_CLONE3 = 435,
  NR_OPENAT2 = 437,
  NR_PIDFD_GETFD = 438,
  NR_PROCESS_MADVISE = 440,
  NR_MOUNT_SETATTR = 442,
  NR_FCHMODAT2 = 452,
};

/* System calls that compilers do not need, grouped by what they affect. */
static const uint16_t refused_calls[] = {
    /* the network, and descriptors of other processes; the helper's socket is already connected */
    __NR_socket, __NR_connect, __NR_bind, __NR_listen, __NR_accept, __NR_accept4, __NR_sendmsg,
    __NR_sendmmsg, __NR_recvmsg, __NR_recvmmsg, NR_PIDFD_GETFD,
    /* other processes; kill and tgkill are handled below */
    __NR_tkill, __NR_rt_sigqueueinfo, __NR_rt_tgsigqueueinfo, NR_PIDFD_SEND_SIGNAL, NR_PIDFD_OPEN,
    __NR_process_vm_writev, NR_PROCESS_MADVISE, __NR_kcmp, __NR_setpriority,
    __NR_setpgid, /* could join the application's group, which kill(0) signals */
    __NR_sched_setaffinity, __NR_sched_setscheduler, __NR_sched_setparam, __NR_sched_setattr,
    __NR_ioprio_set, __NR_migrate_pages, __NR_move_pages, __NR_perf_event_open,
#ifndef __SANITIZE_ADDRESS__ /* needed by the leak checker to stop threads */
    __NR_ptrace, __NR_process_vm_readv,
#endif
    /* calls that would bypass this filter */
    NR_IO_URING_SETUP, NR_IO_URING_ENTER, NR_IO_URING_REGISTER,
    /* changes to files other than by open; Landlock restricts writes to opened files */
    __NR_unlinkat, __NR_renameat2, __NR_mkdirat, __NR_linkat, __NR_symlinkat, __NR_mknodat,
    __NR_truncate, __NR_fchmod, __NR_fchmodat, NR_FCHMODAT2, __NR_fchown, __NR_fchownat,
    __NR_utimensat, __NR_setxattr, __NR_lsetxattr, __NR_fsetxattr, __NR_removexattr,
    __NR_lremovexattr, __NR_fremovexattr, __NR_open_by_handle_at, __NR_execveat,
#ifdef __NR_renameat
    __NR_renameat,
#endif
#ifdef __NR_open /* older variants on x86-64 */
    __NR_unlink, __NR_rmdir, __NR_rename, __NR_mkdir, __NR_link, __NR_symlink, __NR_mknod,
    __NR_chmod, __NR_chown, __NR_lchown, __NR_utime, __NR_utimes, __NR_futimesat, __NR_ioperm,
    __NR_iopl, __NR_modify_ldt, __NR_vhangup,
#endif
    /* System V IPC, message queues and keys */
    __NR_shmget, __NR_shmat, __NR_shmctl, __NR_semget, __NR_semop, __NR_semtimedop, __NR_semctl,
    __NR_msgget, __NR_msgsnd, __NR_msgrcv, __NR_msgctl, __NR_mq_open, __NR_mq_unlink, __NR_add_key,
    __NR_request_key, __NR_keyctl,
    /* system administration, and namespaces, where a user may gain rights */
    __NR_unshare, __NR_setns, __NR_chroot, __NR_pivot_root, __NR_mount, __NR_umount2, NR_OPEN_TREE,
    NR_MOVE_MOUNT, NR_FSOPEN, NR_FSCONFIG, NR_FSMOUNT, NR_FSPICK, NR_MOUNT_SETATTR, __NR_bpf,
    __NR_userfaultfd, __NR_fanotify_init, __NR_init_module, __NR_finit_module, __NR_delete_module,
    __NR_kexec_load, __NR_reboot, __NR_swapon, __NR_swapoff, __NR_sethostname, __NR_setdomainname,
    __NR_acct, __NR_quotactl, __NR_settimeofday, __NR_clock_settime, __NR_clock_adjtime,
    __NR_adjtimex, __NR_syslog};

enum { REFUSED = sizeof refused_calls / sizeof refused_calls[0], FILTER_MAX = 2 * REFUSED + 96 };

struct filter {
  struct sock_filter code[FILTER_MAX];
  unsigned short count;
};

static void add_instruction(struct filter *filter, unsigned code, uint32_t value, unsigned skip_if,
                            unsigned skip_if_not) {
  filter->code[filter->count++] =
      (struct sock_filter){(uint16_t)code, (uint8_t)skip_if, (uint8_t)skip_if_not, value};
}

static void add_load(struct filter *filter, size_t offset) {
  add_instruction(filter, BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset, 0, 0);
}

static void add_return(struct filter *filter, uint32_t action) {
  add_instruction(filter, BPF_RET | BPF_K, action, 0, 0);
}

static uint32_t failing_with(int error) {
  return SECCOMP_RET_ERRNO | (uint32_t)error;
}

static void refuse_call(struct filter *filter, uint32_t call, int error) {
  add_instruction(filter, BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1);
  add_return(filter, failing_with(error));
}

/* Makes a call fail unless the lower half of an argument, after masking, has one of the values. */
static void allow_values(struct filter *filter, uint32_t call, unsigned argument, uint32_t mask,
                         const uint32_t *values, unsigned count, int error) {
  add_instruction(filter, BPF_JMP | BPF_JEQ | BPF_K, call, 0, count + 4);
  add_load(filter, offsetof(struct seccomp_data, args) + argument * sizeof(uint64_t));
  add_instruction(filter, BPF_ALU | BPF_AND | BPF_K, mask, 0, 0);
  for (unsigned i = 0; i < count; i++)
    add_instruction(filter, BPF_JMP | BPF_JEQ | BPF_K, values[i], count - i, 0);
  add_return(filter, failing_with(error));
  add_return(filter, SECCOMP_RET_ALLOW);
}

/* Makes a call fail if the lower half of an argument has one of the values. */
static void refuse_values(struct filter *filter, uint32_t call, unsigned argument,
                          const uint32_t *values, unsigned count, int error) {
  add_instruction(filter, BPF_JMP | BPF_JEQ | BPF_K, call, 0, count + 3);
  add_load(filter, offsetof(struct seccomp_data, args) + argument * sizeof(uint64_t));
  for (unsigned i = 0; i < count; i++)
    add_instruction(filter, BPF_JMP | BPF_JEQ | BPF_K, values[i], count - i, 0);
  add_return(filter, SECCOMP_RET_ALLOW);
  add_return(filter, failing_with(error));
}

/* Refuses O_TRUNC with O_RDONLY, which truncates files regardless of Landlock's version. */
static void refuse_reading_truncation(struct filter *filter, uint32_t call, unsigned argument) {
  static const uint32_t others[] = {0, O_WRONLY, O_RDWR, O_WRONLY | O_TRUNC, O_RDWR | O_TRUNC};
  allow_values(filter, call, argument, O_ACCMODE | O_TRUNC, others,
               sizeof others / sizeof others[0], EACCES);
}

static bool confine_calls(bool signals_are_confined) {
  static const uint32_t requests[] = {TCGETS, TIOCGWINSZ, FIONREAD, FIOCLEX, FIONCLEX},
                        none[] = {0}, owners[] = {F_SETOWN, F_SETOWN_EX, F_SETSIG};
  const uint32_t own[] = {(uint32_t)getpid()};
  const uint32_t new_namespaces = CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC |
                                  CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET;
  struct filter filter = {.count = 0};
  add_load(&filter, offsetof(struct seccomp_data, arch));
  add_instruction(&filter, BPF_JMP | BPF_JEQ | BPF_K, THIS_ARCH, 1, 0);
  add_return(&filter, failing_with(ENOSYS));
  add_load(&filter, offsetof(struct seccomp_data, nr));
#ifdef __x86_64__
  enum { X32 = 0x40000000 };
  add_instruction(&filter, BPF_JMP | BPF_JGE | BPF_K, X32, 0, 1);
  add_return(&filter, failing_with(ENOSYS));
#endif
  for (unsigned i = 0; i < REFUSED; i++)
    refuse_call(&filter, refused_calls[i], EPERM);
  /* Their arguments are in memory, where a filter cannot check them.
   * The C library falls back to other calls. */
  refuse_call(&filter, NR_CLONE3, ENOSYS);
  refuse_call(&filter, NR_OPENAT2, ENOSYS);
  refuse_reading_truncation(&filter, __NR_openat, 2);
#ifdef __NR_open
  refuse_reading_truncation(&filter, __NR_open, 1);
#endif
  allow_values(&filter, __NR_clone, 0, new_namespaces, none, 1, EPERM);
  allow_values(&filter, __NR_ioctl, 1, ~0u, requests, sizeof requests / sizeof requests[0], ENOTTY);
  allow_values(&filter, __NR_prlimit64, 0, ~0u, none, 1, EPERM);
  /* fcntl requests that choose the process and the signal for I/O events. */
  refuse_values(&filter, __NR_fcntl, 1, owners, sizeof owners / sizeof owners[0], EPERM);
  allow_values(&filter, __NR_kill, 0, ~0u, none, 1, EPERM); /* its own group */
  if (!signals_are_confined)
    allow_values(&filter, __NR_tgkill, 0, ~0u, own, 1, EPERM);
  add_return(&filter, SECCOMP_RET_ALLOW);
  const struct sock_fprog program = {filter.count, filter.code};
  return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0;
}

unsigned confine(void) {
  const char *wanted = secure_getenv("TEGRACL_CONFINEMENT");
  if (wanted && strcmp(wanted, "0") == 0)
    return 0;
  close_files();
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
    return 0;
  unsigned confined = confine_files() ? CONFINED_FILES : 0;
  if (confine_calls(confined && landlock_version() >= SIGNALS_VERSION))
    confined |= CONFINED_CALLS;
  return confined;
}
