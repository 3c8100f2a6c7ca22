/* Reads source lines from .debug_line. Format: DWARF 2 to 4, section 6.2, with NVIDIA's extension
 * for inlined calls (elfutils, libdw/dwarf.h: DW_LNE_NVIDIA_inlined_call), as written by NVRTC
 * 13.0. Lines are optional: if the table is damaged, there are no lines, but the CUBIN is
 * accepted. */
#include <stdlib.h>

#include "gpu/cubin/cubin_reader.h"

/* Standard opcodes, which are below the header's opcode base, and extended opcodes, which follow a
 * 0. */
enum {
  DW_EXTENDED = 0,
  DW_LNS_COPY = 1,
  DW_LNS_ADVANCE_PC = 2,
  DW_LNS_ADVANCE_LINE = 3,
  DW_LNS_SET_FILE = 4,
  DW_LNS_CONST_ADD_PC = 8,
  DW_LNS_FIXED_ADVANCE_PC = 9,
  DW_LNE_END_SEQUENCE = 1,
  DW_LNE_SET_ADDRESS = 2,
  DW_LNE_NVIDIA_INLINED_CALL = 0x90,
  DW_SPECIAL_MAX = 255,
  DW_VERSION_MIN = 2,
  DW_VERSION_MAX = 4,
  DW_VERSION_WITH_OPERATIONS = 4, /* first version with maximum_operations_per_instruction */
};

/* Limit on the memory for folder names, as a multiple of the size of the CUBIN. */
enum { FOLDER_BYTES_FACTOR = 16 };

/* A sequential reader. A read past the end sets bad and returns zeros. */
struct bytes {
  const unsigned char *at, *end;
  bool bad;
};

/* The relocation of an address operand in the line program, which identifies the code it refers
 * to. */
struct place {
  uint64_t operand; /* offset in .debug_line */
  uint32_t section; /* index in module_code.sections */
  uint64_t value;
};

struct row {
  uint32_t offset, line, file;
  uint32_t user; /* index of the row with the user's source line for this one, or NONE */
};

struct file {
  const char *name; /* as in module_code.files */
  bool inside;      /* in SOURCE_FOLDER */
};

struct list {
  void *at;
  uint32_t count, capacity;
};

struct line_reader {
  struct cubin *r;
  const unsigned char *start; /* of .debug_line */
  struct place *places;
  size_t place_count;
  struct list files; /* struct file */
  struct list rows;  /* struct row; of the current sequence */
  struct list lines; /* struct module_line */
  bool no_memory;
  size_t folder_bytes_left; /* for folder names of all files together */

  /* Header of the current unit. */
  uint8_t step, line_range, opcode_base;
  int8_t line_base;
  uint32_t first_file; /* index in files of the unit's file 1 */
  bool has_user_files;
};

/* Registers of DWARF's line number state machine. */
struct machine {
  uint64_t offset;
  int64_t line;
  uint64_t file, context;
  uint32_t section; /* NONE if no known address has been set */
};

static void *append(struct line_reader *l, struct list *list, size_t size) {
  if (list->count == list->capacity) {
    uint32_t capacity = list->capacity ? list->capacity * 2 : 64;
    void *at = capacity > list->capacity ? realloc(list->at, capacity * size) : NULL;
    if (!at) {
      l->no_memory = true;
      return NULL;
    }
    list->at = at;
    list->capacity = capacity;
  }
  return (char *)list->at + size * list->count++;
}

static const unsigned char *read_bytes(struct bytes *b, size_t size) {
  static const unsigned char zeros[sizeof(uint64_t)];
  if (b->bad || (size_t)(b->end - b->at) < size) {
    b->bad = true;
    return zeros;
  }
  b->at += size;
  return b->at - size;
}

static uint64_t read_leb(struct bytes *b, bool is_signed) {
  enum { MORE = 0x80, SIGN = 0x40, PAYLOAD = 7, WIDTH = 64 };
  uint64_t value = 0;
  unsigned shift = 0;
  uint8_t byte;
  do {
    byte = *read_bytes(b, 1);
    if (shift < WIDTH)
      value |= (uint64_t)(byte & (MORE - 1)) << shift;
    shift += PAYLOAD;
  } while (byte & MORE);
  if (is_signed && (byte & SIGN) && shift < WIDTH)
    value |= UINT64_MAX << shift;
  return value;
}

static const char *read_string(struct bytes *b) {
  const unsigned char *end = b->bad ? NULL : memchr(b->at, 0, (size_t)(b->end - b->at));
  if (!end) {
    b->bad = true;
    return "";
  }
  const char *text = (const char *)b->at;
  b->at = end + 1;
  return text;
}

