/* Headers as memory files. clang finds them in an overlay of the file system
 * (-ivfsoverlay), which a table in YAML, written almost like JSON, describes. */
#include "compiler/frontend/header_files.h"

#include <string.h>

/* Whether a header's name stays inside the folder. */
static bool is_inside(const char *name) {
  if (!*name || *name == '/')
    return false;
  for (const char *part = name; part; part = strchr(part, '/')) {
    part += *part == '/';
    if (!strncmp(part, "..", 2) && (part[2] == '/' || part[2] == 0))
      return false;
  }
  return true;
}

/* Whether the name refers to the file in the folder, possibly with "./" and "//". */
static bool leads_to(const char *name, const char *file) {
  while (*name == '/' || (name[0] == '.' && name[1] == '/'))
    name++;
  return !strcmp(name, file);
}

static void add_entry(struct text *table, const char *name, const char *path) {
  text_puts(table, ",{\"type\":\"file\",\"name\":\"" HEADER_FOLDER "/");
  for (; *name; name++)
    if ((unsigned char)*name < ' ' || strchr("\"\\\x7f", *name))
      text_printf(table, "\\x%02x", (unsigned char)*name);
    else
      text_add(table, name, 1);
  text_printf(table, "\",\"external-contents\":\"%s\"}", path);
}

static bool add_header(struct command *command, const struct cc_header *header,
                       struct text *table) {
  char path[COMMAND_FILE_SIZE];
  if (!command_keep(command, header->text, strlen(header->text), path))
    return false;
  add_entry(table, header->name, path);
  return true;
}

bool header_files_add(struct command *command, const struct cc_job *job, const char *source_name,
                      struct text *log) {
  struct text table = {0};
  char path[COMMAND_FILE_SIZE];
  bool good = true;
  text_puts(&table,
            "{\"version\":0,\"case-sensitive\":\"true\",\"use-external-names\":\"false\","
            "\"roots\":[{\"type\":\"directory\",\"name\":\"" HEADER_FOLDER "\",\"contents\":[]}");
  add_entry(&table, source_name, "/dev/stdin");
  for (size_t i = 0; i < job->header_count && good; i++) {
    const char *name = job->headers[i].name;
    const bool inside = is_inside(name), is_source = leads_to(name, source_name);
    good = inside && !is_source && add_header(command, &job->headers[i], &table);
    if (!inside)
      text_printf(log, "error: header '%s': the name must be a relative path without '..'\n", name);
    else if (is_source)
      text_printf(log, "error: header '%s' has the same name as the program's source: rename it\n",
                  name);
    else if (!good)
      text_printf(log, "error: out of memory for header '%s'\n", name);
  }
  text_puts(&table, "]}");
  if (good) {
    good = !table.failed && command_keep(command, table.data, table.size, path);
    if (good)
      command_add(command, "-ivfsoverlay%s", path);
    else
      text_puts(log, "error: out of memory for the program's headers\n");
  }
  text_finish(&table);
  return good;
}
