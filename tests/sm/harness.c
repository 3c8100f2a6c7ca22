/* See harness.h. */
#include "tests/sm/harness.h"

#include <dlfcn.h>
#include <elf.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "compiler/find.h"

/* --- cached CUBINs -------------------------------------------------------------- */

/* Makes the path of the CUBIN for a source and its options. Returns false if CUBINs are not
 * kept. */
static bool kept_path(char path[4096], const char *source, const char *const *options) {
  const char *folder = getenv("TEGRACL_TEST_CUBINS");
  if (!folder || !*folder)
    return false;
  XXH64_hash_t hash = XXH64(source, strlen(source), 0);
  for (; options && *options; options++)
    hash = XXH64(*options, strlen(*options), hash);
  snprintf(path, 4096, "%s/%016llx.cubin", folder, (unsigned long long)hash);
  return true;
}

static uint8_t *read_whole_file(FILE *file, size_t *size) {
  uint8_t *whole = NULL;
  fseek(file, 0, SEEK_END);
  const long end = ftell(file);
  rewind(file);
  if (end > 0 && (whole = malloc((size_t)end)) && fread(whole, (size_t)end, 1, file) != 1) {
    free(whole);
    whole = NULL;
  }
  *size = (size_t)end;
  return whole;
}

static uint8_t *read_kept(const char *path, size_t *size) {
  FILE *file = fopen(path, "rb");
  uint8_t *cubin = file ? read_whole_file(file, size) : NULL;
  if (file)
    fclose(file);
  return cubin;
}

/* Writes a temporary file and renames it, because several tests may use the same CUBIN
 * concurrently. */
static void keep_cubin(const char *path, const uint8_t *cubin, size_t size) {
  char part[4096 + 16];
  snprintf(part, sizeof part, "%s.%d", path, (int)getpid());
  FILE *file = fopen(part, "wb");
  if (!file)
    return;
  const bool whole = fwrite(cubin, size, 1, file) == 1;
  if (fclose(file) || !whole || rename(part, path))
    unlink(part);
}

/* --- NVRTC ------------------------------------------------------------------ */

typedef void *nvrtcProgram;
static struct {
  int (*create)(nvrtcProgram *, const char *, const char *, int, const char *const *,
                const char *const *);
  int (*compile)(nvrtcProgram, int, const char *const *);
  int (*log_size)(nvrtcProgram, size_t *);
  int (*log)(nvrtcProgram, char *);
  int (*cubin_size)(nvrtcProgram, size_t *);
  int (*cubin)(nvrtcProgram, char *);
  int (*destroy)(nvrtcProgram *);
} nvrtc;

bool harness_available(void) {
  static void *library;
  if (library)
    return true;
  char path[CC_PATH_MAX];
  library = cc_find_nvrtc(path) ? dlopen(path, RTLD_NOW) : NULL;
  if (!library) {
    if (kept_path(path, "", NULL))
      return true;
    fprintf(stderr, "SKIP: no NVRTC on this machine\n");
    return false;
  }
#define LOAD(field, name) *(void **)&nvrtc.field = dlsym(library, name)
  LOAD(create, "nvrtcCreateProgram");
  LOAD(compile, "nvrtcCompileProgram");
  LOAD(log_size, "nvrtcGetProgramLogSize");
  LOAD(log, "nvrtcGetProgramLog");
  LOAD(cubin_size, "nvrtcGetCUBINSize");
  LOAD(cubin, "nvrtcGetCUBIN");
  LOAD(destroy, "nvrtcDestroyProgram");
#undef LOAD
  return true;
}

/* Compiles with NVRTC and writes the CUBIN to an empty file. */
static bool compile_into(FILE *file, const char *source, int count, const char *const *options) {
  nvrtcProgram program;
  if (nvrtc.create(&program, source, "test.cu", 0, NULL, NULL))
    return false;
  bool whole = false;
  size_t size = 0;
  if (nvrtc.compile(program, count, options)) {
    nvrtc.log_size(program, &size);
    char *log = calloc(1, size + 1);
    nvrtc.log(program, log);
    fprintf(stderr, "%s\n", log);
    free(log);
  } else {
    nvrtc.cubin_size(program, &size);
    char *cubin = malloc(size);
    nvrtc.cubin(program, cubin);
    whole = fwrite(cubin, size, 1, file) == 1 && fflush(file) == 0;
    free(cubin);
  }
  nvrtc.destroy(&program);
  return whole;
}

