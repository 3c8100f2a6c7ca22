/* Files that TEGRACL_DEBUG's topics write, several processes to one if need be. */
#ifndef TEGRACL_RUNTIME_LOG_FILE_H
#define TEGRACL_RUNTIME_LOG_FILE_H

/* Opens the file for appending. The first process begins it anew, with head; one that opens it
 * while another process still has it open appends. The fd, or -1 with one message on
 * stderr, in which the file is called what. */
int rt_log_open(const char *path, const char *head, const char *what);

#endif
