/* Leak tests: fds, mappings and threads are counted before and after many cycles of creating and
 * closing everything, and of ioctls from many threads at once. */
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/emulator/client.h"
#include "tests/emulator/fake_sm.h"

static int entries(const char *path) {
  int count = 0;
  DIR *d = opendir(path);
  assert_non_null(d);
  while (readdir(d))
    count++;
  closedir(d);
  return count;
}

/* Returns the number of mappings of memfds, which belong to the device and its buffers. */
static int mappings(void) {
  int count = 0;
  char line[512];
  FILE *f = fopen("/proc/self/maps", "re");
  assert_non_null(f);
  while (fgets(line, sizeof(line), f))
    count += strstr(line, "/memfd:") != NULL;
  fclose(f);
  return count;
}

/* A joined thread is listed for a little longer. */
static bool threads_at_most(int limit) {
  for (int tries = 0; tries < PATIENCE_MS && entries("/proc/self/task") > limit; tries++)
    usleep(1000);
  return entries("/proc/self/task") <= limit;
}

static void one_life(void) {
  struct client c;
  struct channel ch;
  client_open(&c);
  channel_open(&c, &ch, 64, CLASS_COMPUTE);
  struct buffer code = buffer_create(&c, 0x4000, true);
  struct fake_program p = {.operation = FAKE_ADD, .address = code.va + 0x2000, .value = 1};
  memcpy(code.cpu, &p, sizeof(p));
  uint32_t *qmd = (uint32_t *)(void *)((char *)code.cpu + 0x1000);
  qmd_make(qmd, code.va, code.va + 0x3000, 4);
  push_compute_setup(&ch);
  push_method(&ch, SUBCHANNEL_COMPUTE, NVC7C0_SEND_PCAS_A, (uint32_t)((code.va + 0x1000) >> 8));
  push_method(&ch, SUBCHANNEL_COMPUTE, NVC7C0_SEND_SIGNALING_PCAS2_B, PCAS_PREFETCH_SCHEDULE);
  push_semaphore(&ch, code.va + 0x2008, 1, RELEASE_64_WFI);
  submit(&c, &ch);
  assert_true(wait_word((char *)code.cpu + 0x2008, 1));
  buffer_destroy(&c, &code);
  channel_close(&c, &ch);
  client_close(&c);
}

/* Opens, uses and closes whole devices. */
static void devices_do_not_leak(void **state) {
  one_life();
  int fds = entries("/proc/self/fd"), maps = mappings(), threads = entries("/proc/self/task");
  for (int i = 0; i < 100; i++)
    one_life();
  assert_int_equal(entries("/proc/self/fd"), fds);
  assert_true(threads_at_most(threads));
  assert_int_equal(mappings(), maps);
}

/* 1000 buffers and 200 channels within one device. */
static void buffers_and_channels_do_not_leak(void **state) {
  struct client c;
  client_open(&c);
  struct channel ch;
  struct buffer b;
  channel_open(&c, &ch, 64, CLASS_COMPUTE);
  channel_close(&c, &ch);
  b = buffer_create(&c, 1 << 20, true);
  uint64_t va = b.va;
  buffer_destroy(&c, &b);
  int fds = entries("/proc/self/fd"), maps = mappings();
  for (int i = 0; i < 1000; i++) {
    b = buffer_create(&c, 1 << 20, true);
    assert_int_equal(b.va, va);
    memset(b.cpu, i, 4096);
    buffer_destroy(&c, &b);
  }
  for (int i = 0; i < 200; i++) {
    channel_open(&c, &ch, 64, CLASS_COMPUTE);
    assert_int_equal(ch.token, 511);
    push_semaphore(&ch, ch.push.va + 0x8000, 1, 0); /* left waiting */
    submit(&c, &ch);
    channel_close(&c, &ch);
  }
  assert_int_equal(entries("/proc/self/fd"), fds);
  assert_int_equal(mappings(), maps);
  struct nvmap_query_heap_params query = {.heap_mask = 1u << 30};
  assert_int_equal(OS->ioctl(c.nvmap, NVMAP_IOC_QUERY_HEAP_PARAMS, &query), 0);
  assert_int_equal(query.total, query.free);
  client_close(&c);
}