/* Compiles in a child process, because some releases of NVRTC crash on some PTX. The test then
 * fails with a message. */
static uint8_t *compile_anew(const char *source, const char *const *options, size_t *size) {
  const char *all[32] = {"--gpu-architecture=sm_87"};
  int count = 1, status = -1;
  for (; options && options[count - 1] && count < 31; count++)
    all[count] = options[count - 1];
  if (!harness_available() || !nvrtc.create)
    return NULL;
  FILE *file = tmpfile();
  if (!file)
    return NULL;
  fflush(NULL);
  const pid_t child = fork();
  if (child == 0)
    _exit(!compile_into(file, source, count, all));
  uint8_t *cubin = NULL;
  if (child > 0 && waitpid(child, &status, 0) == child && status == 0)
    cubin = read_whole_file(file, size);
  else if (WIFSIGNALED(status))
    fprintf(stderr, "NVRTC ended with signal %d (%s) while it compiled this test's code\n",
            WTERMSIG(status), strsignal(WTERMSIG(status)));
  fclose(file);
  return cubin;
}

static uint8_t *compile(const char *source, const char *const *options, size_t *size) {
  char path[4096];
  const bool kept = kept_path(path, source, options);
  uint8_t *cubin = kept ? read_kept(path, size) : NULL;
  if (cubin)
    return cubin;
  cubin = compile_anew(source, options, size);
  if (cubin && kept)
    keep_cubin(path, cubin, *size);
  if (!cubin && kept)
    fprintf(stderr, "%s is not there and could not be made\n", path);
  return cubin;
}

/* --- the address space ----------------------------------------------------------- */

/* The address space: one contiguous piece of memory, which begins 16 MiB before a multiple of
 * 4 GiB. */
enum { SPACE_BYTES = 256 << 20, MAX_SECTIONS = 8192, BANK_BYTES = 65536, MAX_THREADS = 8 };
enum { SPLIT_BYTES = 4096 }; /* between two mappings in the memory of the host */
static const size_t SHADOW_BYTES = (size_t)SPACE_BYTES / SM_CELL_BYTES * SM_CELL_SIZE;
static const size_t ROWS_BYTES = (size_t)SPACE_BYTES / SM_ROW_BYTES * SM_ROW_SIZE;
static const size_t STAMPS_BYTES = (size_t)SPACE_BYTES / SM_ROW_BYTES * sizeof(uint64_t);
static const uint64_t SPACE_BASE = 0x2ff000000ull;
static const uint64_t SHARED_WINDOW = 0x729400000000ull;
static const uint64_t LOCAL_WINDOW = 0x729300000000ull;

struct module {
  uint8_t *elf;
  size_t elf_size;
  uint8_t *space;
  size_t used;
  uint64_t section_at[MAX_SECTIONS];
  uint64_t bank0; /* constant bank 0, to which generic addresses of parameters refer */
  struct sm_code *code;
  struct sm_worker *worker;
  const struct sm_watch *watch;
  struct sm_l1_caches *caches; /* NULL: none */
  struct sm_l1_caches *own_caches;
  uint32_t sms;
  struct sm_pool headers, samplers;
  struct sm_memory_shadow shadow;
  uint32_t ctas; /* launched so far */
  bool unmapped;
  size_t split; /* where the second mapping begins; 0: there is one */
  _Atomic uint32_t unmappings;
};

static bool find(void *space, uint64_t address, struct sm_range *range) {
  struct module *m = space;
  if (address < SPACE_BASE || address - SPACE_BASE >= m->used || m->unmapped)
    return false;
  const bool second = m->split && address - SPACE_BASE >= m->split;
  const size_t begin = second ? m->split : 0;
  const size_t end = m->split && !second ? m->split : m->used;
  *range = (struct sm_range){SPACE_BASE + begin, end - begin, module_host(m, SPACE_BASE + begin),
                             true, m->shadow.cells ? &m->shadow : NULL};
  return true;
}

