/* Check mode at the device: the client's notes about its memory, and the reports of its mistakes,
 * which the test reads back from stderr. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/emulator/client.h"

static char text[4096];
static int true_stderr;
static FILE *diverted;

static void divert(void) {
  diverted = tmpfile();
  assert_non_null(diverted);
  true_stderr = dup(STDERR_FILENO);
  assert_int_equal(dup2(fileno(diverted), STDERR_FILENO), STDERR_FILENO);
}

static const char *reports(void) {
  assert_int_equal(dup2(true_stderr, STDERR_FILENO), STDERR_FILENO);
  close(true_stderr);
  rewind(diverted);
  text[fread(text, 1, sizeof(text) - 1, diverted)] = 0;
  fclose(diverted);
  return text;
}

static struct emulator_note note_on(const struct client *c, uint32_t kind, const struct buffer *b,
                                    const char *name) {
  return (struct emulator_note){.as_fd = c->as,
                                .kind = kind,
                                .address = b->va,
                                .size = b->size,
                                .data = (uintptr_t)name,
                                .bytes = name ? strlen(name) : 0};
}

static void reports_check_mode(void **state) {
  (void)state;
  struct client c;
  struct emulator_modes m = {0, 7};
  client_open(&c);
  EXPECT(0, c.node, EMULATOR_IOCTL_MODES, m);
  assert_int_equal(m.check, 1);
  assert_int_equal(m.profile, 0);
  client_close(&c);
}

static void invalid_notes_are_refused(void **state) {
  (void)state;
  struct client c;
  client_open(&c);
  struct buffer b = buffer_create(&c, 0x2000, true);
  const struct emulator_note good = note_on(&c, EMULATOR_NOTE_BUFFER, &b, "buffer 1");
  struct emulator_note n = good;
  EXPECT(0, c.node, EMULATOR_IOCTL_NOTE, n);
  n.kind = EMULATOR_NOTE_KINDS;
  EXPECT(-EINVAL, c.node, EMULATOR_IOCTL_NOTE, n);
  n = good;
  n.as_fd = c.nvmap;
  EXPECT(-EINVAL, c.node, EMULATOR_IOCTL_NOTE, n);
  n = good;
  n.size = 0;
  EXPECT(-EINVAL, c.node, EMULATOR_IOCTL_NOTE, n);
  n = good;
  n.size = UINT64_MAX;
  EXPECT(-EINVAL, c.node, EMULATOR_IOCTL_NOTE, n);
  n = good;
  n.bytes = UINT64_C(1) << 40;
  EXPECT(-EINVAL, c.node, EMULATOR_IOCTL_NOTE, n);
  n = good;
  n.data = 8;
  EXPECT(-EFAULT, c.node, EMULATOR_IOCTL_NOTE, n);
  /* The memory that a note names must lie in one mapping. */
  n = note_on(&c, EMULATOR_NOTE_UNWRITTEN, &b, NULL);
  EXPECT(0, c.node, EMULATOR_IOCTL_NOTE, n);
  n.size = 0x3000;
  EXPECT(-EINVAL, c.node, EMULATOR_IOCTL_NOTE, n);
  n.address = 0x5000000;
  EXPECT(-EINVAL, c.node, EMULATOR_IOCTL_NOTE, n);
  buffer_destroy(&c, &b);
  client_close(&c);
}

static void reports_second_unmap_of_a_buffer(void **state) {
  (void)state;
  struct client c;
  client_open(&c);
  struct buffer b = buffer_create(&c, 0x2000, true);
  struct emulator_note n = note_on(&c, EMULATOR_NOTE_BUFFER, &b, "buffer 1");
  EXPECT(0, c.node, EMULATOR_IOCTL_NOTE, n);
  struct nvgpu_as_unmap_buffer_args unmap = {.offset = b.va};
  divert();
  EXPECT(0, c.as, NVGPU_AS_IOCTL_UNMAP_BUFFER, unmap);
  assert_string_equal(reports(), "");
  divert();
  EXPECT(0, c.as, NVGPU_AS_IOCTL_UNMAP_BUFFER, unmap); /* the Linux driver returns 0, too */
  assert_non_null(strstr(reports(), "where nothing is mapped: already done for buffer 1"));
  b.va = 0;
  buffer_destroy(&c, &b);
  client_close(&c);
}

static void leaks_are_reported(void **state) {
  (void)state;
  struct client c;
  client_open(&c);
  struct buffer kept = buffer_create(&c, 0x2000, true), freed = buffer_create(&c, 0x3000, true);
  struct emulator_note n = note_on(&c, EMULATOR_NOTE_BUFFER, &kept, "buffer 1");
  EXPECT(0, c.node, EMULATOR_IOCTL_NOTE, n);
  n = note_on(&c, EMULATOR_NOTE_BUFFER, &freed, "buffer 2");
  EXPECT(0, c.node, EMULATOR_IOCTL_NOTE, n);
  buffer_destroy(&c, &freed);
  divert();
  client_close(&c);
  const char *const said = reports();
  assert_non_null(strstr(said, "buffer 1 of 8192 bytes"));
  assert_non_null(strstr(said, "was never released"));
  assert_null(strstr(said, "buffer 2"));
  assert_int_equal(OS->munmap(kept.cpu, kept.size), 0);
  assert_int_equal(OS->close(kept.fd), 0);
}

/* No mapping follows another one directly, so an overrun does not reach another mapping. */
static void mappings_are_not_adjacent(void **state) {
  (void)state;
  enum { COUNT = 8 };
  struct client c;
  struct buffer b[COUNT];
  client_open(&c);
  for (int i = 0; i < COUNT; i++)
    b[i] = buffer_create(&c, (uint64_t)0x1000 << i % 3, true);
  for (int i = 0; i < COUNT; i++)
    for (int k = 0; k < COUNT; k++)
      assert_true(b[k].va != b[i].va + b[i].size);
  for (int i = 0; i < COUNT; i++)
    buffer_destroy(&c, &b[i]);
  client_close(&c);
}

/* The rest of a buffer's last page belongs to no buffer, so it cannot be read as a pushbuffer
 * either. */
static void padding_is_not_readable(void **state) {
  enum { ASKED = 100, BEHIND = 2048, WORDS = 4096 };
  struct fixture *f = *state;
  struct buffer b = buffer_create(&f->c, ASKED, true);
  divert();
  submit_entry(&f->c, &f->ch, gp_entry(b.va + BEHIND, WORDS, 0));
  const bool refused = wait_fault(&f->ch, NOTIFIER_MMU_FAULT);
  reports();
  assert_true(refused);
  assert_int_equal(last_fault(&f->c).address, b.va + BEHIND);
  buffer_destroy(&f->c, &b);
}

int main(void) {
  setenv("TEGRACL_EMULATOR", "check:leaks", 1);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(reports_check_mode),
      cmocka_unit_test(invalid_notes_are_refused),
      cmocka_unit_test(reports_second_unmap_of_a_buffer),
      cmocka_unit_test(leaks_are_reported),
      cmocka_unit_test(mappings_are_not_adjacent),
      cmocka_unit_test_setup_teardown(padding_is_not_readable, fixture_setup, fixture_teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
