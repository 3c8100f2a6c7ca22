/* Prints the class and the name of each fault of the software Orin, or of those selected by the
 * arguments (TEGRACL_EMULATOR=fault:ARGUMENT). */
#include <stdio.h>

#include "emulator/modes/inject.h"

static void print(size_t index) {
  const char *fault_class = NULL;
  const char *name = emu_inject_name(index, &fault_class);
  if (name)
    printf("%s,%s\n", fault_class, name);
}

int main(int argc, char **argv) {
  const char *fault_class;
  for (size_t i = 0; argc == 1 && emu_inject_name(i, &fault_class); i++)
    print(i);
  for (int i = 1; i < argc; i++) {
    if (!emu_inject_choose(argv[i]))
      return 1;
    print(emu_inject_index());
  }
  return 0;
}
