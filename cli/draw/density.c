/*
 * Entries counted by cells, and the cells as pixels. Cells have a power of two of rows and of
 * columns: all are of one size, so that even matrices show no stripes that are not there. A row of
 * cells is one thread's, so that no thread waits for a counter; an entry costs 4 bytes, its index.
 */
#include "draw.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What a thread needs to count a row of cells. */
typedef struct counting {
    const int64_t *offsets;
    const int32_t *columns;
    density *d;
} counting;

static void count_row(void *data, int unit, int thread)
{
    const counting *c = data;
    const density *d = c->d;
    uint32_t *cells = d->count + (size_t)unit * (size_t)d->width;
    const int64_t first = (int64_t)unit << d->row_shift, last = (int64_t)(unit + 1) << d->row_shift;
    const int64_t end = c->offsets[last < d->rows ? last : d->rows];
    (void)thread;
    for (int64_t k = c->offsets[first]; k < end; k++) {
        uint32_t *cell = cells + ((uint32_t)c->columns[k] >> d->col_shift);
        *cell += *cell < UINT32_MAX;
    }
}

static int cells_of(int64_t n, int shift)
{
    return (int)((n + ((int64_t)1 << shift) - 1) >> shift);
}

static int shift_of(int64_t n, int side)
{
    int shift = 0;
    while (cells_of(n, shift) > side)
        shift++;
    return shift;
}

static void find_most(density *d)
{
    d->most = 0;
    for (size_t k = 0; k < (size_t)d->width * (size_t)d->height; k++)
        d->most = d->count[k] > d->most ? d->count[k] : d->most;
}

/* Square cells, unless the shorter side of A would be too thin to be seen. */
static void choose_cells(density *d, int side)
{
    enum { THIN = 32 };
    const int rows = shift_of(d->rows, side), cols = shift_of(d->cols, side);
    const int both = rows > cols ? rows : cols;
    d->row_shift = cells_of(d->rows, both) < THIN ? rows : both;
    d->col_shift = cells_of(d->cols, both) < THIN ? cols : both;
    d->height = cells_of(d->rows, d->row_shift);
    d->width = cells_of(d->cols, d->col_shift);
}

/* A as CSR with both triangles: A itself, or a new matrix in *owned. */
static spry_status general(const spry_matrix *A, const spry_matrix **csr, spry_matrix **owned)
{
    spry_status status = SPRY_STATUS_OK;
    *csr = A;
    if (spry_matrix_symmetry(A) != SPRY_SYMMETRY_GENERAL)
        status = spry_matrix_expand(A, owned);
    if (status == SPRY_STATUS_OK && *owned)
        *csr = *owned;
    if (status == SPRY_STATUS_OK && spry_matrix_format(*csr) != SPRY_FORMAT_CSR) {
        spry_matrix *rows = NULL;
        status = spry_matrix_convert(*csr, SPRY_FORMAT_CSR, &rows);
        spry_matrix_free(*owned);
        *csr = *owned = rows;
    }
    return status;
}

spry_status density_count(spry_context *ctx, const spry_matrix *A, int side, density *d)
{
    spry_arrays a = SPRY_ARRAYS_INIT;
    spry_matrix *owned = NULL;
    const spry_matrix *csr = NULL;
    spry_status status = general(A, &csr, &owned);
    *d = (density){.rows = spry_matrix_rows(A), .cols = spry_matrix_cols(A)};
    if (status == SPRY_STATUS_OK)
        status = spry_matrix_arrays(csr, &a);
    if (status == SPRY_STATUS_OK) {
        choose_cells(d, side);
        d->nnz = a.nnz;
        d->count = cli_alloc(((size_t)d->width * (size_t)d->height + 1) * sizeof *d->count);
        counting c = {a.offsets, a.col_index, d};
        thread_pool_run(ctx, d->height, count_row, &c);
        find_most(d);
    }
    spry_matrix_free(owned);
    return status;
}

void density_free(density *d)
{
    free(d->count);
    d->count = NULL;
}

/* From light blue for one entry to dark blue for as many as any cell has, by the logarithm. */
void density_colour(const density *d, uint32_t count, unsigned char pixel[3])
{
    static const double one[3] = {127, 176, 220}, all[3] = {8, 36, 94};
    memset(pixel, 255, 3);
    if (count == 0)
        return;
    const double t = d->most > 1 ? log(count) / log(d->most) : 1;
    for (int c = 0; c < 3; c++)
        pixel[c] = (unsigned char)(one[c] + t * (all[c] - one[c]) + 0.5);
}

spry_status density_level(spry_context *ctx, const density *d, int scale, spy_level *level)
{
    const int64_t width = d->width > 0 ? (int64_t)d->width * scale : 1;
    const int64_t height = d->height > 0 ? (int64_t)d->height * scale : 1;
    unsigned char *pixels = cli_alloc(3 * (size_t)width * (size_t)height);
    memset(pixels, 255, 3);
    for (int64_t y = 0; y < (int64_t)d->height * scale; y++) {
        unsigned char *row = pixels + 3 * y * width;
        if (y % scale > 0) {
            memcpy(row, row - 3 * width, 3 * (size_t)width);
            continue;
        }
        for (int64_t x = 0; x < (int64_t)d->width * scale; x++)
            density_colour(d, d->count[(y / scale) * d->width + x / scale], row + 3 * x);
    }
    level->wide = fmax((double)((int64_t)d->width << d->col_shift), 1);
    level->high = fmax((double)((int64_t)d->height << d->row_shift), 1);
    const spry_status status = spry_png_pack(ctx, width, height, pixels, &level->png, &level->size);
    free(pixels);
    return status;
}
