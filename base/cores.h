/* Counts the cores that this process may use. */
#ifndef TEGRACL_BASE_CORES_H
#define TEGRACL_BASE_CORES_H

/* Returns the number of cores in the calling thread's affinity mask, or less if the CPU quota of a
 * cgroup allows less CPU time. The quota is read by the first call. At least 1. */
unsigned base_cores(void);

/* Returns the quotas of the process's cgroups (version 1 or 2) in cores, rounded up, or 0 if there
 * is no quota. root is "", or in tests the folder that contains proc/ and sys/. */
unsigned base_cores_of_quota(const char *root);

#endif