/* --- check mode, for correct programs -------------------------------------------- */

static bool wanted(const struct sm_grid *grid, enum sm_fault_kind kind, uint64_t pc) {
  (void)grid, (void)kind, (void)pc;
  return true;
}

static void report(const struct sm_grid *grid, const struct sm_fault *f) {
  fprintf(stderr,
          "tegracl: check: +0x%llx: %s: work-item (%u,%u,%u) of group (%u,%u,%u): %s at "
          "+0x%llx\n",
          (unsigned long long)(f->pc - grid->program), f->instruction, f->tid[0], f->tid[1],
          f->tid[2], f->ctaid[0], f->ctaid[1], f->ctaid[2], f->message,
          (unsigned long long)(f->other_pc - grid->program));
}

static void *reserve_records(size_t bytes) {
  void *p =
      mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return p == MAP_FAILED ? NULL : p;
}

static bool record_accesses(struct module *m) {
  m->shadow.cells = reserve_records(SHADOW_BYTES);
  m->shadow.rows = reserve_records(ROWS_BYTES);
  m->shadow.stamps = reserve_records(STAMPS_BYTES);
  return m->shadow.cells && m->shadow.rows && m->shadow.stamps;
}

bool module_record(struct module *m) {
  if (!m->shadow.written && (m->shadow.written = malloc(SPACE_BYTES)))
    memset(m->shadow.written, 1, SPACE_BYTES);
  return m->shadow.written && (m->shadow.cells || record_accesses(m));
}

void module_mark(struct module *m, uint64_t address, size_t bytes, bool written) {
  memset(m->shadow.written + (address - SPACE_BASE), written, bytes);
}

/* TEGRACL_EMULATOR=check enables check mode, as it does for programs on the whole device. */
static void watch_if_requested(struct module *m) {
  static const struct sm_watch watch = {.check = true, .wanted = wanted, .report = report};
  const char *mode = getenv("TEGRACL_EMULATOR");
  if (!mode || strcmp(mode, "check"))
    return;
  record_accesses(m);
  module_watch(m, &watch);
}

/* TEGRACL_EMULATOR=adversarial:SEED enables L1 caches that serve stale lines within a grid. */
static void cache_if_requested(struct module *m) {
  enum { SMS = 4 };
  static const char word[] = "adversarial:";
  const char *mode = getenv("TEGRACL_EMULATOR");
  if (!mode || strncmp(mode, word, sizeof word - 1))
    return;
  m->own_caches = sm_l1_create(SMS, strtoull(mode + sizeof word - 1, NULL, 10));
  if (m->own_caches)
    module_cache(m, m->own_caches, SMS);
}

uint64_t module_alloc(struct module *m, size_t bytes) {
  size_t at = (m->used + 255) & ~(size_t)255;
  if (at + bytes > SPACE_BYTES)
    return 0;
  m->used = at + bytes;
  return SPACE_BASE + at;
}

void *module_host(struct module *m, uint64_t address) {
  const size_t at = address - SPACE_BASE;
  return m->space + at + (m->split && at >= m->split ? SPLIT_BYTES : 0);
}

static const Elf64_Shdr *section(const struct module *m, unsigned index) {
  const Elf64_Ehdr *h = (const void *)m->elf;
  return (const Elf64_Shdr *)(const void *)(m->elf + h->e_shoff) + index;
}

static unsigned section_count(const struct module *m) {
  return ((const Elf64_Ehdr *)(const void *)m->elf)->e_shnum;
}

static const char *section_name(const struct module *m, unsigned index) {
  const Elf64_Ehdr *h = (const void *)m->elf;
  return (const char *)m->elf + section(m, h->e_shstrndx)->sh_offset + section(m, index)->sh_name;
}

