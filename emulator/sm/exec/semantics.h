/* What each instruction computes, for the interpreter and for the tests: functions of one lane,
 * which the compiler vectorises in loops over 32 lanes (lanes.h). */
#ifndef TEGRACL_SM_SEMANTICS_H
#define TEGRACL_SM_SEMANTICS_H

#include "emulator/sm/exec/lanes.h"
#include "emulator/sm/exec/sem_float.h"
#include "emulator/sm/exec/sem_int.h"
#include "emulator/sm/exec/sem_mufu.h"

#endif
