/* What texture and surface instructions share: headers, samplers, and the records of watched grids.
 */
#ifndef TEGRACL_SM_TEXTURE_H
#define TEGRACL_SM_TEXTURE_H

#include "emulator/sm/lower/note.h"
#include "emulator/sm/state.h"
#include "emulator/texture/texture.h"

/* The most sectors that an instruction touches: each lane reads 8 texels of up to 16 bytes, or of
 * 12 bytes in two sectors. */
enum { SM_TEXTURE_SECTORS = SM_LANES * 16 };

/* What the lanes have done, for watched grids. */
struct sm_texture_record {
  uint32_t undefined; /* lanes that have read uninitialised bytes */
  uint32_t texels, samples, sector_count;
  uint64_t sector[SM_TEXTURE_SECTORS];
};

/* The execution of one warp's instruction, lane by lane. */
struct sm_texture_access {
  struct sm_warp *w;
  const struct sm_uop *u;
  unsigned coordinates; /* of the instruction, without the layer; 0: it suits all textures */
  bool layer;
  bool has_sampler;
  bool surface;                     /* the instruction is one for surfaces */
  struct sm_texture_record *record; /* NULL: the grid is not watched */
  uint32_t lane, first_lane;
  uint32_t handle; /* of texture and sampler, if they are decoded */
  bool decoded;
  struct emu_texture texture;
  struct emu_sampler sampler;
  uint32_t first_handle; /* of the first lane; used if the planted fault is EMU_TEXTURE_LAYER */
};

/* Starts recording if the grid is watched. */
void sm_texture_watch(struct sm_texture_access *t, struct sm_texture_record *record);
/* Adds the record to the profile, and marks undefined results. Called at the end of the
 * instruction. */
void sm_texture_finish(const struct sm_texture_access *t);
/* Finds the lane's texture and sampler. Returns false if a fault was raised. If texture.none is set
 * there is no sampler. */
bool sm_texture_find(struct sm_texture_access *t, uint32_t handle);
/* Raises a fault of the header that the handle names. Returns false. */
bool sm_texture_refuse(struct sm_texture_access *t, uint32_t handle, const char *wrong);
/* Records a lane's access to bytes of a texel if the grid is watched. by_units: the texture units
 * read it.
 * stored: what a store writes. */
void sm_texture_touch(struct sm_texture_access *t, enum sm_access_kind access, bool by_units,
                      uint64_t address, uint32_t bytes, const uint8_t *stored);

static inline uint32_t *sm_texture_register(const struct sm_texture_access *t, unsigned offset) {
  return (uint32_t *)(void *)(sm_file(t->w) + offset);
}

#endif
