/*
 * The native file (.spry): a header of 128 bytes, then the arrays as they lie in memory, each at a
 * multiple of 64 bytes. Reading maps the file and looks at the indices once; nothing is parsed or
 * copied. docs/native-format.md describes the layout.
 */
#include "io/io.h"

enum { VERSION = 1, MARK = 0x01020304, KIND_MATRIX = 1, KIND_DENSE = 2, FORMAT_CSR = 1 };
enum { OFFSETS, COLUMNS, VALUES, SECTIONS };

static const char magic[8] = {'\x89', 'S', 'P', 'R', 'Y', '\r', '\n', '\x1a'};

/* The file's first bytes, in the byte order of the machine that wrote it. */
typedef struct native_header {
    char magic[8];
    uint32_t version, mark; /* the mark shows the byte order */
    uint32_t kind, type, symmetry, format;
    uint64_t rows, cols, nnz;
    uint64_t section[SECTIONS]; /* where each array begins; 0: there is none */
    uint64_t size;              /* of the whole file */
    uint64_t reserved[4];
    uint64_t checksum; /* of all bytes before it */
} native_header;

_Static_assert(sizeof(native_header) == 128, "the header has no padding");

/* FNV-1a, 64 bits (Fowler, Noll, Vo). */
static uint64_t checksum(const native_header *h)
{
    const unsigned char *p = (const unsigned char *)h;
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < offsetof(native_header, checksum); i++)
        hash = (hash ^ p[i]) * UINT64_C(0x100000001b3);
    return hash;
}

static spry_status fault(spry_context *ctx, const io_bytes *bytes, const char *what)
{
    return SPRY_FAIL(ctx, SPRY_STATUS_BAD_INPUT, "%s: %s", bytes->path, what);
}

static bool matches(const io_bytes *bytes)
{
    return bytes->size >= sizeof magic && memcmp(bytes->data, magic, sizeof magic) == 0;
}

static spry_status check_header(spry_context *ctx, const io_bytes *bytes, const native_header *h)
{
    if (h->mark == __builtin_bswap32(MARK))
        return fault(ctx, bytes, "was written on a machine of the other byte order");
    if (h->mark != MARK || h->checksum != checksum(h))
        return fault(ctx, bytes, "the header is damaged: its checksum does not match");
    if (h->version != VERSION)
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_INPUT, "%s: version %" PRIu32 " is not known, %d is",
                         bytes->path, h->version, VERSION);
    if (h->size != bytes->size)
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_INPUT,
                         "%s: has %zu bytes, but the header promises %" PRIu64, bytes->path,
                         bytes->size, h->size);
    if (h->type > SPRY_TYPE_Z || h->symmetry > SPRY_SYMMETRY_HERMITIAN || h->rows > INT32_MAX ||
        h->cols > INT32_MAX || h->nnz > INT64_MAX)
        return fault(ctx, bytes, "the header has a type, symmetry or size that cannot be");
    const bool matrix = h->kind == KIND_MATRIX && h->format == FORMAT_CSR;
    const bool dense = h->kind == KIND_DENSE && h->format == 0 &&
                       h->symmetry == SPRY_SYMMETRY_GENERAL && h->nnz == h->rows * h->cols;
    /* Rows of nothing would cost memory that the file does not account for. */
    if (dense && h->nnz == 0 && (h->rows > 1 || h->cols > 1))
        return fault(ctx, bytes, "the array has rows or columns, but no numbers");
    if (!matrix && !dense)
        return fault(ctx, bytes, "holds neither a matrix in CSR nor a dense array");
    return SPRY_STATUS_OK;
}

/* A section of count elements must lie in the file behind the header. */
static spry_status check_section(spry_context *ctx, const io_bytes *bytes, const native_header *h,
                                 int which, uint64_t count, size_t size)
{
    const uint64_t at = h->section[which];
    uint64_t length;
    if (__builtin_mul_overflow(count, size, &length) || at % ALIGNMENT != 0 || at < sizeof *h ||
        at > bytes->size || length > bytes->size - at)
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_INPUT,
                         "%s: section %d of %" PRIu64 " elements at byte %" PRIu64
                         " does not lie in the file, or not at a multiple of %d",
                         bytes->path, which + 1, count, at, (int)ALIGNMENT);
    return SPRY_STATUS_OK;
}

static spry_status copy_section(spry_context *ctx, const io_bytes *bytes, uint64_t at,
                                int64_t count, size_t size, void *pointer_to_pointer)
{
    const spry_status status = base_alloc(ctx, count, size, pointer_to_pointer);
    void *memory;
    memcpy(&memory, pointer_to_pointer, sizeof memory);
    if (status == SPRY_STATUS_OK)
        memcpy(memory, bytes->data + at, (size_t)count * size);
    return status;
}

