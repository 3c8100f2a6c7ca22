/* Texture instructions: pass the operands of each lane to the texture units and store the
 * results. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "emulator/sm/l1.h"
#include "emulator/sm/state.h"
#include "emulator/texture/texture.h"

enum { HEADER_BITS = 20, DESCRIPTOR_BYTES = 32 };

/* A texture instruction of a warp, which is executed lane by lane. */
struct texture_read {
  struct sm_warp *w;
  const struct sm_uop *u;
  uint32_t lane;
  uint32_t handle; /* of texture and sampler, valid if decoded */
  bool decoded;
  struct emu_texture texture;
  struct emu_sampler sampler;
};

static uint32_t *registers_at(const struct texture_read *r, unsigned offset) {
  return (uint32_t *)(void *)(r->w->file + offset);
}

static const uint8_t *find_memory(struct texture_read *r, uint64_t address, size_t bytes) {
  const uint8_t *at = sm_global(r->w->cta, address, bytes, false);
  if (!at)
    sm_raise(r->w, r->u, SM_FAULT_MMU, r->lane, address, (uint32_t)bytes, false);
  return at;
}

static bool read_texel(void *space, uint64_t address, void *to, size_t bytes) {
  struct texture_read *r = space;
  const struct sm_warp *w = r->w;
  const uint8_t *at = find_memory(r, address, bytes);
  if (!at)
    return false;
  /* With caches, the part in each sector. */
  for (size_t done = 0, part = bytes; done < bytes; done += part) {
    const uint64_t next = address + done;
    const uint8_t *from = at + done;
    if (w->cta->grid->l1) {
      const size_t left = SM_L1_SECTOR_BYTES - next % SM_L1_SECTOR_BYTES;
      part = bytes - done < left ? bytes - done : left;
      from = sm_l1_read(sm_l1_of(w), w->cta->grid->memory.space, next, from, SM_L1_TEXELS);
    }
    memcpy((uint8_t *)to + done, from, part);
  }
  return true;
}

static bool raise_texture_fault(struct texture_read *r, enum sm_l1_kind kind, uint32_t index,
                                const char *wrong) {
  const char *what = kind == SM_L1_HEADERS ? "texture header" : "sampler";
  sm_raise(r->w, r->u, SM_FAULT_TEXTURE, r->lane, 0, 0, false);
  struct sm_fault *f = r->w->cta->fault;
  snprintf(f->message, sizeof f->message, "%s %" PRIu32 ": %s", what, index, wrong);
  return false;
}

static bool read_descriptor(struct texture_read *r, enum sm_l1_kind kind, uint32_t index,
                            uint32_t *words) {
  const struct sm_grid *grid = r->w->cta->grid;
  const struct sm_pool *pool = kind == SM_L1_HEADERS ? &grid->headers : &grid->samplers;
  char wrong[EMU_TEXTURE_MESSAGE];
  if (!pool->address)
    return raise_texture_fault(r, kind, index, "no pool is bound to the channel");
  if (index > pool->last) {
    snprintf(wrong, sizeof wrong, "the last index of the pool is %" PRIu32, pool->last);
    return raise_texture_fault(r, kind, index, wrong);
  }
  const uint64_t offset = (uint64_t)index * DESCRIPTOR_BYTES;
  const uint8_t *at = find_memory(r, pool->address + offset, DESCRIPTOR_BYTES);
  if (!at)
    return false;
  if (grid->l1)
    at = sm_l1_read(sm_l1_of(r->w), grid->pools_of, offset, at, kind);
  memcpy(words, at, DESCRIPTOR_BYTES);
  return true;
}

/* Returns whether the texture has the dimensions that the instruction expects. */
static bool has_expected_shape(const struct texture_read *r) {
  const struct emu_texture *t = &r->texture;
  const unsigned dimensions = emu_texture_dimensions(t);
  if (r->u->texture.operation == SM_TEXTURE_TXQ)
    return true;
  if (r->u->texture.layer != emu_texture_is_array(t))
    return false;
  /* PTX reads a 1D texture by TEX with two coordinates, and by TLD with one. */
  return r->u->texture.coordinates == dimensions ||
         (t->height == 1 && dimensions <= 2 && r->u->texture.coordinates <= 2);
}

