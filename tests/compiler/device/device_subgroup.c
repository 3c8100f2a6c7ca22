/* Tests the sub-group functions with every scalar type, in complete and partial
 * sub-groups. Functions that only some work-items may execute are tested with three
 * patterns of active work-items. Compares with the host's results. Everything is exact:
 * sums and products of floating-point values are small integers.
 */
#include <fenv.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/compiler/device/device_cl.h"

__extension__ typedef __int128 wide;
enum { LANES = 32, ITEMS = 3 * 108, SHOWN = 4, FIXED = 5, WIDTH = 8, CALLS_MAX = 96 };

static const struct type {
  const char *name;
  unsigned bits;
  bool is_signed, is_float;
} types[] = {
    {"char", 8, true, false},     {"uchar", 8, false, false},  {"short", 16, true, false},
    {"ushort", 16, false, false}, {"int", 32, true, false},    {"uint", 32, false, false},
    {"long", 64, true, false},    {"ulong", 64, false, false}, {"half", 16, true, true},
    {"float", 32, true, true},    {"double", 64, true, true},
};
enum { TYPES = sizeof types / sizeof types[0] };

enum operation { ADD, MUL, MIN, MAX, AND, OR, XOR, LOGICAL_AND, LOGICAL_OR, LOGICAL_XOR };
static const char *const operations[] = {"add", "mul", "min",         "max",        "and",
                                         "or",  "xor", "logical_and", "logical_or", "logical_xor"};

/* What a call does with x and, in some cases, with the index p. */
enum action {
  REDUCE,
  INCLUSIVE,
  EXCLUSIVE,
  CLUSTERED,
  SHUFFLE,
  SHUFFLE_XOR,
  SHUFFLE_UP,
  SHUFFLE_DOWN,
  ROTATE,
  CLUSTERED_ROTATE,
  BROADCAST,
  BROADCAST_FIRST,
  ALL_EQUAL,
};
struct call {
  char text[80];
  enum action action;
  enum operation operation;
  bool some; /* only some work-items make the call */
};
static struct call calls[CALLS_MAX];
static unsigned call_count;

static void add_call(enum action action, enum operation operation, bool some, const char *format) {
  struct call *call = &calls[call_count++];
  *call = (struct call){.action = action, .operation = operation, .some = some};
  snprintf(call->text, sizeof call->text, format, operations[operation]);
}

/* Lists the calls that exist for a type. */
static void make_calls(const struct type *t) {
  call_count = 0;
  for (enum operation o = ADD; o <= LOGICAL_XOR; o++) {
    if ((o >= AND && t->is_float) || (o >= LOGICAL_AND && strcmp(t->name, "int")))
      continue;
    add_call(REDUCE, o, true, "sub_group_non_uniform_reduce_%s(x)");
    add_call(INCLUSIVE, o, true, "sub_group_non_uniform_scan_inclusive_%s(x)");
    add_call(EXCLUSIVE, o, true, "sub_group_non_uniform_scan_exclusive_%s(x)");
    add_call(CLUSTERED, o, true, "sub_group_clustered_reduce_%s(x, 8)");
    if (o != ADD && o != MIN && o != MAX)
      continue;
    add_call(REDUCE, o, false, "sub_group_reduce_%s(x)");
    add_call(INCLUSIVE, o, false, "sub_group_scan_inclusive_%s(x)");
    add_call(EXCLUSIVE, o, false, "sub_group_scan_exclusive_%s(x)");
  }
  add_call(SHUFFLE, ADD, true, "sub_group_shuffle(x, p)");
  add_call(SHUFFLE_XOR, ADD, true, "sub_group_shuffle_xor(x, p)");
  add_call(SHUFFLE_UP, ADD, true, "sub_group_shuffle_up(x, p)");
  add_call(SHUFFLE_DOWN, ADD, true, "sub_group_shuffle_down(x, p)");
  add_call(ROTATE, ADD, true, "sub_group_rotate(x, (int)p)");
  add_call(CLUSTERED_ROTATE, ADD, true, "sub_group_clustered_rotate(x, (int)p, 8)");
  add_call(BROADCAST, ADD, false, "sub_group_broadcast(x, 5)");
  add_call(BROADCAST, ADD, true, "sub_group_non_uniform_broadcast(x, 5)");
  add_call(BROADCAST_FIRST, ADD, true, "sub_group_broadcast_first(x)");
  add_call(ALL_EQUAL, ADD, true, "sub_group_non_uniform_all_equal(x)");
}