static int compare_places(const void *a, const void *b) {
  const struct place *p = a, *q = b;
  return p->operand < q->operand ? -1 : p->operand > q->operand;
}

/* Reads the relocations of address operands. */
static bool read_places(struct line_reader *l, uint32_t section) {
  struct cubin *r = l->r;
  const struct cubin_section *s = NULL;
  for (uint32_t i = 1; i < r->section_count && !s; i++)
    if ((r->sections[i].header.sh_type == SHT_REL || r->sections[i].header.sh_type == SHT_RELA) &&
        r->sections[i].header.sh_info == section)
      s = &r->sections[i];
  if (!s)
    return true;
  bool with_addend = s->header.sh_type == SHT_RELA;
  size_t size = with_addend ? sizeof(Elf64_Rela) : sizeof(Elf64_Rel);
  size_t count = s->header.sh_size / size;
  l->places = calloc(count ? count : 1, sizeof(*l->places));
  if (!l->places)
    return cubin_no_memory(r);
  const Elf64_Shdr *table = &r->sections[r->symtab].header;
  for (size_t i = 0; i < count; i++) {
    Elf64_Rela entry = {0};
    Elf64_Sym symbol;
    memcpy(&entry, r->data + s->header.sh_offset + i * size, size);
    uint64_t number = ELF64_R_SYM(entry.r_info);
    if (ELF64_R_TYPE(entry.r_info) != R_CUDA_64 || number >= r->symbol_count)
      continue;
    memcpy(&symbol, r->data + table->sh_offset + number * sizeof(symbol), sizeof(symbol));
    uint32_t text = symbol.st_shndx < r->section_count ? r->sections[symbol.st_shndx].module : NONE;
    if (text != NONE && r->module_sections[text].kind == MODULE_TEXT)
      l->places[l->place_count++] =
          (struct place){entry.r_offset, text, symbol.st_value + (uint64_t)entry.r_addend};
  }
  qsort(l->places, l->place_count, sizeof(*l->places), compare_places);
  return true;
}

static bool add_file(struct line_reader *l, const char *folder, const char *name) {
  /* Limits the memory that a CUBIN with many files in a folder with a long name can take. */
  const size_t folder_bytes = strnlen(folder, l->folder_bytes_left + 1);
  if (folder_bytes > l->folder_bytes_left)
    folder = "";
  l->folder_bytes_left -= folder_bytes > l->folder_bytes_left ? l->folder_bytes_left : folder_bytes;
  char *path = arena_alloc(l->r->arena, strlen(folder) + strlen(name) + 2, 1);
  struct file *file = append(l, &l->files, sizeof(*file));
  if (!path || !file) {
    l->no_memory = true;
    return false;
  }
  char *end = stpcpy(path, folder);
  if (end > path && end[-1] != '/')
    *end++ = '/';
  stpcpy(end, name);
  const char *inside = cubin_after_prefix(path, SOURCE_FOLDER);
  l->has_user_files |= inside != NULL;
  file->inside = inside != NULL;
  file->name = !inside ? path : strcmp(inside, SOURCE_NAME) == 0 ? "" : inside;
  return true;
}

static void read_files(struct line_reader *l, struct bytes *b) {
  struct list folders = {0};
  const char *name;
  l->first_file = l->files.count;
  l->has_user_files = false;
  while (*(name = read_string(b))) {
    const char **folder = append(l, &folders, sizeof(name));
    if (!folder)
      break;
    *folder = name;
  }
  while (!l->no_memory && *(name = read_string(b))) {
    uint64_t folder = read_leb(b, false);
    read_leb(b, false); /* time */
    read_leb(b, false); /* size */
    if (!add_file(l, folder - 1 < folders.count ? ((const char **)folders.at)[folder - 1] : "",
                  name))
      break;
  }
  free(folders.at);
}

/* Returns whether a file of the unit (numbered from 1) is the user's. In a CUBIN from tegraclc only
 * files of the OpenCL program are, in other CUBINs all files. */
static bool is_users(const struct line_reader *l, uint64_t file) {
  if (file - 1 >= l->files.count - l->first_file)
    return false;
  return (!l->r->is_ours && !l->has_user_files) ||
         ((struct file *)l->files.at)[l->first_file + file - 1].inside;
}

