/* Injected allocation failures. Test programs are linked with --wrap for malloc, calloc, realloc
 * and icd_object_new, which allocates memory for many objects at once. The fakes use the real
 * functions.
 */
#ifndef TEGRACL_ALLOC_FAIL_H
#define TEGRACL_ALLOC_FAIL_H

#include <stdbool.h>
#include <stddef.h>

/* Lets the next `after` allocations succeed, and fails the one after them. */
void alloc_fail_arm(int after);
/* Stops injecting. Returns true if an allocation has failed. */
bool alloc_fail_disarm(void);

/* Names that the linker requires. NOLINTBEGIN(bugprone-reserved-identifier) */
void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
/* NOLINTEND(bugprone-reserved-identifier) */

#endif
