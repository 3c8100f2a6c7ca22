/* Log files of TEGRACL_DEBUG, which several processes can share. */
#ifndef TEGRACL_RUNTIME_LOG_FILE_H
#define TEGRACL_RUNTIME_LOG_FILE_H

/* Opens a log file for appending. The first process truncates the file and writes head; processes
 * that open it while another one has it open only append. Returns the fd, or -1 after printing an
 * error on stderr, which calls the file what. */
int rt_log_open(const char *path, const char *head, const char *what);

#endif
