/* Global variables. __local variables become __shared__ arrays. Constants become
 * __constant__ arrays, or read-only global memory once the constant bank is full.
 * Program-scope variables become global memory, which the module keeps between launches.
 * Each variable is an array of bytes, words or addresses, and its uses cast it. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "compiler/lower/lower_state.h"

/* The constant bank of a module has 64 KiB (docs/hardware/cubin.md, bank 3).
 * Part of it is reserved for NVRTC's own constants. */
enum { CONSTANT_BYTES_MAX = 60 * 1024, WORD = 8 };

/* An address that is part of an initial value. */
struct reference {
  uint64_t offset;
  LLVMValueRef target; /* global variable */
  uint64_t addend;
};

/* The initial value of a variable. */
struct contents {
  LLVMValueRef variable;
  unsigned char *bytes;
  struct reference *references;
  unsigned reference_count;
};

static void put_integer(struct contents *contents, uint64_t offset, uint64_t size, uint64_t value) {
  for (uint64_t i = 0; i < size && i < WORD; i++)
    contents->bytes[offset + i] = (unsigned char)(value >> 8 * i);
}

/* Resolves a constant pointer: a global variable or a function, plus an offset in bytes. */
static bool resolve_address(struct lower *lower, LLVMValueRef value, struct reference *out) {
  uint64_t addend = 0;
  while (LLVMGetValueKind(value) == LLVMConstantExprValueKind) {
    LLVMOpcode opcode = LLVMGetConstOpcode(value);
    if (opcode == LLVMGetElementPtr) {
      LLVMTypeRef type = LLVMGetGEPSourceElementType(value);
      for (unsigned i = 1; i < (unsigned)LLVMGetNumOperands(value); i++) {
        LLVMValueRef index = LLVMGetOperand(value, i);
        if (!LLVMIsAConstantInt(index))
          return false;
        int64_t number = LLVMConstIntGetSExtValue(index);
        if (i > 1 && LLVMGetTypeKind(type) == LLVMStructTypeKind) {
          addend += LLVMOffsetOfElement(lower->layout, type, (unsigned)number);
          type = LLVMStructGetTypeAtIndex(type, (unsigned)number);
        } else {
          if (i > 1)
            type = LLVMGetElementType(type);
          addend += (uint64_t)number * lower_size(lower, type);
        }
      }
    } else if (opcode != LLVMBitCast && opcode != LLVMAddrSpaceCast && opcode != LLVMPtrToInt &&
               opcode != LLVMIntToPtr) {
      return false;
    }
    value = LLVMGetOperand(value, 0);
  }
  out->target = value;
  out->addend = addend;
  return LLVMIsAGlobalVariable(value) || LLVMIsAFunction(value);
}

static void declare_global(struct lower *lower, LLVMValueRef variable);

static void fill_contents(struct lower *lower, struct contents *contents, LLVMValueRef value,
                          uint64_t offset) {
  LLVMTypeRef type = LLVMTypeOf(value);
  if (LLVMIsUndef(value) || LLVMIsNull(value))
    return;
  switch (LLVMGetValueKind(value)) {
  case LLVMConstantIntValueKind: {
    uint64_t size = LLVMStoreSizeOfType(lower->layout, type);
    if (size > WORD)
      lower_fail(lower, "an integer constant of %" PRIu64 " bytes in memory is not supported",
                 size);
    put_integer(contents, offset, size, LLVMConstIntGetZExtValue(value));
    return;
  }
  case LLVMConstantFPValueKind: {
    uint64_t size = LLVMStoreSizeOfType(lower->layout, type);
    LLVMTypeRef bits = LLVMIntTypeInContext(LLVMGetTypeContext(type), (unsigned)size * 8);
    put_integer(contents, offset, size, LLVMConstIntGetZExtValue(LLVMConstBitCast(value, bits)));
    return;
  }
  case LLVMConstantStructValueKind:
  case LLVMConstantArrayValueKind:
  case LLVMConstantVectorValueKind:
  case LLVMConstantDataArrayValueKind:
  case LLVMConstantDataVectorValueKind: {
    bool is_struct = LLVMGetTypeKind(type) == LLVMStructTypeKind;
    bool is_vector = LLVMGetTypeKind(type) == LLVMVectorTypeKind;
    unsigned count = is_struct   ? LLVMCountStructElementTypes(type)
                     : is_vector ? LLVMGetVectorSize(type)
                                 : LLVMGetArrayLength(type);
    for (unsigned i = 0; i < count; i++) {
      LLVMTypeRef element = lower_element_type(type, i);
      uint64_t place = is_struct   ? LLVMOffsetOfElement(lower->layout, type, i)
                       : is_vector ? i * LLVMStoreSizeOfType(lower->layout, element)
                                   : i * lower_size(lower, element);
      fill_contents(lower, contents, LLVMGetAggregateElement(value, i), offset + place);
    }
    return;
  }
  default: {
    struct reference *reference = &contents->references[contents->reference_count];
    if (resolve_address(lower, value, reference)) {
      if (LLVMIsAFunction(reference->target)) /* in a block: see lower_use */
        return;
      const uint64_t size = LLVMStoreSizeOfType(lower->layout, type);
      if (offset % WORD || size != WORD) {
        lower_fail(lower,
                   "an initial value with an address of %" PRIu64 " bytes at byte %" PRIu64
                   " of '%s' is not supported",
                   size, offset, LLVMGetValueName(contents->variable));
        return;
      }
      reference->offset = offset;
      contents->reference_count++;
      declare_global(lower, reference->target);
      return;
    }
    char *text = LLVMPrintValueToString(value);
    lower_fail(lower, "the initial value %.200s is not supported", text);
    LLVMDisposeMessage(text);
  }
  }
}