static void add_row(struct line_reader *l, const struct machine *m) {
  const struct row *rows = l->rows.at;
  uint32_t number = l->rows.count;
  /* context is the number, from 1, of an earlier row of the sequence: the call's row. */
  uint32_t user = m->context - 1 < number ? rows[m->context - 1].user : NONE;
  struct row *row;
  if (m->section == NONE || m->offset > l->r->module_sections[m->section].size ||
      m->offset > UINT32_MAX || (number && rows[number - 1].offset > m->offset) ||
      !(row = append(l, &l->rows, sizeof(*row))))
    return;
  bool users = is_users(l, m->file) && m->line > 0 && m->line <= UINT32_MAX;
  *row = (struct row){.offset = (uint32_t)m->offset, .user = users ? number : user};
  if (users) {
    row->line = (uint32_t)m->line;
    row->file = l->first_file + (uint32_t)m->file - 1;
  }
}

static void add_line(struct line_reader *l, struct module_line line, uint32_t first) {
  struct module_line *lines = l->lines.at;
  uint32_t last = l->lines.count - 1;
  if (l->lines.count > first && lines[last].offset == line.offset) {
    lines[last] = line;
  } else if (l->lines.count == first || lines[last].line != line.line ||
             lines[last].file != line.file) {
    struct module_line *next = append(l, &l->lines, sizeof(line));
    if (next)
      *next = line;
  }
}

static void end_sequence(struct line_reader *l, const struct machine *m) {
  const struct row *rows = l->rows.at;
  uint32_t first = l->lines.count;
  for (uint32_t i = 0; i < l->rows.count; i++) {
    struct module_line line = {.section = m->section, .offset = rows[i].offset};
    if (rows[i].user != NONE) {
      line.line = rows[rows[i].user].line;
      line.file = rows[rows[i].user].file;
    }
    add_line(l, line, first);
  }
  if (l->rows.count && m->offset < l->r->module_sections[m->section].size &&
      m->offset >= rows[l->rows.count - 1].offset)
    add_line(l, (struct module_line){.section = m->section, .offset = (uint32_t)m->offset}, first);
  l->rows.count = 0;
}

static void set_address(struct line_reader *l, struct machine *m, const unsigned char *operand) {
  const struct place key = {.operand = (uint64_t)(operand - l->start)};
  const struct place *place =
      l->place_count ? bsearch(&key, l->places, l->place_count, sizeof(*l->places), compare_places)
                     : NULL;
  if (!place || l->rows.count) { /* all rows of a sequence belong to one section */
    m->section = l->rows.count ? m->section : NONE;
    return;
  }
  m->section = place->section;
  m->offset = place->value + cubin_read64(operand);
}

static void run_extended(struct line_reader *l, struct bytes *b, struct machine *m) {
  uint64_t length = read_leb(b, false);
  if (b->bad || !length || length > (uint64_t)(b->end - b->at)) {
    b->bad = true;
    return;
  }
  struct bytes operands = {.at = b->at + 1, .end = b->at + length};
  uint8_t opcode = *b->at;
  b->at += length;
  if (opcode == DW_LNE_END_SEQUENCE) {
    end_sequence(l, m);
    *m = (struct machine){.line = 1, .file = 1, .section = NONE};
  } else if (opcode == DW_LNE_SET_ADDRESS && length == 1 + sizeof(uint64_t)) {
    set_address(l, m, operands.at);
  } else if (opcode == DW_LNE_NVIDIA_INLINED_CALL) {
    m->context = read_leb(&operands, false);
  }
}

/* Unsigned, so that hostile advances beyond INT64_MAX wrap around. */
static void advance_line(struct machine *m, int64_t lines) {
  m->line = (int64_t)((uint64_t)m->line + (uint64_t)lines);
}

static void run_program(struct line_reader *l, struct bytes *b, const unsigned char *lengths) {
  struct machine m = {.line = 1, .file = 1, .section = NONE};
  l->rows.count = 0;
  while (!b->bad && !l->no_memory && b->at < b->end) {
    uint8_t opcode = *read_bytes(b, 1);
    if (opcode >= l->opcode_base) {
      unsigned adjusted = opcode - l->opcode_base;
      m.offset += (uint64_t)(adjusted / l->line_range) * l->step;
      advance_line(&m, l->line_base + (int)(adjusted % l->line_range));
      add_row(l, &m);
      continue;
    }
    switch (opcode) {
    case DW_EXTENDED:
      run_extended(l, b, &m);
      break;
    case DW_LNS_COPY:
      add_row(l, &m);
      break;
    case DW_LNS_ADVANCE_PC:
      m.offset += read_leb(b, false) * l->step;
      break;
    case DW_LNS_ADVANCE_LINE:
      advance_line(&m, (int64_t)read_leb(b, true));
      break;
    case DW_LNS_SET_FILE:
      m.file = read_leb(b, false);
      break;
    case DW_LNS_CONST_ADD_PC:
      m.offset += (uint64_t)((DW_SPECIAL_MAX - l->opcode_base) / l->line_range) * l->step;
      break;
    case DW_LNS_FIXED_ADVANCE_PC:
      m.offset += cubin_read16(read_bytes(b, sizeof(uint16_t)));
      break;
    default:
      for (unsigned i = 0; i < lengths[opcode - 1]; i++)
        read_leb(b, false);
    }
  }
}