/* The host's model of a sub-group. */
struct lanes {
  unsigned count; /* of work-items */
  wide x[LANES];
  bool on[LANES];
  unsigned place[LANES];
};

static wide wrap(const struct type *t, wide x) {
  unsigned __int128 low = (unsigned __int128)x & (((unsigned __int128)1 << t->bits) - 1);
  bool negative = t->is_signed && low >> (t->bits - 1);
  return t->is_float ? x : negative ? (wide)low - ((wide)1 << t->bits) : (wide)low;
}

static wide apply(enum operation o, wide a, wide b) {
  switch (o) {
  case ADD:
    return a + b;
  case MUL: /* the product of unsigned 64-bit numbers wraps */
    return (wide)((unsigned __int128)a * (unsigned __int128)b);
  case MIN:
    return a < b ? a : b;
  case MAX:
    return a > b ? a : b;
  case AND:
    return a & b;
  case OR:
    return a | b;
  case XOR:
    return a ^ b;
  case LOGICAL_AND:
    return a && b;
  case LOGICAL_OR:
    return a || b;
  default:
    return !a != !b;
  }
}

/* Combines the active lanes in [first, end). Returns false if there are none. */
static bool combine(const struct type *t, enum operation o, const struct lanes *l, unsigned first,
                    unsigned end, wide *result) {
  bool any = false;
  for (unsigned i = first; i < end && i < l->count; i++) {
    if (!l->on[i])
      continue;
    wide x = o >= LOGICAL_AND ? l->x[i] != 0 : l->x[i];
    *result = wrap(t, any ? apply(o, *result, x) : x);
    any = true;
  }
  return any;
}

/* Returns the result for no values. Scans of floating-point types begin with an infinity. */
static wide identity(const struct type *t, enum operation o) {
  wide top = t->is_float ? 1000000 : ((wide)1 << (t->bits - t->is_signed)) - 1;
  switch (o) {
  case MUL:
  case LOGICAL_AND:
    return 1;
  case AND:
    return wrap(t, -1);
  case MIN:
    return top;
  case MAX:
    return t->is_float ? -top : t->is_signed ? -top - 1 : 0;
  default:
    return 0;
  }
}

/* Computes the expected result of a lane. Returns false if the
 * specification leaves it undefined. */
static bool expect(const struct type *t, const struct call *call, const struct lanes *l,
                   unsigned lane, wide *want) {
  unsigned from = lane, p = l->place[lane];
  switch (call->action) {
  case REDUCE:
    return combine(t, call->operation, l, 0, LANES, want);
  case INCLUSIVE:
    return combine(t, call->operation, l, 0, lane + 1, want);
  case EXCLUSIVE:
    if (!combine(t, call->operation, l, 0, lane, want))
      *want = identity(t, call->operation);
    return true;
  case CLUSTERED:
    return combine(t, call->operation, l, lane / WIDTH * WIDTH, (lane / WIDTH + 1) * WIDTH, want);
  case ALL_EQUAL:
    *want = 1;
    for (unsigned i = 0; i < l->count; i++)
      if (l->on[i] && l->x[i] != l->x[lane])
        *want = 0;
    return true;
  case SHUFFLE:
    from = p;
    break;
  case SHUFFLE_XOR:
    from = lane ^ p;
    break;
  case SHUFFLE_UP:
    from = lane - p;
    break;
  case SHUFFLE_DOWN:
    from = lane + p;
    break;
  case ROTATE:
    from = (lane + p) % LANES;
    break;
  case CLUSTERED_ROTATE:
    from = lane / WIDTH * WIDTH + (lane + p) % WIDTH;
    break;
  case BROADCAST:
    from = FIXED;
    break;
  case BROADCAST_FIRST:
    for (from = 0; !l->on[from];)
      from++;
    break;
  }
  if (from >= l->count || !l->on[from])
    return false;
  *want = l->x[from];
  return true;
}

