/* Reads 16-byte instruction words from standard input and prints one line for each: its text,
 * "illegal", or "illegal bits" if bits that belong to no field are set. The first word is at offset
 * 0 of its section. */
#include <stdint.h>
#include <stdio.h>

#include "gpu/isa/insn.h"

#define TEXT_SIZE 256

int main(void) {
  uint64_t word[2], pc = 0;
  struct sm_insn insn;
  char text[TEXT_SIZE];
  for (; fread(word, sizeof(word), 1, stdin) == 1; pc += sizeof(word)) {
    if (sm_decode(word, &insn))
      sm_disassemble(&insn, pc, text, sizeof(text));
    else
      snprintf(text, sizeof(text), insn.stray[0] | insn.stray[1] ? "illegal bits" : "illegal");
    puts(text);
  }
  return ferror(stdin) || fflush(stdout) ? 1 : 0;
}
