/* Messages between client and helper; see message.h. On the socket a message consists of a magic
 * word, a 64-bit length and the bytes. Numbers are 64-bit; strings and blocks follow their length.
 * Both sides run on the same machine, so numbers are in host byte order.
 */
#include "compiler/message.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "base/clock.h"

enum { FRAME_MAGIC = 0x54474343 };

struct frame {
  uint64_t magic;
  uint64_t size;
};

void message_finish(struct message *message) {
  free(message->bytes);
  *message = (struct message){0};
}

/* ---- putting --------------------------------------------------------------- */

static unsigned char *reserve_bytes(struct message *m, size_t size) {
  if (m->broken)
    return NULL;
  if (m->room - m->size < size) {
    size_t room = m->room ? m->room : 4096;
    while (room - m->size < size && room <= MESSAGE_MAX)
      room *= 2;
    unsigned char *bytes = room - m->size < size ? NULL : realloc(m->bytes, room);
    if (!bytes) {
      m->broken = true;
      return NULL;
    }
    m->bytes = bytes;
    m->room = room;
  }
  unsigned char *at = m->bytes + m->size;
  m->size += size;
  return at;
}

void message_put_number(struct message *message, uint64_t number) {
  unsigned char *at = reserve_bytes(message, sizeof(number));
  if (at)
    memcpy(at, &number, sizeof(number));
}

void message_put_bytes(struct message *message, const void *bytes, size_t size) {
  message_put_number(message, size);
  unsigned char *at = reserve_bytes(message, size);
  if (at && size)
    memcpy(at, bytes, size);
}

void message_put_string(struct message *message, const char *text) {
  message_put_bytes(message, text ? text : "", text ? strlen(text) + 1 : 1);
}

/* ---- taking ---------------------------------------------------------------- */

uint64_t message_take_number(struct message *message) {
  uint64_t number = 0;
  if (message->broken || message->size - message->at < sizeof(number)) {
    message->broken = true;
    return 0;
  }
  memcpy(&number, message->bytes + message->at, sizeof(number));
  message->at += sizeof(number);
  return number;
}

const void *message_take_bytes(struct message *message, size_t *size) {
  uint64_t length = message_take_number(message);
  if (message->broken || message->size - message->at < length) {
    message->broken = true;
    *size = 0;
    return NULL;
  }
  const unsigned char *at = message->bytes + message->at;
  message->at += length;
  *size = length;
  return at;
}

const char *message_take_string(struct message *message) {
  size_t size;
  const char *text = message_take_bytes(message, &size);
  if (!text || size == 0 || text[size - 1] != 0) {
    message->broken = true;
    return "";
  }
  return text;
}

/* ---- jobs and results ------------------------------------------------------- */

void message_put_job(struct message *message, const struct cc_job *job, const char *folder) {
  message_put_string(message, folder);
  message_put_number(message, job->action);
  message_put_number(message, job->device->sm);
  message_put_number(message, job->device->version);
  message_put_number(message, job->device->local_mem_bytes);
  message_put_number(message, job->device->textures);
  message_put_string(message, job->device->extensions);
  message_put_string(message, job->device->c_features);
  message_put_string(message, job->options);
  message_put_number(message, job->may_plan);
  message_put_number(message, job->memory_mib);
  message_put_number(message, job->source_count);
  for (size_t i = 0; i < job->source_count; i++)
    message_put_bytes(message, job->sources[i].text, job->sources[i].size);
  message_put_number(message, job->header_count);
  for (size_t i = 0; i < job->header_count; i++) {
    message_put_string(message, job->headers[i].name);
    message_put_string(message, job->headers[i].text);
  }
}

/* Takes a count of items, each of which has at least the size of a number. */
static size_t take_count(struct message *m) {
  uint64_t count = message_take_number(m);
  if (count > (m->size - m->at) / sizeof(uint64_t))
    m->broken = true;
  return m->broken ? 0 : (size_t)count;
}

bool message_take_job(struct message *message, struct message_job *job) {
  *job = (struct message_job){0};
  job->folder = message_take_string(message);
  const uint64_t action = message_take_number(message);
  if (action > CC_BUILD_UNIT)
    message->broken = true;
  job->device.sm = (unsigned)message_take_number(message);
  job->device.version = (unsigned)message_take_number(message);
  job->device.local_mem_bytes = message_take_number(message);
  job->device.textures = message_take_number(message) != 0;
  job->device.extensions = message_take_string(message);
  job->device.c_features = message_take_string(message);
  const char *options = message_take_string(message);
  const bool may_plan = message_take_number(message) != 0;
  const uint64_t memory_mib = message_take_number(message);
  size_t source_count = take_count(message);
  job->sources = calloc(source_count + 1, sizeof(*job->sources));
  for (size_t i = 0; job->sources && i < source_count; i++)
    job->sources[i].text = message_take_bytes(message, &job->sources[i].size);
  size_t header_count = take_count(message);
  job->headers = calloc(header_count + 1, sizeof(*job->headers));
  for (size_t i = 0; job->headers && i < header_count; i++) {
    job->headers[i].name = message_take_string(message);
    job->headers[i].text = message_take_string(message);
  }
  job->job = (struct cc_job){
      .action = (enum cc_action)action,
      .device = &job->device,
      .sources = job->sources,
      .source_count = source_count,
      .headers = job->headers,
      .header_count = header_count,
      .options = options,
      .may_plan = may_plan,
      .memory_mib = memory_mib,
  };
  return job->sources && job->headers && !message->broken;
}

