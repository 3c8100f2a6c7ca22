/* A type with 113 bits of significand. Its name depends on compiler and processor. */
#ifndef TEGRACL_TESTS_SM_QUAD_H
#define TEGRACL_TESTS_SM_QUAD_H

#if defined(__SIZEOF_FLOAT128__)
typedef __float128 quad;
#else
typedef long double quad;
_Static_assert(__LDBL_MANT_DIG__ == 113, "no type for the tests' exact arithmetic");
#endif

#endif
