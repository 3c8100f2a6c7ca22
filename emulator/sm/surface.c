/* Surface instructions: loads, stores and reductions of texels or of their bytes.
 * docs/hardware/textures.md 5.4.
 */
#include <stdio.h>
#include <string.h>

#include "emulator/sm/exec/sem_atom.h"
#include "emulator/sm/l1.h"
#include "emulator/sm/lower/lower.h"
#include "emulator/sm/texture.h"

/* The place of a lane's access. */
struct surface_place {
  uint64_t address;
  uint32_t bytes;
  bool outside; /* and ignored */
};

static uint32_t *data_register(const struct sm_texture_access *t, unsigned offset, unsigned word) {
  return sm_texture_register(t, offset + word * SM_REG_BYTES) + t->lane;
}

static uint32_t access_bytes(const struct sm_texture_access *t) {
  static const uint8_t bytes[] = {1, 1, 2, 2, 4, 8, 16};
  return t->u->surface.typed ? t->texture.format.bytes : bytes[t->u->surface.size];
}

static bool refuse_format(struct sm_texture_access *t, uint32_t handle, const char *what) {
  char wrong[EMU_TEXTURE_MESSAGE];
  snprintf(wrong, sizeof wrong, "its texels have %u bytes, and %s", t->texture.format.bytes, what);
  return sm_texture_refuse(t, handle, wrong);
}

/* Clamps a coordinate to 0 ... last. Returns whether it was outside. */
static bool clamp_coordinate(int64_t *at, int64_t last) {
  const int64_t inside = *at < 0 ? 0 : *at > last ? last : *at;
  const bool outside = inside != *at;
  *at = inside;
  return outside;
}

static bool raise_misaligned(const struct sm_texture_access *t, uint64_t address, uint32_t bytes) {
  sm_raise(t->w, t->u, SM_FAULT_MISALIGNED, t->lane, address, bytes,
           t->u->surface.access != SM_ACCESS_LOAD);
  return false;
}

/* Finds the bytes that the lane accesses. Returns false if a fault was raised. */
static bool find_place(struct sm_texture_access *t, struct surface_place *place) {
  const struct sm_uop *u = t->u;
  const struct emu_texture *texture = &t->texture;
  const uint32_t texel = texture->format.bytes, bytes = access_bytes(t);
  const uint32_t unit = u->surface.in_bytes ? 1 : texel, step = u->surface.in_bytes ? bytes : 1;
  const int64_t row = (int64_t)texture->width * texel;
  int64_t at[3] = {0};
  for (unsigned k = 0; k < u->surface.coordinates; k++)
    at[k] = (int32_t)*data_register(t, u->s[0], k);
  if (u->surface.layer)
    at[2] = (int32_t)*data_register(t, u->s[0], u->surface.coordinates);
  if (at[0] % step)
    return raise_misaligned(t, (uint64_t)at[0], bytes);
  bool outside = row < bytes;
  outside |= clamp_coordinate(&at[0], row < bytes ? 0 : (row - bytes) / unit / step * step);
  outside |= clamp_coordinate(&at[1], (int64_t)texture->height - 1);
  outside |=
      clamp_coordinate(&at[2], (int64_t)(u->surface.layer ? texture->layers : texture->depth) - 1);
  if (outside && u->surface.outside == SM_OUTSIDE_TRAPS) {
    sm_raise(t->w, u, SM_FAULT_TRAP, t->lane, 0, 0, false);
    return false;
  }
  /* Bytes of a texel, or of several in one run of 16 bytes, follow each other in any layout. */
  const uint64_t x = (uint64_t)at[0] * unit;
  *place = (struct surface_place){
      .address =
          emu_texture_address(texture, (uint32_t)(x / texel), (uint32_t)at[1], (uint32_t)at[2]) +
          x % texel,
      .bytes = bytes,
      .outside = row < bytes || (outside && u->surface.outside == SM_OUTSIDE_IGNORED),
  };
  return place->outside || place->address % bytes == 0 ||
         raise_misaligned(t, place->address, bytes);
}

static uint32_t extend(uint32_t value, unsigned size) {
  return size == SM_SZ_S8    ? (uint32_t)(int8_t)value
         : size == SM_SZ_S16 ? (uint32_t)(int16_t)value
                             : value;
}

static void load(struct sm_texture_access *t, const struct surface_place *place,
                 const uint8_t *memory) {
  const struct sm_uop *u = t->u;
  uint32_t words[4] = {0};
  uint8_t texel[EMU_TEXEL_BYTES_MAX] = {0};
  if (memory && t->w->cta->grid->l1 && u->surface.cached)
    memory = sm_l1_read(sm_l1_of(t->w), t->w->cta->grid->memory.space, place->address, memory,
                        SM_L1_DATA);
  if (memory)
    memcpy(texel, memory, place->bytes);
  if (u->surface.typed && memory)
    emu_texel_unpack(&t->texture.format, texel, words);
  else
    memcpy(words, texel, sizeof texel);
  const unsigned count = u->surface.typed ? u->surface.components : (place->bytes + 3) / 4;
  for (unsigned k = 0; k < count; k++)
    *data_register(t, u->d, k) =
        k ? words[k] : extend(words[0], u->surface.typed ? SM_SZ_NONE : u->surface.size);
}

