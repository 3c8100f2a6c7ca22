/* Profile mode: prints counts of each kernel, on stderr and as JSON, with lower bounds of its time
 * on a board. The bounds are computed from the counts and the rates of the board; nothing is
 * measured. */
#include "emulator/modes/profile.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emulator/boards.h"
#include "emulator/modes/notes.h"
#include "emulator/options.h"
#include "emulator/sm/sm.h"
#include "gpu/hw/memory.h"
#include "gpu/nvgpu/emulator_node.h"

/* Rates of an SM per cycle, with four schedulers and two FP64 lanes: warp instructions,
 * double-precision warp instructions, passes of shared memory, passes of the tensor cores
 * (docs/hardware/command-stream.md 9.1, 9.2, 9.4). */
static const struct {
  double issue, doubles, shared, tensor;
  double samples; /* of textures: 4 texture units, as the desktop chips of this generation have */
} rates = {4, 2.0 / GPU_WARP_SIZE, 1, 2, 4};

enum {
  NAME_BYTES = 128,
  DOUBLES_OF_PRODUCT = 8 * 8 * 4 / GPU_WARP_SIZE, /* warp instructions that do the work of a DMMA */
};

struct kernel {
  struct kernel *next;
  const void *space;
  uint64_t program;
  char name[NAME_BYTES];
  uint32_t threads, registers, shared_bytes, ctas_per_sm;
  uint64_t grids, ctas;
  struct sm_counts counts;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct kernel *kernels, **kernels_end = &kernels;

void emu_profile_forked(void) {
  pthread_mutex_init(&lock, NULL);
  kernels = NULL;
  kernels_end = &kernels;
}

static uint32_t count_threads(const struct sm_grid *g) {
  return g->block[0] * g->block[1] * g->block[2];
}

static bool is_kernel(const struct kernel *k, const struct sm_grid *g, const char *name) {
  return k->threads == count_threads(g) && k->registers == g->registers &&
         k->shared_bytes == g->shared_bytes && strcmp(k->name, name) == 0 &&
         (*name || (k->space == g->memory.space && k->program == g->program));
}

/* Returns the record of a grid's kernel, or NULL if out of memory. The caller holds lock. */
static struct kernel *find_or_add_kernel(const struct sm_grid *g) {
  char name[NAME_BYTES] = "";
  uint64_t offset;
  emu_note_name(g->memory.space, EMULATOR_NOTE_KERNEL, g->program, name, sizeof(name), &offset);
  for (struct kernel *k = kernels; k; k = k->next)
    if (is_kernel(k, g, name))
      return k;
  struct kernel *k = calloc(1, sizeof(*k));
  if (!k)
    return NULL;
  k->space = g->memory.space;
  k->program = g->program;
  memcpy(k->name, name, sizeof(name));
  k->threads = count_threads(g);
  k->registers = g->registers;
  k->shared_bytes = g->shared_bytes;
  *kernels_end = k;
  kernels_end = &k->next;
  return k;
}

void emu_profile_count(const struct sm_grid *grid, const struct sm_counts *c) {
  pthread_mutex_lock(&lock);
  struct kernel *k = find_or_add_kernel(grid);
  if (k) {
    for (unsigned i = 0; i < SM_COUNTED_CLASSES; i++)
      k->counts.instructions[i] += c->instructions[i];
    k->counts.lanes += c->lanes;
    k->counts.global_requests += c->global_requests;
    k->counts.global_sectors += c->global_sectors;
    k->counts.store_sectors += c->store_sectors;
    k->counts.shared_requests += c->shared_requests;
    k->counts.shared_passes += c->shared_passes;
    k->counts.atomics += c->atomics;
    k->counts.tensor_passes += c->tensor_passes;
    k->counts.double_products += c->double_products;
    k->counts.texture_requests += c->texture_requests;
    k->counts.texture_samples += c->texture_samples;
    k->counts.texels += c->texels;
    k->counts.texture_sectors += c->texture_sectors;
  }
  pthread_mutex_unlock(&lock);
}

void emu_profile_grid(const struct sm_grid *grid, uint64_t ctas, uint32_t ctas_per_sm) {
  pthread_mutex_lock(&lock);
  struct kernel *k = find_or_add_kernel(grid);
  if (k) {
    k->grids++;
    k->ctas += ctas;
    k->ctas_per_sm = ctas_per_sm;
  }
  pthread_mutex_unlock(&lock);
}

/* --- derived values --------------------------------------------------------------- */

/* Values derived from the counts of a kernel. */
struct figures {
  uint64_t instructions;
  double lanes, sectors, passes;                        /* averages */
  uint32_t warps;                                       /* resident on an SM */
  double issue, doubles, shared, tensor, samples, dram; /* bounds, in seconds */
};

static double divide_or_zero(uint64_t a, uint64_t b) {
  return b ? (double)a / (double)b : 0;
}

static struct figures derive_figures(const struct kernel *k) {
  const struct sm_counts *c = &k->counts;
  struct figures f = {0};
  uint64_t doubles = c->double_products * DOUBLES_OF_PRODUCT;
  for (unsigned i = 0; i < SM_COUNTED_CLASSES && sm_class_name(i); i++) {
    f.instructions += c->instructions[i];
    if (strcmp(sm_class_name(i), "double") == 0)
      doubles += c->instructions[i];
  }
  f.lanes = divide_or_zero(c->lanes, f.instructions);
  f.sectors = divide_or_zero(c->global_sectors, c->global_requests);
  f.passes = divide_or_zero(c->shared_passes, c->shared_requests);
  f.warps = (k->threads + GPU_WARP_SIZE - 1) / GPU_WARP_SIZE * k->ctas_per_sm;
  const double cycles =
      (double)emu_board()->gpu_max_hz * emu_board()->sms; /* cycles of all SMs per second */
  f.issue = (double)f.instructions / rates.issue / cycles;
  f.doubles = (double)doubles / rates.doubles / cycles;
  f.shared = (double)c->shared_passes / rates.shared / cycles;
  f.tensor = (double)c->tensor_passes / rates.tensor / cycles;
  f.samples = (double)c->texture_samples / rates.samples / cycles;
  f.dram = (double)(c->global_sectors + c->texture_sectors) * SM_SECTOR_BYTES /
           (double)emu_board()->dram_bytes_per_s;
  return f;
}

/* --- output ------------------------------------------------------------------------ */

static void print_classes(FILE *out, const struct kernel *k, uint64_t total) {
  const char *separator = " (";
  for (unsigned i = 0; i < SM_COUNTED_CLASSES && sm_class_name(i); i++) {
    if (!k->counts.instructions[i])
      continue;
    fprintf(out, "%s%s %.1f %%", separator, sm_class_name(i),
            100 * divide_or_zero(k->counts.instructions[i], total));
    separator = ", ";
  }
  fprintf(out, "%s\n", total ? ")" : "");
}

static void print_kernel(FILE *out, const struct kernel *k) {
  const struct figures f = derive_figures(k);
  const struct sm_counts *c = &k->counts;
  fprintf(out, "tegracl: profile: ");
  if (k->name[0])
    fprintf(out, "kernel %s", k->name);
  else
    fprintf(out, "program 0x%" PRIx64, k->program);
  fprintf(out,
          ": %" PRIu64 " grids, %" PRIu64
          " groups of %u work-items, %u registers, %u bytes of local memory\n",
          k->grids, k->ctas, k->threads, k->registers, k->shared_bytes);
  fprintf(out, "  warp instructions  %" PRIu64, f.instructions);
  print_classes(out, k, f.instructions);
  fprintf(out, "  active lanes       %.1f of %d\n", f.lanes, GPU_WARP_SIZE);
  fprintf(out, "  occupancy          %u of %d warps per SM, %u work-groups\n", f.warps, SM_WARPS,
          k->ctas_per_sm);
  if (c->global_requests)
    fprintf(out,
            "  global memory      %" PRIu64
            " requests, on average %.2f sectors of %d bytes each; %.1f%% of the sectors were "
            "written\n",
            c->global_requests, f.sectors, SM_SECTOR_BYTES,
            100 * divide_or_zero(c->store_sectors, c->global_sectors));
  if (c->shared_requests)
    fprintf(out,
            "  local memory       %" PRIu64
            " requests of %.2f passes (1 without bank conflicts, 2 and 4 for 64 and 128 bits)\n",
            c->shared_requests, f.passes);
  if (c->atomics)
    fprintf(out, "  atomics            %" PRIu64 " requests\n", c->atomics);
  if (c->texture_requests)
    fprintf(out, "  textures           %" PRIu64 " requests of %.2f texels, in %.2f sectors\n",
            c->texture_requests, divide_or_zero(c->texels, c->texture_requests),
            divide_or_zero(c->texture_sectors, c->texture_requests));
  fprintf(out,
          "  not faster than    %.3f ms to issue, %.3f ms for double, %.3f ms for local memory",
          1e3 * f.issue, 1e3 * f.doubles, 1e3 * f.shared);
  if (c->tensor_passes)
    fprintf(out, ", %.3f ms for tensor cores", 1e3 * f.tensor);
  if (c->texture_requests)
    fprintf(out, ", %.3f ms for textures", 1e3 * f.samples);
  fprintf(out, "\n");
  fprintf(out, "  DRAM               %.3f ms if no access hits a cache\n", 1e3 * f.dram);
}

static void put_json_string(FILE *out, const char *text) {
  fputc('"', out);
  for (; *text; text++) {
    if (*text == '"' || *text == '\\')
      fputc('\\', out);
    if ((unsigned char)*text >= ' ')
      fputc(*text, out);
  }
  fputc('"', out);
}

static void json_kernel(FILE *out, const struct kernel *k) {
  const struct figures f = derive_figures(k);
  const struct sm_counts *c = &k->counts;
  fprintf(out, "    {\"kernel\": ");
  put_json_string(out, k->name);
  fprintf(out,
          ", \"program\": \"0x%" PRIx64 "\", \"grids\": %" PRIu64 ", \"groups\": %" PRIu64
          ", \"work_items_per_group\": %u, \"registers\": %u, \"shared_bytes\": %u,\n",
          k->program, k->grids, k->ctas, k->threads, k->registers, k->shared_bytes);
  fprintf(out, "     \"warp_instructions\": {");
  for (unsigned i = 0; i < SM_COUNTED_CLASSES && sm_class_name(i); i++) {
    fprintf(out, "%s", i ? ", " : "");
    put_json_string(out, sm_class_name(i));
    fprintf(out, ": %" PRIu64, c->instructions[i]);
  }
  fprintf(out, "},\n     \"active_lanes\": %.3f, \"warps_per_sm\": %u, \"groups_per_sm\": %u,\n",
          f.lanes, f.warps, k->ctas_per_sm);
  fprintf(out,
          "     \"global_requests\": %" PRIu64 ", \"global_sectors\": %" PRIu64
          ", \"global_sectors_written\": %" PRIu64 ",\n",
          c->global_requests, c->global_sectors, c->store_sectors);
  fprintf(out,
          "     \"shared_requests\": %" PRIu64 ", \"shared_passes\": %" PRIu64
          ", \"atomics\": %" PRIu64 ",\n",
          c->shared_requests, c->shared_passes, c->atomics);
  fprintf(out, "     \"tensor_passes\": %" PRIu64 ", \"double_products\": %" PRIu64 ",\n",
          c->tensor_passes, c->double_products);
  fprintf(out,
          "     \"texture_requests\": %" PRIu64 ", \"texture_samples\": %" PRIu64
          ", \"texels\": %" PRIu64 ", \"texture_sectors\": %" PRIu64 ",\n",
          c->texture_requests, c->texture_samples, c->texels, c->texture_sectors);
  fprintf(out,
          "     \"bound_seconds\": {\"issue\": %.9g, \"double\": %.9g, \"shared\": %.9g, "
          "\"tensor\": %.9g, \"textures\": %.9g, \"dram_without_caches\": %.9g}}",
          f.issue, f.doubles, f.shared, f.tensor, f.samples, f.dram);
}

static void write_json(const char *path) {
  FILE *out = fopen(path, "we");
  if (!out) {
    fprintf(stderr, "tegracl: profile: cannot write %s\n", path);
    return;
  }
  fprintf(out,
          "{\"board\": \"%s\", \"sms\": %u, \"clock_hz\": %.0f, \"dram_bytes_per_second\": %.0f,\n",
          emu_board()->title, emu_board()->sms, (double)emu_board()->gpu_max_hz,
          (double)emu_board()->dram_bytes_per_s);
  fprintf(out, "  \"measured\": false,\n  \"kernels\": [\n");
  for (const struct kernel *k = kernels; k; k = k->next) {
    json_kernel(out, k);
    fprintf(out, "%s\n", k->next ? "," : "");
  }
  fprintf(out, "  ]\n}\n");
  if (ferror(out) | fclose(out))
    fprintf(stderr, "tegracl: profile: cannot write %s\n", path);
}

void emu_profile_print(void) {
  const struct emu_options *o = emu_options();
  if (!o->profile)
    return;
  pthread_mutex_lock(&lock);
  if (kernels) {
    fprintf(stderr,
            "tegracl: profile: bounds, not measurements, for %s: %u SMs, %.0f MHz, %.1f GB/s\n",
            emu_board()->title, emu_board()->sms, (double)emu_board()->gpu_max_hz / 1e6,
            (double)emu_board()->dram_bytes_per_s / 1e9);
    for (const struct kernel *k = kernels; k; k = k->next)
      print_kernel(stderr, k);
  }
  if (o->profile_file)
    write_json(o->profile_file);
  while (kernels) {
    struct kernel *k = kernels;
    kernels = k->next;
    free(k);
  }
  kernels_end = &kernels;
  pthread_mutex_unlock(&lock);
}
