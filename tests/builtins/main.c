/* Tests all built-in functions of OpenCL C, in every type and vector width, on the OpenCL loader's
 * device. Compares the results for special and random values with references in higher precision.
 * The table of functions and bounds is in math.c, common.c and integer.c; convert.c, memory.c and
 * shuffle.c test the other functions.
 *
 * usage: builtins [--values N] [--all-widths] [--relaxed] [--list] [--only NAME]
 * NAME is a function, or functions (the whole table), convert, memory or shuffle. --relaxed builds
 * with -cl-fast-relaxed-math and uses the bounds for it (relaxed.c).
 *
 * Prints the worst errors as Markdown, and failures to the standard error stream. Exits with 1 if
 * a function exceeds its bound. --list prints the overloads that a run with --all-widths calls.
 */
#include "tests/builtins/run.h"

#include <stdlib.h>
#include <string.h>

struct settings settings = {.values = 2048};
enum { KERNELS_IN_PROGRAM = 64 };

static const struct builtin_list *const lists[] = {&math_functions,       &fast_functions,
                                                   &common_functions,     &geometric_functions,
                                                   &relational_functions, &integer_functions};
enum { LISTS = sizeof lists / sizeof lists[0] };

static const struct {
  const char *name;
  int (*test)(struct device_cl *);
} parts[] = {{"convert", test_conversions}, {"memory", test_memory}, {"shuffle", test_shuffles}};
enum { PARTS = sizeof parts / sizeof parts[0] };

void *room(size_t size) {
  void *memory = calloc(1, size);
  if (!memory)
    abort();
  return memory;
}

cl_program build_text(struct device_cl *cl, struct device_text *text) {
  cl_program program = device_cl_build_with(
      cl, text->data, settings.relaxed ? "-cl-std=CL3.0 -cl-fast-relaxed-math" : "-cl-std=CL3.0");
  free(text->data);
  *text = (struct device_text){0};
  return program;
}

static bool chosen(const char *name) {
  return !settings.only || strcmp(settings.only, name) == 0;
}

bool width_wanted(unsigned index, unsigned turn) {
  return settings.all_widths || index == 0 || index == 1 + turn % (WIDTHS - 1);
}

static bool launch(struct device_cl *cl, cl_program program, const struct run *run) {
  struct device_array arrays[ARGUMENTS + 2];
  const size_t size = run->count * sizeof(uint64_t);
  unsigned n = 0;
  for (unsigned k = 0; k < run->form->arguments; k++)
    arrays[n++] = (struct device_array){run->in[k], size, false};
  arrays[n++] = (struct device_array){run->result, size, true};
  arrays[n++] = (struct device_array){run->second, size, true};
  return device_cl_run(cl, program, kernel_name(run->b, run->form_index, run->width),
                       run->count / run->width, GROUP, arrays, n);
}

/* The scalar form goes first, because its answers are used for the other forms. */
static void fill_inputs(struct run *run) {
  unsigned arguments = run->form->arguments;
  for (unsigned k = 0; k < arguments; k++) {
    const char letter = run->form->letters[1 + k];
    enum type type = letter_type(letter, run->type, run->width);
    for (size_t i = 0; i < run->count; i++) {
      struct value value = test_value(type, k, arguments, i);
      if (letter == 'x')
        value.n = (wide)(device_random() % (types[run->type].bits + 1));
      else if (letter == 'q')
        value.n = types[type].is_signed ? (wide)(int32_t)((uint32_t)value.n << 8) >> 8
                                        : value.n & 0xffffff;
      value_store(type, run->in[k], i, value);
    }
  }
}

static bool width_tested(const struct builtin *b, const struct form *form, unsigned w,
                         unsigned turn) {
  return width_allowed(b, form, widths[w]) && (width_wanted(w, turn) || b->flags & ONLY_3_4);
}

static bool test_form(struct device_cl *cl, cl_program program, struct run *run, unsigned turn) {
  bool good = true;
  fill_inputs(run);
  for (unsigned w = 0; w < WIDTHS; w++) {
    run->width = widths[w];
    if (width_tested(run->b, run->form, w, turn)) {
      good = launch(cl, program, run) && good;
      check(run);
    }
  }
  return good;
}

static void test_function(struct device_cl *cl, cl_program program, const struct builtin *b,
                          enum type type, unsigned turn, struct outcome *outcome) {
  struct run run = {.b = b, .type = type, .outcome = outcome};
  const char *forms = b->forms;
  struct form form;
  for (run.form = &form; next_form(&forms, &form); run.form_index++) {
    run.width = 1;
    run.count = value_count(form.arguments, letter_type(form.letters[1], type, 1));
    for (unsigned k = 0; k < form.arguments; k++)
      run.in[k] = room(run.count * sizeof(uint64_t));
    run.result = room(run.count * sizeof(uint64_t));
    run.second = room(run.count * sizeof(uint64_t));
    run.answers = room(run.count * sizeof *run.answers);
    if (!test_form(cl, program, &run, turn))
      outcome->failures++;
    for (unsigned k = 0; k < form.arguments; k++)
      free(run.in[k]);
    free(run.result);
    free(run.second);
    free(run.answers);
  }
}

