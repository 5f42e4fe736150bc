/*
 * Storage formats on devices. The arrays of a layout are copied as they are; a format's kernels are
 * a text, src/formats/NAME/NAME.knl or one of src/formats/shared, and src/formats/NAME/device.c
 * says how it is used. Everything else (transposes, several columns, carries, fused sweeps,
 * choosing) is done once for all formats.
 *
 * Row formats: a text defines two functions, whose names it writes SP_F(...), as every name of its
 * own, so that two matrices can be in one program:
 *
 *     SP_INLINE int SP_F(row_at)(FORMAT_ARGS, const int at)
 *         the row at position `at` of 0..positions-1, -1: none (fill)
 *     SP_INLINE void SP_F(row)(FORMAT_ARGS, SP_X, const int at, const int lane, scalar *sum)
 *         adds to sum[0..COLUMNS-1] what lane `lane` of 0..FORMAT_LANES-1 has of that row's
 *         product; the caller adds the lanes up. Work-items of a group that are neighbours have
 *         neighbouring lanes, then positions. No barriers in it.
 *
 * FORMAT_ARGS are the layout's arrays that products read, or those that the format's arrays() gives
 * instead, by their names (layout_array.name): the first as `SP_GLOBAL const stored *`, others by
 * their size: 1 sp_u8, 2 sp_u16, 4 int, 8 offset; larger elements as int. Then the form's numbers,
 * each `const offset name`: what differs from matrix to matrix, so that one program serves them
 * all; FORMAT_PASS is the same list of names, for calls. SP_X is `SP_GLOBAL const scalar
 * *SP_RESTRICT x, const offset x_stride`; element (j, c) of several columns is x[j * x_stride + c],
 * of one x[j]: write SP_AT(j, c). Constants that `open` defines are macros while the text is read.
 * FORMAT_VALUE(place) is the scalar at a place of the values, conjugated where A^H is meant, read
 * by sp_once(); FORMAT_VALUE_BY(stream, place) and (often, place) by sp_stream() and sp_often().
 * FORMAT_CONJ(a) conjugates any scalar of the matrix likewise. SP_ADD(a, j, sum) adds a times row j
 * of x to sum[0..COLUMNS-1]. Several columns may be shared by work-items: COLUMNS is what one has,
 * and x begins with its first.
 *
 * Unit formats: a text defines a kernel that does the whole product by itself, one group per unit
 * or as it likes; what units carry is added afterwards by common code:
 *
 *     SP_KERNEL SP_F(units)(const int units, FORMAT_ARGS, SP_X, SP_GLOBAL scalar *y,
 *                           const offset y_stride, const number alpha, const number beta,
 *                           SP_GLOBAL scalar *carry)
 *         sets the rows that units set, by SP_PUT(row, c, sum); carries: carry[k * COLUMNS + c]
 *         for the k-th of all carries (layout carry_at), not yet multiplied by alpha
 *
 * Where the form has `before`, that many groups of another kernel run first and leave the
 * products of all entries in a room of their own, which `units` has as one more argument, the last:
 *
 *     SP_KERNEL SP_F(before)(const int units, FORMAT_ARGS, SP_X, SP_GLOBAL scalar *products)
 *         sets products[k * COLUMNS + c] for each place k of the values
 */
#ifndef SPRY_DEVICE_FORMATS_H
#define SPRY_DEVICE_FORMATS_H

#include "device/engine/device.h"
#include "formats/shared/layout.h"

enum {
    DEVICE_MOST_ARRAYS = LAYOUT_MOST_ARRAYS + 4,
    DEVICE_MOST_NUMBERS = 8,
    DEVICE_DEFINES_SIZE = 4096
};

/* A number that products need besides the arrays. */
typedef struct device_number {
    const char *name; /* NULL: past the last */
    int64_t value;
} device_number;

