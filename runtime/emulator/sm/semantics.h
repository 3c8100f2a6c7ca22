/* What each instruction computes, for the interpreter and the tests alike:
 * functions of one lane that a loop over thirty-two lanes (lanes.h) turns into
 * vector code.
 */
#ifndef TEGRACL_SM_SEMANTICS_H
#define TEGRACL_SM_SEMANTICS_H

#include "runtime/emulator/sm/lanes.h"
#include "runtime/emulator/sm/sem_float.h"
#include "runtime/emulator/sm/sem_int.h"
#include "runtime/emulator/sm/sem_mufu.h"

#endif