static int section_named(const struct module *m, const char *prefix, const char *suffix) {
  char name[512];
  snprintf(name, sizeof name, "%s%s", prefix, suffix);
  for (unsigned k = 0; k < section_count(m); k++)
    if (!strcmp(section_name(m, k), name))
      return (int)k;
  return -1;
}

static const Elf64_Sym *symbols(const struct module *m, size_t *count, const char **names) {
  for (unsigned k = 0; k < section_count(m); k++) {
    const Elf64_Shdr *s = section(m, k);
    if (s->sh_type != SHT_SYMTAB)
      continue;
    *count = s->sh_size / sizeof(Elf64_Sym);
    *names = (const char *)m->elf + section(m, s->sh_link)->sh_offset;
    return (const void *)(m->elf + s->sh_offset);
  }
  *count = 0;
  return NULL;
}

/* Sets a field of a 128-bit instruction. */
static void put_bits(uint8_t *word, unsigned low, unsigned count, uint64_t value) {
  for (unsigned k = 0; k < count; k++) {
    const unsigned at = low + k;
    word[at / 8] = (uint8_t)((word[at / 8] & ~(1u << at % 8)) | (value >> k & 1) << at % 8);
  }
}

static void relocate(struct module *m) {
  enum {
    R_CUDA_32 = 1,
    R_CUDA_64 = 2,
    R_CUDA_G64 = 4,
    R_CUDA_ABS32_LO_32 = 56,
    R_CUDA_ABS32_HI_32 = 57,
    R_CUDA_ABS47_34 = 58,
  };
  size_t symbol_count;
  const char *names;
  const Elf64_Sym *symbol = symbols(m, &symbol_count, &names);
  for (unsigned k = 0; k < section_count(m); k++) {
    const Elf64_Shdr *s = section(m, k);
    if ((s->sh_type != SHT_REL && s->sh_type != SHT_RELA) || !m->section_at[s->sh_info])
      continue;
    const size_t step = s->sh_type == SHT_REL ? sizeof(Elf64_Rel) : sizeof(Elf64_Rela);
    for (size_t at = 0; at + step <= s->sh_size; at += step) {
      Elf64_Rela r = {0};
      memcpy(&r, m->elf + s->sh_offset + at, step);
      const Elf64_Sym *to = &symbol[ELF64_R_SYM(r.r_info)];
      uint64_t value = m->section_at[to->st_shndx] + to->st_value + (uint64_t)r.r_addend;
      void *place = module_host(m, m->section_at[s->sh_info] + r.r_offset);
      switch (ELF64_R_TYPE(r.r_info)) {
      case R_CUDA_64:
      case R_CUDA_G64:
        memcpy(place, &value, 8);
        break;
      case R_CUDA_32:
        memcpy(place, &value, 4);
        break;
      case R_CUDA_ABS32_LO_32:
        put_bits(place, 32, 32, value);
        break;
      case R_CUDA_ABS32_HI_32:
        put_bits(place, 32, 32, value >> 32);
        break;
      case R_CUDA_ABS47_34:
        put_bits(place, 34, 47, value >> 2);
        break;
      default:
        fprintf(stderr, "relocation %u unknown\n", (unsigned)ELF64_R_TYPE(r.r_info));
      }
    }
  }
}

struct module *module_compile(const char *source, const char *const *options) {
  struct module *m = calloc(1, sizeof *m);
  m->elf = compile(source, options, &m->elf_size);
  if (!m->elf) {
    free(m);
    return NULL;
  }
  m->space = calloc(1, SPACE_BYTES + SPLIT_BYTES);
  m->used = 256; /* keep address 0 of the space unused */
  for (unsigned k = 0; k < section_count(m) && k < MAX_SECTIONS; k++) {
    const Elf64_Shdr *s = section(m, k);
    const char *name = section_name(m, k);
    const bool placed = !strncmp(name, ".text.", 6) || !strncmp(name, ".nv.global", 10) ||
                        !strncmp(name, ".nv.constant", 12);
    if (!placed)
      continue;
    m->section_at[k] = module_alloc(m, s->sh_size + 4096);
    if (s->sh_type != SHT_NOBITS)
      memcpy(module_host(m, m->section_at[k]), m->elf + s->sh_offset, s->sh_size);
  }
  relocate(m);
  const struct sm_memory memory = {.find = find, .space = m};
  m->code = sm_code_create(&memory);
  m->worker = sm_worker_create(0);
  watch_if_requested(m);
  cache_if_requested(m);
  return m;
}

