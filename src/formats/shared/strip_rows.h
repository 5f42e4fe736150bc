/* How many rows go side by side in formats that store rows by strips. */
#ifndef SPRY_STRIP_ROWS_H
#define SPRY_STRIP_ROWS_H

/* Bytes of the part of y that a strip of rows gives: eight vectors of arm64, two of AVX-512. */
enum { STRIP_BYTES = 128 };

#endif
