/* tegraclc, the compiler command: offline builds, and the driver's helper process (--serve). */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/images.h"
#include "base/text.h"
#include "compiler/compile.h"
#include "compiler/confine.h"
#include "compiler/disassemble.h"
#include "compiler/extensions.h"
#include "compiler/find.h"
#include "compiler/prebuild.h"
#include "compiler/serve.h"

static const char help[] =
    "usage: tegraclc [options] FILE...\n"
    "       tegraclc --disassemble FILE\n"
    "       tegraclc --prebuild [build options] FILE...\n"
    "       tegraclc --print-path NAME\n"
    "Compiles OpenCL C, or one SPIR-V module, for the GPU of Jetson Orin (SM 8.7).\n"
    "  -o FILE           write there instead of standard output\n"
    "  --emit STAGE      ir: LLVM IR, cuda: CUDA C, cubin: machine code (ELF),\n"
    "                    sass: machine code as text, info: what the kernels need,\n"
    "                    bin: program binary (default)\n"
    "  --disassemble     FILE is a program binary or a CUBIN: print its machine code\n"
    "  --prebuild        build each FILE through the driver, so that its cache has it;\n"
    "                    the options as the application gives them, word by word\n"
    "  --print-path NAME where NAME is found: clang, nvrtc, spirv-val or llvm-spirv\n"
    "  --serve           answer build requests of the OpenCL driver on standard input\n"
    "  --confinement     print what this kernel confines in the driver's compiler processes\n"
    "  --version, --help\n"
    "All other options are OpenCL's build options (-D, -I, -cl-std=CL3.0, -Werror ..).\n"
    "FILE may be - for standard input.\n";

/* The device for offline builds. Main sets textures, as the driver does before its self-check. */
static struct cc_device orin = {
    .sm = 87,
    .version = 310,
    .extensions = CC_DEVICE_EXTENSIONS(CC_WORD),
    .c_features = CC_FEATURES(CC_WORD),
    .local_mem_bytes = 48 * 1024,
};

enum stage { STAGE_IR, STAGE_CUDA, STAGE_CUBIN, STAGE_SASS, STAGE_INFO, STAGE_BINARY, STAGE_COUNT };

static const struct {
  const char *name;
  enum compile_stage compile;
} stages[STAGE_COUNT] = {
    [STAGE_IR] = {"ir", COMPILE_IR},          [STAGE_CUDA] = {"cuda", COMPILE_CUDA},
    [STAGE_CUBIN] = {"cubin", COMPILE_CUBIN}, [STAGE_SASS] = {"sass", COMPILE_BINARY},
    [STAGE_INFO] = {"info", COMPILE_BINARY},  [STAGE_BINARY] = {"bin", COMPILE_BINARY},
};

struct command {
  const char *output;
  enum stage stage;
  bool is_binary; /* the file is already a program binary or a CUBIN */
  bool prebuilds;
  const char **names; /* of the files */
  struct cc_source *sources;
  struct text *texts; /* contents of the sources */
  size_t source_count;
  struct text options;
};

static bool read_file(const char *name, struct text *text) {
  enum { CHUNK = 65536 };
  bool is_input = !strcmp(name, "-");
  FILE *file = is_input ? stdin : fopen(name, "rbe");
  char chunk[CHUNK];
  size_t size;
  if (!file)
    return false;
  text_add(text, "", 0);
  while ((size = fread(chunk, 1, sizeof chunk, file)))
    text_add(text, chunk, size);
  bool good = !ferror(file) && !text->failed;
  if (!is_input)
    fclose(file);
  return good;
}

static bool write_file(const char *name, const void *bytes, size_t size) {
  FILE *file = name ? fopen(name, "wbe") : stdout;
  if (!file)
    return false;
  bool written = fwrite(bytes, 1, size, file) == size;
  return (name ? fclose(file) : fflush(file)) == 0 && written;
}

static const char *argument_kind(enum kernel_arg_kind kind) {
  static const char *const names[] = {
      [KERNEL_ARG_VALUE] = "value", [KERNEL_ARG_GLOBAL] = "global",
      [KERNEL_ARG_LOCAL] = "local", [KERNEL_ARG_CONSTANT] = "constant",
      [KERNEL_ARG_IMAGE] = "image", [KERNEL_ARG_SAMPLER] = "sampler",
  };
  return names[kind];
}

