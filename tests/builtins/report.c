/* Prints the results as tables; implements print_ of run.h. */
#include "tests/builtins/run.h"

static void print_bound(const struct builtin *b, enum type type) {
  double base = b->base[type - HALF], per = b->per_element[type - HALF];
  if (base < 0 && per == 0)
    printf("open");
  else if (per == 0)
    printf("%g", base);
  else if (base == 0)
    printf("%gn", per);
  else
    printf("%gn %c %g", per, base < 0 ? '-' : '+', fabs(base));
}

void print_floats(const struct builtin_list *list, struct outcome (*outcomes)[TYPES]) {
  printf("| function | half: bound | worst | float: bound | worst | double: bound | worst | unit "
         "|\n|---|---|---|---|---|---|---|---|\n");
  for (size_t n = 0; n < list->count; n++) {
    const struct builtin *b = &list->rows[n];
    size_t judged =
        outcomes[n][HALF].judged + outcomes[n][FLOAT].judged + outcomes[n][DOUBLE].judged;
    if (judged == 0)
      continue;
    printf("| %s |", b->name);
    for (enum type type = HALF; type <= DOUBLE; type++) {
      const struct outcome *o = &outcomes[n][type];
      if (!(b->types >> type & 1) || o->judged == 0) {
        printf(" | |");
        continue;
      }
      const struct relaxed *relaxed = relaxed_row(b, type);
      printf(" ");
      if (relaxed)
        printf("%s", relaxed->text);
      else
        print_bound(b, type);
      printf(" | %.*f%s", o->worst == 0 ? 0 : 3, o->worst, relaxed ? " of it" : "");
      if (b->per_element[type - HALF] > 0)
        printf(" (n = %u)", o->worst_width);
      printf("%s |", o->failures ? " **over**" : "");
    }
    printf(" %s |\n", b->unit ? b->unit : "ulp");
  }
}

void print_exact(const struct builtin_list *list, struct outcome (*outcomes)[TYPES]) {
  printf("| function | types | results compared | wrong |\n|---|---|---|---|\n");
  for (size_t n = 0; n < list->count; n++) {
    const struct outcome *o = outcomes[n];
    size_t judged = 0, wrong = 0;
    for (enum type type = 0; type < TYPES; type++) {
      judged += o[type].judged;
      wrong += o[type].failures;
    }
    if (judged == 0)
      continue;
    printf("| %s |", list->rows[n].name);
    for (enum type type = 0; type < TYPES; type++)
      if (o[type].judged)
        printf(" %s", types[type].name);
    printf(" | %zu | %zu |\n", judged, wrong);
  }
}
