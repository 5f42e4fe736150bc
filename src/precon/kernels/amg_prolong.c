/* Prolongations of smoothed aggregation. */
#include "precon/kernels/kernel.h"

#include "matrix/entries.h"

/* --- tentative -----------------------------------------------------------------------------------
 */

/* The inner product of columns a and b of an array with `count` columns. */
static scalar column_dot(const scalar *v, int64_t rows, int count, int a, int b)
{
    scalar sum = number(0);
    for (int64_t i = 0; i < rows; i++)
        sum = muladd(conjugate(v[i * count + a]), v[i * count + b], sum);
    return sum;
}

/* Orthonormal columns by Gram-Schmidt, twice, with the factors in R (R_ij at i count + j). A column
 * that depends on the ones before becomes zero. */
static void make_orthonormal(scalar *v, int64_t rows, int count, scalar *R)
{
    const real small = sizeof(real) == 4 ? (real)1e-5 : (real)1e-12;
    for (int i = 0; i < count * count; i++)
        R[i] = number(0);
    for (int c = 0; c < count; c++) {
        const real before = (real)sqrt((double)real_of(column_dot(v, rows, count, c, c)));
        for (int pass = 0; pass < 2; pass++) {
            for (int p = 0; p < c; p++) {
                const scalar dot = column_dot(v, rows, count, p, c);
                R[p * count + c] = add(R[p * count + c], dot);
                for (int64_t i = 0; i < rows; i++)
                    v[i * count + c] = sub(v[i * count + c], mul(dot, v[i * count + p]));
            }
        }
        const real norm = (real)sqrt((double)real_of(column_dot(v, rows, count, c, c)));
        const bool kept = norm > small * before;
        R[c * count + c] = number(kept ? norm : 0);
        for (int64_t i = 0; i < rows; i++)
            v[i * count + c] = kept ? times(1 / norm, v[i * count + c]) : number(0);
    }
}

void X(amg_tentative)(const amg_tentative_job *job, int64_t begin, int64_t end, void *work)
{
    const int count = job->count, b = job->block;
    const size_t bytes = (size_t)b * (size_t)count * sizeof(scalar);
    const scalar *near = job->near;
    scalar *to = job->tentative, *v = work;
    for (int64_t a = begin; a < end; a++) {
        const int32_t *nodes = job->nodes + job->starts[a];
        const int64_t members = job->starts[a + 1] - job->starts[a];
        for (int64_t m = 0; m < members; m++)
            memcpy(v + m * b * count, near + (int64_t)nodes[m] * b * count, bytes);
        make_orthonormal(v, members * b, count, (scalar *)job->coarse + a * count * count);
        for (int64_t m = 0; m < members; m++)
            memcpy(to + (int64_t)nodes[m] * b * count, v + m * b * count, bytes);
    }
}

/* --- smoothed ------------------------------------------------------------------------------------
 */

/* How many aggregates node and its strong neighbours belong to. */
static int64_t count_aggregates(const amg_prolong_job *job, int64_t node, int32_t *mark)
{
    const int32_t *strong = job->strong + job->A.offsets[node * job->block];
    int64_t count = 1;
    if (job->map[node] < 0)
        return 0;
    mark[job->map[node]] = (int32_t)node;
    for (int32_t k = 0; k < job->lengths[node]; k++) {
        const int32_t to = job->map[strong[k]];
        if (to >= 0 && mark[to] != (int32_t)node) {
            mark[to] = (int32_t)node;
            count++;
        }
    }
    return count;
}

/* Those aggregates, sorted, where the first row's columns go, and at which place each is. */
static void list_aggregates(const amg_prolong_job *job, int64_t node, int64_t count, int32_t *list,
                            int32_t *mark)
{
    const int32_t *strong = job->strong + job->A.offsets[node * job->block];
    int64_t have = 1;
    list[0] = job->map[node];
    for (int32_t k = 0; k < job->lengths[node] && have < count; k++) {
        const int32_t to = job->map[strong[k]];
        bool known = to < 0;
        for (int64_t i = have; i > 0 && !known; i--)
            known = list[i - 1] == to;
        if (!known)
            list[have++] = to;
    }
    matrix_sort_columns(list, count);
    for (int64_t i = 0; i < count; i++)
        mark[list[i]] = (int32_t)i;
}

