/* Tests arenas and growing strings. */
#include <setjmp.h>
#include <stdalign.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <wchar.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/text.h"

static void arenas_allocate_zeroed_aligned_memory(void **state) {
  static const size_t sizes[] = {0, 1, 3, 8191, 8192, 8193, 1 << 20, 5};
  struct arena arena = {0};
  for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
    unsigned char *bytes = arena_alloc(&arena, sizes[i], 1);
    assert_non_null(bytes);
    assert_int_equal((uintptr_t)bytes % alignof(max_align_t), 0);
    for (size_t b = 0; b < sizes[i]; b++)
      assert_int_equal(bytes[b], 0);
    memset(bytes, 0xff, sizes[i]);
  }
  assert_null(arena_alloc(&arena, SIZE_MAX / 2, 3));
  assert_null(arena_string(&arena, "", SIZE_MAX));
  assert_string_equal(arena_string(&arena, "kernel", 3), "ker");
  arena_finish(&arena);
  assert_null(arena.blocks);
}

static void texts_grow(void **state) {
  struct text text = {0};
  text_add(&text, NULL, 0);
  assert_string_equal(text.data, "");
  for (int i = 0; i < 1000; i++)
    text_printf(&text, "%03d", i);
  text_puts(&text, "end");
  assert_false(text.failed);
  assert_int_equal(text.size, 3003);
  assert_memory_equal(text.data, "000001002", 9);
  assert_string_equal(text.data + 2997, "999end");
  text_finish(&text);
  assert_null(text.data);
}

/* The program's locale lacks this character, so vsnprintf fails. */
static void failed_format_sets_failed(void **state) {
  static const wchar_t euro[] = {0x20ac, 0};
  struct text text = {0};
  text_puts(&text, "before");
  text_printf(&text, "%ls", euro);
  text_puts(&text, "after");
  assert_true(text.failed);
  assert_string_equal(text.data, "before");
  text_finish(&text);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(arenas_allocate_zeroed_aligned_memory),
                                     cmocka_unit_test(texts_grow),
                                     cmocka_unit_test(failed_format_sets_failed)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
