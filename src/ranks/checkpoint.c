/*
 * Checkpoints: x as a .mtx file whose second line says which system it is of, after how many
 * iterations, and what the numbers are recognised by. Any reader takes it for a vector; what was
 * changed or cut is refused. Fingerprints do not depend on how rows are distributed, so that a
 * solve goes on with any number of ranks.
 */
#include "ranks/files.h"
#include "ranks/ordering.h"

#include <private/programs.h>
#include <spry/ranks.h>

static const char form[] = "%% spry checkpoint 1 iterations %" PRId64 " matrix %016" PRIx64
                           " rhs %016" PRIx64 " x %016" PRIx64 "\n";
static const char scan[] = "%% spry checkpoint 1 iterations %" SCNd64 " matrix %16" SCNx64
                           " rhs %16" SCNx64 " x %16" SCNx64;

typedef struct note {
    int64_t iterations;
    uint64_t matrix, rhs, x;
} note;

static spry_status mark_system(const spry_matrix *A, const spry_vector *b, note *n)
{
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(A->ctx, ranks_fingerprint(A, &n->matrix));
    SPRY_GO(A->ctx, ranks_fingerprint_vector(A, b, &n->rhs));
done:
    return status;
}

static spry_status check_system(const spry_matrix *A, const spry_vector *b, const spry_vector *x)
{
    if (A->a.rows == A->a.cols && b->n == A->a.rows && (!x || x->n == A->a.cols))
        return SPRY_STATUS_OK;
    return SPRY_FAIL(A->ctx, SPRY_STATUS_BAD_USAGE,
                     "checkpoints are of square systems; this one is %" PRId64 " x %" PRId64
                     " with %" PRId64 " numbers in b%s",
                     A->a.rows, A->a.cols, b->n, x ? " and others in x" : "");
}

spry_status spry_checkpoint_write(const spry_matrix *A, const spry_vector *b, const spry_vector *x,
                                  int64_t iterations, const char *path)
{
    SPRY_NEED(CTX_OF(A), A, b, x, path);
    spry_context *ctx = A->ctx;
    note n = {.iterations = iterations};
    int64_t *blocks = NULL;
    void *values = NULL;
    char line[256];
    spry_status status = check_system(A, b, x);
    if (status == SPRY_STATUS_OK && !io_ends_with(path, strlen(path), ".mtx"))
        status =
            SPRY_FAIL(ctx, SPRY_STATUS_BAD_USAGE, "%s: a checkpoint's name ends in .mtx", path);
    SPRY_GO(ctx, team_agree(ctx, status));
    SPRY_GO(ctx, mark_system(A, b, &n));
    SPRY_GO(ctx, ranks_fingerprint_vector(A, x, &n.x));
    SPRY_GO(ctx, ranks_to_blocks(A, x, &blocks, &values));
    snprintf(line, sizeof line, form, n.iterations, n.matrix, n.rhs, n.x);
    SPRY_GO(ctx, ranks_write_vector(ctx, path, line, x->type, blocks, values));
done:
    base_free(ctx, blocks);
    base_free(ctx, values);
    return ranks_about_file(ctx, path, status);
}

/* By the first rank, which informs the others. */
static spry_status read_note(spry_context *ctx, const char *path, note *n)
{
    io_bytes bytes = {0};
    char line[256] = "";
    spry_status status = io_open(ctx, path, &bytes);
    if (status != SPRY_STATUS_OK)
        return status;
    const char *end = bytes.data + bytes.size, *p = memchr(bytes.data, '\n', bytes.size);
    const size_t left = p ? (size_t)(end - p - 1) : 0;
    snprintf(line, sizeof line, "%.*s", (int)(left < sizeof line ? left : sizeof line - 1),
             p ? p + 1 : "");
    if (sscanf(line, scan, &n->iterations, &n->matrix, &n->rhs, &n->x) != 4 || n->iterations < 0)
        status = io_fault(ctx, &bytes, p ? (size_t)(p + 1 - bytes.data) : 0,
                          "is no line of a checkpoint; an x of any solve can be a first guess");
    io_close(ctx, &bytes);
    return status;
}

static spry_status compare(spry_context *ctx, const char *path, const note *found,
                           const note *expected)
{
    const char *what = found->matrix != expected->matrix ? "is of another matrix"
                       : found->rhs != expected->rhs     ? "is of another right-hand side"
                       : found->x != expected->x         ? "is damaged: its numbers are not those "
                                                           "that were written"
                                                         : NULL;
    return what ? SPRY_FAIL(ctx, SPRY_STATUS_BAD_INPUT, "%s: the checkpoint %s", path, what)
                : SPRY_STATUS_OK;
}

spry_status spry_checkpoint_read(const spry_matrix *A, const spry_vector *b, const char *path,
                                 spry_vector **x, int64_t *iterations)
{
    SPRY_NEED(CTX_OF(A), A, b, path, x, iterations);
    spry_context *ctx = A->ctx;
    note found = {0}, expected = {0};
    char options[16];
    spry_status status = check_system(A, b, NULL);
    *x = NULL;
    *iterations = 0;
    if (status == SPRY_STATUS_OK && team_rank(ctx) == 0)
        status = read_note(ctx, path, &found);
    SPRY_GO(ctx, team_agree(ctx, status));
    SPRY_GO(ctx, team_share(ctx, 0, &found, sizeof found));
    expected = found;
    SPRY_GO(ctx, mark_system(A, b, &expected));
    SPRY_GO(ctx, compare(ctx, path, &found, &expected)); /* before all of it is read */
    snprintf(options, sizeof options, "type=%s", spry_type_name(A->a.type));
    SPRY_GO(ctx, spry_vector_read_ranked(A, path, options, x));
    SPRY_GO(ctx, ranks_fingerprint_vector(A, *x, &expected.x));
    SPRY_GO(ctx, compare(ctx, path, &found, &expected));
    *iterations = found.iterations;
done:
    if (status != SPRY_STATUS_OK) {
        spry_vector_free(*x);
        *x = NULL;
    }
    return ranks_about_file(ctx, path, status);
}