void module_forget_code(struct module *m) {
  const struct sm_memory memory = {.find = find, .space = m};
  sm_code_destroy(m->code);
  m->code = sm_code_create(&memory);
  if (m->watch)
    sm_code_annotate(m->code);
  if (m->caches)
    sm_code_cache(m->code);
}

void module_watch(struct module *m, const struct sm_watch *watch) {
  m->watch = watch;
  module_forget_code(m);
}

void module_cache(struct module *m, struct sm_l1_caches *caches, uint32_t sms) {
  m->caches = caches;
  m->sms = sms;
  module_forget_code(m);
}

void module_textures(struct module *m, struct sm_pool headers, struct sm_pool samplers) {
  m->headers = headers;
  m->samplers = samplers;
}

uint64_t (*module_code(struct module *m, const char *kernel, size_t *instructions))[2] {
  const int text = section_named(m, ".text.", kernel);
  *instructions = text < 0 ? 0 : section(m, (unsigned)text)->sh_size / sizeof(uint64_t[2]);
  return text < 0 ? NULL : module_host(m, m->section_at[text]);
}

void module_free(struct module *m) {
  if (!m)
    return;
  if (m->shadow.cells)
    munmap(m->shadow.cells, SHADOW_BYTES);
  if (m->shadow.rows)
    munmap(m->shadow.rows, ROWS_BYTES);
  if (m->shadow.stamps)
    munmap(m->shadow.stamps, STAMPS_BYTES);
  free(m->shadow.written);
  sm_code_destroy(m->code);
  sm_l1_destroy(m->own_caches);
  sm_worker_destroy(m->worker);
  free(m->space);
  free(m->elf);
  free(m);
}

uint64_t module_symbol(struct module *m, const char *name) {
  size_t count;
  const char *names;
  const Elf64_Sym *symbol = symbols(m, &count, &names);
  for (size_t k = 0; k < count; k++)
    if (!strcmp(names + symbol[k].st_name, name))
      return m->section_at[symbol[k].st_shndx] + symbol[k].st_value;
  return 0;
}

/* --- launches ---------------------------------------------------------------------- */

/* Values of EIATTR records (docs/hardware/cubin.md section 5). */
struct attributes {
  uint32_t param_base, barriers, registers, stack;
};

static void read_attributes(const struct module *m, const char *kernel, unsigned symbol_index,
                            struct attributes *a) {
  enum { PARAM_CBANK = 0x0a, MIN_STACK_SIZE = 0x12, REGCOUNT = 0x2f, NUM_BARRIERS = 0x4c };
  enum { FORMAT_SIZED = 4 };
  *a = (struct attributes){.param_base = 0x160, .registers = 255};
  /* In ABI 7 (CUDA 12) the flags of .text contain the number of barriers (docs/hardware/cubin.md
   * section 2). */
  if (m->elf[EI_ABIVERSION] == 7)
    a->barriers = section(m, (unsigned)section_named(m, ".text.", kernel))->sh_flags >> 20 & 0x7f;
  int wanted[2] = {section_named(m, ".nv.info.", kernel), section_named(m, ".nv.info", "")};
  for (unsigned k = 0; k < 2; k++) {
    if (wanted[k] < 0)
      continue;
    const Elf64_Shdr *s = section(m, (unsigned)wanted[k]);
    const uint8_t *p = m->elf + s->sh_offset, *end = p + s->sh_size;
    while (p + 4 <= end) {
      const uint8_t format = p[0], code = p[1];
      uint16_t size = 0;
      uint32_t word[3] = {0};
      if (format == FORMAT_SIZED) {
        memcpy(&size, p + 2, 2);
        memcpy(word, p + 4, size < sizeof word ? size : sizeof word);
      }
      if (code == PARAM_CBANK && k == 0)
        a->param_base = word[1] & 0xffff;
      if (code == NUM_BARRIERS && k == 0)
        a->barriers = p[2];
      if (code == REGCOUNT && word[0] == symbol_index)
        a->registers = word[1];
      if (code == MIN_STACK_SIZE && word[0] == symbol_index)
        a->stack = word[1];
      p += 4 + size;
    }
  }
}