static int compare_references(const void *a, const void *b) {
  uint64_t x = ((const struct reference *)a)->offset, y = ((const struct reference *)b)->offset;
  return x < y ? -1 : x > y;
}

unsigned lower_array_align(unsigned align, uint64_t size) {
  enum { WIDEST_ACCESS = 16 };
  return size >= WIDEST_ACCESS && align < WIDEST_ACCESS ? WIDEST_ACCESS : align ? align : 1;
}

static struct global *find_global(struct lower *lower, LLVMValueRef variable) {
  struct global *global = lower->globals;
  for (LLVMValueRef at = LLVMGetFirstGlobal(lower->module); at && at != variable;
       at = LLVMGetNextGlobal(at))
    global++;
  return global;
}

static unsigned global_number(struct lower *lower, LLVMValueRef variable) {
  return find_global(lower, variable)->number;
}

/* Casts via an integer. NVRTC 13.0 fails with an internal error if it evaluates, at compile
 * time, a call in an initialiser that uses the address of a __constant__ variable. */
const char *lower_global_address(struct lower *lower, LLVMValueRef variable) {
  return lower_print(lower, "((char *)(u64)&g%u)", global_number(lower, variable));
}

static void print_words(struct lower *lower, const unsigned char *bytes, uint64_t count) {
  for (uint64_t i = 0; i < count; i++) {
    uint64_t word;
    memcpy(&word, bytes + i * WORD, WORD);
    text_printf(&lower->head, "0x%" PRIx64 ",", word);
  }
}

/* Prints an array of 64-bit words, or, if the value contains
 * addresses, a struct of such arrays and pointers. */
static void print_initialised(struct lower *lower, const char *space, const char *constant,
                              unsigned number, uint64_t align, uint64_t size,
                              const struct contents *contents) {
  struct text *head = &lower->head;
  uint64_t at = 0;
  text_printf(head, "struct t%u {", number);
  for (unsigned i = 0; i <= contents->reference_count; i++) {
    uint64_t end = i < contents->reference_count ? contents->references[i].offset : size;
    if (end > at)
      text_printf(head, " u64 w%u[%" PRIu64 "];", i, (end - at) / WORD);
    if (i < contents->reference_count)
      text_printf(head, " const void *p%u;", i);
    at = end + WORD;
  }
  text_printf(head, " };\nstatic %s __align__(%" PRIu64 ") %sstruct t%u g%u = {", space, align,
              constant, number, number);
  at = 0;
  for (unsigned i = 0; i <= contents->reference_count; i++) {
    uint64_t end = i < contents->reference_count ? contents->references[i].offset : size;
    if (end > at) {
      text_puts(head, "{");
      print_words(lower, contents->bytes + at, (end - at) / WORD);
      text_puts(head, "},");
    }
    if (i < contents->reference_count)
      text_printf(head, "(const char *)&g%u + %" PRIu64 ",",
                  global_number(lower, contents->references[i].target),
                  contents->references[i].addend);
    at = end + WORD;
  }
  text_puts(head, "};\n");
}