static spry_status read_dense(spry_context *ctx, const io_bytes *bytes, const native_header *h,
                              io_dense *dense)
{
    spry_status status = SPRY_STATUS_OK;
    const size_t size = spry_type_size((spry_type)h->type);
    SPRY_GO(ctx, check_section(ctx, bytes, h, VALUES, h->nnz, size));
    dense->type = (spry_type)h->type;
    dense->rows = (int64_t)h->rows;
    dense->cols = (int64_t)h->cols;
    SPRY_GO(ctx,
            copy_section(ctx, bytes, h->section[VALUES], (int64_t)h->nnz, size, &dense->values));
done:
    return status;
}

static spry_status copy_arrays(spry_context *ctx, const io_bytes *bytes, const uint64_t *section,
                               matrix_arrays *a)
{
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, copy_section(ctx, bytes, section[OFFSETS], a->rows + 1, sizeof *a->offsets,
                              &a->offsets));
    SPRY_GO(ctx, copy_section(ctx, bytes, section[COLUMNS], a->nnz, sizeof *a->col_index,
                              &a->col_index));
    SPRY_GO(ctx,
            copy_section(ctx, bytes, section[VALUES], a->nnz, spry_type_size(a->type), &a->values));
done:
    return status;
}

/* The sizes of a matrix whose arrays lie in the file; what they hold is not looked at. */
static spry_status find_sizes(spry_context *ctx, const io_bytes *bytes, const native_header *h,
                              matrix_arrays *a)
{
    spry_status status = SPRY_STATUS_OK;
    *a = (matrix_arrays){.type = (spry_type)h->type,
                         .format = SPRY_FORMAT_CSR,
                         .symmetry = (spry_symmetry)h->symmetry,
                         .rows = (int64_t)h->rows,
                         .cols = (int64_t)h->cols,
                         .nnz = (int64_t)h->nnz};
    SPRY_GO(ctx, check_section(ctx, bytes, h, OFFSETS, h->rows + 1, sizeof *a->offsets));
    SPRY_GO(ctx, check_section(ctx, bytes, h, COLUMNS, h->nnz, sizeof *a->col_index));
    SPRY_GO(ctx, check_section(ctx, bytes, h, VALUES, h->nnz, spry_type_size(a->type)));
done:
    return status;
}

/* The same with the arrays, where they are in the bytes. */
static spry_status find_arrays(spry_context *ctx, const io_bytes *bytes, const native_header *h,
                               matrix_arrays *a)
{
    const spry_status status = find_sizes(ctx, bytes, h, a);
    if (status != SPRY_STATUS_OK)
        return status;
    char *first = (char *)bytes->data;
    a->offsets = (void *)(first + h->section[OFFSETS]);
    a->col_index = (void *)(first + h->section[COLUMNS]);
    a->values = first + h->section[VALUES];
    return SPRY_STATUS_OK;
}

/* The arrays of a mapped file are its pages, which the matrix then keeps; others are copied. */
static spry_status read_matrix(spry_context *ctx, io_bytes *bytes, const native_header *h,
                               spry_matrix **A)
{
    spry_status status = SPRY_STATUS_OK;
    matrix_arrays a = {0};
    char *pages = bytes->data == bytes->mapping ? bytes->mapping : NULL;
    status = find_arrays(ctx, bytes, h, &a);
    if (status != SPRY_STATUS_OK)
        return status;
    if (!pages) {
        a.offsets = NULL;
        a.col_index = NULL;
        a.values = NULL;
        SPRY_GO(ctx, copy_arrays(ctx, bytes, h->section, &a));
    }
    SPRY_GO(ctx, SPRY_CAUSE(ctx, matrix_check_arrays(ctx, &a), "%s", bytes->path));
    SPRY_GO(ctx, base_object_new(ctx, sizeof **A, A));
    **A = (spry_matrix){.ctx = ctx, .a = a, .owns = pages ? 0 : MATRIX_OWNS_ALL};
    if (pages) {
        (*A)->mapping = bytes->mapping;
        (*A)->mapping_bytes = bytes->mapping_bytes;
        bytes->mapping = NULL;
    }
done:
    if (status != SPRY_STATUS_OK && !pages)
        matrix_free_arrays(ctx, &a);
    return status;
}

static spry_status read_header(spry_context *ctx, const io_bytes *bytes, native_header *h)
{
    if (!matches(bytes))
        return fault(ctx, bytes, "does not begin as a native file (.spry) does");
    if (bytes->size < sizeof *h)
        return fault(ctx, bytes, "ends within its header");
    memcpy(h, bytes->data, sizeof *h);
    return check_header(ctx, bytes, h);
}

