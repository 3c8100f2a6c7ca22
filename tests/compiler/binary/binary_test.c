/* The program binary: reading returns what was written, combined with the CUBIN's
 * data, and damaged binaries are refused with a message. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "compiler/client/binary.h"
#include "tests/compiler/binary/cubin_file.h"

static const struct binary_arg arguments[] = {
    {"a", "float*", KERNEL_ARG_GLOBAL, KERNEL_ARG_ACCESS_NONE,
     KERNEL_ARG_CONST | KERNEL_ARG_RESTRICT, 8, 0},
    {"n", "int", KERNEL_ARG_VALUE, KERNEL_ARG_ACCESS_NONE, 0, 0, 0},
    {"l", "int4*", KERNEL_ARG_LOCAL, KERNEL_ARG_ACCESS_NONE, 0, 4, 32},
};

static const struct binary_kernel hidden = {
    .name = "hidden",
    .attributes = "__attribute__((reqd_work_group_size(8,2,1)))",
    .required_block = {8, 2, 1},
    .hinted_block = {64, 1, 1},
    .sub_groups = 7,
    .args = arguments,
    .arg_count = 3,
};

struct bytes {
  unsigned char *bytes;
  size_t size;
};

static struct bytes write_program(const struct binary_kernel *kernels, uint32_t count) {
  struct cubin_file cubin = cubin_file_read("hidden-13.0.cubin");
  assert_non_null(cubin.bytes);
  const struct binary_program program = {
      .sm = 87,
      .kernels = kernels,
      .kernel_count = count,
      .cubin = cubin.bytes,
      .cubin_size = cubin.size,
  };
  struct bytes written = {0};
  void *bytes = NULL;
  assert_int_equal(cc_binary_write(&program, &bytes, &written.size), 0);
  written.bytes = bytes;
  free(cubin.bytes);
  return written;
}

static enum cc_status read_status(const struct bytes *binary, size_t size, char error[256]) {
  struct module_code *code = NULL;
  unsigned char *exact = malloc(size + 1);
  memcpy(exact, binary->bytes, size);
  enum cc_status status = cc_module_read(exact, size, &code, error, 256);
  free(exact);
  if (status == CC_OK)
    cc_module_free(code);
  return status;
}

static void test_reads_what_was_written(void **state) {
  (void)state;
  struct bytes binary = write_program(&hidden, 1);
  assert_true(cc_binary_is_container(binary.bytes, binary.size));
  char error[256] = "";
  struct module_code *code = NULL;
  assert_int_equal(cc_module_read(binary.bytes, binary.size, &code, error, sizeof(error)), CC_OK);
  memset(binary.bytes, 0, binary.size); /* the reader must have copied the bytes */
  free(binary.bytes);
  assert_int_equal(code->kernel_count, 1);
  const struct kernel_code *kernel = &code->kernels[0];
  assert_string_equal(kernel->name, "hidden");
  assert_string_equal(kernel->attributes, hidden.attributes);
  assert_memory_equal(kernel->required_block, hidden.required_block, sizeof(hidden.required_block));
  assert_memory_equal(kernel->hinted_block, hidden.hinted_block, sizeof(hidden.hinted_block));
  assert_int_equal(kernel->sub_groups, hidden.sub_groups);
  assert_int_equal(kernel->args_known, 1);
  assert_int_equal(kernel->arg_count, 3);
  assert_int_equal(kernel->hidden_offset, 16);
  assert_int_equal(kernel->param_bytes, 16 + sizeof(struct kernel_hidden));
  assert_string_equal(kernel->args[0].name, "a");
  assert_string_equal(kernel->args[0].type_name, "float*");
  assert_int_equal(kernel->args[0].kind, KERNEL_ARG_GLOBAL);
  assert_int_equal(kernel->args[0].qualifiers, KERNEL_ARG_CONST | KERNEL_ARG_RESTRICT);
  assert_int_equal(kernel->args[1].kind, KERNEL_ARG_VALUE);
  assert_int_equal(kernel->args[1].offset, 8);
  assert_int_equal(kernel->args[1].size, 4); /* from the CUBIN */
  assert_int_equal(kernel->args[2].kind, KERNEL_ARG_LOCAL);
  assert_int_equal(kernel->args[2].offset, 12);
  assert_int_equal(kernel->args[2].align, 32);
  cc_module_free(code);
}

