/*
 * SciPy's sparse matrices: what scipy.sparse.save_npz writes and load_npz reads. A zip archive of
 * .npy arrays: the format's name, the shape, the values, and the lists of indices the format has.
 */
#include "io/npy.h"
#include "io/zip.h"

enum {
    NAME = 300,
    PIECE = 4096,
    PEEK = 1 << 16 /* bytes of a member that its header lies in */
};

/* A member of the archive as an array; name is for messages. */
typedef struct member {
    zip_bytes bytes;
    npy_array array;
    char name[NAME];
} member;

/* A matrix while it is read. */
typedef struct reading {
    spry_context *ctx;
    const io_bytes *bytes;
    zip_directory directory;
    member data, first, second; /* values and lists of indices */
    matrix_arrays a;
} reading;

/* One of SciPy's formats: its lists of indices, and how it becomes one of ours. */
typedef struct kind {
    const char *name;
    spry_format becomes;
    int dims; /* of the values */
    const char *first, *second;
    spry_status (*check)(const reading *z); /* by the headers alone */
    spry_status (*fill)(reading *z);
} kind;

/* A member's header and what comes with it: all of a short member. */
static spry_status open_member(const reading *z, const char *name, int dims, member *m)
{
    spry_status status = SPRY_STATUS_OK;
    snprintf(m->name, sizeof m->name, "%.250s: %s", z->bytes->path, name);
    SPRY_GO(z->ctx, io_zip_read(z->ctx, z->bytes, &z->directory, name, PEEK, &m->bytes));
    if (!m->bytes.data)
        return SPRY_FAIL(z->ctx, SPRY_STATUS_BAD_INPUT,
                         "%s is missing: not what scipy.sparse.save_npz writes", m->name);
    SPRY_GO(z->ctx,
            io_npy_parse(z->ctx, m->name, m->bytes.data, m->bytes.have, m->bytes.size, &m->array));
    if (m->array.dims != dims)
        return SPRY_FAIL(z->ctx, SPRY_STATUS_BAD_INPUT, "%s has %d dimensions, expected %d",
                         m->name, m->array.dims, dims);
done:
    return status;
}

/* All of a member that was opened. */
static spry_status load_member(const reading *z, const char *name, member *m)
{
    spry_status status = SPRY_STATUS_OK;
    if (m->bytes.have == m->bytes.size)
        return SPRY_STATUS_OK;
    io_zip_free(z->ctx, &m->bytes);
    SPRY_GO(z->ctx, io_zip_read(z->ctx, z->bytes, &z->directory, name, SIZE_MAX, &m->bytes));
    SPRY_GO(z->ctx,
            io_npy_parse(z->ctx, m->name, m->bytes.data, m->bytes.have, m->bytes.size, &m->array));
done:
    return status;
}

static spry_status expect_count(const reading *z, const member *m, int64_t count)
{
    if (m->array.count == count)
        return SPRY_STATUS_OK;
    return SPRY_FAIL(z->ctx, SPRY_STATUS_BAD_INPUT,
                     "%s has %" PRId64 " elements, expected %" PRId64, m->name, m->array.count,
                     count);
}

/* Element k of a list of integers, which must lie in least..most. */
static spry_status get_int(const reading *z, const member *m, int64_t k, int64_t least,
                           int64_t most, int64_t *value)
{
    if (!io_npy_int(&m->array, k, value))
        return SPRY_FAIL(z->ctx, SPRY_STATUS_BAD_INPUT,
                         "%s: element %" PRId64 " is not an integer of 63 bits", m->name, k);
    if (*value < least || *value > most)
        return SPRY_FAIL(z->ctx, SPRY_STATUS_BAD_INPUT,
                         "%s: element %" PRId64 " is %" PRId64 ", outside %" PRId64 "..%" PRId64,
                         m->name, k, *value, least, most);
    return SPRY_STATUS_OK;
}

/* Copies a list of integers in 0..most to 64 or to 32 bits; reports the first that is not. */
static spry_status copy_ints(const reading *z, const member *m, int64_t most, bool wide, void *out)
{
    const npy_array *a = &m->array;
    int64_t bad = a->count, shown;
#pragma omp parallel for num_threads(spry_context_threads(z->ctx)) reduction(min : bad)
    for (int64_t k = 0; k < a->count; k++) {
        int64_t value = 0;
        if (!io_npy_int(a, k, &value) || value < 0 || value > most)
            bad = k < bad ? k : bad;
        else if (wide)
            ((int64_t *)out)[k] = value;
        else
            ((int32_t *)out)[k] = (int32_t)value;
    }
    return bad < a->count ? get_int(z, m, bad, 0, most, &shown) : SPRY_STATUS_OK;
}

