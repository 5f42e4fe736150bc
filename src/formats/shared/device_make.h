/*
 * Set-up of layouts in a device's memory from CSR in it, array by array and bit by bit what
 * the host's layout_build() and the format's arrays() give of the same matrix. A format's `make`
 * (device_formats.h) says how: it describes the layout, adds its arrays, and fills them by kernels
 * of make_*.knl, in this folder and in the format's. Values are moved as words, whatever numbers
 * they hold.
 */
#ifndef SPRY_DEVICE_MAKE_H
#define SPRY_DEVICE_MAKE_H

#include "device/linalg/matrix.h"
#include "formats/shared/device_carries.h"
#include "formats/shared/device_layout_text.h"

struct device_maker {
    spry_device *d;
    device_matrix *A;
    bool keep;             /* A's arrays stay A's */
    device_memory *values; /* as they are to be stored: A's own, or shorter ones */
    size_t size;           /* bytes of one */
    const void *options;
    double most_fill; /* places per entry that sell may have on the average; 0: any number */
    /* What make() fills. The layout has its class, type, sizes and kind, and no arrays. */
    layout *L;
    device_arrays arrays; /* those that products read */
    device_memory *memory[DEVICE_MOST_ARRAYS];
    device_carries carries;
    bool elsewhere; /* has to be made on the host; what was started is dropped */
};

/* --- what formats make with ----------------------------------------------------------------------
 */

enum { MAKE_GROUP = 256 };
/* Groups of MAKE_GROUP work-items for `items` items. */
static inline int64_t make_groups(int64_t items)
{
    return (items + MAKE_GROUP - 1) / MAKE_GROUP;
}

/* An option of the format, a whole number or a word's number. */
int64_t make_option(const device_maker *m, const char *name);
/* Adds an array that products read: the next of their arguments, and the layout's array `index`. */
spry_status make_add(device_maker *m, int index, const char *name, int64_t count, size_t size,
                     device_memory **memory);
/* The same with memory that exists already, which the maker then owns. */
void make_adopt(device_maker *m, int index, const char *name, int64_t count, size_t size,
                device_memory *memory);
/* Adds A's values as they are, and A's columns: copies where A is kept. Where it is not, A does not
 * have them any more. */
spry_status make_add_values(device_maker *m, int values);
spry_status make_add_entries(device_maker *m, int values, int columns);
/* The program of a text, with elements of the size of stored values and other constants. */
spry_status make_build(const device_maker *m, const char *name, const char *options,
                       device_program **p);
/* Launches a kernel with a work-item for each of `items`; args end with one that is all zeros. */
spry_status make_launch(device_program *p, const char *kernel, int64_t items,
                        const device_arg *args);
/* The same with `groups` groups whose SP_ROOM() has `local` bytes. */
spry_status make_launch_local(device_program *p, const char *kernel, int64_t groups, int64_t local,
                              const device_arg *args);
/* Memory of `count` elements, cleared. */
spry_status make_cleared(spry_device *d, int64_t count, size_t size, device_memory **memory);
/* The number of 64 bits, or of 32, at a place of such numbers. */
spry_status make_look(const device_memory *numbers, int64_t at, int64_t *number);
spry_status make_look32(const device_memory *numbers, int64_t at, int32_t *number);
/* The most entries of a row. */
spry_status make_longest(const device_maker *m, int64_t *longest);
/* Rows by length, longest first and those of one length as they were (formats/jds). */
spry_status make_sort_rows(const device_maker *m, device_memory **sorted);

/* Where the rows are that units carry to: unit u's is rows[step u + shift] + more. */
typedef struct make_carried {
    const device_memory *rows;
    int32_t step, shift, more;
} make_carried;

/* What units carry, as the host's device_carries_copy() has it, where a unit carries to one row at
 * most and units that carry to the same row follow each other: carries[u + 1] is 1 where unit u
 * does, firsts[u + 1] where it is the first to that row. Both are summed up. */
spry_status make_list_carries(device_maker *m, const make_carried *to, device_memory *carries,
                              device_memory *firsts);

/* --- what formats of merge's units share (formats/merge/device.c) -------------------------------
 */

/* Places of arrays in the layout. */
typedef struct make_merge {
    int starts, ends, carry_at;
} make_merge;

/* Cuts L->units of `items` items: adds `starts`, `ends` and `carry_at`, and lists the
 * carries. */
spry_status make_merge_cut(device_maker *m, int64_t items, const make_merge *at,
                           device_memory **starts);

/* --- what formats of strands share (device_build_strands.c) --------------------------------------
 */

/* See make_strands.knl; count: strands, or entries where they are compact. */
typedef struct make_strands {
    int64_t height, TH, THW;
    bool compact, bare; /* bare: columns behind the last strand are 0 */
    int64_t share, count, units;
    const device_memory *starts; /* A's offsets, or owned */
    device_memory *owned, *first;
    bool adopted; /* first is the layout's */
} make_strands;

/* Counts them. */
spry_status make_strands_count(const device_maker *m, make_strands *s);
/* Cuts `units` of `share`; carries and firsts as make_list_carries() takes them; the most rows that
 * begin in one. */
spry_status make_strands_cut(const device_maker *m, make_strands *s, device_memory *carries,
                             device_memory *firsts, int64_t *most);
/* Values and columns of `stored` places. */
spry_status make_strands_fill(const device_maker *m, const make_strands *s, int64_t stored,
                              device_memory *columns, device_memory *values);
/* Where rows end in units, `padded` being the pieces with fill behind the last. */
spry_status make_strands_ends(const device_maker *m, const make_strands *s, int64_t padded,
                              device_memory *leads, device_memory *ends);
/* Both where rows are those of the unit that they end in. */
spry_status make_strands_cut_ends(const device_maker *m, const make_strands *s,
                                  device_memory *first, device_memory *carries,
                                  device_memory *firsts, device_memory *ends);
void make_strands_free(make_strands *s);

/* --- what sliced formats share (device_build_sliced.c) -------------------------------------------
 */

typedef struct make_slices {
    int64_t C, sigma, count, stored;
    device_memory *offsets, *rows, *mixed, *lengths; /* rows: where they are sorted */
    bool any_mixed;
} make_slices;

/* Describes the layout and cuts its slices. Where m->elsewhere is set nothing is made. */
spry_status make_slices_cut(device_maker *m, make_slices *s);
/* Adds the values, and makes the columns of all places, fill included. */
spry_status make_slices_fill(device_maker *m, const make_slices *s, device_memory **columns);
/* Adds what is left of s, as device_add_slices() does; s has nothing afterwards. */
void make_slices_add(device_maker *m, make_slices *s);
void make_slices_free(make_slices *s);

/* --- the whole -----------------------------------------------------------------------------------
 */

/*
 * A in the format that `spec` names, or NULL: in sell, or csr where that would have much fill.
 * *made is false, and that no failure, where it has to be made on the host. Where A is not kept,
 * its arrays may be the layout's then, or still A's.
 */
spry_status device_layout_make(device_matrix *A, bool keep, const char *spec, bool *made,
                               device_layout **D);
/* Entries of the longest row of a matrix on the device: eight bytes per row are read. */
spry_status device_longest_row(device_matrix *A, int64_t *longest);
/* Whether the format that `spec` names can be set up on the device at all. */
bool device_makes(const char *spec);

#endif
