/* Requests of kernel interfaces other than that of L4T r36, for --explain.
 * Generated from requests.csv, which contains the source of each.
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
