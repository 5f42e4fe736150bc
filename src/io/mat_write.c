/* Writing MATLAB's files of level 5, not packed (save -v6): one variable, A or x. */
#include "io/mat.h"

enum { PIECE = 4096 };

static uint64_t padded(uint64_t bytes)
{
    return (bytes + 7) / 8 * 8;
}

static void put_tag(io_writer *w, uint32_t type, uint64_t bytes)
{
    io_write(w, (uint32_t[]){type, (uint32_t)bytes}, MAT_TAG);
}

/* What brings an element of `bytes` bytes to a multiple of eight. */
static void put_padding(io_writer *w, uint64_t bytes)
{
    static const char zeros[8];
    io_write(w, zeros, (size_t)(padded(bytes) - bytes));
}

/* An array up to its numbers; `bytes` is what follows. */
static void begin_array(io_writer *w, uint32_t flags, int64_t nzmax, int64_t rows, int64_t cols,
                        char name, uint64_t bytes)
{
    char header[MAT_HEADER];
    memset(header, ' ', sizeof header);
    memcpy(header, "MATLAB 5.0 MAT-file, written by spry", 36);
    memset(header + MAT_HEADER - 12, 0, 8);
    memcpy(header + MAT_HEADER - 4, "\x00\x01IM", 4);
    io_write(w, header, sizeof header);
    put_tag(w, MI_MATRIX, 2 * 16 + 8 + bytes);
    put_tag(w, MI_UINT32, 8);
    io_write(w, (uint32_t[]){flags, (uint32_t)nzmax}, 8);
    put_tag(w, MI_INT32, 8);
    io_write(w, (int32_t[]){(int32_t)rows, (int32_t)cols}, 8);
    io_write(w, (uint32_t[]){1u << 16 | MI_INT8, (unsigned char)name}, 8);
}

/* The real or the imaginary parts, as doubles or as floats. */
static void put_part(io_writer *w, spry_type type, const void *values, int64_t count,
                     bool imaginary, bool single)
{
    const uint64_t bytes = (uint64_t)count * (single ? 4 : 8);
    put_tag(w, single ? MI_SINGLE : MI_DOUBLE, bytes);
    for (int64_t first = 0; first < count && !io_write_failed(w); first += PIECE) {
        double doubles[PIECE];
        float floats[PIECE];
        int used = 0;
        for (; used < PIECE && first + used < count; used++) {
            const spry_scalar value = value_get(type, values, first + used);
            doubles[used] = imaginary ? value.im : value.re;
            floats[used] = (float)doubles[used];
        }
        if (single)
            io_write(w, floats, (size_t)used * sizeof *floats);
        else
            io_write(w, doubles, (size_t)used * sizeof *doubles);
    }
    put_padding(w, bytes);
}

static void put_numbers(io_writer *w, spry_type type, const void *values, int64_t count,
                        bool single)
{
    put_part(w, type, values, count, false, single);
    if (spry_type_is_complex(type))
        put_part(w, type, values, count, true, single);
}

/* An element has at most 2^32 - 1 bytes; what has more becomes a file of level 7.3. */
static bool too_large(uint64_t bytes)
{
    return bytes + 2 * MAT_HEADER >= UINT32_MAX;
}

static void put_offsets(io_writer *w, const matrix_arrays *a)
{
    const uint64_t bytes = (uint64_t)(a->cols + 1) * sizeof(int32_t);
    put_tag(w, MI_INT32, bytes);
    for (int64_t j = 0; j <= a->cols && !io_write_failed(w); j++)
        io_write(w, (int32_t[]){(int32_t)a->offsets[j]}, sizeof(int32_t));
    put_padding(w, bytes);
}

spry_status io_mat_write_matrix(const spry_matrix *A, const char *path)
{
    spry_context *ctx = A->ctx;
    spry_status status = SPRY_STATUS_OK;
    spry_matrix *B = NULL;
    io_writer *w = NULL;
    SPRY_GO(ctx, io_mat_by_columns(A, &B));
    const matrix_arrays *a = &B->a;
    const bool complex = spry_type_is_complex(a->type);
    const uint64_t nnz = (uint64_t)a->nnz, parts = complex ? 2 : 1;
    /* rows, offsets and each part of the numbers, with their tags; rows are never none */
    const uint64_t room = nnz > 0 ? nnz : 1;
    const uint64_t bytes = (2 + parts) * MAT_TAG + padded(4 * room) +
                           padded(4 * (uint64_t)(a->cols + 1)) + parts * 8 * nnz;
    if (too_large(bytes)) {
        SPRY_GO(ctx, io_mat73_write_matrix(B, path));
        goto done;
    }
    SPRY_GO(ctx, io_create(ctx, path, &w));
    begin_array(w, MX_SPARSE | (complex ? MX_COMPLEX : 0), (int64_t)room, a->rows, a->cols, 'A',
                bytes);
    put_tag(w, MI_INT32, 4 * room);
    io_write(w, nnz > 0 ? a->row_index : (int32_t[]){0}, (size_t)room * sizeof(int32_t));
    put_padding(w, 4 * room);
    put_offsets(w, a);
    put_numbers(w, a->type, a->values, a->nnz, false);
    SPRY_GO(ctx, io_commit(ctx, w));
done:
    spry_matrix_free(B);
    return status;
}

spry_status io_mat_write_vector(const spry_vector *v, int64_t cols, const char *path)
{
    spry_context *ctx = v->ctx;
    spry_status status = SPRY_STATUS_OK;
    io_writer *w = NULL;
    const bool complex = spry_type_is_complex(v->type);
    const bool single = v->type == SPRY_TYPE_S || v->type == SPRY_TYPE_C;
    const uint64_t part = MAT_TAG + padded((uint64_t)v->n * (single ? 4 : 8));
    if (too_large(2 * part))
        return io_mat73_write_vector(v, cols, path);
    SPRY_GO(ctx, io_create(ctx, path, &w));
    begin_array(w, (single ? MX_SINGLE : MX_DOUBLE) | (complex ? MX_COMPLEX : 0), 0,
                cols > 0 ? v->n / cols : v->n, cols, 'x', complex ? 2 * part : part);
    put_numbers(w, v->type, v->data, v->n, single);
    SPRY_GO(ctx, io_commit(ctx, w));
done:
    return status;
}