static void add_info(const struct module_code *module, struct text *out) {
  text_printf(out, "cubin %llu bytes\n", (unsigned long long)module->cubin_bytes);
  for (uint32_t i = 0; i < module->kernel_count; i++) {
    const struct kernel_code *kernel = &module->kernels[i];
    text_printf(out, "kernel %s\n", kernel->name);
    text_printf(out, "  code %llu bytes\n  registers %u\n  shared %u bytes\n  stack %u bytes\n",
                (unsigned long long)module->sections[kernel->text].size, kernel->registers,
                kernel->shared_bytes, kernel->stack_bytes);
    text_printf(out, "  barriers %u\n  parameters %u bytes\n", kernel->barriers,
                kernel->param_bytes);
    if (*kernel->attributes)
      text_printf(out, "  attributes %s\n", kernel->attributes);
    for (uint32_t k = 0; k < kernel->arg_count; k++) {
      const struct kernel_arg *arg = &kernel->args[k];
      text_printf(out, "  argument %u %s offset %u size %u", k, argument_kind(arg->kind),
                  arg->offset, arg->size);
      if (arg->kind == KERNEL_ARG_LOCAL)
        text_printf(out, " align %u", arg->align);
      if (arg->name && *arg->name)
        text_printf(out, " %s %s", arg->type_name, arg->name);
      text_puts(out, "\n");
    }
  }
}

/* Prints the stages that describe a program binary: SASS and information. */
static bool describe(enum stage stage, const void *binary, size_t size, struct text *out) {
  struct module_code *module = NULL;
  char sentence[256] = "";
  if (cc_module_read(binary, size, &module, sentence, sizeof sentence) != CC_OK) {
    fprintf(stderr, "tegraclc: %s\n", sentence);
    return false;
  }
  text_add(out, "", 0);
  if (stage == STAGE_SASS)
    disassemble_module(module, out);
  else
    add_info(module, out);
  cc_module_free(module);
  return !out->failed;
}

/* Does not quote, because the cache key contains the option string as the application passes it. */
static void add_unquoted_option(struct text *options, const char *word) {
  text_printf(options, "%s%s", options->size ? " " : "", word);
}

/* Quotes the word so that parsing the option string returns it unchanged. */
static void add_quoted_option(struct text *options, const char *word) {
  text_puts(options, " \"");
  for (; *word; word++) {
    if (*word == '"' || *word == '\\')
      text_puts(options, "\\");
    text_add(options, word, 1);
  }
  text_puts(options, "\"");
}

static bool parse_stage(const char *name, enum stage *stage) {
  for (int i = 0; i < STAGE_COUNT; i++)
    if (!strcmp(name, stages[i].name)) {
      *stage = (enum stage)i;
      return true;
    }
  return false;
}

