/* Memory, threads, files and mappings that cannot be had. The program is linked with
 * --wrap for the C library's functions that give them (meson.build), so that the driver's
 * and the software Orin's calls come here first.
 */
#ifndef TEGRACL_ROAD_STARVING_H
#define TEGRACL_ROAD_STARVING_H

#include <stdbool.h>

/* Counts calls anew, and the nth from now on fails; 0: none does. */
void starve_at(unsigned nth);
/* All calls from one place in the code fail: number site of those that have been seen.
 * False: there are not so many. */
bool starve_site(unsigned site);
/* Whether a call has failed since. */
bool starved(void);

#endif