/* Objects can be closed in reverse order, because each one holds what it uses. */
static void objects_close_in_reverse_order(void **state) {
  struct client c;
  struct channel ch;
  client_open(&c);
  channel_open(&c, &ch, 64, CLASS_COMPUTE);
  struct buffer b = buffer_create(&c, 4096, true);
  assert_int_equal(OS->close(b.fd), 0);
  assert_int_equal(OS->ioctl(c.nvmap, NVMAP_IOC_FREE, (void *)(uintptr_t)b.handle), 0);
  assert_int_equal(OS->close(c.as), 0);
  assert_int_equal(OS->close(c.tsg), 0);
  assert_int_equal(OS->close(ch.push.fd), 0);
  assert_int_equal(OS->close(ch.ring.fd), 0);
  assert_int_equal(OS->close(ch.userd.fd), 0);
  assert_int_equal(OS->close(c.nvmap), 0);
  push_semaphore(&ch, b.va, 0x99, RELEASE_64_WFI);
  submit(&c, &ch);
  assert_true(wait_word(b.cpu, 0x99));
  assert_int_equal(OS->close(ch.notifier.fd), 0);
  assert_int_equal(OS->close(ch.fd), 0);
  assert_int_equal(OS->close(c.ctrl), 0);
  assert_int_equal(OS->close(c.node), 0);
  assert_int_equal(OS->munmap(c.page, 0x10000), 0);
  OS->munmap(b.cpu, b.size);
  OS->munmap(ch.ring.cpu, ch.ring.size);
  OS->munmap(ch.userd.cpu, ch.userd.size);
  OS->munmap(ch.push.cpu, ch.push.size);
  OS->munmap(ch.notifier.cpu, ch.notifier.size);
  assert_int_equal(OS->close(c.ctrl), -9);
}

static struct client shared;

static void *hammer(void *argument) {
  struct channel ch;
  /* cmocka's assertions jump to the main thread, so a failure here appears as a wrong count. */
  for (int i = 0; i < 30; i++) {
    channel_open(&shared, &ch, 64, CLASS_COMPUTE);
    struct buffer b = buffer_create(&shared, 65536, true);
    for (uint32_t j = 1; j <= 20; j++) {
      push_semaphore(&ch, b.va, j, RELEASE_64_WFI_TIME);
      submit(&shared, &ch);
    }
    if (wait_word(b.cpu, 20))
      __atomic_fetch_add((int *)argument, 1, __ATOMIC_SEQ_CST);
    buffer_destroy(&shared, &b);
    channel_close(&shared, &ch);
  }
  return NULL;
}

static void ioctls_from_4_threads_succeed(void **state) {
  pthread_t thread[4];
  int done = 0;
  client_open(&shared);
  for (int i = 0; i < 4; i++)
    assert_int_equal(pthread_create(&thread[i], NULL, hammer, &done), 0);
  for (int i = 0; i < 4; i++)
    pthread_join(thread[i], NULL);
  assert_int_equal(done, 120);
  client_close(&shared);
}

static pthread_barrier_t both;

static void *close_at_once(void *fd) {
  pthread_barrier_wait(&both);
  return OS->close(*(const int *)fd) ? NULL : fd;
}

/* Two threads close the device's last two fds at the same time; one of them ends the engine. */
static void last_fds_close_concurrently(void **state) {
  enum { ROUNDS = 300 };
  assert_int_equal(pthread_barrier_init(&both, NULL, 2), 0);
  for (int round = 0; round < ROUNDS; round++) {
    int fds[] = {OS->open("/dev/nvgpu/igpu0/channel", O_RDWR), OS->open("/dev/nvmap", O_RDWR)};
    pthread_t other;
    void *closed;
    assert_int_equal(pthread_create(&other, NULL, close_at_once, &fds[1]), 0);
    assert_non_null(close_at_once(&fds[0]));
    pthread_join(other, &closed);
    assert_non_null(closed);
  }
  pthread_barrier_destroy(&both);
}