spry_status io_native_arrays(spry_context *ctx, const io_bytes *bytes, matrix_arrays *a,
                             bool *dense)
{
    native_header h;
    const spry_status status = read_header(ctx, bytes, &h);
    *dense = status == SPRY_STATUS_OK && h.kind == KIND_DENSE;
    return status != SPRY_STATUS_OK || *dense ? status : find_arrays(ctx, bytes, &h, a);
}

spry_status io_native_places(spry_context *ctx, const io_bytes *head, matrix_arrays *a,
                             int64_t places[3], bool *dense)
{
    native_header h;
    spry_status status = read_header(ctx, head, &h);
    *dense = status == SPRY_STATUS_OK && h.kind == KIND_DENSE;
    if (status != SPRY_STATUS_OK || *dense)
        return status;
    status = find_sizes(ctx, head, &h, a);
    for (int i = 0; i < SECTIONS; i++)
        places[i] = (int64_t)h.section[i];
    return status;
}

static spry_status read_file(spry_context *ctx, io_bytes *bytes, io_content *content)
{
    native_header h;
    const spry_status status = read_header(ctx, bytes, &h);
    if (status != SPRY_STATUS_OK)
        return status;
    if (h.kind == KIND_DENSE)
        return read_dense(ctx, bytes, &h, &content->dense);
    return read_matrix(ctx, bytes, &h, &content->matrix);
}

/* One array to be written. */
typedef struct piece {
    const void *data;
    uint64_t count;
    size_t size;
} piece;

static uint64_t aligned(uint64_t position)
{
    return (position + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static spry_status write_file(spry_context *ctx, const char *path, native_header *h,
                              const piece pieces[SECTIONS])
{
    static const char zeros[ALIGNMENT];
    io_writer *w = NULL;
    memcpy(h->magic, magic, sizeof magic);
    h->version = VERSION;
    h->mark = MARK;
    h->size = sizeof *h;
    for (int i = 0; i < SECTIONS; i++) {
        if (!pieces[i].size)
            continue;
        h->section[i] = aligned(h->size);
        h->size = h->section[i] + pieces[i].count * pieces[i].size;
    }
    h->checksum = checksum(h);
    const spry_status status = io_create(ctx, path, &w);
    if (status != SPRY_STATUS_OK)
        return status;
    io_write(w, h, sizeof *h);
    uint64_t position = sizeof *h;
    for (int i = 0; i < SECTIONS; i++) {
        if (!pieces[i].size)
            continue;
        io_write(w, zeros, (size_t)(h->section[i] - position));
        io_write(w, pieces[i].data, (size_t)(pieces[i].count * pieces[i].size));
        position = h->section[i] + pieces[i].count * pieces[i].size;
    }
    return io_commit(ctx, w);
}

static spry_status write_matrix(const spry_matrix *A, const char *path)
{
    spry_context *ctx = A->ctx;
    spry_status status = SPRY_STATUS_OK;
    spry_matrix *rows = NULL;
    if (A->a.format != SPRY_FORMAT_CSR)
        SPRY_GO(ctx, spry_matrix_convert(A, SPRY_FORMAT_CSR, &rows));
    const matrix_arrays *a = rows ? &rows->a : &A->a;
    native_header h = {.kind = KIND_MATRIX,
                       .type = (uint32_t)a->type,
                       .symmetry = (uint32_t)a->symmetry,
                       .format = FORMAT_CSR,
                       .rows = (uint64_t)a->rows,
                       .cols = (uint64_t)a->cols,
                       .nnz = (uint64_t)a->nnz};
    SPRY_GO(ctx, write_file(ctx, path, &h,
                            (piece[]){{a->offsets, h.rows + 1, sizeof *a->offsets},
                                      {a->col_index, h.nnz, sizeof *a->col_index},
                                      {a->values, h.nnz, spry_type_size(a->type)}}));
done:
    spry_matrix_free(rows);
    return status;
}

static spry_status write_vector(const spry_vector *v, int64_t cols, const char *path)
{
    native_header h = {.kind = KIND_DENSE,
                       .type = (uint32_t)v->type,
                       .rows = (uint64_t)(v->n / cols),
                       .cols = (uint64_t)cols,
                       .nnz = (uint64_t)v->n};
    return write_file(v->ctx, path, &h,
                      (piece[SECTIONS]){[VALUES] = {v->data, h.nnz, spry_type_size(v->type)}});
}

const io_format io_native = {
    .name = "spry",
    .endings = ".spry",
    .summary = "native binary, mapped into memory",
    .matches = matches,
    .read = read_file,
    .write_matrix = write_matrix,
    .write_vector = write_vector,
};