void module_unmap(struct module *m) {
  m->unmapped = true;
  m->unmappings++;
}

void module_remap(struct module *m) {
  m->unmapped = false;
}

void module_split(struct module *m, uint64_t address) {
  uint8_t *second = m->space + m->split;
  if (m->split)
    memmove(second, second + SPLIT_BYTES, m->used - m->split);
  m->split = address ? address - SPACE_BASE : 0;
  second = m->space + m->split;
  if (m->split)
    memmove(second + SPLIT_BYTES, second, m->used - m->split);
  m->unmappings++;
}

static uint64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void set_bank(struct module *m, struct sm_grid *grid, unsigned bank, int index) {
  if (index < 0)
    return;
  grid->bank[bank].data = module_host(m, m->section_at[index]);
  grid->bank[bank].size = (uint32_t)section(m, (unsigned)index)->sh_size;
}

/* A host thread that runs CTAs of a grid until one of them fails. */
struct cta_thread {
  const struct sm_grid *grid;
  const struct launch *launch;
  uint32_t *next; /* next CTA, shared by all threads */
  struct sm_worker *worker;
  enum sm_result result;
  struct sm_fault fault;
};

static void *run_ctas(void *argument) {
  struct cta_thread *runner = argument;
  const uint32_t *size = runner->grid->grid, count = size[0] * size[1] * size[2];
  const uint64_t limit = runner->launch->limit ? runner->launch->limit : 1ull << 40;
  const uint64_t budget = runner->launch->budget ? runner->launch->budget : limit;
  struct sm_worker *const other = runner->launch->moves ? sm_worker_create(1) : runner->worker;
  runner->result = SM_DONE;
  while (runner->result == SM_DONE) {
    const uint32_t at = __atomic_fetch_add(runner->next, 1, __ATOMIC_RELAXED);
    if (at >= count)
      break;
    struct sm_cta *cta = sm_cta_start(runner->worker, runner->grid, at % size[0],
                                      at / size[0] % size[1], at / size[0] / size[1]);
    if (!cta) {
      runner->result = SM_FAULTED;
      break;
    }
    uint64_t used = 0;
    do {
      struct sm_worker *const worker = used / budget % 2 ? other : runner->worker;
      runner->result = sm_cta_run(worker, cta, budget, &runner->fault);
      used += budget;
      if (runner->result == SM_PREEMPTED && runner->launch->preempted)
        runner->launch->preempted(runner->grid->memory.space);
    } while (runner->result == SM_PREEMPTED && used < limit);
    sm_cta_finish(runner->worker, cta);
  }
  if (other != runner->worker)
    sm_worker_destroy(other);
  return NULL;
}