static void put(const struct type *t, void *array, size_t i, wide x) {
  if (t->is_float && t->bits == 16)
    ((uint16_t *)array)[i] = (uint16_t)device_half_bits((long double)x, FE_TONEAREST);
  else if (t->is_float && t->bits == 32)
    ((float *)array)[i] = (float)x;
  else if (t->is_float)
    ((double *)array)[i] = (double)x;
  else
    memcpy((char *)array + i * t->bits / 8, &x, t->bits / 8); /* little-endian */
}

static wide get(const struct type *t, const void *array, size_t i) {
  wide x = 0;
  long double f = t->bits == 16   ? device_half_value(((const uint16_t *)array)[i])
                  : t->bits == 32 ? (long double)((const float *)array)[i]
                                  : (long double)((const double *)array)[i];
  if (t->is_float) /* infinities are the identities of MIN and MAX */
    return f > 1000000 ? 1000000 : f < -1000000 ? -1000000 : (wide)f;
  memcpy(&x, (const char *)array + i * t->bits / 8, t->bits / 8);
  return wrap(t, x);
}

static const char head[] = "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n";

static char *program_text(const struct type *t) {
  struct device_text text = {0};
  device_text_add(
      &text,
      "%skernel void test(global const %s *a, global const int *on, global const uint "
      "*place, global %s *r) {\n  size_t i = get_global_id(0), n = get_global_size(0);\n"
      "  %s x = a[i];\n  uint p = place[i];\n",
      head, t->name, t->name, t->name);
  for (unsigned k = 0; k < call_count; k++)
    if (!calls[k].some)
      device_text_add(&text, "  r[%u * n + i] = %s;\n", k, calls[k].text);
  device_text_add(&text, "  if (on[i]) {\n");
  for (unsigned k = 0; k < call_count; k++)
    if (calls[k].some)
      device_text_add(&text, "    r[%u * n + i] = %s;\n", k, calls[k].text);
  device_text_add(&text, "  }\n}\n");
  return text.data;
}

static unsigned char input[ITEMS * 8], output[CALLS_MAX * ITEMS * 8];
static int active[ITEMS];
static unsigned places[ITEMS];

/* Patterns of active work-items: all, about half, few. In some sub-groups all values are equal. */
static void make_inputs(const struct type *t, unsigned pattern) {
  for (unsigned i = 0; i < ITEMS; i++) {
    uint64_t random = device_random();
    wide x = t->is_float ? (wide)(random % 3) - 1 : wrap(t, (wide)random);
    if (i / LANES % 4 == 3)
      x = 1;
    put(t, input, i, x);
    active[i] = pattern == 0 || (pattern == 1 ? random >> 40 & 1 : random >> 40 & 7) == 0;
    places[i] = random >> 48 & (LANES - 1);
  }
  memset(output, 0, sizeof output);
}

static struct lanes lanes_at(const struct type *t, unsigned first, unsigned count, bool some) {
  struct lanes lanes = {.count = count};
  for (unsigned i = 0; i < count; i++) {
    lanes.x[i] = get(t, input, first + i);
    lanes.on[i] = !some || active[first + i];
    lanes.place[i] = places[first + i];
  }
  return lanes;
}

static int check(const struct type *t, unsigned group, unsigned pattern) {
  int failures = 0;
  for (unsigned first = 0; first < ITEMS;) {
    unsigned rest = group - first % group, count = rest < LANES ? rest : LANES;
    for (unsigned k = 0; k < call_count; k++) {
      const struct lanes lanes = lanes_at(t, first, count, calls[k].some);
      for (unsigned i = 0; i < count; i++) {
        wide want = 0, got = get(t, output, k * ITEMS + first + i);
        if (!lanes.on[i] || !expect(t, &calls[k], &lanes, i, &want) || got == want)
          continue;
        if (failures++ < SHOWN)
          printf("  %s in %s, groups of %u, pattern %u, item %u: %lld, not %lld\n", calls[k].text,
                 t->name, group, pattern, first + i, (long long)got, (long long)want);
      }
    }
    first += count;
  }
  return failures;
}

