/* Texture instructions: pass the operands of each lane to the texture units and store the
 * results. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "emulator/sm/check/watch.h"
#include "emulator/sm/l1.h"
#include "emulator/sm/texture.h"

/* Fields of a handle; docs/hardware/textures.md 4.2. */
enum { HEADER_BITS = 20, HEADER_MASK = (1 << HEADER_BITS) - 1, TEXTURE_BYTES = 32 };

static const uint8_t *find_memory(struct sm_texture_access *t, uint64_t address, size_t bytes) {
  const uint8_t *at = sm_global(t->w->cta, address, bytes, false);
  if (!at)
    sm_raise(t->w, t->u, SM_FAULT_MMU, t->lane, address, (uint32_t)bytes, false);
  return at;
}

static bool read_texel(void *space, uint64_t address, void *to, size_t bytes) {
  struct sm_texture_access *t = space;
  const struct sm_warp *w = t->w;
  const uint8_t *at = find_memory(t, address, bytes);
  if (!at)
    return false;
  sm_texture_touch(t, SM_ACCESS_LOAD, true, address, (uint32_t)bytes, NULL);
  /* With caches, read sector by sector. */
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

static bool raise_texture_fault(struct sm_texture_access *t, enum sm_l1_kind kind, uint32_t index,
                                const char *wrong) {
  const char *what = kind == SM_L1_HEADERS ? "texture header" : "sampler";
  sm_raise(t->w, t->u, SM_FAULT_TEXTURE, t->lane, 0, 0, false);
  struct sm_fault *f = t->w->cta->fault;
  snprintf(f->message, sizeof f->message, "%s %" PRIu32 ": %s", what, index, wrong);
  return false;
}

static bool read_descriptor(struct sm_texture_access *t, enum sm_l1_kind kind, uint32_t index,
                            uint32_t *words) {
  const struct sm_grid *grid = t->w->cta->grid;
  const struct sm_pool *pool = kind == SM_L1_HEADERS ? &grid->headers : &grid->samplers;
  char wrong[EMU_TEXTURE_MESSAGE];
  if (!pool->address)
    return raise_texture_fault(t, kind, index, "no pool is bound to the channel");
  if (index > pool->last) {
    snprintf(wrong, sizeof wrong, "the last index of the pool is %" PRIu32, pool->last);
    return raise_texture_fault(t, kind, index, wrong);
  }
  const uint64_t offset = (uint64_t)index * TEXTURE_BYTES;
  const uint8_t *at = find_memory(t, pool->address + offset, TEXTURE_BYTES);
  if (!at)
    return false;
  if (grid->l1)
    at = sm_l1_read(sm_l1_of(t->w), grid->pools_of, offset, at, kind);
  memcpy(words, at, TEXTURE_BYTES);
  return true;
}

/* Returns whether the texture has the dimensions that the instruction expects. */
static bool has_expected_shape(const struct sm_texture_access *t) {
  const unsigned dimensions = emu_texture_dimensions(&t->texture);
  if (!t->coordinates)
    return true;
  if (t->layer != emu_texture_is_array(&t->texture))
    return false;
  /* PTX reads a 1D texture by TEX with two coordinates, and by TLD with one. */
  return t->coordinates == dimensions ||
         (t->texture.height == 1 && dimensions <= 2 && t->coordinates <= 2);
}

bool sm_texture_refuse(struct sm_texture_access *t, uint32_t handle, const char *wrong) {
  return raise_texture_fault(t, SM_L1_HEADERS, handle & HEADER_MASK, wrong);
}

/* Changes the handle as the planted fault says. */
static uint32_t plant_handle(struct sm_texture_access *t, uint32_t handle) {
  const bool is_pair = !t->surface && t->u->texture.handle == SM_HANDLE_PAIR;
  const bool is_word = !t->surface && t->u->texture.handle == SM_HANDLE_WORD;
  const bool stores = t->surface && t->u->surface.access == SM_ACCESS_STORE;
  const bool is_constant = t->u->scalar_slot == 2; /* of a surface */
  if (t->lane == t->first_lane)
    t->first_handle = handle;
  if (emu_texture_has(EMU_TEXTURE_LAYER))
    return t->first_handle;
  return handle + ((emu_texture_has(EMU_TEXTURE_UNIFORM_FORM) && is_pair) ||
                   (emu_texture_has(EMU_TEXTURE_CONSTANT_FORM) && is_word) ||
                   (emu_texture_has(EMU_TEXTURE_STORE_CONSTANT) && stores && is_constant) ||
                   (emu_texture_has(EMU_TEXTURE_STORE_REGISTER) && stores && !is_constant));
}

bool sm_texture_find(struct sm_texture_access *t, uint32_t handle) {
  if (!emu_texture_has(EMU_TEXTURE_RIGHT))
    handle = plant_handle(t, handle);
  const struct sm_grid *grid = t->w->cta->grid;
  const uint32_t index = handle & HEADER_MASK;
  const uint32_t sampler = grid->sampler_of_header                      ? index
                           : emu_texture_has(EMU_TEXTURE_SAMPLER_INDEX) ? 0
                                                                        : handle >> HEADER_BITS;
  uint32_t words[EMU_TEXTURE_WORDS];
  char wrong[EMU_TEXTURE_MESSAGE];
  if (t->decoded && t->handle == handle)
    return true;
  if (!read_descriptor(t, SM_L1_HEADERS, index, words))
    return false;
  if (!emu_texture_decode(words, &t->texture, wrong))
    return sm_texture_refuse(t, handle, wrong);
  /* Hardware reads 0 through such headers (docs/hardware/textures.md 1.3). Check mode reports
   * them, because a client has used an image that it released. */
  if (t->texture.none && grid->watch && grid->watch->check)
    return sm_texture_refuse(t, handle,
                             "it has no mip level, so it belongs to no image; was the "
                             "image released?");
  if (emu_texture_has(t->surface ? EMU_TEXTURE_STORE_LOST : EMU_TEXTURE_LOST))
    return sm_texture_refuse(t, handle, "the channel was lost");
  t->handle = handle;
  t->decoded = true;
  if (t->texture.none)
    return true;
  if (!has_expected_shape(t)) {
    snprintf(wrong, sizeof wrong, "TEXTURE_TYPE is %u, which does not match the instruction",
             t->texture.type);
    return sm_texture_refuse(t, handle, wrong);
  }
  if (t->has_sampler && emu_texture_is_buffer(&t->texture))
    return sm_texture_refuse(t, handle, "it is a ONE_D_BUFFER, which cannot be sampled");
  if (t->has_sampler) {
    if (!read_descriptor(t, SM_L1_SAMPLERS, sampler, words))
      return false;
    if (!emu_sampler_decode(words, &t->sampler, wrong))
      return raise_texture_fault(t, SM_L1_SAMPLERS, sampler, wrong);
  }
  return true;
}

/* --- watched grids ------------------------------------------------------------- */

void sm_texture_watch(struct sm_texture_access *t, struct sm_texture_record *record) {
  if (!t->w->cta->grid->watch)
    return;
  record->undefined = record->texels = record->samples = record->sector_count = 0;
  t->record = record;
}

static void count_sector(struct sm_texture_record *record, uint64_t sector) {
  unsigned k = record->sector_count;
  while (k > 0 && record->sector[k - 1] != sector)
    k--;
  if (k == 0 && record->sector_count < SM_TEXTURE_SECTORS)
    record->sector[record->sector_count++] = sector;
}

void sm_texture_touch(struct sm_texture_access *t, enum sm_access_kind access, bool by_units,
                      uint64_t address, uint32_t bytes, const uint8_t *stored) {
  struct sm_texture_record *record = t->record;
  if (!record)
    return;
  const struct sm_watch *watch = t->w->cta->grid->watch;
  record->texels++;
  for (uint64_t k = address / SM_SECTOR_BYTES; k <= (address + bytes - 1) / SM_SECTOR_BYTES; k++)
    if (watch->profile)
      count_sector(record, k);
  const struct sm_texel texel = {address, bytes, access, by_units, stored};
  if (watch->check && sm_check_texel(t->w, t->u, t->lane, &texel))
    record->undefined |= 1u << t->lane;
}

void sm_texture_finish(const struct sm_texture_access *t) {
  const struct sm_texture_record *record = t->record;
  if (!record)
    return;
  const struct sm_watch *watch = t->w->cta->grid->watch;
  if (watch->check)
    sm_check_undefined(t->w, t->u, record->undefined);
  if (watch->profile) {
    struct sm_counts *c = &t->w->cta->shadow->counts;
    c->texture_requests++;
    c->texture_samples += record->samples;
    c->texels += record->texels;
    c->texture_sectors += record->sector_count;
  }
}

/* --- textures ------------------------------------------------------------------- */

/* What an instruction's registers say for one lane. */
struct texture_operands {
  uint32_t handle, level;
  struct emu_texture_place place;
  int32_t texel[3];
  float gradient[2][3];
};

/* Returns offset i of a word of packed signed offsets. */
static int packed_offset(uint32_t packed, unsigned i, unsigned bits) {
  return (int32_t)(packed << (32 - bits * (i + 1))) >> (32 - bits);
}

static void read_coordinates(const struct sm_uop *u, const uint32_t *list,
                             struct texture_operands *o) {
  for (unsigned k = 0; k < u->texture.coordinates; k++) {
    o->texel[k] = (int32_t)list[k];
    o->place.at[k] = base_float(list[k]);
  }
}

/* TXD: handle, coordinates, layer and offsets in one word; the gradients of x, those of y. */
static void read_gradients(const struct sm_uop *u, const uint32_t *list, const uint32_t *end,
                           struct texture_operands *o) {
  const unsigned coordinates = u->texture.coordinates;
  if (u->texture.handle == SM_HANDLE_IN_LIST)
    o->handle = *list++;
  read_coordinates(u, list, o);
  list += coordinates;
  const uint32_t extra = u->texture.layer || u->texture.has_offsets ? *list++ : 0;
  o->place.layer = extra & UINT16_MAX;
  for (unsigned k = 0; u->texture.has_offsets && k < coordinates; k++)
    o->place.offset[k] = packed_offset(extra >> 16, k, 4);
  for (unsigned k = 0; list < end; k++, list++)
    o->gradient[k % 2][k / 2] = base_float(*list);
}

static void read_lists(const struct sm_uop *u, const uint32_t *list, struct texture_operands *o) {
  if (u->texture.layer)
    o->place.layer = *list++ & UINT16_MAX;
  read_coordinates(u, list, o);
  list += u->texture.coordinates;
  if (u->texture.handle == SM_HANDLE_IN_LIST)
    o->handle = *list++;
  if (u->texture.has_level)
    o->level = *list++;
  for (unsigned k = 0; u->texture.has_offsets && k < u->texture.coordinates; k++)
    o->place.offset[k] = packed_offset(*list, k, u->texture.operation == SM_TEXTURE_TLD4 ? 8 : 4);
}

/* Returns whether neighbouring pixels are more than one texel apart. */
static bool is_minified(const struct sm_texture_access *t, const struct texture_operands *o) {
  const uint32_t sides[] = {t->texture.width, t->texture.height, t->texture.depth};
  const bool normalized = t->texture.normalized && !t->sampler.unnormalized;
  for (unsigned direction = 0; direction < 2; direction++) {
    double square = 0;
    for (unsigned k = 0; k < t->u->texture.coordinates; k++) {
      const double step = (double)o->gradient[direction][k] * (normalized ? sides[k] : 1);
      square += step * step;
    }
    if (square > 1)
      return true;
  }
  return false;
}

static bool is_filtered_volume(const struct sm_texture_access *t,
                               const struct texture_operands *o) {
  const bool linear = o->place.minified ? t->sampler.linear_minified : t->sampler.linear_magnified;
  return t->has_sampler && t->coordinates == 3 && linear;
}

/* TLD.CL: reads the nearest texel and layer if the coordinates are outside. */
static void clamp_texel(const struct emu_texture *texture, struct texture_operands *o) {
  const uint32_t sides[] = {texture->width, texture->height, texture->depth};
  for (unsigned k = 0; k < 3; k++)
    if (o->texel[k] < 0)
      o->texel[k] = 0;
    else if ((uint32_t)o->texel[k] >= sides[k])
      o->texel[k] = (int32_t)(sides[k] - 1);
  if (o->place.layer >= texture->layers)
    o->place.layer = texture->layers - 1;
}

static bool execute_lane(struct sm_texture_access *t, const uint32_t *handles) {
  const struct sm_uop *u = t->u;
  const unsigned first = u->texture.first;
  uint32_t list[8], result[4] = {0};
  for (unsigned k = 0; k < u->texture.count; k++)
    list[k] = sm_texture_register(t, k < first ? u->s[0] + k * SM_REG_BYTES
                                               : u->s[1] + (k - first) * SM_REG_BYTES)[t->lane];
  struct texture_operands o = {.handle = handles[t->lane]};
  if (u->texture.operation == SM_TEXTURE_TXD)
    read_gradients(u, list, list + u->texture.count, &o);
  else
    read_lists(u, list, &o);
  if (!sm_texture_find(t, o.handle))
    return false;
  const struct emu_texture_memory memory = {read_texel, t};
  bool ok = true;
  switch (t->texture.none ? SM_TEXTURE_NONE : u->texture.operation) {
  case SM_TEXTURE_NONE:
    break;
  case SM_TEXTURE_TEX:
  case SM_TEXTURE_TXD:
    o.place.minified =
        u->texture.operation == SM_TEXTURE_TXD ? is_minified(t, &o) : base_float(o.level) > 0;
    ok = emu_texture_sample(&t->texture, &t->sampler, &o.place, &memory, result);
    break;
  case SM_TEXTURE_TLD4:
    ok = emu_texture_gather(&t->texture, &t->sampler, &o.place, u->texture.component, &memory,
                            result);
    break;
  case SM_TEXTURE_TLD:
    for (unsigned k = 0; k < u->texture.coordinates; k++)
      o.texel[k] = (int32_t)((uint32_t)o.texel[k] + (uint32_t)o.place.offset[k]);
    if (u->texture.clamps)
      clamp_texel(&t->texture, &o);
    if (o.level) /* textures have only level 0: read outside */
      o.texel[0] = -1;
    ok = emu_texture_fetch(&t->texture, o.texel, o.place.layer, &memory, result);
    break;
  default:
    emu_texture_query(&t->texture, o.level, result);
  }
  if (!ok)
    return false;
  if (t->record && t->coordinates)
    t->record->samples += is_filtered_volume(t, &o) ? 2 : 1;
  for (unsigned k = 0, done = 0; k < 4; k++)
    if (u->texture.mask >> k & 1) {
      const unsigned to = done < 2 ? u->d : u->texture.second;
      sm_texture_register(t, to + done % 2 * SM_REG_BYTES)[t->lane] = result[k];
      done++;
    }
  return true;
}

bool sm_texture(struct sm_warp *w, const struct sm_uop *u, uint32_t mask, const uint32_t *handles) {
  const unsigned operation = u->texture.operation;
  struct sm_texture_access t = {
      .w = w,
      .u = u,
      .coordinates = operation == SM_TEXTURE_TXQ ? 0 : u->texture.coordinates,
      .layer = u->texture.layer,
      .has_sampler = operation != SM_TEXTURE_TLD && operation != SM_TEXTURE_TXQ,
  };
  struct sm_texture_record record;
  struct sm_lanes pair;
  sm_texture_watch(&t, &record);
  if (u->texture.handle == SM_HANDLE_PAIR) {
    const uint32_t *high = sm_texture_register(&t, u->s[2] + SM_REG_BYTES);
    for (unsigned i = 0; i < SM_LANES; i++)
      pair.l[i] = (handles[i] & HEADER_MASK) | high[i] << HEADER_BITS;
    handles = pair.l;
  }
  t.first_lane = (uint32_t)__builtin_ctz(mask);
  FOR_MASK(i, mask) {
    t.lane = i;
    if (!execute_lane(&t, handles))
      return false;
  }
  sm_texture_finish(&t);
  return true;
}