enum sm_result module_run(struct module *m, const char *kernel, const struct launch *launch,
                          struct sm_fault *fault, uint64_t *instructions) {
  static uint64_t launches;
  const int text = section_named(m, ".text.", kernel);
  if (text < 0)
    return SM_FAULTED;
  size_t count;
  const char *names;
  const Elf64_Sym *symbol = symbols(m, &count, &names);
  unsigned index = 0;
  for (unsigned k = 0; k < count; k++)
    if (!strcmp(names + symbol[k].st_name, kernel))
      index = k;
  struct attributes a;
  read_attributes(m, kernel, index, &a);

  if (!m->bank0)
    m->bank0 = module_alloc(m, BANK_BYTES);
  uint8_t *const bank0 = module_host(m, m->bank0);
  memset(bank0, 0, BANK_BYTES);
  const uint32_t param_end = a.param_base + (uint32_t)launch->param_bytes;
  enum { STACK_TOP = 0xfffdc0, ABOVE_STACK = 0x1000000 - STACK_TOP };
  const uint32_t stack_top = STACK_TOP;
  const int constant3 = section_named(m, ".nv.constant3", "");
  const uint64_t bank3 = constant3 >= 0 ? m->section_at[constant3] : 0;
  memcpy(bank0 + 0x00, launch->block, 12);
  memcpy(bank0 + 0x0c, launch->grid, 12);
  memcpy(bank0 + 0x18, &SHARED_WINDOW, 8);
  memcpy(bank0 + 0x20, &LOCAL_WINDOW, 8);
  memcpy(bank0 + 0x28, &stack_top, 4);
  memcpy(bank0 + 0x2c, &launch->dynamic_shared, 4);
  memcpy(bank0 + 0x40, &m->bank0, 8);
  memcpy(bank0 + 0x50, &bank3, 8);
  memcpy(bank0 + 0x12c, &param_end, 4);
  memcpy(bank0 + a.param_base, launch->params, launch->param_bytes);

  const int shared = section_named(m, ".nv.shared.", kernel);
  const uint32_t stack = a.stack + (launch->local_bytes ? launch->local_bytes : 1024);
  launches++; /* the order in which initialisers are evaluated is unspecified */
  struct sm_grid grid = {
      .code = m->code,
      .memory = {find, m, &m->unmappings},
      .launch = launches,
      .like = launches,
      .program = m->section_at[text],
      .registers = a.registers,
      .barriers = a.barriers,
      .shared_bytes = (shared >= 0 ? (uint32_t)section(m, (unsigned)shared)->sh_size : 0) +
                      launch->dynamic_shared,
      .local_high = stack + ABOVE_STACK,
      .shared_window = SHARED_WINDOW,
      .local_window = LOCAL_WINDOW,
      .headers = m->headers,
      .samplers = m->samplers,
      .sm_count = m->sms ? m->sms : 1,
      .l1 = m->caches,
      .time_ns = now_ns,
      .watch = m->watch,
      .first_number = m->ctas + 1,
  };
  memcpy(grid.grid, launch->grid, sizeof grid.grid);
  memcpy(grid.block, launch->block, sizeof grid.block);
  grid.bank[0].data = bank0;
  grid.bank[0].size = param_end;
  set_bank(m, &grid, 2, section_named(m, ".nv.constant2.", kernel));
  set_bank(m, &grid, 3, constant3);
  set_bank(m, &grid, 4, section_named(m, ".nv.constant4", ""));

  if (m->own_caches) /* drivers invalidate at each launch */
    sm_l1_invalidate_all(m->own_caches);
  const unsigned threads = launch->threads && !m->caches ? launch->threads : 1;
  struct cta_thread runners[MAX_THREADS] = {{0}};
  pthread_t thread[MAX_THREADS];
  const uint64_t before = sm_worker_instructions(m->worker);
  uint32_t next = 0;
  for (unsigned k = 0; k < threads; k++)
    runners[k] = (struct cta_thread){.grid = &grid,
                                     .launch = launch,
                                     .next = &next,
                                     .worker = k ? sm_worker_create(k) : m->worker};
  for (unsigned k = 1; k < threads; k++)
    if (pthread_create(&thread[k], NULL, run_ctas, &runners[k]))
      abort();
  run_ctas(&runners[0]);
  uint64_t executed = sm_worker_instructions(m->worker) - before;
  enum sm_result result = SM_DONE;
  for (unsigned k = 0; k < threads; k++) {
    if (k) {
      pthread_join(thread[k], NULL);
      executed += sm_worker_instructions(runners[k].worker);
      sm_worker_destroy(runners[k].worker);
    }
    if (runners[k].result == SM_DONE || result != SM_DONE)
      continue;
    result = runners[k].result;
    if (fault)
      *fault = runners[k].fault;
  }
  m->ctas += grid.grid[0] * grid.grid[1] * grid.grid[2];
  if (instructions)
    *instructions = executed;
  return result;
}