static void test_output_is_deterministic(void **state) {
  (void)state;
  struct bytes one = write_program(&hidden, 1), two = write_program(&hidden, 1);
  assert_int_equal(one.size, two.size);
  assert_memory_equal(one.bytes, two.bytes, one.size);
  free(one.bytes);
  free(two.bytes);
}

static void test_refuses_truncated_files(void **state) {
  (void)state;
  struct bytes binary = write_program(&hidden, 1);
  char error[256];
  for (size_t size = 0; size < binary.size; size++) {
    error[0] = 0;
    assert_int_equal(read_status(&binary, size, error), CC_INVALID_BINARY);
    assert_true(strlen(error) > 10);
  }
  assert_int_equal(read_status(&binary, binary.size, error), CC_OK);
  free(binary.bytes);
}

/* A change of any single bit is detected: in the magic, format, size, checksum or checked data.
 * The SM number is an exception, because the CUBIN also contains it. */
static void test_detects_every_changed_bit(void **state) {
  (void)state;
  enum { SM_AT = 12, SM_END = 16 };
  struct bytes binary = write_program(&hidden, 1);
  char error[256];
  for (size_t at = 0; at < binary.size; at++) {
    if (at >= SM_AT && at < SM_END)
      continue;
    unsigned char bit = (unsigned char)(1u << (at % 8));
    binary.bytes[at] ^= bit;
    assert_int_equal(read_status(&binary, binary.size, error), CC_INVALID_BINARY);
    binary.bytes[at] ^= bit;
  }
  free(binary.bytes);
}

static void check_mismatch(struct binary_kernel kernel, const char *words) {
  struct bytes binary = write_program(&kernel, 1);
  char error[256] = "";
  assert_int_equal(read_status(&binary, binary.size, error), CC_INVALID_BINARY);
  if (!strstr(error, words))
    fail_msg("\"%s\" does not say \"%s\"", error, words);
  free(binary.bytes);
}

/* Metadata that contradicts the code is refused. */
static void test_refuses_metadata_unlike_code(void **state) {
  (void)state;
  struct binary_kernel kernel = hidden;
  kernel.name = "other";
  check_mismatch(kernel, "other");
  kernel = hidden;
  kernel.arg_count = 2;
  check_mismatch(kernel, "parameters");
  kernel = hidden;
  struct binary_arg changed[3] = {arguments[0], arguments[1], arguments[2]};
  kernel.args = changed;
  changed[1].size = 8;
  check_mismatch(kernel, "size");
  changed[1] = arguments[1];
  changed[1].kind = KERNEL_ARG_GLOBAL;
  check_mismatch(kernel, "size");
  changed[1] = arguments[1];
  changed[2].align = 12;
  check_mismatch(kernel, "kind");
}

/* With --wrap=calloc, the reader's allocations come here. */
static int allocations_left = -1; /* negative: no limit */
void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size) {
  if (allocations_left == 0)
    return NULL;
  allocations_left -= allocations_left > 0;
  return __real_calloc(count, size);
}

/* A failed allocation causes an error status, but no crash or leak. */
static void test_failed_allocations_are_reported(void **state) {
  (void)state;
  struct bytes binary = write_program(&hidden, 1);
  enum cc_status status = CC_OUT_OF_MEMORY;
  int failures = 0;
  while (status == CC_OUT_OF_MEMORY) {
    char error[256] = "";
    struct module_code *code = NULL;
    allocations_left = failures;
    status = cc_module_read(binary.bytes, binary.size, &code, error, sizeof(error));
    allocations_left = -1;
    if (status == CC_OK)
      cc_module_free(code);
    else
      assert_non_null(strstr(error, "memory"));
    failures++;
  }
  assert_int_equal(status, CC_OK);
  assert_true(failures > 2);
  free(binary.bytes);
}