/* Whether the option's value may be the following word. */
static bool takes_value(const char *word) {
  static const char *const names[] = {"-D", "-I", "-U", "-cl-nv-maxrregcount", "-cl-nv-opt-level"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
    if (!strcmp(word, names[i]))
      return true;
  return false;
}

/* words: NULL-terminated. */
static bool parse_command(char **words, struct command *command) {
  for (int i = 1; words[i]; i++) {
    const char *word = words[i], *next = words[i + 1];
    if (!strcmp(word, "-o") || !strcmp(word, "--emit")) {
      i++;
      if (next && word[1] == 'o') {
        command->output = next;
      } else if (!next || !parse_stage(next, &command->stage)) {
        fprintf(stderr, "tegraclc: %s needs %s\n", word,
                word[1] == 'o' ? "a file name" : "ir, cuda, cubin, sass, info or bin");
        return false;
      }
    } else if (!strcmp(word, "--disassemble")) {
      command->is_binary = true;
      command->stage = STAGE_SASS;
    } else if (i == 1 && !strcmp(word, "--prebuild")) {
      command->prebuilds = true;
    } else if (word[0] == '-' && word[1] && command->prebuilds) {
      add_unquoted_option(&command->options, word);
    } else if (word[0] == '-' && word[1]) {
      add_quoted_option(&command->options, word);
      if (takes_value(word) && next) {
        add_quoted_option(&command->options, next);
        i++;
      }
    } else if (!read_file(word, &command->texts[command->source_count])) {
      fprintf(stderr, "tegraclc: %s: %s\n", word, strerror(errno));
      return false;
    } else {
      command->names[command->source_count++] = word;
    }
  }
  if (!command->source_count)
    fputs("tegraclc: no source file given; see tegraclc --help\n", stderr);
  if (command->is_binary && command->source_count > 1)
    fputs("tegraclc: --disassemble accepts only one file\n", stderr);
  return command->source_count == 1 || (command->source_count && !command->is_binary);
}

static bool write_output(const struct command *command, const void *bytes, size_t size) {
  if (write_file(command->output, bytes, size))
    return true;
  fprintf(stderr, "tegraclc: %s: %s\n", command->output ? command->output : "standard output",
          strerror(errno));
  return false;
}

static int disassemble(const struct command *command) {
  struct text out = {0};
  bool done = describe(STAGE_SASS, command->texts[0].data, command->texts[0].size, &out) &&
              write_output(command, out.data, out.size);
  text_finish(&out);
  return done ? EXIT_SUCCESS : EXIT_FAILURE;
}

static const char clear_line[] = "\r\033[K";

static void show_stage(enum cc_stage stage) {
  fprintf(stderr, "%stegraclc: %s", clear_line, cc_stage_name(stage));
}

static int build(struct command *command) {
  if (command->prebuilds)
    return prebuild(command->names, command->texts, command->source_count,
                    command->options.data ? command->options.data : "");
  for (size_t i = 0; i < command->source_count; i++)
    command->sources[i] =
        (struct cc_source){.text = command->texts[i].data, .size = command->texts[i].size};
  const struct cc_job job = {.device = &orin,
                             .sources = command->sources,
                             .source_count = command->source_count,
                             .options = command->options.data};
  struct cc_result result;
  struct text description = {0};
  enum stage stage = command->stage;
  bool is_text = stage == STAGE_INFO || stage == STAGE_SASS;
  const bool shows = isatty(STDERR_FILENO);
  compile_show_stages(shows ? show_stage : NULL);
  bool done = compile_until(&job, stages[stage].compile, &result) == CC_OK;
  fputs(shows ? clear_line : "", stderr);
  if (result.log)
    fputs(result.log, stderr);
  if (done && is_text)
    done = describe(stage, result.binary, result.binary_size, &description);
  if (done)
    done = write_output(command, is_text ? description.data : result.binary,
                        is_text ? description.size : result.binary_size);
  text_finish(&description);
  cc_result_finish(&result);
  return done ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* Prints the path that a build would use (see find.h). */
static int print_path(const char *name) {
  char path[CC_PATH_MAX], validator[CC_PATH_MAX], translator[CC_PATH_MAX];
  const char *found = NULL;
  if (!strcmp(name, "clang")) {
    found = cc_find_clang(path) ? path : NULL;
  } else if (!strcmp(name, "nvrtc")) {
    found = cc_find_nvrtc(path) ? path : NULL;
  } else if (!strcmp(name, "spirv-val") || !strcmp(name, "llvm-spirv")) {
    if (cc_find_spirv_tools(validator, translator))
      found = *name == 's' ? validator : translator;
  } else {
    fprintf(
        stderr,
        "tegraclc: --print-path: unknown name '%s'; use clang, nvrtc, spirv-val or llvm-spirv\n",
        name);
    return EXIT_FAILURE;
  }
  if (!found) {
    fprintf(stderr,
            "tegraclc: %s was not found; run tegracl-doctor for installation instructions\n", name);
    return EXIT_FAILURE;
  }
  puts(found);
  return EXIT_SUCCESS;
}

int main(int count, char **words) {
  signal(SIGXFSZ, SIG_IGN); /* report exceeded file size limits as errors */
  if (count == 2 && !strcmp(words[1], "--serve"))
    return cc_serve(STDIN_FILENO);
  if (count == 2 && !strcmp(words[1], "--version")) {
    puts("tegraclc " TEGRACL_VERSION);
    return EXIT_SUCCESS;
  }
  if (count == 2 && !strcmp(words[1], "--confinement")) {
    const unsigned confined = confine();
    printf("system calls: %s\nfiles: %s\n", confined & CONFINED_CALLS ? "confined" : "free",
           confined & CONFINED_FILES ? "confined" : "free");
    return EXIT_SUCCESS;
  }
  if (count == 2 && !strcmp(words[1], "--help")) {
    fputs(help, stdout);
    return EXIT_SUCCESS;
  }
  if (count == 3 && !strcmp(words[1], "--print-path"))
    return print_path(words[2]);
  const enum base_images images = base_images(true);
  orin.textures = images == BASE_IMAGES_HARDWARE || images == BASE_IMAGES_CHECKED;
  struct command command = {.stage = STAGE_BINARY,
                            .sources = calloc((size_t)count, sizeof(struct cc_source)),
                            .texts = calloc((size_t)count, sizeof(struct text)),
                            .names = calloc((size_t)count, sizeof(char *))};
  int exit_status = EXIT_FAILURE;
  if (command.sources && command.texts && command.names && parse_command(words, &command))
    exit_status = command.is_binary ? disassemble(&command) : build(&command);
  for (int i = 0; command.texts && i < count; i++)
    text_finish(&command.texts[i]);
  free(command.texts);
  free(command.sources);
  free(command.names);
  text_finish(&command.options);
  return exit_status;
}