/* One thread closes a channel whose grid never ends; another closes everything else. */
static void channel_closes_during_work(void **state) {
  enum { ROUNDS = 30, CTAS = 20 };
  assert_int_equal(pthread_barrier_init(&both, NULL, 2), 0);
  for (int round = 0; round < ROUNDS; round++) {
    struct client c;
    struct channel ch;
    client_open(&c);
    channel_open(&c, &ch, 64, CLASS_COMPUTE);
    uint64_t *count = (uint64_t *)(void *)((char *)ch.push.cpu + 0x9000);
    const struct fake_program p = {.operation = FAKE_COUNT,
                                   .address = ch.push.va + 0x9008,
                                   .value = 1,
                                   .address2 = ch.push.va + 0x9000};
    memcpy((char *)ch.push.cpu + 0x8000, &p, sizeof(p));
    qmd_make((uint32_t *)(void *)((char *)ch.push.cpu + 0x8800), ch.push.va + 0x8000,
             ch.push.va + 0xa000, CTAS);
    push_compute_setup(&ch);
    push_method(&ch, SUBCHANNEL_COMPUTE, NVC7C0_SEND_PCAS_A,
                (uint32_t)((ch.push.va + 0x8800) >> QMD_ADDRESS_SHIFT));
    push_method(&ch, SUBCHANNEL_COMPUTE, NVC7C0_SEND_SIGNALING_PCAS2_B, PCAS_SCHEDULE);
    push_semaphore(&ch, ch.push.va + 0xb000, 1, RELEASE_64_WFI);
    submit(&c, &ch);
    while (__atomic_load_n(count, __ATOMIC_SEQ_CST) < 2 * CTAS)
      usleep(100);
    pthread_t other;
    void *closed;
    assert_int_equal(pthread_create(&other, NULL, close_at_once, &ch.fd), 0);
    const int fds[] = {ch.ring.fd, ch.userd.fd, ch.push.fd, ch.notifier.fd, c.tsg,
                       c.as,       c.node,      c.ctrl,     c.nvmap};
    const struct buffer *buffers[] = {&ch.ring, &ch.userd, &ch.push, &ch.notifier};
    pthread_barrier_wait(&both);
    for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++)
      assert_int_equal(OS->close(fds[i]), 0);
    assert_int_equal(OS->munmap(c.page, 0x10000), 0);
    pthread_join(other, &closed);
    assert_non_null(closed);
    for (size_t i = 0; i < sizeof(buffers) / sizeof(buffers[0]); i++)
      assert_int_equal(OS->munmap(buffers[i]->cpu, buffers[i]->size), 0);
  }
  pthread_barrier_destroy(&both);
}

/* A child has its own, empty device, and the parent's device continues to work. */
static void child_has_empty_device(void **state) {
  struct client c;
  struct channel ch;
  client_open(&c);
  channel_open(&c, &ch, 64, CLASS_COMPUTE);
  pid_t pid = fork();
  if (pid == 0) {
    int fd = OS->open("/dev/nvmap", O_RDWR);
    int good = fd >= 0 && OS->close(c.ctrl) == 0 && OS->close(fd) == 0;
    _exit(good ? 0 : 1);
  }
  int status = -1;
  assert_int_equal(waitpid(pid, &status, 0), pid);
  assert_int_equal(status, 0);
  push_semaphore(&ch, ch.push.va + 0x8000, 3, 1);
  submit(&c, &ch);
  assert_true(wait_word((char *)ch.push.cpu + 0x8000, 3));
  channel_close(&c, &ch);
  client_close(&c);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(devices_do_not_leak),
      cmocka_unit_test(buffers_and_channels_do_not_leak),
      cmocka_unit_test(objects_close_in_reverse_order),
      cmocka_unit_test(ioctls_from_4_threads_succeed),
      cmocka_unit_test(child_has_empty_device),
      cmocka_unit_test(last_fds_close_concurrently),
      cmocka_unit_test(channel_closes_during_work),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
