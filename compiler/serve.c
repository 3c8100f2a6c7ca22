/* The helper process: receives build requests, compiles, answers. Leaves when the
 * client has gone (even in the middle of a compilation) or has been silent for a
 * while.
 */
#include "compiler/serve.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compiler/compile.h"
#include "compiler/message.h"

enum { IDLE_MS = 10 * 1000, ANSWER_MS = 30 * 1000 };

/* Waits until the client's side of the socket closes, then ends this process and
 * what it started (the process group, if we lead one). The main thread may be
 * deep in the compiler, so there is nothing to tidy up. */
static void *watch_client(void *argument) {
  struct pollfd place = {.fd = *(int *)argument, .events = POLLRDHUP};
  while (poll(&place, 1, -1) < 0 && errno == EINTR) {
  }
  if (getpgrp() == getpid())
    kill(0, SIGKILL);
  _exit(EXIT_SUCCESS);
}

static enum cc_status answer(struct message *request, struct cc_result *result) {
  struct message_job job;
  enum cc_status status = CC_INTERNAL_ERROR;
  if (!message_take_job(request, &job)) {
    result->log = strdup("the compiler could not read the request\n");
  } else {
    /* Relative names of include folders mean the application's folder now. If it
     * has vanished, clang reports the names that it cannot find. */
    if (*job.folder && chdir(job.folder) != 0)
      errno = 0;
    status = cc_compile(&job.job, result);
  }
  message_free_job(&job);
  return status;
}

int cc_serve(int fd) {
  static int watched;
  pthread_t watcher;
  watched = fd;
  if (pthread_create(&watcher, NULL, watch_client, &watched) == 0)
    pthread_detach(watcher);
  for (;;) {
    struct message request, reply = {0};
    struct cc_result result = {0};
    int error = message_receive(fd, &request, message_now_ms() + IDLE_MS);
    if (error)
      return error == -ETIMEDOUT || error == -EPIPE ? EXIT_SUCCESS : EXIT_FAILURE;
    enum cc_status status = answer(&request, &result);
    message_put_result(&reply, status, &result);
    error = message_send(fd, &reply, message_now_ms() + ANSWER_MS);
    message_finish(&reply);
    message_finish(&request);
    cc_result_finish(&result);
    if (error)
      return EXIT_FAILURE;
  }
}
