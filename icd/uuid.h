#ifndef TEGRACL_UUID_H
#define TEGRACL_UUID_H

#include "icd/icd.h"

/* The number of the thing of that kind and name. */
void icd_uuid(const char *kind, const char *name, cl_uchar uuid[CL_UUID_SIZE_KHR]);

#endif