/* csr, csc */
static spry_status check_compressed(const reading *z)
{
    const spry_status status = expect_count(z, &z->first, matrix_major(&z->a) + 1);
    return status == SPRY_STATUS_OK ? expect_count(z, &z->second, z->a.nnz) : status;
}

static spry_status fill_compressed(reading *z)
{
    spry_status status = SPRY_STATUS_OK;
    matrix_arrays *a = &z->a;
    const bool by_rows = a->format == SPRY_FORMAT_CSR;
    SPRY_GO(z->ctx, matrix_allocate(z->ctx, a));
    SPRY_GO(z->ctx, copy_ints(z, &z->first, a->nnz, true, a->offsets));
    SPRY_GO(z->ctx, copy_ints(z, &z->second, (by_rows ? a->cols : a->rows) - 1, false,
                              by_rows ? a->col_index : a->row_index));
    io_npy_copy(z->ctx, &z->data.array, a->type, a->values);
    SPRY_GO(z->ctx, SPRY_CAUSE(z->ctx, matrix_check_arrays(z->ctx, a), "%s", z->bytes->path));
done:
    return status;
}

static spry_status check_coo(const reading *z)
{
    const spry_status status = expect_count(z, &z->first, z->a.nnz);
    return status == SPRY_STATUS_OK ? expect_count(z, &z->second, z->a.nnz) : status;
}

static spry_status fill_coo(reading *z)
{
    spry_status status = SPRY_STATUS_OK;
    matrix_arrays *a = &z->a;
    SPRY_GO(z->ctx, matrix_allocate(z->ctx, a));
    SPRY_GO(z->ctx, copy_ints(z, &z->first, a->rows - 1, false, a->row_index));
    SPRY_GO(z->ctx, copy_ints(z, &z->second, a->cols - 1, false, a->col_index));
    io_npy_copy(z->ctx, &z->data.array, a->type, a->values);
done:
    return status;
}

static spry_status check_dia(const reading *z)
{
    return expect_count(z, &z->first, z->data.array.shape[0]);
}

/* Diagonal d holds data[d, j] in column j, at row j - offset[d]. Zeros are fill and not kept. */
static spry_status fill_dia(reading *z)
{
    spry_status status = SPRY_STATUS_OK;
    matrix_arrays *a = &z->a;
    const npy_array *data = &z->data.array;
    const int64_t diagonals = data->shape[0], length = data->shape[1];
    SPRY_GO(z->ctx, matrix_allocate(z->ctx, a)); /* for all of data, which is enough */
    a->nnz = 0;
    for (int64_t d = 0; d < diagonals; d++) {
        int64_t offset, j;
        SPRY_GO(z->ctx, get_int(z, &z->first, d, -INT32_MAX, INT32_MAX, &offset));
        for (j = offset > 0 ? offset : 0; j < length && j < a->cols && j - offset < a->rows; j++) {
            const int64_t k = data->fortran ? j * diagonals + d : d * length + j;
            const spry_scalar value = io_npy_number(data, k);
            if (value.re == 0 && value.im == 0)
                continue;
            a->row_index[a->nnz] = (int32_t)(j - offset);
            a->col_index[a->nnz] = (int32_t)j;
            value_set(a->type, a->values, a->nnz++, value);
        }
    }
done:
    return status;
}

/* Writes out block k, which lies at block row i and block column j. */
static void put_block(reading *z, int64_t k, int64_t i, int64_t j)
{
    matrix_arrays *a = &z->a;
    const npy_array *data = &z->data.array;
    const int64_t high = data->shape[1], wide = data->shape[2];
    for (int64_t r = 0; r < high; r++)
        for (int64_t c = 0; c < wide; c++) {
            const int64_t entry = (k * high + r) * wide + c;
            const int64_t at = data->fortran ? (c * high + r) * data->shape[0] + k : entry;
            a->row_index[entry] = (int32_t)(i * high + r);
            a->col_index[entry] = (int32_t)(j * wide + c);
            value_set(a->type, a->values, entry, io_npy_number(data, at));
        }
}

