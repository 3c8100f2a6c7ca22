/* Attacks by a program that controls a helper process, for fake_compiler.c. */
#ifndef TEGRACL_ATTACK_H
#define TEGRACL_ATTACK_H

/* Tries an attack, whose argument is a path or a number. Returns 0 or the errno
 * value of the failure, ENOENT for an unknown attack. */
int attack(const char *name, const char *argument);

#endif