static bool find_texture(struct texture_read *r, uint32_t handle) {
  const struct sm_grid *grid = r->w->cta->grid;
  const unsigned operation = r->u->texture.operation;
  const uint32_t index = handle & ((1u << HEADER_BITS) - 1);
  const uint32_t sampler = grid->sampler_of_header ? index : handle >> HEADER_BITS;
  uint32_t words[EMU_TEXTURE_WORDS];
  char wrong[EMU_TEXTURE_MESSAGE];
  if (r->decoded && r->handle == handle)
    return true;
  if (!read_descriptor(r, SM_L1_HEADERS, index, words))
    return false;
  if (!emu_texture_decode(words, &r->texture, wrong))
    return raise_texture_fault(r, SM_L1_HEADERS, index, wrong);
  if (!has_expected_shape(r)) {
    snprintf(wrong, sizeof wrong, "TEXTURE_TYPE is %u, which does not match the instruction",
             r->texture.type);
    return raise_texture_fault(r, SM_L1_HEADERS, index, wrong);
  }
  if (operation == SM_TEXTURE_TEX || operation == SM_TEXTURE_TLD4) {
    if (!read_descriptor(r, SM_L1_SAMPLERS, sampler, words))
      return false;
    if (!emu_sampler_decode(words, &r->sampler, wrong))
      return raise_texture_fault(r, SM_L1_SAMPLERS, sampler, wrong);
  }
  r->handle = handle;
  r->decoded = true;
  return true;
}

/* Returns offset i of a word of packed signed offsets. */
static int packed_offset(uint32_t packed, unsigned i, unsigned bits) {
  return (int32_t)(packed << (32 - bits * (i + 1))) >> (32 - bits);
}

static bool execute_lane(struct texture_read *r, const uint32_t *handles) {
  const struct sm_uop *u = r->u;
  const unsigned operation = u->texture.operation, first = u->texture.first;
  uint32_t list[8], result[4] = {0}; /* list: layer, up to 3 coordinates, handle, level, offsets */
  for (unsigned k = 0; k < u->texture.count; k++)
    list[k] = registers_at(r, k < first ? u->s[0] + k * SM_REG_BYTES
                                        : u->s[1] + (k - first) * SM_REG_BYTES)[r->lane];
  struct emu_texture_place place = {0};
  int32_t texel[3] = {0};
  unsigned at = 0;
  if (u->texture.layer)
    place.layer = list[at++] & UINT16_MAX;
  for (unsigned k = 0; k < u->texture.coordinates; k++) {
    texel[k] = (int32_t)list[at];
    place.at[k] = base_float(list[at++]);
  }
  const uint32_t handle = u->texture.handle == SM_HANDLE_IN_LIST ? list[at++] : handles[r->lane];
  const uint32_t level = u->texture.has_level ? list[at++] : 0;
  for (unsigned k = 0; u->texture.has_offsets && k < u->texture.coordinates; k++)
    place.offset[k] = packed_offset(list[at], k, operation == SM_TEXTURE_TLD4 ? 8 : 4);
  if (!find_texture(r, handle))
    return false;
  const struct emu_texture_memory memory = {read_texel, r};
  bool ok = true;
  switch (operation) {
  case SM_TEXTURE_TEX:
    place.minified = base_float(level) > 0;
    ok = emu_texture_sample(&r->texture, &r->sampler, &place, &memory, result);
    break;
  case SM_TEXTURE_TLD4:
    ok =
        emu_texture_gather(&r->texture, &r->sampler, &place, u->texture.component, &memory, result);
    break;
  case SM_TEXTURE_TLD:
    for (unsigned k = 0; k < u->texture.coordinates; k++)
      texel[k] = (int32_t)((uint32_t)texel[k] + (uint32_t)place.offset[k]);
    if (level) /* textures have only level 0: read outside */
      texel[0] = -1;
    ok = emu_texture_fetch(&r->texture, texel, place.layer, &memory, result);
    break;
  default:
    emu_texture_query(&r->texture, level, result);
  }
  if (!ok)
    return false;
  for (unsigned k = 0, done = 0; k < 4; k++)
    if (u->texture.mask >> k & 1) {
      const unsigned to = done < 2 ? u->d : u->texture.second;
      registers_at(r, to + done % 2 * SM_REG_BYTES)[r->lane] = result[k];
      done++;
    }
  return true;
}

bool sm_texture(struct sm_warp *w, const struct sm_uop *u, uint32_t mask, const uint32_t *handles) {
  struct texture_read r = {.w = w, .u = u};
  struct sm_lanes pair;
  if (u->texture.handle == SM_HANDLE_PAIR) {
    const uint32_t *high = registers_at(&r, u->s[2] + SM_REG_BYTES);
    for (unsigned i = 0; i < SM_LANES; i++)
      pair.l[i] = (handles[i] & ((1u << HEADER_BITS) - 1)) | high[i] << HEADER_BITS;
    handles = pair.l;
  }
  FOR_MASK(i, mask) {
    r.lane = i;
    if (!execute_lane(&r, handles))
      return false;
  }
  return true;
}
