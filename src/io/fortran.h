/* Fortran formats, as far as files of numbers use them: fixed columns, each a number. */
#ifndef SPRY_IO_FORTRAN_H
#define SPRY_IO_FORTRAN_H

#include "base/base.h"

enum { FORTRAN_FIELDS = 256, FORTRAN_COLUMNS = 8192 };

/* One number's place in a line, and how its text is to be read. */
typedef struct fortran_field {
    int column, width;
    int decimals; /* digits after the point where the text has none */
    int scale;    /* power of ten to divide by where the text has no exponent (kP) */
} fortran_field;

/* The numbers of one line; a longer list goes on in the next line with the same places. */
typedef struct fortran_format {
    int fields;
    bool integer; /* all of them I */
    fortran_field field[FORTRAN_FIELDS];
} fortran_format;

/*
 * Reads a format such as (16I5), (1P,3D26.16) or (4(1X,E19.12)) at p. Returns the place after its
 * closing parenthesis, or NULL with the reason in *why.
 */
const char *io_fortran_parse(const char *p, const char *end, fortran_format *format,
                             const char **why);

/* A field's number from its text [p, end); false when it is none. Blanks around it do not count. */
bool io_fortran_int(const char *p, const char *end, int64_t *value);
bool io_fortran_real(const fortran_field *field, const char *p, const char *end, double *value);

#endif
