/* Linear systems for several libraries. */
#include "system.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char elasticity[] = "elasticity:", size_word[] = "size=";

/* b as described in the header. */
static void make_side(peer_system *s)
{
    spry_vector *ones = NULL;
    spry_operator *op = NULL;
    peer_check(s->ctx, spry_vector_ones(s->ctx, s->A, &s->b));
    if (strncmp(s->matrix, PEER_FILE, sizeof PEER_FILE - 1) != 0)
        return;
    peer_check(s->ctx, spry_vector_ones(s->ctx, s->A, &ones));
    peer_check(s->ctx, spry_operator_from_matrix(s->A, NULL, NULL, &op));
    peer_check(s->ctx, spry_operator_apply(op, ones, s->b));
    spry_operator_free(op);
    spry_vector_free(ones);
}

void system_open(int argc, char **argv, int threads, peer_system *s)
{
    char options[32];
    if (argc != 4 || atoi(argv[2]) < 1)
        peer_refuse("usage: MATRIX THREADS CONFIGURATION");
    *s = (peer_system){.matrix = argv[1], .configuration = argv[3], .threads = atoi(argv[2])};
    snprintf(options, sizeof options, "threads=%d", threads ? threads : s->threads);
    peer_check(s->ctx, spry_context_new(options, &s->ctx));
    s->A = peer_matrix(s->ctx, s->matrix);
    if (spry_matrix_rows(s->A) != spry_matrix_cols(s->A))
        peer_refuse("the matrix is not square");
    s->arrays = peer_arrays_of(s->A);
    s->block = strncmp(s->matrix, elasticity, sizeof elasticity - 1) == 0 ? 3 : 1;
    make_side(s);
}

void system_close(peer_system *s)
{
    spry_vector_free(s->b);
    spry_matrix_free(s->A);
    spry_context_free(s->ctx);
}

bool system_is_symmetric(const peer_system *s, bool *positive)
{
    spry_stats stats = SPRY_STATS_INIT;
    peer_check(s->ctx, spry_matrix_stats(s->A, &stats));
    *positive = stats.hermitian && stats.positive_diagonal == stats.rows;
    return stats.symmetric;
}

void system_complete(peer_system *s)
{
    const int64_t n = s->arrays.rows;
    spry_matrix *diagonal = NULL, *sum = NULL;
    int64_t *offsets = malloc((size_t)(n + 1) * sizeof *offsets);
    int32_t *columns = malloc((size_t)n * sizeof *columns);
    void *zeros = calloc((size_t)n, spry_type_size(s->arrays.type));
    if (!offsets || !columns || !zeros)
        peer_refuse("out of memory");
    for (int64_t i = 0; i <= n; i++) {
        offsets[i] = i;
        if (i < n)
            columns[i] = (int32_t)i;
    }
    peer_check(s->ctx, spry_matrix_from_csr(s->ctx, s->arrays.type, n, n, offsets, columns, zeros,
                                            SPRY_OWN_COPY, &diagonal));
    peer_check(s->ctx,
               spry_matrix_add((spry_scalar){1, 0}, s->A, (spry_scalar){1, 0}, diagonal, &sum));
    spry_matrix_free(diagonal);
    spry_matrix_free(s->A);
    s->A = sum;
    s->arrays = peer_arrays_of(sum);
    free(offsets);
    free(columns);
    free(zeros);
}

bool system_node(const peer_system *s, int64_t node, double at[3])
{
    const char *size = strstr(s->matrix, size_word);
    const int64_t n = size ? strtoll(size + sizeof size_word - 1, NULL, 10) : 0;
    if (n < 1 || s->block != 3 || n * n * n * 3 != s->arrays.rows)
        return false;
    const int64_t line = node / n, plane = line / n;
    at[0] = (double)(node % n);
    at[1] = (double)(line % n);
    at[2] = (double)plane;
    return true;
}

void system_rows(const peer_system *s, int rank, int size, int64_t *begin, int64_t *end)
{
    peer_rows(&s->arrays, rank, size, begin, end);
    *begin -= *begin % s->block;
    *end -= rank < size - 1 ? *end % s->block : 0;
}

void system_answer(double setup, double solve, int64_t iterations, double residual)
{
    printf("%.6g\t%.6g\t%" PRId64 "\t%.3g\n", setup, solve, iterations, residual);
}
