/*
 * Stencils on devices. A form (grid.h) is copied to the device: the numbers of all rows at the ends
 * by their classes, those of all rows between as constants of a program, which has the pattern of
 * the stencil written out (grid/kernels/stencil.knl).
 */
#ifndef SPRY_GRID_STENCIL_DEVICE_H
#define SPRY_GRID_STENCIL_DEVICE_H

#include "device/engine/device.h"
#include "formats/shared/device_formats.h"
#include "grid/grid.h"

enum { STENCIL_TERMS = 128, STENCIL_WEIGHTS = 32, STENCIL_GROUP = 256 };
/* Of marches along z: columns along x, and along y for each line of a work-item. Lines are often of
 * odd lengths and begin within what memory moves at a time: wide groups have fewer such ends. */
enum { STENCIL_COLUMNS = 64, STENCIL_ROWS = STENCIL_GROUP / STENCIL_COLUMNS };

/* What a text names FORM_N0, FORM_F0 and so on, and kernels are given as one argument where they
 * serve several grids. */
#define STENCIL_SIZES(item) \
    item(N0)                \
    item(N1)                \
    item(N2)                \
    item(M0)                \
    item(M1)                \
    item(F0)                \
    item(F1)                \
    item(F2)                \
    item(POINTS)            \
    item(LOW0)              \
    item(LOW1)              \
    item(LOW2)              \
    item(HIGH0)             \
    item(HIGH1)             \
    item(HIGH2)             \
    item(KINDS0)            \
    item(KINDS1)            \
    item(GROUPS)            \
    item(OFFSETS)
#define STENCIL_SIZE_FIELD(name) int32_t name;
typedef struct stencil_sizes {
    STENCIL_SIZES(STENCIL_SIZE_FIELD)
} stencil_sizes;

/* A group of terms of the rows between the ends: host_stencil_group with distances by axes. */
typedef struct stencil_group {
    int field[3], at[3][GRID_AXES];
    int first, count;
} stencil_group;

/* A form of a stencil on a device. */
typedef struct stencil_copy {
    spry_device *d;
    spry_type type;
    grid_shape shape; /* of what it is for: of a grid that is cut, the form's box */
    stencil_sizes sizes;
    bool inside;  /* there are rows between the ends, and terms are few enough to be written out */
    bool regular; /* rows at the ends need no tables: see stencil.knl */
    bool is_real;
    bool periodic; /* the grid is, along some axis, cut or not */
    int terms, groups;
    int step[STENCIL_TERMS][GRID_AXES];
    spry_scalar number[STENCIL_TERMS];
    stencil_group group[STENCIL_TERMS];
    int reach[GRID_AXES], lines; /* of marches along z; lines is 0 where there are none, */
    int ahead;                   /* planes on their way, */
    int64_t room;                /* and the local memory of a group */
    _Alignas(16) unsigned char weights[STENCIL_WEIGHTS * 16]; /* the first of `number`, as kernels
                                                                 have them */
    device_memory *numbers, *tables;                          /* NULL where it is regular */
    const device_memory *fields;                              /* of the stencil; NULL: none */
} stencil_copy;

/* The fields of a stencil one after the other in a device's memory; NULL: it has none. */
spry_status stencil_put_fields(spry_device *d, const spry_operator *op, device_memory **fields);
/* The form is looked at while it is made. Of a grid that is cut the form's box alone matters. */
spry_status stencil_copy_make(spry_device *d, const spry_operator *op, const stencil_form *form,
                              const device_memory *fields, stencil_copy *copy);
void stencil_copy_clear(stencil_copy *copy);
/* The rows of another box of a grid that is cut, as if it were the grid. */
spry_status stencil_copy_place(const stencil_copy *like, const spry_operator *op, bool transposed,
                               const grid_box *u, stencil_copy *copy);

/* op(A) as it is used: its form on the device, and the program of its product. */
typedef struct stencil_product {
    bool made;
    stencil_copy copy;
    device_program *program[2]; /* of A or A^T, and of its conjugate; NULL until used */
} stencil_product;
spry_status stencil_find_product(const spry_operator *op, spry_transpose transpose,
                                 stencil_product **found);