static spry_status check_bsr(const reading *z)
{
    spry_status status = SPRY_STATUS_OK;
    const matrix_arrays *a = &z->a;
    const int64_t high = z->data.array.shape[1], wide = z->data.array.shape[2];
    if (high < 1 || wide < 1 || a->rows % high != 0 || a->cols % wide != 0)
        return SPRY_FAIL(z->ctx, SPRY_STATUS_BAD_INPUT,
                         "%s: blocks of %" PRId64 " x %" PRId64 " do not tile %" PRId64
                         " x %" PRId64,
                         z->data.name, high, wide, a->rows, a->cols);
    SPRY_GO(z->ctx, expect_count(z, &z->first, a->rows / high + 1));
    SPRY_GO(z->ctx, expect_count(z, &z->second, z->data.array.shape[0]));
done:
    return status;
}

/* Blocks become coordinates: the memory needed then follows from the members, not from the shape.
 */
static spry_status fill_bsr(reading *z)
{
    spry_status status = SPRY_STATUS_OK;
    matrix_arrays *a = &z->a;
    const int64_t blocks = z->data.array.shape[0];
    const int64_t high = z->data.array.shape[1], wide = z->data.array.shape[2];
    int64_t begin, end, j;
    SPRY_GO(z->ctx, matrix_allocate(z->ctx, a));
    SPRY_GO(z->ctx, get_int(z, &z->first, 0, 0, 0, &begin));
    for (int64_t i = 0; i < a->rows / high; i++, begin = end) {
        SPRY_GO(z->ctx, get_int(z, &z->first, i + 1, begin, blocks, &end));
        for (int64_t k = begin; k < end; k++) {
            SPRY_GO(z->ctx, get_int(z, &z->second, k, 0, a->cols / wide - 1, &j));
            put_block(z, k, i, j);
        }
    }
    SPRY_GO(z->ctx, get_int(z, &z->first, a->rows / high, blocks, blocks, &end));
done:
    return status;
}

static const kind kinds[] = {
    {"csr", SPRY_FORMAT_CSR, 1, "indptr.npy", "indices.npy", check_compressed, fill_compressed},
    {"csc", SPRY_FORMAT_CSC, 1, "indptr.npy", "indices.npy", check_compressed, fill_compressed},
    {"coo", SPRY_FORMAT_COO, 1, "row.npy", "col.npy", check_coo, fill_coo},
    {"bsr", SPRY_FORMAT_COO, 3, "indptr.npy", "indices.npy", check_bsr, fill_bsr},
    {"dia", SPRY_FORMAT_COO, 2, "offsets.npy", NULL, check_dia, fill_dia},
};

/* The format's name is kept as bytes (S) or as characters of four bytes (U). */
static spry_status read_kind(const reading *z, const kind **found)
{
    spry_status status = SPRY_STATUS_OK;
    member m = {0};
    char name[8] = "";
    SPRY_GO(z->ctx, open_member(z, "format.npy", 0, &m));
    const npy_array *a = &m.array;
    const int64_t size = m.bytes.have == m.bytes.size ? a->size : 0; /* no name is long */
    for (int64_t i = 0, used = 0; i < size && (a->kind == 'S' || a->kind == 'U'); i++)
        if (a->data[i] > ' ' && a->data[i] < 127 && used < (int64_t)sizeof name - 1)
            name[used++] = a->data[i];
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kinds[i].name, name) == 0)
            *found = &kinds[i];
    if (!*found)
        SPRY_GO(z->ctx, SPRY_FAIL(z->ctx, SPRY_STATUS_BAD_INPUT,
                                  "%s is '%s', expected csr, csc, coo, bsr or dia", m.name, name));
done:
    io_zip_free(z->ctx, &m.bytes);
    return status;
}

static spry_status read_shape(reading *z)
{
    spry_status status = SPRY_STATUS_OK;
    member m = {0};
    SPRY_GO(z->ctx, open_member(z, "shape.npy", 1, &m));
    SPRY_GO(z->ctx, expect_count(z, &m, 2)); /* so that all of it was read */
    SPRY_GO(z->ctx, get_int(z, &m, 0, 0, INT32_MAX, &z->a.rows));
    SPRY_GO(z->ctx, get_int(z, &m, 1, 0, INT32_MAX, &z->a.cols));
done:
    io_zip_free(z->ctx, &m.bytes);
    return status;
}

/* The headers must agree before anything of size is unpacked: a packed member may
 * be a thousand times as large as its part of the file. */
static spry_status open_lists(reading *z, const kind *k)
{
    spry_status status = SPRY_STATUS_OK;
    int64_t value;
    SPRY_GO(z->ctx, open_member(z, "data.npy", k->dims, &z->data));
    SPRY_GO(z->ctx, open_member(z, k->first, 1, &z->first));
    if (k->second)
        SPRY_GO(z->ctx, open_member(z, k->second, 1, &z->second));
    SPRY_GO(z->ctx, io_npy_type(z->ctx, &z->data.array, &z->a.type));
    z->a.format = k->becomes;
    z->a.nnz = z->data.array.count;
    SPRY_GO(z->ctx, k->check(z));
    const member *const lists[] = {&z->first, &z->second};
    for (int i = 0; i < (k->second ? 2 : 1); i++)
        if (lists[i]->array.count > 0 && !strchr("iu", lists[i]->array.kind))
            SPRY_GO(z->ctx, get_int(z, lists[i], 0, 0, 0, &value));
done:
    return status;
}