static int test_type(struct device_cl *cl, const struct type *t) {
  static const unsigned groups[] = {ITEMS / 3, ITEMS / 9, ITEMS / 27};
  int failures = 0;
  make_calls(t);
  char *text = program_text(t);
  cl_program program = device_cl_build(cl, text);
  free(text);
  if (!program)
    return 1;
  for (unsigned g = 0; g < sizeof groups / sizeof groups[0]; g++)
    for (unsigned pattern = 0; pattern < 3; pattern++) {
      make_inputs(t, pattern);
      struct device_array arrays[] = {{input, ITEMS * t->bits / 8, false},
                                      {active, sizeof active, false},
                                      {places, sizeof places, false},
                                      {output, call_count * ITEMS * t->bits / 8, true}};
      failures += device_cl_run(cl, program, "test", ITEMS, groups[g], arrays, 4)
                      ? check(t, groups[g], pattern)
                      : 1;
    }
  clReleaseProgram(program);
  printf("%-6s %u calls%s\n", t->name, call_count, failures ? "  FAIL" : "");
  return failures != 0;
}

/* Tests identity, votes, ballots, vectors, and loops with lanes that leave one
 * by one. The kernel checks itself; see subgroup.cl. */
static int test_rest(struct device_cl *cl, cl_program program) {
  enum { LINES = 256 };
  static int failed[LINES];
  int failures = 0;
  for (unsigned group = 12; group <= 108; group += 32) {
    memset(failed, 0, sizeof failed);
    struct device_array arrays[] = {{failed, sizeof failed, true}};
    if (!device_cl_run(cl, program, "rest", 2 * (size_t)group, group, arrays, 1))
      return 1;
    for (int i = 0; i < LINES; i++)
      if (failed[i] && ++failures)
        printf("  groups of %u: line %d of subgroup.cl\n", group, i);
  }
  printf("the rest%s\n", failures ? "  FAIL" : "");
  return failures != 0;
}

/* Models that kernel for one sub-group: lanes that take the same path run together,
 * and the remaining ones reconverge after each iteration. */
enum { NUMBERS = 1024, TURNS = 20, WANDERERS = 8 * LANES };
static void wander(const unsigned in[NUMBERS], unsigned first, unsigned sum[LANES]) {
  bool gone[LANES] = {false};
  for (unsigned k = 0; k < TURNS; k++) {
    unsigned x[LANES], added = 0, most = 0, voters = 0;
    for (unsigned i = 0; i < LANES; i++) {
      x[i] = in[((first + i) * 7 + k * 13) % NUMBERS];
      if (!gone[i]) {
        added += x[i] & 1 ? x[i] & 15 : 0;
        voters += !(x[i] & 1) && x[i] & 4;
      }
    }
    bool elected = false;
    for (unsigned i = 0; i < LANES; i++) {
      if (gone[i])
        continue;
      if (x[i] & 1) {
        sum[i] += added;
        gone[i] = x[i] & 2;
      } else if (x[i] & 4) {
        sum[i] ^= voters << k;
      } else {
        most = most > (x[i] & 255) ? most : x[i] & 255;
        sum[i] += most;
      }
      if (!elected && !gone[i] && (x[i] & 1 || !(x[i] & 4))) {
        sum[i] += 100000;
        elected = true;
      }
    }
  }
}

