/* The cores that this process may use. */
#ifndef TEGRACL_BASE_CORES_H
#define TEGRACL_BASE_CORES_H

/* Those in the affinity of the calling thread, or fewer if the CPU quota of a cgroup is less than
 * their time. The quota is that of the first call. At least 1. */
unsigned base_cores(void);

/* The cores whose time the quotas of the process's cgroups allow, rounded up; 0: there is no quota.
 * root: "", or for tests the folder that proc/ and sys/ are in. Cgroups of version 1 and 2. */
unsigned base_cores_of_quota(const char *root);

#endif