static spry_status read_matrix(spry_context *ctx, io_bytes *bytes, io_content *content)
{
    spry_status status = SPRY_STATUS_OK;
    const kind *k = NULL;
    reading z = {.ctx = ctx, .bytes = bytes};
    SPRY_GO(ctx, io_zip_open(ctx, bytes, &z.directory));
    SPRY_GO(ctx, read_kind(&z, &k));
    SPRY_GO(ctx, read_shape(&z));
    SPRY_GO(ctx, open_lists(&z, k));
    SPRY_GO(ctx, load_member(&z, "data.npy", &z.data));
    SPRY_GO(ctx, load_member(&z, k->first, &z.first));
    if (k->second)
        SPRY_GO(ctx, load_member(&z, k->second, &z.second));
    SPRY_GO(ctx, k->fill(&z));
done:
    io_zip_free(ctx, &z.data.bytes);
    io_zip_free(ctx, &z.first.bytes);
    io_zip_free(ctx, &z.second.bytes);
    if (status == SPRY_STATUS_OK)
        return matrix_wrap(ctx, &z.a, &content->matrix);
    matrix_free_arrays(ctx, &z.a);
    return status;
}

static void begin_member(zip_writer *zip, const char *name, const char *descr, int dims,
                         int64_t count)
{
    char header[NPY_HEADER];
    io_zip_member(zip, name);
    io_zip_write(zip, header, io_npy_header(header, descr, dims, &count, false));
}

/* Row offsets with 32 bits where that is enough: SciPy wants them no wider than the columns then.
 */
static void put_offsets(zip_writer *zip, const matrix_arrays *a)
{
    const bool narrow = a->nnz <= INT32_MAX;
    const char descr[] = {io_npy_order(), 'i', narrow ? '4' : '8', '\0'};
    begin_member(zip, "indptr.npy", descr, 1, a->rows + 1);
    if (!narrow) {
        io_zip_write(zip, a->offsets, (size_t)(a->rows + 1) * sizeof *a->offsets);
        return;
    }
    for (int64_t first = 0; first <= a->rows; first += PIECE) {
        int32_t piece[PIECE];
        int used = 0;
        for (; used < PIECE && first + used <= a->rows; used++)
            piece[used] = (int32_t)a->offsets[first + used];
        io_zip_write(zip, piece, (size_t)used * sizeof *piece);
    }
}

static spry_status write_matrix(const spry_matrix *A, const char *path)
{
    spry_context *ctx = A->ctx;
    spry_status status = SPRY_STATUS_OK;
    const spry_matrix *csr = NULL;
    spry_matrix *owned = NULL;
    zip_writer *zip = NULL;
    const char i4[] = {io_npy_order(), 'i', '4', '\0'}, i8[] = {io_npy_order(), 'i', '8', '\0'};
    SPRY_GO(ctx, matrix_as_csr(A, &csr, &owned));
    const matrix_arrays *a = &csr->a;
    SPRY_GO(ctx, io_zip_create(ctx, path, &zip));
    begin_member(zip, "indices.npy", i4, 1, a->nnz);
    io_zip_write(zip, a->col_index, (size_t)a->nnz * sizeof *a->col_index);
    put_offsets(zip, a);
    begin_member(zip, "format.npy", "|S3", 0, 0);
    io_zip_write(zip, "csr", 3);
    begin_member(zip, "shape.npy", i8, 1, 2);
    io_zip_write(zip, (int64_t[]){a->rows, a->cols}, 2 * sizeof(int64_t));
    begin_member(zip, "data.npy", io_npy_descr(a->type), 1, a->nnz);
    io_zip_write(zip, a->values, (size_t)a->nnz * spry_type_size(a->type));
    SPRY_GO(ctx, io_zip_commit(ctx, zip));
done:
    spry_matrix_free(owned);
    return status;
}

const io_format io_npz = {
    .name = "npz",
    .endings = ".npz",
    .summary = "SciPy sparse matrix (scipy.sparse.save_npz)",
    .matches = io_zip_matches,
    .read = read_matrix,
    .write_matrix = write_matrix,
};
