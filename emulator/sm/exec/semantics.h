/* What each instruction computes, for the interpreter and the tests:
 * functions of one lane that a loop over thirty-two lanes (lanes.h) turns into
 * vector code.
 */
#ifndef TEGRACL_SM_SEMANTICS_H
#define TEGRACL_SM_SEMANTICS_H

#include "emulator/sm/exec/lanes.h"
#include "emulator/sm/exec/sem_float.h"
#include "emulator/sm/exec/sem_int.h"
#include "emulator/sm/exec/sem_mufu.h"

#endif
