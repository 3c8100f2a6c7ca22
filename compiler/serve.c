/* The helper process: receives build requests, compiles, and answers. It exits when the client
 * has exited (even during a compilation) or has been idle for some time.
 */
#include "compiler/serve.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "compiler/compile.h"
#include "compiler/confine.h"
#include "compiler/helper_limits.h"
#include "compiler/message.h"

/* Timeout for the next request. There is no timeout for the first request and for sending answers,
 * because the client may be stopped for a while; if it exits, watch_client ends this process. */
enum { IDLE_MS = 10 * 1000 };

/* Stops clang from symbolizing the stack trace of a crash, which takes seconds. */
#define NO_SYMBOLS "LLVM_DISABLE_SYMBOLIZATION"

/* Waits until the client's end of the socket closes. Then ends this process and its
 * children (the process group, if this process leads it) without cleaning up, because
 * the main thread may be in the middle of a compilation. */
static void *watch_client(void *argument) {
  struct pollfd place = {.fd = *(int *)argument, .events = POLLRDHUP};
  while (poll(&place, 1, -1) < 0 && errno == EINTR) {
  }
  if (getpgrp() == getpid())
    kill(0, SIGKILL);
  _exit(EXIT_SUCCESS);
}

/* Whether this process or a command that it ran may have failed for lack of memory. */
static bool was_short(enum cc_status status, uint64_t memory_mib) {
  struct rusage own, commands;
  if (status != CC_INTERNAL_ERROR || getrusage(RUSAGE_SELF, &own) != 0 ||
      getrusage(RUSAGE_CHILDREN, &commands) != 0)
    return status == CC_OUT_OF_MEMORY;
  return limits_were_met(&own, memory_mib) || limits_were_met(&commands, memory_mib);
}

/* Its file system can be unmounted then, and the next job finds none of its files. */
static void leave_folder(void) {
  if (chdir("/") != 0)
    errno = 0;
}

static enum cc_status compile_request(struct message *request, struct cc_result *result) {
  struct message_job job;
  enum cc_status status = CC_INTERNAL_ERROR;
  if (!message_take_job(request, &job)) {
    result->log = strdup("the compiler received a malformed request\n");
  } else {
    /* Relative include folders refer to the application's present folder. If it no
     * longer exists, clang reports the files that it cannot find. */
    if (!*job.folder || chdir(job.folder) != 0)
      leave_folder();
    limits_on_build(job.job.memory_mib);
    status = cc_compile(&job.job, result);
    result->short_of_memory = was_short(status, job.job.memory_mib);
    leave_folder();
  }
  message_free_job(&job);
  return status;
}

/* Reports that the helper, not the application, ran out of memory, as a failed build. */
static enum cc_status report_memory(struct cc_result *result) {
  struct rlimit files;
  cc_result_finish(result);
  result->short_of_memory = true;
  const int length =
      getrlimit(RLIMIT_FSIZE, &files) == 0 && files.rlim_cur != RLIM_INFINITY
          ? asprintf(
                &result->log,
                "the compiler ran out of memory (limit: %llu MiB) or exceeded the file size limit "
                "of %llu bytes (ulimit -f)\n",
                (unsigned long long)limits_memory_mib(), (unsigned long long)files.rlim_cur)
          : asprintf(&result->log, "the compiler ran out of memory (limit: %llu MiB)\n",
                     (unsigned long long)limits_memory_mib());
  if (length < 0)
    result->log = NULL;
  return CC_INTERNAL_ERROR;
}

int cc_serve(int fd) {
  static int watched;
  pthread_t watcher;
  limits_on_memory();
  limits_on_files();
  confine();
  watched = fd;
  if (pthread_create(&watcher, NULL, watch_client, &watched) == 0)
    pthread_detach(watcher);
  setenv(NO_SYMBOLS, "1", 0);
  signal(SIGXFSZ, SIG_IGN); /* inherited by compilers: write errors, not a signal */
  for (bool first = true;; first = false) {
    struct message request, reply = {0};
    struct cc_result result = {0};
    int error = message_receive(fd, &request, first ? INT64_MAX : message_now_ms() + IDLE_MS);
    if (error)
      return error == -ETIMEDOUT || error == -EPIPE ? EXIT_SUCCESS : EXIT_FAILURE;
    limits_on_time();
    enum cc_status status = compile_request(&request, &result);
    if (status == CC_OUT_OF_MEMORY)
      status = report_memory(&result);
    message_put_result(&reply, status, &result);
    error = message_send(fd, &reply, INT64_MAX);
    message_finish(&reply);
    message_finish(&request);
    cc_result_finish(&result);
    /* After a crash or an exceeded limit, the next build needs a new helper. */
    if (error || status == CC_INTERNAL_ERROR)
      return error ? EXIT_FAILURE : EXIT_SUCCESS;
  }
}