/* Columns of x and of y, with their strides in elements. */
typedef struct stencil_block {
    const device_memory *x;
    device_memory *y;
    int columns;
    int64_t x_apart, y_apart;
} stencil_block;
spry_status stencil_product_run(stencil_product *p, bool conjugate, spry_scalar alpha,
                                spry_scalar beta, const stencil_block *b);

/* How a text is to be: numbers and sizes written out, or arguments of kernels; conjugated; for
 * groups of a number of work-items; names with a prefix. */
typedef struct stencil_writing {
    bool written, conjugate;
    int group;
    const char *prefix;
} stencil_writing;
/* Whether numbers and sizes are to be written out, being too many for arguments. */
static inline bool stencil_is_written(const stencil_copy *c)
{
    return c->terms > STENCIL_WEIGHTS;
}
/* The text of rows, and the texts of kernels behind it; then the end of all words. Positions of
 * such a writing: points with those that bricks have beyond the faces. */
void stencil_put_words(base_text *t, const stencil_copy *c, const stencil_writing *w);
void stencil_put_text(base_text *t, const char *name);
/* What the text of a march is promised: see stencil_march.knl. */
typedef struct stencil_march {
    const char *kernel, *args, *on, *value, *put;
    bool ends;
    const char *begin; /* NULL: of kernels that know one column alone */
} stencil_march;
void stencil_put_march(base_text *t, const stencil_march *m);
void stencil_end_words(base_text *t);
/* The program of a text that is made of a form; in_place: x is read where other work-items write
 * it, so that such loads must be plain. The options that it is compiled with. */
typedef void stencil_put(base_text *t, const stencil_copy *c);
spry_status stencil_build(const stencil_copy *c, stencil_put *put, bool in_place,
                          device_program **p);
enum { STENCIL_OPTIONS = 64 };
void stencil_compile_options(const stencil_copy *c, bool in_place, char options[STENCIL_OPTIONS]);
/* The text of a product's program. */
void stencil_put_plain(base_text *t, const stencil_copy *c);
/* And of the rows of a block near cuts (ranks_device.c). */
void stencil_put_some(base_text *t, const stencil_copy *c);
int64_t stencil_positions(const stencil_copy *c, int group);
/* The arguments that FORM_ARGS are, as many as it says. */
enum { STENCIL_ARGS = 5 };
int stencil_args(const stencil_copy *c, bool written, device_arg args[STENCIL_ARGS]);
/* Launches a kernel of a program that levels share: FORM_ARGS behind `before` (NULL: nothing), then
 * `after`; `room` bytes of local memory. */
enum { STENCIL_AFTER = 12 };
spry_status stencil_launch(const stencil_copy *c, device_program *p, const char *kernel,
                           int64_t groups, int64_t room, const device_arg *before,
                           const device_arg *after, int count);
/*
 * Planes that a group of a march goes through, where `across` groups are in each. Few where groups
 * are few: below one for each unit a march takes as long as its planes one after the other. Many,
 * at most `most`, where the planes that two of them read would show.
 */
int32_t stencil_march_depth(const spry_device *d, int64_t across, int64_t planes, int32_t most);
/* Groups of a march through all points, and the planes of each. */
int64_t stencil_march_groups(const stencil_copy *c, int32_t *depth);

/* Local memory of a march that comes up and relaxes, in bytes: gmg_finish.knl. */
int64_t stencil_finish_room(const stencil_copy *c);

/* The part of an operator on a device, where it lives from then on: this rank's fields and, where
 * it has all rows, the product of A. After a failure, too, it is to be freed. */
spry_status stencil_device_make(spry_operator *op, spry_device *d);
void stencil_device_free(spry_context *ctx, struct stencil_device *s);
/* Products of its rows, where it has all of them; members of the class. */
spry_status stencil_device_multiply(const spry_operator *op, spry_transpose transpose,
                                    spry_scalar alpha, const device_memory *x, spry_scalar beta,
                                    device_memory *y);
spry_status stencil_device_multiply_dense(const spry_operator *op, spry_transpose transpose,
                                          spry_scalar alpha, const spry_dense *B, spry_scalar beta,
                                          const spry_dense *C);
spry_status stencil_device_open_rows(const spry_operator *op, spry_transpose transpose,
                                     const char *prefix, device_rows *rows);

#endif
