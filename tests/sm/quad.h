/* 113 bits of significand, by the name that each compiler and processor has. */
#ifndef TEGRACL_TESTS_SM_QUAD_H
#define TEGRACL_TESTS_SM_QUAD_H

#if defined(__SIZEOF_FLOAT128__)
typedef __float128 quad;
#else
typedef long double quad;
_Static_assert(__LDBL_MANT_DIG__ == 113, "no type for the tests' exact arithmetic");
#endif

#endif
