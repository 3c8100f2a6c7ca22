/* What an attacker who controls a helper process would try: for fake_compiler.c. */
#ifndef TEGRACL_ATTACK_H
#define TEGRACL_ATTACK_H

/* 0, or the errno value with which it failed. ENOENT: no attack of that name. The argument is a
 * path or a number. */
int attack(const char *name, const char *argument);

#endif