void message_free_job(struct message_job *job) {
  free(job->sources);
  free(job->headers);
}

void message_put_result(struct message *message, enum cc_status status,
                        const struct cc_result *result) {
  message_put_number(message, status);
  message_put_string(message, result->log);
  message_put_bytes(message, result->binary, result->binary_size);
  message_put_bytes(message, result->places, result->places_size);
  message_put_bytes(message, result->plan, result->plan_size);
  message_put_number(message, result->short_of_memory);
  for (int i = 0; i < CC_STAGES; i++) {
    message_put_number(message, result->stages[i].begin_ns);
    message_put_number(message, result->stages[i].end_ns);
  }
}

/* Takes the next block of bytes as a copy. Returns NULL if the block is empty or memory ran out. */
static void *take_copy(struct message *message, size_t *size) {
  const void *bytes = message_take_bytes(message, size);
  void *copy = *size ? malloc(*size) : NULL;
  return copy ? memcpy(copy, bytes, *size) : NULL;
}

int message_take_result(struct message *message, enum cc_status *status, struct cc_result *result) {
  const uint64_t number = message_take_number(message);
  const char *log = message_take_string(message);
  result->binary = take_copy(message, &result->binary_size);
  result->places = take_copy(message, &result->places_size);
  result->plan = take_copy(message, &result->plan_size);
  result->short_of_memory = message_take_number(message) != 0;
  for (int i = 0; i < CC_STAGES; i++) {
    result->stages[i].begin_ns = message_take_number(message);
    result->stages[i].end_ns = message_take_number(message);
  }
  result->log = strdup(log);
  int error = 0;
  if (message->broken || number > CC_INTERNAL_ERROR ||
      (number == CC_OK && !result->binary_size && !result->plan_size))
    error = -EPROTO;
  else if (!result->log || !result->binary != !result->binary_size ||
           !result->places != !result->places_size || !result->plan != !result->plan_size)
    error = -ENOMEM;
  if (error)
    cc_result_finish(result);
  else
    *status = (enum cc_status)number;
  return error;
}

/* ---- the socket ------------------------------------------------------------- */

int64_t message_now_ms(void) {
  return (int64_t)(base_clock_ns() / 1000000);
}

/* Waits until fd is ready for events. Returns 0, -ETIMEDOUT or -errno. */
static int wait_ready(int fd, short events, int64_t deadline_ms) {
  for (;;) {
    int64_t left = deadline_ms - message_now_ms();
    if (left <= 0)
      return -ETIMEDOUT;
    struct pollfd place = {.fd = fd, .events = events};
    int ready = poll(&place, 1, left > INT32_MAX ? INT32_MAX : (int)left);
    if (ready > 0)
      return 0;
    if (ready < 0 && errno != EINTR)
      return -errno;
  }
}

static int send_all(int fd, const void *data, size_t size, int64_t deadline_ms) {
  const unsigned char *at = data;
  while (size > 0) {
    ssize_t sent = send(fd, at, size, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent >= 0) {
      at += sent;
      size -= (size_t)sent;
    } else if (errno == EAGAIN) {
      int error = wait_ready(fd, POLLOUT, deadline_ms);
      if (error)
        return error;
    } else if (errno == ECONNRESET) {
      return -EPIPE;
    } else if (errno != EINTR) {
      return -errno;
    }
  }
  return 0;
}

static int receive_all(int fd, void *data, size_t size, int64_t deadline_ms) {
  unsigned char *at = data;
  bool any = false;
  while (size > 0) {
    ssize_t got = recv(fd, at, size, MSG_DONTWAIT);
    if (got > 0) {
      at += got;
      size -= (size_t)got;
      any = true;
    } else if (got == 0 || errno == ECONNRESET) {
      return any ? -EPROTO : -EPIPE;
    } else if (errno == EAGAIN) {
      int error = wait_ready(fd, POLLIN, deadline_ms);
      if (error)
        return error;
    } else if (errno != EINTR) {
      return -errno;
    }
  }
  return 0;
}

int message_send(int fd, const struct message *message, int64_t deadline_ms) {
  if (message->broken)
    return -ENOMEM;
  struct frame frame = {.magic = FRAME_MAGIC, .size = message->size};
  int error = send_all(fd, &frame, sizeof(frame), deadline_ms);
  return error ? error : send_all(fd, message->bytes, message->size, deadline_ms);
}

int message_receive(int fd, struct message *message, int64_t deadline_ms) {
  struct frame frame;
  *message = (struct message){0};
  int error = receive_all(fd, &frame, sizeof(frame), deadline_ms);
  if (error)
    return error;
  if (frame.magic != FRAME_MAGIC || frame.size > MESSAGE_MAX)
    return -EPROTO;
  message->bytes = malloc(frame.size ? frame.size : 1);
  if (!message->bytes)
    return -ENOMEM;
  message->size = message->room = frame.size;
  error = receive_all(fd, message->bytes, frame.size, deadline_ms);
  if (error) {
    message_finish(message);
    return error == -EPIPE ? -EPROTO : error;
  }
  return 0;
}