static void print_variable(struct lower *lower, LLVMValueRef variable, unsigned number) {
  LLVMTypeRef type = LLVMGlobalGetValueType(variable);
  LLVMValueRef initial = LLVMGetInitializer(variable);
  unsigned space = LLVMGetPointerAddressSpace(LLVMTypeOf(variable));
  uint64_t size = lower_size(lower, type), align = LLVMGetAlignment(variable);
  if (align < LLVMABIAlignmentOfType(lower->layout, type))
    align = LLVMABIAlignmentOfType(lower->layout, type);
  if (space == SPACE_LOCAL) {
    text_printf(&lower->head, "static __shared__ __align__(%u) u8 g%u[%" PRIu64 "];\n",
                lower_array_align((unsigned)align, size), number, size ? size : 1);
    lower->result->local_bytes += size;
    return;
  }
  if (!initial) {
    lower_fail(lower, "the variable '%s' is declared but not defined", LLVMGetValueName(variable));
    return;
  }
  if (align < WORD)
    align = WORD;
  size = base_round_up(size ? size : 1, align);
  bool constant = LLVMIsGlobalConstant(variable) || space == SPACE_CONSTANT;
  if (!constant && LLVMIsNull(initial)) {
    text_printf(&lower->head, "static __device__ __align__(%" PRIu64 ") u64 g%u[%" PRIu64 "];\n",
                align, number, size / WORD);
    return;
  }
  struct contents contents = {.variable = variable,
                              .bytes = calloc(1, size),
                              .references = calloc(size / WORD + 1, sizeof(struct reference))};
  if (contents.bytes && contents.references) {
    fill_contents(lower, &contents, initial, 0);
    qsort(contents.references, contents.reference_count, sizeof *contents.references,
          compare_references);
    bool fits = constant && lower->constant_bytes + size <= CONSTANT_BYTES_MAX;
    lower->constant_bytes += fits ? size : 0;
    /* When NVRTC 13.0 evaluates a const variable at compile time, it reads the
     * address of a __constant__ variable as null. */
    bool foldable = constant && !contents.reference_count;
    print_initialised(lower, fits ? "__constant__" : "__device__", foldable ? "const " : "", number,
                      align, size, &contents);
  } else {
    lower_fail(lower, "out of memory");
  }
  free(contents.bytes);
  free(contents.references);
}

/* Declares the variable once, after the variables whose addresses
 * it contains. NVRTC accepts no cycles. */
static void declare_global(struct lower *lower, LLVMValueRef variable) {
  unsigned number = global_number(lower, variable);
  enum progress *progress = &find_global(lower, variable)->progress;
  if (*progress == OPEN)
    lower_fail(lower,
               "the initial value of '%s' contains its own address through other variables, which "
               "is not supported",
               LLVMGetValueName(variable));
  if (*progress != UNTOUCHED || lower->failed)
    return;
  *progress = OPEN;
  print_variable(lower, variable, number);
  *progress = DONE;
}

/* A whole module declares all variables that are used in it; a
 * unit declares those that the unit uses. */
void lower_list_globals(struct lower *lower) {
  unsigned count = 0;
  for (LLVMValueRef at = LLVMGetFirstGlobal(lower->module); at; at = LLVMGetNextGlobal(at)) {
    count++;
    if (LLVMGetPointerAddressSpace(LLVMTypeOf(at)) == SPACE_GLOBAL)
      lower->result->global_bytes += lower_size(lower, LLVMGlobalGetValueType(at));
  }
  lower->globals = arena_alloc(&lower->arena, count, sizeof *lower->globals);
  if (!lower->globals) {
    lower_fail(lower, "out of memory");
    return;
  }
  struct global *global = lower->globals;
  for (LLVMValueRef at = LLVMGetFirstGlobal(lower->module); at; at = LLVMGetNextGlobal(at))
    (global++)->used = !lower->in_units && LLVMGetFirstUse(at);
}

void lower_use_globals(struct lower *lower, LLVMValueRef operand) {
  if (!lower->in_units || !operand)
    return;
  if (LLVMIsAGlobalVariable(operand)) {
    struct global *global = find_global(lower, operand);
    if (!global->used) {
      global->used = true;
      lower_use_globals(lower, LLVMGetInitializer(operand));
    }
  } else if (LLVMIsAConstantExpr(operand) || LLVMIsAConstantArray(operand) ||
             LLVMIsAConstantStruct(operand) || LLVMIsAConstantVector(operand)) {
    for (unsigned i = 0; i < (unsigned)LLVMGetNumOperands(operand); i++)
      lower_use_globals(lower, LLVMGetOperand(operand, i));
  }
}

void lower_globals(struct lower *lower) {
  struct global *global = lower->globals;
  unsigned number = 0;
  for (LLVMValueRef at = LLVMGetFirstGlobal(lower->module); at;
       at = LLVMGetNextGlobal(at), global++)
    if (global->used || !lower->in_units)
      global->number = number++;
  global = lower->globals;
  for (LLVMValueRef at = LLVMGetFirstGlobal(lower->module); at && !lower->failed;
       at = LLVMGetNextGlobal(at), global++)
    if (global->used)
      declare_global(lower, at);
}