static int test_wandering(struct device_cl *cl, cl_program program) {
  static unsigned in[NUMBERS], out[WANDERERS], want[WANDERERS];
  int failures = 0;
  for (unsigned i = 0; i < NUMBERS; i++)
    in[i] = (unsigned)(device_random() >> 32);
  for (unsigned first = 0; first < WANDERERS; first += LANES)
    wander(in, first, want + first);
  struct device_array arrays[] = {{in, sizeof in, false}, {out, sizeof out, true}};
  if (!device_cl_run(cl, program, "wandering", WANDERERS, 2 * LANES, arrays, 2))
    return 1;
  for (unsigned i = 0; i < WANDERERS; i++)
    if (out[i] != want[i] && failures++ < SHOWN)
      printf("  item %u: %u, not %u\n", i, out[i], want[i]);
  printf("wandering lanes%s\n", failures ? "  FAIL" : "");
  return failures != 0;
}

static int test_kernels(struct device_cl *cl, const char *path) {
  char source[16384] = "";
  FILE *file = fopen(path, "re");
  if (!file)
    return 1;
  size_t size = fread(source, 1, sizeof source - 1, file);
  fclose(file);
  cl_program program = size ? device_cl_build(cl, source) : NULL;
  if (!program)
    return 1;
  int failures = test_rest(cl, program) + test_wandering(cl, program);
  clReleaseProgram(program);
  return failures;
}

static bool is_size(cl_kernel kernel, cl_device_id device, cl_kernel_sub_group_info query,
                    const size_t *input_value, size_t count, size_t want) {
  size_t got = 0;
  cl_int status = clGetKernelSubGroupInfo(kernel, device, query, count * sizeof *input_value,
                                          count ? input_value : NULL, sizeof got, &got, NULL);
  if (status || got != want)
    printf("  query 0x%x: %zu, not %zu (%d)\n", query, got, want, status);
  return status == CL_SUCCESS && got == want;
}

static int test_queries(struct device_cl *cl) {
  const size_t flat[3] = {10, 5, 2}, counts[] = {3, 33};
  cl_uint most = 0;
  cl_bool independent = CL_FALSE;
  cl_int status;
  cl_program program = device_cl_build(cl, "kernel void k(void) {}");
  cl_kernel kernel = program ? clCreateKernel(program, "k", &status) : NULL;
  if (!kernel)
    return 1;
  bool good = is_size(kernel, cl->device, CL_KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE, flat, 3, 32);
  good &= is_size(kernel, cl->device, CL_KERNEL_SUB_GROUP_COUNT_FOR_NDRANGE, flat, 3, 4);
  good &= is_size(kernel, cl->device, CL_KERNEL_SUB_GROUP_COUNT_FOR_NDRANGE, flat, 1, 1);
  good &= is_size(kernel, cl->device, CL_KERNEL_LOCAL_SIZE_FOR_SUB_GROUP_COUNT, counts, 1, 96);
  good &= is_size(kernel, cl->device, CL_KERNEL_LOCAL_SIZE_FOR_SUB_GROUP_COUNT, counts + 1, 1, 0);
  good &= is_size(kernel, cl->device, CL_KERNEL_MAX_NUM_SUB_GROUPS, NULL, 0, 32);
  good &= is_size(kernel, cl->device, CL_KERNEL_COMPILE_NUM_SUB_GROUPS, NULL, 0, 0);
  clGetDeviceInfo(cl->device, CL_DEVICE_MAX_NUM_SUB_GROUPS, sizeof most, &most, NULL);
  clGetDeviceInfo(cl->device, CL_DEVICE_SUB_GROUP_INDEPENDENT_FORWARD_PROGRESS, sizeof independent,
                  &independent, NULL);
  good &= most == 32 && independent;
  clReleaseKernel(kernel);
  clReleaseProgram(program);
  printf("queries%s\n", good ? "" : "  FAIL");
  return !good;
}

int main(int argc, char **argv) {
  struct device_cl cl;
  if (argc != 2 || !device_cl_open(&cl))
    return 1;
  int failures = test_queries(&cl) + test_kernels(&cl, argv[1]);
  for (unsigned i = 0; i < TYPES; i++)
    failures += test_type(&cl, &types[i]);
  device_cl_close(&cl);
  printf("%d groups failed\n", failures);
  return failures != 0;
}
