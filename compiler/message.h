/* The messages between the client and the helper process: numbers, strings and
 * byte blocks in one buffer, and buffers with their length in front on a socket.
 * Neither side trusts the other: takers check bounds, receivers check sizes and
 * keep deadlines.
 */
#ifndef TEGRACL_MESSAGE_H
#define TEGRACL_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "compiler/compiler.h"

struct message {
  unsigned char *bytes;
  size_t size;
  size_t room; /* allocated */
  size_t at;   /* taken so far */
  bool broken; /* memory ran out while putting, or a take failed */
};

void message_finish(struct message *message);

void message_put_number(struct message *message, uint64_t number);
void message_put_bytes(struct message *message, const void *bytes, size_t size);
/* NULL is sent as "". */
void message_put_string(struct message *message, const char *text);

/* Far more than any program needs: a limit of what a broken peer can make us allocate. */
#define MESSAGE_MAX (1ull << 30)

/* These return 0, NULL or "" once the message is broken. Their pointers are into the
 * message. */
uint64_t message_take_number(struct message *message);
const void *message_take_bytes(struct message *message, size_t *size);
const char *message_take_string(struct message *message);

/* A build request: the job and the folder in which relative names of files are
 * to be looked up. message_take_job fills arrays in malloc'ed memory, which
 * message_free_job frees; strings live in the message. */
struct message_job {
  struct cc_job job;
  struct cc_device device;
  struct cc_source *sources;
  struct cc_header *headers;
  const char *folder;
};
void message_put_job(struct message *message, const struct cc_job *job, const char *folder);
bool message_take_job(struct message *message, struct message_job *job);
void message_free_job(struct message_job *job);

/* The answer to a request: status and result. */
void message_put_result(struct message *message, enum cc_status status,
                        const struct cc_result *result);
/* Copies into result: 0; -EPROTO if the message is broken; -ENOMEM. */
int message_take_result(struct message *message, enum cc_status *status, struct cc_result *result);

/* CLOCK_MONOTONIC in milliseconds, for deadlines. */
int64_t message_now_ms(void);

/* Sends or receives one whole message on a connected stream socket until
 * deadline_ms: 0; -ETIMEDOUT; -EPIPE when the other side is gone (receive:
 * before the first byte); -EPROTO when it broke off or sent nonsense; another
 * -errno. Never raises SIGPIPE. */
int message_send(int fd, const struct message *message, int64_t deadline_ms);
int message_receive(int fd, struct message *message, int64_t deadline_ms);

#endif