/* Values that the compiler never writes are refused despite a correct checksum. */
static void test_refuses_values_out_of_range(void **state) {
  (void)state;
  static const struct {
    struct binary_kernel kernel;
    struct binary_arg arg; /* if named, replaces the last argument */
    const char *words;
  } rows[] = {
      {.kernel.required_block = {64, 0, 1}, .words = "64 x 0 x 1"},
      {.kernel.required_block = {0, 1, 1}, .words = "0 x 1 x 1"},
      {.kernel.sub_groups = 33, .words = "number of sub-groups is 33"},
      {.kernel.name = "hid\033[31mden", .words = "control characters"},
      {.kernel.attributes = "a\nb", .words = "control characters"},
      {.arg = {"l", "int4*", KERNEL_ARG_SAMPLER + 1, KERNEL_ARG_ACCESS_NONE, 0, 4, 32},
       .words = "kind"},
      {.arg = {"l", "int4*", KERNEL_ARG_LOCAL, KERNEL_ARG_ACCESS_NONE + 1, 0, 4, 32},
       .words = "access"},
      {.arg = {"l", "int4*", KERNEL_ARG_LOCAL, KERNEL_ARG_ACCESS_NONE, 8, 4, 32},
       .words = "qualifiers"},
      {.arg = {"l", "int4*", KERNEL_ARG_LOCAL, KERNEL_ARG_ACCESS_NONE, 0, 4, 48},
       .words = "unknown kind"},
      {.arg = {"l", "int4*", KERNEL_ARG_LOCAL, KERNEL_ARG_ACCESS_NONE, 0, 4, 32,
               KERNEL_ARG_IMAGE_3D},
       .words = "unknown kind"},
      {.arg = {"l", "int4*", KERNEL_ARG_VALUE, KERNEL_ARG_ACCESS_NONE, 0, 70000, 0},
       .words = "size is 70000"},
      {.arg = {"l", "int4*", KERNEL_ARG_GLOBAL, KERNEL_ARG_ACCESS_NONE, 0, 8, 0},
       .words = "differs"},
      {.arg = {"l\x7f", "int4*", KERNEL_ARG_LOCAL, KERNEL_ARG_ACCESS_NONE, 0, 4, 32},
       .words = "control characters"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    struct binary_kernel kernel = hidden;
    struct binary_arg args[3];
    char error[256] = "";
    memcpy(args, arguments, sizeof args);
    kernel.args = args;
    if (rows[i].arg.name)
      args[2] = rows[i].arg;
    else if (rows[i].kernel.name)
      kernel.name = rows[i].kernel.name;
    else if (rows[i].kernel.sub_groups)
      kernel.sub_groups = rows[i].kernel.sub_groups;
    else if (rows[i].kernel.attributes)
      kernel.attributes = rows[i].kernel.attributes;
    else
      memcpy(kernel.required_block, rows[i].kernel.required_block, sizeof kernel.required_block);
    struct bytes binary = write_program(&kernel, 1);
    assert_int_equal(read_status(&binary, binary.size, error), CC_INVALID_BINARY);
    if (!strstr(error, rows[i].words))
      fail_msg("row %zu: no \"%s\" in: %s", i, rows[i].words, error);
    free(binary.bytes);
  }
  const struct binary_kernel twice[] = {hidden, hidden};
  char error[256] = "";
  struct bytes binary = write_program(twice, 2);
  assert_int_equal(read_status(&binary, binary.size, error), CC_INVALID_BINARY);
  free(binary.bytes);
}

/* ---- units ------------------------------------------------------------------------ */

enum { UNITS = 3, RECORDS_AT = 72, RECORD_BYTES = 48, HASH_AT = 24, HASHED_FROM = 32 };

static struct bytes join(const struct bytes *unit) {
  static const struct binary_place places[] = {{12, 0}, {3, 1}};
  static const char files[] = "<program source>\0header.h";
  struct binary_unit units[UNITS];
  struct bytes joined = {0};
  void *bytes = NULL;
  for (int i = 0; i < UNITS; i++)
    units[i] = (struct binary_unit){unit->bytes, unit->size, places, 2, files, sizeof(files)};
  assert_int_equal(cc_binary_join(units, UNITS, &bytes, &joined.size), 0);
  joined.bytes = bytes;
  return joined;
}

static void seal(struct bytes *binary) {
  const uint64_t hash = XXH64(binary->bytes + HASHED_FROM, binary->size - HASHED_FROM, 0);
  memcpy(binary->bytes + HASH_AT, &hash, sizeof(hash));
}

/* Each unit has its own sections, which its kernels and relocations refer to. */
static void test_reads_sections_of_units(void **state) {
  (void)state;
  struct bytes unit = write_program(&hidden, 1), binary = join(&unit);
  char error[256] = "";
  struct module_code *one = NULL, *code = NULL;
  assert_int_equal(cc_module_read(unit.bytes, unit.size, &one, error, sizeof(error)), CC_OK);
  assert_int_equal(cc_module_read(binary.bytes, binary.size, &code, error, sizeof(error)), CC_OK);
  assert_int_equal(code->kernel_count, UNITS);
  assert_int_equal(code->section_count, UNITS * one->section_count);
  assert_int_equal(code->reloc_count, UNITS * one->reloc_count);
  for (uint32_t i = 0; i < UNITS; i++) {
    const struct kernel_code *kernel = &code->kernels[i];
    const uint32_t by = i * one->section_count;
    assert_string_equal(kernel->name, "hidden");
    assert_int_equal(kernel->text, one->kernels[0].text + by);
    assert_int_equal(kernel->bank2, one->kernels[0].bank2 == MODULE_NO_SECTION
                                        ? MODULE_NO_SECTION
                                        : one->kernels[0].bank2 + by);
    assert_memory_equal(code->sections[kernel->text].data, one->sections[one->kernels[0].text].data,
                        one->sections[one->kernels[0].text].size);
  }
  cc_module_free(one);
  cc_module_free(code);
  for (size_t size = 0; size < binary.size; size += 7)
    assert_int_equal(read_status(&binary, size, error), CC_INVALID_BINARY);
  free(unit.bytes);
  free(binary.bytes);
}

static void check_records(struct bytes *binary, int unit, int number, uint64_t value) {
  char error[256] = "";
  uint64_t old;
  unsigned char *place = binary->bytes + RECORDS_AT + unit * RECORD_BYTES + number * 8;
  memcpy(&old, place, sizeof(old));
  memcpy(place, &value, sizeof(value));
  seal(binary);
  assert_int_equal(read_status(binary, binary->size, error), CC_INVALID_BINARY);
  assert_true(strlen(error) > 10);
  memcpy(place, &old, sizeof(old));
  seal(binary);
  assert_int_equal(read_status(binary, binary->size, error), CC_OK);
}

/* Refuses parts of units that are outside the file, overlap, or have the wrong kind. */
static void test_refuses_damaged_units(void **state) {
  (void)state;
  struct bytes unit = write_program(&hidden, 1), binary = join(&unit);
  char error[256] = "";
  uint64_t first;
  memcpy(&first, binary.bytes + RECORDS_AT, sizeof(first));
  for (int i = 0; i < UNITS; i++)
    for (int number = 0; number < RECORD_BYTES / 8; number++) {
      check_records(&binary, i, number, UINT64_MAX);
      check_records(&binary, i, number, binary.size + 16);
      check_records(&binary, i, number, UINT64_MAX / sizeof(struct binary_place) - 1);
    }
  check_records(&binary, 1, 0, first);
  check_records(&binary, 0, 0, first + 8);
  struct bytes nested = join(&binary);
  assert_int_equal(read_status(&nested, nested.size, error), CC_INVALID_BINARY);
  free(nested.bytes);
  free(unit.bytes);
  free(binary.bytes);
}

static void test_reads_program_without_kernels(void **state) {
  (void)state;
  struct bytes binary = write_program(NULL, 0);
  char error[256] = "";
  struct module_code *code = NULL;
  assert_int_equal(cc_module_read(binary.bytes, binary.size, &code, error, sizeof(error)), CC_OK);
  assert_int_equal(code->kernel_count, 0);
  cc_module_free(code);
  free(binary.bytes);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_reads_what_was_written),
      cmocka_unit_test(test_output_is_deterministic),
      cmocka_unit_test(test_refuses_truncated_files),
      cmocka_unit_test(test_detects_every_changed_bit),
      cmocka_unit_test(test_refuses_metadata_unlike_code),
      cmocka_unit_test(test_reads_program_without_kernels),
      cmocka_unit_test(test_failed_allocations_are_reported),
      cmocka_unit_test(test_refuses_values_out_of_range),
      cmocka_unit_test(test_reads_sections_of_units),
      cmocka_unit_test(test_refuses_damaged_units),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