static unsigned add_function(struct device_text *text, const struct builtin *b, enum type type,
                             unsigned turn) {
  const char *forms = b->forms;
  struct form form;
  unsigned kernels = 0;
  for (unsigned f = 0; next_form(&forms, &form); f++)
    for (unsigned w = 0; w < WIDTHS; w++)
      if (width_tested(b, &form, w, turn)) {
        add_kernel(text, b, f, &form, type, widths[w]);
        kernels++;
      }
  return kernels;
}

static bool wanted(const struct builtin *b, enum type type) {
  if (settings.relaxed && strcmp(b->name, "nan") == 0)
    return false; /* undefined with -cl-finite-math-only */
  return (b->types >> type & 1) && (chosen("functions") || chosen(b->name));
}

/* Tests the functions of a list in one type, several of them per program. */
static int test_type(struct device_cl *cl, const struct builtin_list *list, enum type type,
                     struct outcome (*outcomes)[TYPES]) {
  int failures = 0;
  for (size_t first = 0, end; first < list->count; first = end) {
    struct device_text text = {0};
    unsigned kernels = 0;
    device_text_add(&text, "%s", program_head);
    for (end = first; end < list->count && kernels < KERNELS_IN_PROGRAM; end++)
      if (wanted(&list->rows[end], type))
        kernels += add_function(&text, &list->rows[end], type, (unsigned)end + type);
    if (kernels == 0) {
      free(text.data);
      continue;
    }
    cl_program program = build_text(cl, &text);
    failures += !program;
    for (size_t n = first; n < end && program; n++)
      if (wanted(&list->rows[n], type)) {
        test_function(cl, program, &list->rows[n], type, (unsigned)n + type, &outcomes[n][type]);
        failures += outcomes[n][type].failures || outcomes[n][type].judged == 0;
      }
    if (program)
      clReleaseProgram(program);
  }
  return failures;
}

static int test_list(struct device_cl *cl, const struct builtin_list *list) {
  struct outcome(*outcomes)[TYPES] = room(list->count * sizeof *outcomes);
  int failures = 0;
  for (enum type type = 0; type < TYPES; type++)
    failures += test_type(cl, list, type, outcomes);
  if (chosen("functions"))
    printf("\n## %s\n\n", list->title);
  if (list == &integer_functions || list == &relational_functions)
    print_exact(list, outcomes);
  else
    print_floats(list, outcomes);
  if (list == &common_functions && chosen("functions")) {
    printf("\nIn integers:\n\n");
    for (size_t n = 0; n < list->count; n++)
      for (enum type type = HALF; type <= DOUBLE; type++)
        outcomes[n][type].judged = 0;
    print_exact(list, outcomes);
  }
  fflush(stdout);
  free(outcomes);
  return failures;
}

static void list_overloads(void) {
  for (size_t l = 0; l < LISTS; l++)
    for (size_t n = 0; n < lists[l]->count; n++)
      for (enum type type = 0; type < TYPES; type++) {
        const char *forms = lists[l]->rows[n].forms;
        struct form form;
        while ((lists[l]->rows[n].types >> type & 1) && next_form(&forms, &form))
          for (unsigned w = 0; w < WIDTHS; w++)
            if (width_allowed(&lists[l]->rows[n], &form, widths[w]))
              list_overload(settings.list, &lists[l]->rows[n], &form, type, widths[w]);
      }
}

int main(int argc, char **argv) {
  struct device_cl cl;
  int failures = 0;
  for (int i = 1; i < argc; i++)
    if (strcmp(argv[i], "--all-widths") == 0)
      settings.all_widths = true;
    else if (strcmp(argv[i], "--relaxed") == 0)
      settings.relaxed = true;
    else if (strcmp(argv[i], "--list") == 0)
      settings.list = stdout;
    else if (strcmp(argv[i], "--values") == 0 && i + 1 < argc)
      settings.values = strtoul(argv[++i], NULL, 10);
    else if (strcmp(argv[i], "--only") == 0 && i + 1 < argc)
      settings.only = argv[++i];
    else {
      fprintf(stderr, "usage: builtins [--values N] [--all-widths] [--relaxed] [--only NAME] "
                      "[--list]\n");
      return 2;
    }
  if (settings.list)
    list_overloads();
  else if (!device_cl_open(&cl))
    return 1;
  for (size_t l = 0; l < LISTS && !settings.list; l++)
    failures += test_list(&cl, lists[l]);
  for (size_t n = 0; n < PARTS; n++)
    if (chosen(parts[n].name))
      failures += parts[n].test(&cl);
  if (!settings.list)
    device_cl_close(&cl);
  fprintf(stderr, "%d functions failed\n", failures);
  return failures != 0;
}
