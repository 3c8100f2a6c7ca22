/* The thread that calls callbacks of the application. An application may hold a lock in any OpenCL
 * call, and its callbacks may take the same lock, so no call and no thread for which a call waits
 * may run a callback.
 */
#ifndef TEGRACL_DELIVER_H
#define TEGRACL_DELIVER_H

#include <stdbool.h>

/* A call for the thread. It is embedded in its owner. */
struct icd_delivery {
  struct icd_delivery *next;
  void (*function)(void *owner);
  void *owner;
};

/* Makes sure that the thread exists until one more delivery. Returns false if it cannot be
 * started. */
bool icd_deliver_later(void);

/* Makes the thread call function(owner), after all earlier deliveries. icd_deliver_later must have
 * returned true once for each delivery. May be called with locks held. */
void icd_deliver(struct icd_delivery *delivery, void (*function)(void *), void *owner);

/* Whether the calling thread is the one that calls the callbacks. */
bool icd_delivers(void);

#endif