static void read_unit(struct line_reader *l, struct bytes unit) {
  uint16_t version = cubin_read16(read_bytes(&unit, sizeof(version)));
  uint32_t header_bytes = cubin_read32(read_bytes(&unit, sizeof(header_bytes)));
  if (unit.bad || version < DW_VERSION_MIN || version > DW_VERSION_MAX ||
      header_bytes > (size_t)(unit.end - unit.at))
    return;
  struct bytes header = {.at = unit.at, .end = unit.at + header_bytes};
  l->step = *read_bytes(&header, 1);
  if (version >= DW_VERSION_WITH_OPERATIONS)
    read_bytes(&header, 1);
  read_bytes(&header, 1); /* default_is_stmt */
  l->line_base = (int8_t)*read_bytes(&header, 1);
  l->line_range = *read_bytes(&header, 1);
  l->opcode_base = *read_bytes(&header, 1);
  if (header.bad || !l->line_range || !l->opcode_base ||
      (size_t)(header.end - header.at) < l->opcode_base - 1u)
    return;
  const unsigned char *lengths = header.at;
  header.at += l->opcode_base - 1;
  read_files(l, &header);
  struct bytes program = {.at = header.end, .end = unit.end};
  if (!header.bad && !l->no_memory)
    run_program(l, &program, lengths);
}

/* Compares section and offset. At the same offset unknown lines are first, so the known one
 * prevails. */
static int compare_lines(const void *a, const void *b) {
  const struct module_line *p = a, *q = b;
  return p->section != q->section ? (p->section < q->section ? -1 : 1)
         : p->offset != q->offset ? (p->offset < q->offset ? -1 : 1)
         : p->line != q->line     ? (p->line < q->line ? -1 : 1)
                                  : 0;
}

static bool store_lines(struct line_reader *l) {
  struct module_code *code = l->r->code;
  struct module_line *from = l->lines.at;
  uint32_t count = 0;
  struct module_line *lines = arena_alloc(l->r->arena, l->lines.count, sizeof(*lines));
  const char **files = arena_alloc(l->r->arena, l->files.count, sizeof(*files));
  if (!lines || !files)
    return cubin_no_memory(l->r);
  if (l->lines.count)
    qsort(from, l->lines.count, sizeof(*from), compare_lines);
  for (uint32_t i = 0; i < l->lines.count; i++) {
    if (count && lines[count - 1].section == from[i].section &&
        lines[count - 1].offset == from[i].offset)
      count--;
    lines[count++] = from[i];
  }
  for (uint32_t i = 0; i < l->files.count; i++)
    files[i] = ((struct file *)l->files.at)[i].name;
  code->lines = lines;
  code->line_count = count;
  code->files = files;
  code->file_count = l->files.count;
  return true;
}

bool cubin_read_lines(struct cubin *r) {
  struct line_reader l = {.r = r, .folder_bytes_left = FOLDER_BYTES_FACTOR * r->size};
  uint32_t section = 0;
  for (uint32_t i = 1; i < r->section_count && !section; i++)
    if (r->sections[i].header.sh_type == SHT_PROGBITS &&
        strcmp(r->sections[i].name, ".debug_line") == 0)
      section = i;
  if (!section)
    return true;
  l.start = r->data + r->sections[section].header.sh_offset;
  struct bytes b = {.at = l.start, .end = l.start + r->sections[section].header.sh_size};
  bool good = read_places(&l, section);
  while (good && !l.no_memory && b.at < b.end) {
    uint32_t length = cubin_read32(read_bytes(&b, sizeof(length)));
    if (b.bad || length > (size_t)(b.end - b.at))
      break;
    struct bytes unit = {.at = b.at, .end = b.at + length};
    b.at += length;
    read_unit(&l, unit);
  }
  good = good && (l.no_memory ? cubin_no_memory(r) : store_lines(&l));
  free(l.places);
  free(l.files.at);
  free(l.rows.at);
  free(l.lines.at);
  return good;
}
