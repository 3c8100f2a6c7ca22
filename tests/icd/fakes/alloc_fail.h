/* Allocation failures on demand: the test programs are linked with --wrap for
 * malloc, calloc, realloc and icd_object_new, which allocates for many objects at a time. The
 * fakes use the real ones.
 */
#ifndef TEGRACL_ALLOC_FAIL_H
#define TEGRACL_ALLOC_FAIL_H

#include <stdbool.h>
#include <stddef.h>

/* Lets the next `after` allocations pass and fails the one after them. */
void alloc_fail_arm(int after);
/* Disarms; true if an allocation has failed. */
bool alloc_fail_disarm(void);

/* The linker's names. NOLINTBEGIN(bugprone-reserved-identifier) */
void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
/* NOLINTEND(bugprone-reserved-identifier) */

#endif
