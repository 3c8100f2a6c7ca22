/* What gcc's -finstrument-functions calls at each function's entry and exit: writes them down.
 * Preloaded by walkthrough.py. CALLS_RECORDED names the file; its lines are
 *
 *   THREAD > ADDRESS     a function is entered (its address within its library)
 *   THREAD < ADDRESS     and left
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define NOT_RECORDED __attribute__((no_instrument_function))

void __cyg_profile_func_enter(void *function, void *caller);
void __cyg_profile_func_exit(void *function, void *caller);

static FILE *file;

NOT_RECORDED __attribute__((constructor)) static void open_file(void) {
  const char *name = getenv("CALLS_RECORDED");
  file = name ? fopen(name, "w") : NULL;
  unsetenv("CALLS_RECORDED"); /* do not record the compiler process */
  unsetenv("LD_PRELOAD");
}

NOT_RECORDED static void record(char kind, void *function) {
  Dl_info library;
  if (file && dladdr(function, &library))
    fprintf(file, "%d %c %zx\n", (int)gettid(), kind,
            (size_t)((uintptr_t)function - (uintptr_t)library.dli_fbase));
}

NOT_RECORDED void __cyg_profile_func_enter(void *function, void *caller) {
  (void)caller;
  record('>', function);
}

NOT_RECORDED void __cyg_profile_func_exit(void *function, void *caller) {
  (void)caller;
  record('<', function);
}