/* How a layout is used on a device; open() fills it. */
typedef struct device_form {
    const char *text;  /* "formats/sell" */
    bool by_units;     /* a unit format */
    int64_t positions; /* row formats: positions; unit formats: groups to launch */
    int64_t before;    /* unit formats: groups of a kernel that runs first */
    /* Unit formats: bytes of SP_ROOM() in `before` and in `units`. */
    int64_t before_local, local;
    int lanes;    /* row formats: lanes of a row, a power of two, at most 32 */
    int group;    /* work-items of a group, a power of two; 0: any will do */
    bool at_once; /* row formats: a row reads x without waiting for arrays of its own */
    /* Set by common code: work-items that share the columns of a row format, each with COLUMNS of
     * them; and whether their parts of rows of x are read 16 bytes at a time. */
    int spread;
    bool wide;
    bool apart; /* columns of x are x_stride apart, not rows */
    device_number number[DEVICE_MOST_NUMBERS];
    char defines[DEVICE_DEFINES_SIZE]; /* "SLICE=32 WIDE=1": constants while the text is read */
} device_form;

typedef struct device_maker device_maker;

typedef struct device_format {
    const char *name; /* of the layout_class */
    /* Decides how to use L on d with `columns` columns (1: SpMV). SPRY_STATUS_UNSUPPORTED with a
     * message where the format cannot be used on it. */
    spry_status (*open)(const spry_device *d, const layout *L, int columns, device_form *form);
    /* Options worth trying on a device, as layout_class.grid; NULL: the class's own grid. */
    const char *grid;
    /* Options in the place of none; NULL: the class's own defaults. */
    const char *defaults;
    /* The arrays that products read on a device, where they are not those that products read on the
     * host; values first. They are L's own, or are made from them: those have `aside` set, and are
     * freed (base_free) by the caller once they are copied, also after a failure. Room is for
     * DEVICE_MOST_ARRAYS, all zeros at first; those past the last have no name. NULL: L's that are
     * not aside. */
    spry_status (*arrays)(const layout *L, layout_array *array);
    /* Makes the same in the device's memory from CSR that is on it: see device_make.h. NULL: made
     * on the host and copied. */
    spry_status (*make)(device_maker *m);
} device_format;

/* The device's side of a format; NULL where it has none. */
const device_format *device_format_for(const layout_class *class);

/* A layout in a device's memory. */
typedef struct device_layout device_layout;

/* An operand of a program: an instance of a format's text with the prefix that keeps it apart from
 * others ("op0_"), and its arguments in the order of FORMAT_ARGS. */
typedef struct device_rows {
    int64_t rows, positions;
    int lanes, group;
    int columns;          /* that a call of row() makes */
    bool at_once;         /* as of the form */
    stored_kind kind;     /* of the values: the program's -DSP_KIND */
    char *text;           /* defines, FORMAT_ARGS and the text; ends with #undefs */
    char args_text[2048]; /* "SP_GLOBAL const stored *SP_RESTRICT op0_values, ..." */
    char pass_text[512];  /* "op0_values, op0_columns" */
    device_arg args[DEVICE_MOST_ARRAYS + DEVICE_MOST_NUMBERS]; /* as many as there are arguments */
    int arg_count;
} device_rows;

/*
 * The product op(A) x of an operator that lives on a device as rows of a program, for fused sweeps:
 * in the program SP_PREFIX##row_at(pass, at) and SP_PREFIX##row(pass, x, x_stride, at, lane, sum).
 * With several columns row() makes rows->columns sums, as many as are wise and at most that many,
 * of columns of x that are x_stride apart: the matrix is read once for them. rows->text is NULL
 * where it can only be applied whole. The caller frees text (base_free).
 */
spry_status device_open_rows(const spry_operator *op, spry_transpose transpose, const char *prefix,
                             int columns, device_rows *rows);
/* The device an operator lives on; NULL: the host. */
spry_device *device_of(const spry_operator *op);
/* Its diagonal in the device's memory where op(A) r = d .* r; NULL for others. */
const device_memory *device_diagonal(const spry_operator *op, spry_transpose transpose);
/* Makes what the first product A x would make, so that it takes no longer than others. */
spry_status device_prepare(const spry_operator *op);
/* y = alpha op(A) x + beta y on arrays in the device's memory. */
spry_status device_multiply(const spry_operator *op, spry_transpose transpose, spry_scalar alpha,
                            const device_memory *x, spry_scalar beta, device_memory *y);

#endif
