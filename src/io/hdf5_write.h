/*
 * Writing HDF5 as its first versions have it (superblock 0, groups with symbol tables, data sets in
 * one piece), which every reader knows. All but the numbers is an image in memory, since parts
 * point at each other; the numbers follow it, one data set after the other.
 *
 * Reference: "HDF5 File Format Specification", version 3.0, The HDF Group.
 */
#ifndef SPRY_IO_HDF5_WRITE_H
#define SPRY_IO_HDF5_WRITE_H

#include "io/io.h"

enum { HDF5_IMAGE = 4096, HDF5_SLOT = 8, HDF5_SIDES = 3 };

/* What lies before the numbers. Who makes it knows its size, and sees that all fits. */
typedef struct hdf5_image {
    size_t user_block; /* bytes of the file before it: 0, or 512, 1024, ...; addresses count from
                          their end */
    char bytes[HDF5_IMAGE];
    size_t used;
    size_t message, header; /* those that are being made */
} hdf5_image;

/* A text, a whole number without a sign, or a number of double precision; or a row of such. */
typedef enum hdf5_kind { HDF5_TEXT, HDF5_COUNT, HDF5_REAL } hdf5_kind;
typedef struct hdf5_attribute {
    const char *name;
    hdf5_kind kind;
    size_t bytes;     /* of an element */
    int count;        /* of elements; 0: it is no row, but one */
    const void *data; /* texts without an end, one behind the other; a uint64_t; doubles */
} hdf5_attribute;

/* A data set of the file. */
typedef struct hdf5_piece {
    spry_type type; /* of numbers; whole ones of 64 bits where `whole` is set */
    bool whole;
    const char *parts[2]; /* names of the two parts of a complex number, up to seven letters */
    int rank;
    uint64_t sides[HDF5_SIDES];
    int attributes;
    const hdf5_attribute *attribute;
    size_t layout; /* where its address goes; not the caller's */
} hdf5_piece;

/* Begins an image that is all zero but for its user block. */
void hdf5_begin(hdf5_image *m);
/* Makes a group or a data set the root, or what a place of a group leads to. */
void hdf5_set_root(hdf5_image *m, size_t header);
void hdf5_set_target(hdf5_image *m, size_t target, size_t header);
/* A group of up to 8 names of at most seven letters, sorted; `targets` are the places of what they
 * lead to. Gives where it is. */
size_t hdf5_put_group(hdf5_image *m, int count, const char *const *names, int attributes,
                      const hdf5_attribute *attribute, size_t *targets);
size_t hdf5_put_data(hdf5_image *m, hdf5_piece *p);
/* Gives data sets their addresses behind the image, in order, and returns the end of the file. */
void hdf5_settle(hdf5_image *m, int count, const hdf5_piece *pieces);

#endif
