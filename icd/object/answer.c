/* Results of clGet*Info queries, with the size checks that all of them share. */
#include <string.h>

#include "icd/icd.h"

cl_int icd_answer_bytes(const struct icd_answer *answer, const char *call, const void *data,
                        size_t size) {
  if (answer->value && answer->size < size)
    return icd_fail(NULL, CL_INVALID_VALUE, call,
                    "param_value_size is %zu, but the result has %zu bytes", answer->size, size);
  if (answer->value && size)
    memcpy(answer->value, data, size);
  if (answer->size_ret)
    *answer->size_ret = size;
  return CL_SUCCESS;
}

cl_int icd_answer_string(const struct icd_answer *answer, const char *call, const char *text) {
  return icd_answer_bytes(answer, call, text, strlen(text) + 1);
}