/* Computes the bytes that a store writes. */
static void make_texel(const struct sm_texture_access *t, uint8_t texel[EMU_TEXEL_BYTES_MAX]) {
  const struct sm_uop *u = t->u;
  uint32_t words[4] = {0};
  const unsigned count = u->surface.typed ? u->surface.components : (access_bytes(t) + 3) / 4;
  for (unsigned k = 0; k < count; k++)
    words[k] = *data_register(t, u->s[1], k);
  if (u->surface.typed)
    emu_texel_pack(&t->texture.format, words, texel);
  else
    memcpy(texel, words, sizeof words);
}

static void store(struct sm_texture_access *t, const struct surface_place *place, uint8_t *memory,
                  const uint8_t *texel) {
  memcpy(memory, texel, place->bytes);
  if (t->w->cta->grid->l1)
    sm_l1_written(sm_l1_of(t->w), t->w->cta->grid->memory.space, place->address, memory,
                  place->bytes);
}

/* Finds the type of a reduction. SD32 takes the sign from the header. Returns false if a fault was
 * raised. */
static bool find_type(struct sm_texture_access *t, uint32_t handle, enum sem_atom_type *type) {
  *type = (enum sem_atom_type)t->u->surface.type;
  if (t->u->surface.type != SM_SURED_SD32)
    return true;
  *type = emu_texture_is_signed(&t->texture) ? ATOM_S32 : ATOM_U32;
  return !emu_texture_filters(&t->texture) ||
         sm_texture_refuse(t, handle, "its texels are not integers, and a reduction needs them");
}

static void reduce(struct sm_texture_access *t, const struct surface_place *place, uint8_t *memory,
                   enum sem_atom_type type) {
  const struct sm_uop *u = t->u;
  uint64_t value = *data_register(t, u->s[1], 0);
  if (place->bytes == sizeof(uint64_t))
    value |= (uint64_t)*data_register(t, u->s[1], 1) << 32;
  if (t->w->cta->grid->l1)
    sm_l1_drop(sm_l1_of(t->w), t->w->cta->grid->memory.space, place->address);
  sem_atom_word(memory, value, (enum sem_atom_op)u->surface.operation, type);
}

static bool execute_lane(struct sm_texture_access *t, uint32_t handle) {
  const struct sm_uop *u = t->u;
  const bool writes = u->surface.access != SM_ACCESS_LOAD;
  struct surface_place place;
  enum sem_atom_type type = ATOM_U32;
  uint8_t texel[EMU_TEXEL_BYTES_MAX] = {0};
  if (!sm_texture_find(t, handle))
    return false;
  if (t->texture.none) {
    if (!writes)
      load(t, &(struct surface_place){.bytes = access_bytes(t)}, NULL);
    return true;
  }
  if (t->texture.format.bytes & (t->texture.format.bytes - 1))
    return refuse_format(t, handle, "surfaces need a power of 2");
  if (!u->surface.in_bytes && !u->surface.typed && t->texture.format.bytes != access_bytes(t))
    return refuse_format(t, handle, "the instruction accesses another number");
  if (u->surface.access == SM_ACCESS_ATOMIC && !find_type(t, handle, &type))
    return false;
  if (!find_place(t, &place))
    return false;
  if (t->record)
    t->record->samples++;
  if (place.outside) {
    if (!writes)
      load(t, &place, NULL);
    return true;
  }
  uint8_t *memory = sm_global(t->w->cta, place.address, place.bytes, writes);
  if (!memory) {
    sm_raise(t->w, u, SM_FAULT_MMU, t->lane, place.address, place.bytes, writes);
    return false;
  }
  if (u->surface.access == SM_ACCESS_STORE)
    make_texel(t, texel);
  sm_texture_touch(t, (enum sm_access_kind)u->surface.access, false, place.address, place.bytes,
                   texel);
  if (!writes)
    load(t, &place, memory);
  else if (u->surface.access == SM_ACCESS_STORE)
    store(t, &place, memory, texel);
  else
    reduce(t, &place, memory, type);
  return true;
}

bool sm_surface(struct sm_warp *w, const struct sm_uop *u, uint32_t mask, const uint32_t *handles) {
  struct sm_texture_access t = {.w = w,
                                .u = u,
                                .coordinates = u->surface.coordinates,
                                .layer = u->surface.layer,
                                .surface = true,
                                .first_lane = (uint32_t)__builtin_ctz(mask)};
  struct sm_texture_record record;
  sm_texture_watch(&t, &record);
  FOR_MASK(i, mask) {
    t.lane = i;
    if (!execute_lane(&t, handles[i]))
      return false;
  }
  sm_texture_finish(&t);
  return true;
}
