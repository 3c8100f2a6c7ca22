/* If a header was found as FOLDER/NAME, a file NAME in a folder that is searched earlier may later
 * hide it. The search order depends on the including file, so all folders are watched. */
#include "compiler/frontend/places.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

/* Watching more places would take longer than compiling. */
enum { MAX_PLACES = 4096 };

struct list {
  const char **items;
  size_t count, capacity;
};

struct search {
  struct arena arena;
  struct list files, folders, places;
  bool failed;
};

static void list_add(struct search *search, struct list *list, const char *item) {
  search->failed |= !item;
  if (list->count == list->capacity && !search->failed) {
    const size_t capacity = list->capacity ? 2 * list->capacity : 64;
    const char **items = realloc(list->items, capacity * sizeof *items);
    search->failed = !items;
    if (items) {
      list->items = items;
      list->capacity = capacity;
    }
  }
  if (!search->failed)
    list->items[list->count++] = item;
}

static int compare_names(const void *a, const void *b) {
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void sort_unique(struct list *list) {
  size_t kept = 0;
  if (list->count)
    qsort(list->items, list->count, sizeof *list->items, compare_names);
  for (size_t i = 0; i < list->count; i++)
    if (!kept || strcmp(list->items[kept - 1], list->items[i]) != 0)
      list->items[kept++] = list->items[i];
  list->count = kept;
}

/* Parses "target: file file ...", with backslashes before line ends,
 * and quotes around names that need them. */
static void read_files(struct search *search, const char *at) {
  static const char blanks[] = " \\\r\n";
  at += strcspn(at, ":");
  at += *at != 0;
  for (;;) {
    while (*at && strchr(blanks, *at))
      at++;
    if (!*at || search->failed)
      return;
    const bool quoted = *at == '"';
    at += quoted;
    const size_t size = strcspn(at, quoted ? "\"" : " \r\n");
    const bool is_here = !strncmp(at, "./", 2);
    const size_t skipped = is_here ? 2 : 0;
    list_add(search, &search->files, arena_string(&search->arena, at + skipped, size - skipped));
    at += size + (quoted && at[size]);
  }
}

/* The folder "" is the current directory of the application. */
static void collect_folders(struct search *search, const struct options *options,
                            const char *header_folder) {
  list_add(search, &search->folders, "");
  if (header_folder)
    list_add(search, &search->folders, header_folder);
  for (size_t i = 0; i < options->clang_count; i++)
    if (!strncmp(options->clang[i], OPTIONS_FOLDER, strlen(OPTIONS_FOLDER)))
      list_add(search, &search->folders, options->clang[i] + strlen(OPTIONS_FOLDER));
  for (size_t i = 0; i < search->files.count && !search->failed; i++) {
    const char *slash = strrchr(search->files.items[i], '/');
    if (slash)
      list_add(search, &search->folders,
               arena_string(&search->arena, search->files.items[i],
                            (size_t)(slash - search->files.items[i])));
  }
  if (!search->failed)
    sort_unique(&search->folders);
}

/* Returns the part of a file's path after the folder, or NULL if the file is not in it. */
static const char *name_in_folder(const char *file, const char *folder) {
  const size_t size = strlen(folder);
  if (!size)
    return file[0] == '/' ? NULL : file;
  return !strncmp(file, folder, size) && file[size] == '/' ? file + size + 1 : NULL;
}

static char *join_path(struct arena *arena, const char *folder, const char *name) {
  const size_t size = strlen(folder), rest = strlen(name);
  char *path = arena_alloc(arena, size + rest + 2, 1);
  if (path)
    stpcpy(stpcpy(stpcpy(path, folder), size ? "/" : ""), name);
  return path;
}

static void add_name(struct search *search, const char *name, const char *header_folder) {
  for (size_t i = 0; i < search->folders.count && !search->failed; i++) {
    const char *folder = search->folders.items[i];
    if (!header_folder || strcmp(folder, header_folder) != 0)
      list_add(search, &search->places, join_path(&search->arena, folder, name));
  }
}

static bool find_places(struct search *search, const char *header_folder) {
  struct list names = {0};
  for (size_t i = 0; i < search->files.count; i++)
    for (size_t k = 0; k < search->folders.count && !search->failed; k++) {
      const char *name = name_in_folder(search->files.items[i], search->folders.items[k]);
      if (name)
        list_add(search, &names, name);
    }
  if (!search->failed)
    sort_unique(&names);
  if (names.count * search->folders.count > MAX_PLACES)
    search->failed = true;
  for (size_t i = 0; i < names.count && !search->failed; i++)
    add_name(search, names.items[i], header_folder);
  /* A file that was included by its full path is in no search folder. */
  for (size_t i = 0; i < search->files.count && !search->failed; i++)
    if (!header_folder || !name_in_folder(search->files.items[i], header_folder))
      list_add(search, &search->places, search->files.items[i]);
  free(names.items);
  if (!search->failed)
    sort_unique(&search->places);
  return !search->failed;
}

static bool is_read(const struct list *files, const char *place) {
  return bsearch(&place, files->items, files->count, sizeof *files->items, compare_names) != NULL;
}

bool places_add(const char *dependencies, const struct options *options, const char *header_folder,
                struct text *places) {
  struct search search = {0};
  read_files(&search, dependencies);
  if (!search.failed)
    sort_unique(&search.files);
  collect_folders(&search, options, header_folder);
  const bool found = !search.failed && find_places(&search, header_folder);
  for (size_t i = 0; found && i < search.places.count; i++) {
    const char *place = search.places.items[i];
    text_printf(places, "%c%s", is_read(&search.files, place) ? PLACE_READ : PLACE_LOOKED_FOR,
                place);
    text_add(places, "", 1);
  }
  free(search.files.items);
  free(search.folders.items);
  free(search.places.items);
  arena_finish(&search.arena);
  return found && !places->failed;
}
