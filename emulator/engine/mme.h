/* The macro engine (MME) in front of the compute class. Macros are small programs of a channel that
 * convert their arguments to methods. Instructions, memories and their sizes are those that Mesa
 * found for Turing (src/nouveau/mme, mme_tu104*); class C7C0 has the same methods. */
#ifndef TEGRACL_EMULATOR_MME_H
#define TEGRACL_EMULATOR_MME_H

#include <stdbool.h>
#include <stdint.h>

#include "emulator/engine/method.h"

struct emu_channel;
struct emu_fault;

enum {
  MME_INSTRUCTION_WORDS = 3,
  MME_INSTRUCTIONS = 0x1000,
  MME_CODE_WORDS = MME_INSTRUCTIONS * MME_INSTRUCTION_WORDS,
  MME_MACROS = 256,
  MME_DATA_WORDS = 0xc00, /* DREAD, DWRITE */
  MME_FIFO_WORDS = 1024,  /* for READ_FIFOED */
  MME_REGISTERS = 24,
  MME_METHODS = 0x1000,
};

/* Values of the fields of an instruction. */
enum mme_register {
  MME_ZERO = MME_REGISTERS,
  MME_IMMEDIATE,      /* immediate of the same ALU, sign-extended */
  MME_IMMEDIATE_PAIR, /* immediate of the other ALU, sign-extended */
  MME_IMMEDIATE_32,   /* both immediates as one word */
  MME_LOAD0,          /* the next argument */
  MME_LOAD1,          /* the argument after it */
};

enum mme_operation {
  MME_ADD,
  MME_ADDC,
  MME_SUB,
  MME_SUBB,
  MME_MUL,
  MME_MULH,
  MME_MULU,
  MME_EXTENDED,
  MME_CLZ,
  MME_SLL,
  MME_SRL,
  MME_SRA,
  MME_AND,
  MME_NAND,
  MME_OR,
  MME_XOR,
  MME_MERGE,
  MME_SLT,
  MME_SLTU,
  MME_SLE,
  MME_SLEU,
  MME_SEQ,
  MME_STATE,
  MME_LOOP,
  MME_JAL,
  MME_BLT,
  MME_BLTU,
  MME_BLE,
  MME_BLEU,
  MME_BEQ,
  MME_DREAD,
  MME_DWRITE,
};

enum mme_output {
  MME_OUT_NONE,
  MME_OUT_ALU0,
  MME_OUT_ALU1,
  MME_OUT_LOAD0,
  MME_OUT_LOAD1,
  MME_OUT_IMMEDIATE0,
  MME_OUT_IMMEDIATE1,
  MME_OUT_RESERVED,
  MME_OUT_HIGH0, /* bits 15:12 of the immediate */
  MME_OUT_HIGH1,
  MME_OUT_IMMEDIATE_32,
};

struct mme_instruction {
  bool end_next; /* the next instruction is the last one */
  uint8_t predicate_mode, predicate;
  struct {
    uint8_t operation, destination, source[2];
    uint16_t immediate;
  } alu[2];
  struct {
    uint8_t method, emit;
  } out[2];
};

/* Decodes an instruction. Its first word has bits 95:64 and its last word bits 31:0. */
struct mme_instruction mme_decode(const uint32_t words[MME_INSTRUCTION_WORDS]);

struct emu_mme {
  uint32_t code[MME_CODE_WORDS], starts[MME_MACROS], data[MME_DATA_WORDS];
  uint32_t code_pointer, start_pointer, data_pointer;
  uint64_t memory;               /* address for the DMA methods */
  uint32_t shadow[MME_METHODS];  /* last data of each method */
  uint32_t shadow_mode;          /* enum mme_shadow_mode */
  uint32_t fifo[MME_FIFO_WORDS]; /* words of READ_FIFOED, which are loaded before arguments */
  uint32_t fifo_first, fifo_count;

  /* The running macro. last is set if its next instruction is the last one, and busy while an
   * argument is being processed. */
  bool running, last, busy;
  bool has_argument;
  uint32_t argument;
  uint32_t start, ip; /* index of the first word; index of the instruction relative to it */
  uint32_t registers[MME_REGISTERS], result[2], load[2], carry;
  unsigned loaded; /* number of arguments loaded for the current instruction */
  uint32_t loop_count, loop_start, loop_end;
  uint32_t method, method_step; /* address and increment for emitted words */
  struct {
    uint32_t method, data;
  } emitted[2]; /* by the current instruction and not yet executed */
  unsigned emitted_first, emitted_count;
};

/* Returns whether the method belongs to the macro engine, other than calls. */
bool emu_mme_owns(uint32_t method);
enum emu_step emu_mme_method(struct emu_channel *channel, uint32_t method, uint32_t data,
                             struct emu_fault *fault);
/* Executes CALL_MME_MACRO or CALL_MME_DATA. */
enum emu_step emu_mme_call(struct emu_channel *channel, uint32_t method, uint32_t data,
                           struct emu_fault *fault);
/* Stops the running macro. Accepts NULL. */
void emu_mme_drop(struct emu_mme *mme);
/* Records a method's data in the shadow memory, and returns the data to execute the method with. */
uint32_t emu_mme_shadow(struct emu_mme *mme, uint32_t method, uint32_t data);

#endif
