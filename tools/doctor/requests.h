/* Requests of kernel interfaces other than L4T r36's, for --explain. Generated from requests.csv,
 * which names the source of each.
 */
#ifndef TEGRACL_DOCTOR_REQUESTS_H
#define TEGRACL_DOCTOR_REQUESTS_H

#include <stdint.h>

struct doctor_request {
  uint32_t code;
  const char *interface; /* "L4T r35", "Switch" */
  const char *node;
  const char *name;
};

extern const struct doctor_request doctor_requests[];
extern const unsigned doctor_request_count;

#endif