ALWAYS_INLINE void gather(scalar *to, scalar factor, const scalar *from, int count)
{
    for (int l = 0; l < count; l++)
        to[l] = muladd(factor, from[l], to[l]);
}

/* T_i - omega / d_i (A_F T)_i; weak entries count for the node's own unknown of their kind. */
static void fill_row(const amg_prolong_job *job, int64_t node, int64_t row, const int32_t *mark,
                     int64_t length, scalar *to)
{
    const int b = job->block, count = job->count;
    const int32_t *strong = job->strong + job->A.offsets[node * b];
    const int32_t strongs = job->lengths[node];
    const scalar *values = job->A.values, *T = job->tentative;
    const scalar factor = times((real)-job->omega, ((const scalar *)job->inverse)[row]);
    scalar *own = to + (int64_t)mark[job->map[node]] * count;
    int32_t at = 0;
    for (int64_t l = 0; l < length; l++)
        to[l] = number(0);
    for (int64_t k = job->A.offsets[row]; k < job->A.offsets[row + 1]; k++) {
        const int32_t j = job->A.columns[k];
        const int64_t other = b == 1 ? j : j / b;
        while (at < strongs && strong[at] < other)
            at++;
        if (other == node || !(at < strongs && strong[at] == other))
            gather(own, values[k], T + (node * b + (j - other * b)) * count, count);
        else if (job->map[other] >= 0)
            gather(to + (int64_t)mark[job->map[other]] * count, values[k], T + (int64_t)j * count,
                   count);
    }
    for (int64_t l = 0; l < length; l++)
        to[l] = mul(factor, to[l]);
    gather(own, number(1), T + row * count, count);
}

/* The same of nodes of one row and one vector. */
static void fill_point(const amg_prolong_job *job, int64_t i, const int32_t *mark, int64_t length,
                       scalar *to)
{
    const int32_t *strong = job->strong + job->A.offsets[i];
    const int32_t strongs = job->lengths[i];
    const scalar *values = job->A.values, *T = job->tentative;
    const scalar factor = times((real)-job->omega, ((const scalar *)job->inverse)[i]);
    scalar own = number(0);
    int32_t at = 0;
    for (int64_t l = 0; l < length; l++)
        to[l] = number(0);
    for (int64_t k = job->A.offsets[i]; k < job->A.offsets[i + 1]; k++) {
        const int32_t j = job->A.columns[k];
        if (at == strongs || strong[at] != j) {
            own = add(own, values[k]);
            continue;
        }
        at++;
        if (job->map[j] >= 0) {
            scalar *sum = to + mark[job->map[j]];
            *sum = muladd(values[k], T[j], *sum);
        }
    }
    for (int64_t l = 0; l < length; l++)
        to[l] = mul(factor, to[l]);
    scalar *mine = to + mark[job->map[i]];
    *mine = add(*mine, muladd(mul(factor, own), T[i], T[i]));
}

void X(amg_prolong)(const amg_prolong_job *job, int64_t begin, int64_t end, int32_t *mark)
{
    const int b = job->block, count = job->count;
    for (int64_t node = begin; node < end; node++) {
        if (!job->columns) {
            const int64_t found = count_aggregates(job, node, mark) * count;
            for (int r = 0; r < b; r++)
                job->offsets[node * b + r + 1] = found;
            continue;
        }
        const int64_t first = job->offsets[node * b];
        const int64_t length = job->offsets[node * b + 1] - first, found = length / count;
        int32_t *list = job->columns + first;
        if (length == 0)
            continue;
        list_aggregates(job, node, found, list, mark);
        for (int64_t i = found - 1; i >= 0 && count > 1; i--)
            for (int l = count - 1; l >= 0; l--)
                list[i * count + l] = list[i] * count + l;
        for (int r = 1; r < b; r++)
            memcpy(list + r * length, list, (size_t)length * sizeof *list);
        if (b == 1 && count == 1) {
            fill_point(job, node, mark, length, (scalar *)job->values + first);
            continue;
        }
        for (int r = 0; r < b; r++)
            fill_row(job, node, node * b + r, mark, length,
                     (scalar *)job->values + first + r * length);
    }
}
