/* Messages between the client and the helper process. A message is a buffer of numbers, strings
 * and byte blocks; the socket carries it after its length. Neither side trusts the other: taking
 * functions check bounds, and receiving functions check sizes and respect deadlines.
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
  bool broken; /* out of memory in a put function, or a take function failed */
};

void message_finish(struct message *message);

void message_put_number(struct message *message, uint64_t number);
void message_put_bytes(struct message *message, const void *bytes, size_t size);
/* Sends NULL as "". */
void message_put_string(struct message *message, const char *text);

/* Limits the memory that a malicious peer can make us allocate.
 * Far larger than any program needs. */
#define MESSAGE_MAX (1ull << 30)

/* Take values from the message. Return 0, NULL or "" once the message is
 * broken. Pointers point into the message. */
uint64_t message_take_number(struct message *message);
const void *message_take_bytes(struct message *message, size_t *size);
const char *message_take_string(struct message *message);

/* A build request: the job and the folder for relative file names. message_take_job allocates
 * arrays, which message_free_job frees; strings point into the message. */
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

/* Writes the answer to a request: a status and a result. */
void message_put_result(struct message *message, enum cc_status status,
                        const struct cc_result *result);
/* Reads and copies the answer. Returns 0, -EPROTO if the message is broken, or -ENOMEM. */
int message_take_result(struct message *message, enum cc_status *status, struct cc_result *result);

/* Returns CLOCK_MONOTONIC in milliseconds, for deadlines. */
int64_t message_now_ms(void);

/* Send or receive one message on a connected stream socket until deadline_ms. Return 0, -ETIMEDOUT,
 * -EPIPE if the peer has closed the connection (when receiving: before the first byte), -EPROTO if
 * it stopped in the middle or sent invalid data, or another -errno. SIGPIPE is never raised. */
int message_send(int fd, const struct message *message, int64_t deadline_ms);
int message_receive(int fd, struct message *message, int64_t deadline_ms);

#endif
