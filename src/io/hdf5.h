/*
 * As much of HDF5 as files of matrices need: groups, data sets of numbers (whole, in chunks,
 * packed), attributes. Read from memory by code of ours, since files come from anywhere: every
 * address and length is checked against the file, and every step is counted against its size, so
 * that broken files end in a message.
 *
 * Reference: "HDF5 File Format Specification", version 3.0, The HDF Group. Sections are named where
 * they are read.
 */
#ifndef SPRY_IO_HDF5_H
#define SPRY_IO_HDF5_H

#include "io/mat.h"

enum { HDF5_RANK = 3, HDF5_FILTERS = 4, HDF5_NAME = 64 };

/* A piece of the file. */
typedef struct hdf5_span {
    const char *data;
    size_t size;
} hdf5_span;

typedef struct hdf5_file {
    spry_context *ctx;
    const char *path;
    hdf5_span all;  /* from the superblock on: addresses are relative to it */
    uint64_t root;  /* address of the root group's header */
    uint64_t steps; /* headers, messages, nodes and links that may still be looked at: each has
                     * some bytes, and is looked at a few times */
} hdf5_file;

/* What numbers a data set has. */
typedef struct hdf5_type {
    uint32_t part; /* MI_...; 0: none that are understood */
    size_t size;   /* bytes of an element, complex ones being compounds of two parts */
    bool complex;
    size_t re, im; /* where the parts lie in it */
} hdf5_type;

enum hdf5_layout { HDF5_NOWHERE, HDF5_INSIDE, HDF5_WHOLE, HDF5_CHUNKS };

/* A group or a data set, as its header describes it. */
typedef struct hdf5_object {
    uint64_t address;
    bool is_group;
    uint64_t tree, heap; /* of a group with a symbol table; tree 0: links are in the header */
    bool dense_links;    /* in a fractal heap, which is not read */
    bool is_data;
    int rank; /* of a data set; -1: more than HDF5_RANK */
    uint64_t sides[HDF5_RANK];
    hdf5_type type;
    enum hdf5_layout layout;
    hdf5_span inside; /* HDF5_INSIDE */
    uint64_t start;   /* HDF5_WHOLE: of the bytes; HDF5_CHUNKS: of the tree */
    uint64_t chunk[HDF5_RANK];
    int filters; /* -1: more, or others, than are understood */
    int filter[HDF5_FILTERS];
    /* attributes that MATLAB sets */
    int64_t sparse_rows; /* -1: it is no sparse matrix */
    bool empty;
    char class[HDF5_NAME];
} hdf5_object;

enum { HDF5_DEFLATE = 1, HDF5_SHUFFLE = 2, HDF5_CHECKSUM = 3 };

/* Finds the superblock; false: these bytes are no HDF5. */
bool hdf5_is(const io_bytes *bytes);
spry_status hdf5_open(spry_context *ctx, const io_bytes *bytes, hdf5_file *f);
spry_status hdf5_broken(const hdf5_file *f, const char *what);
spry_status hdf5_unsupported(const hdf5_file *f, const char *what);

/* A piece of the file; a failure where it is not in it. */
spry_status hdf5_piece(const hdf5_file *f, uint64_t address, uint64_t size, hdf5_span *piece);
/* Counts a step, and looks whether reading is to stop. */
spry_status hdf5_step(hdf5_file *f);
/* A number of 1 to 8 bytes, the low ones first. */
uint64_t hdf5_number(const char *data, size_t bytes);
/* Takes `size` bytes off a span; NULL: it has fewer. */
const char *hdf5_take(hdf5_span *from, size_t bytes);

/* Calls `each` for the messages of a header until it returns that it has seen enough. */
typedef struct hdf5_message {
    uint32_t type;
    bool shared; /* its content is elsewhere */
    hdf5_span body;
} hdf5_message;
typedef spry_status (*hdf5_each_message)(void *data, const hdf5_message *message);
spry_status hdf5_messages(hdf5_file *f, uint64_t address, hdf5_each_message each, void *data);

spry_status hdf5_describe(hdf5_file *f, uint64_t address, hdf5_object *object);

/* Calls `each` for the links of a group, by name; `done` ends it. */
typedef spry_status (*hdf5_each_link)(void *data, const char *name, uint64_t address, bool *done);
spry_status hdf5_links(hdf5_file *f, const hdf5_object *group, hdf5_each_link each, void *data);
/* The data set or group of that name; address 0: there is none. */
spry_status hdf5_find(hdf5_file *f, const hdf5_object *group, const char *name,
                      hdf5_object *object);

/* The numbers of a data set. They lie in the file, or in memory that the caller frees. */
typedef struct hdf5_numbers {
    mat_numbers re, im;
    void *memory;
} hdf5_numbers;
spry_status hdf5_read(hdf5_file *f, const hdf5_object *object, hdf5_numbers *numbers);

#endif
