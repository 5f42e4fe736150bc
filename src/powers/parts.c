/* Parts with ghost rows; see parts.h. */
#include "powers/parts.h"

#include "matrix/algebra/graph.h"

/* --- cutting -------------------------------------------------------------------------------------
 */

void powers_cuts_clear(spry_context *ctx, row_cuts *cuts)
{
    base_free(ctx, cuts->order);
    base_free(ctx, cuts->start);
    *cuts = (row_cuts){0};
}

/* Ranges of an order with about as many entries each. */
static void cut_evenly(const matrix_arrays *a, row_cuts *cuts)
{
    const double all = (double)(a->offsets[a->rows] + a->rows);
    int64_t work = 0, i = 0;
    cuts->start[0] = 0;
    for (int32_t p = 1; p <= cuts->count; p++) {
        while (i < a->rows && (p == cuts->count || (double)work < all * p / cuts->count)) {
            const int64_t row = cuts->order ? cuts->order[i] : i;
            work += a->offsets[row + 1] - a->offsets[row] + 1;
            i++;
        }
        cuts->start[p] = i;
    }
}

/* The rows of each part together, in their order. */
static void order_by_part(int64_t n, const int32_t *owner, row_cuts *cuts)
{
    memset(cuts->start, 0, ((size_t)cuts->count + 1) * sizeof *cuts->start);
    for (int64_t i = 0; i < n; i++)
        cuts->start[owner[i] + 1]++;
    for (int32_t p = 0; p < cuts->count; p++)
        cuts->start[p + 1] += cuts->start[p];
    for (int64_t i = 0; i < n; i++)
        cuts->order[cuts->start[owner[i]]++] = (int32_t)i;
    for (int32_t p = cuts->count; p > 0; p--)
        cuts->start[p] = cuts->start[p - 1];
    cuts->start[0] = 0;
}

spry_status powers_cuts_make(const spry_matrix *A, int how, int32_t count, row_cuts *cuts)
{
    spry_context *ctx = A->ctx;
    graph g = {0};
    int32_t *owner = NULL;
    spry_status status = SPRY_STATUS_OK;
    *cuts = (row_cuts){.count = count};
    SPRY_GO(ctx, base_alloc(ctx, count + 1, sizeof *cuts->start, &cuts->start));
    if (how != CUT_ROWS) {
        SPRY_GO(ctx, base_alloc(ctx, A->a.rows, sizeof *cuts->order, &cuts->order));
        SPRY_GO(ctx, graph_make(A, &g));
    }
    if (how == CUT_METIS) {
        SPRY_GO(ctx, base_alloc(ctx, A->a.rows, sizeof *owner, &owner));
        SPRY_GO(ctx, graph_partition(ctx, &g, count, owner));
        order_by_part(A->a.rows, owner, cuts);
    } else {
        if (how == CUT_RCM)
            SPRY_GO(ctx, graph_rcm(ctx, &g, cuts->order));
        cut_evenly(&A->a, cuts);
    }
done:
    graph_clear(ctx, &g);
    base_free(ctx, owner);
    if (status != SPRY_STATUS_OK)
        powers_cuts_clear(ctx, cuts);
    return status;
}

spry_status powers_cuts_split(spry_context *ctx, const int32_t *pieces, row_cuts *cuts)
{
    int64_t count = 0, *start = NULL;
    for (int32_t p = 0; p < cuts->count; p++)
        count += pieces[p];
    const spry_status status = base_alloc(ctx, count + 1, sizeof *start, &start);
    if (status != SPRY_STATUS_OK)
        return status;
    count = 0;
    for (int32_t p = 0; p < cuts->count; p++) {
        const int64_t begin = cuts->start[p], rows = cuts->start[p + 1] - begin;
        for (int32_t i = 0; i < pieces[p]; i++)
            start[count++] = begin + rows * i / pieces[p];
    }
    start[count] = cuts->start[cuts->count];
    base_free(ctx, cuts->start);
    cuts->start = start;
    cuts->count = (int32_t)count;
    return SPRY_STATUS_OK;
}

/* --- layers --------------------------------------------------------------------------------------
 */

/* What is needed while parts are made. */
typedef struct search {
    const matrix_arrays *a;
    int32_t *rows;  /* of the part at hand, by layers */
    int32_t *place; /* of each row of A in the part; -1: it is not in it */
    int64_t count;
} search;

static void put_row(search *s, int32_t row)
{
    if (s->place[row] < 0) {
        s->place[row] = (int32_t)s->count;
        s->rows[s->count++] = row;
    }
}

/* The rows of a part with its layers; their number of entries. */
static void find_layers(search *s, const row_cuts *cuts, int32_t number, int depth, part *p)
{
    const matrix_arrays *a = s->a;
    int64_t entries = 0, next = 0;
    s->count = 0;
    for (int64_t i = cuts->start[number]; i < cuts->start[number + 1]; i++)
        put_row(s, cuts->order ? cuts->order[i] : (int32_t)i);
    for (int l = 0; l < depth; l++) {
        p->layer[l] = s->count;
        for (; next < p->layer[l]; next++) {
            const int32_t row = s->rows[next];
            for (int64_t k = a->offsets[row]; k < a->offsets[row + 1]; k++)
                put_row(s, a->col_index[k]);
            entries += a->offsets[row + 1] - a->offsets[row];
        }
        p->entries[l] = entries;
    }
    p->layer[depth] = s->count;
}

static void forget_rows(search *s)
{
    for (int64_t i = 0; i < s->count; i++)
        s->place[s->rows[i]] = -1;
}

/* The arrays of a part whose layers are found. Entries stay in their order, so that sums do. */
static spry_status store_part(spry_context *ctx, const search *s, int depth, part *p)
{
    const matrix_arrays *a = s->a;
    const int64_t rows = p->layer[depth - 1], size = (int64_t)spry_type_size(a->type);
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, base_alloc(ctx, p->layer[depth], sizeof *p->rows, &p->rows));
    SPRY_GO(ctx, base_alloc(ctx, rows + 1, sizeof *p->offsets, &p->offsets));
    SPRY_GO(ctx, base_alloc(ctx, p->entries[depth - 1], sizeof *p->columns, &p->columns));
    SPRY_GO(ctx, base_alloc(ctx, p->entries[depth - 1], (size_t)size, &p->values));
    memcpy(p->rows, s->rows, (size_t)p->layer[depth] * sizeof *p->rows);
    int64_t at = 0;
    for (int64_t i = 0; i < rows; i++) {
        const int64_t begin = a->offsets[s->rows[i]], n = a->offsets[s->rows[i] + 1] - begin;
        p->offsets[i] = at;
        for (int64_t k = 0; k < n; k++)
            p->columns[at + k] = s->place[a->col_index[begin + k]];
        memcpy((char *)p->values + at * size, (const char *)a->values + begin * size,
               (size_t)(n * size));
        at += n;
    }
    p->offsets[rows] = at;
done:
    return status;
}

/* Bytes of a part's arrays. */
static int64_t part_bytes(const part *p, int depth, int64_t size)
{
    return p->entries[depth - 1] * (4 + size) + (p->layer[depth - 1] + 1) * 8 + p->layer[depth] * 4;
}

static void count_part(const part *p, int64_t size, part_set *set)
{
    const int depth = set->depth;
    const int64_t bytes = part_bytes(p, depth, size);
    const int64_t with_vectors = bytes + (depth + 1) * size * p->layer[depth];
    for (int j = 0; j < depth; j++) {
        set->ghost_rows[j] += p->layer[depth - 1 - j] - p->layer[0];
        set->ghost_entries[j] += p->entries[depth - 1 - j] - p->entries[0];
    }
    set->bytes += bytes;
    set->gathered += p->layer[depth];
    set->largest = p->layer[depth] > set->largest ? p->layer[depth] : set->largest;
    set->largest_bytes = with_vectors > set->largest_bytes ? with_vectors : set->largest_bytes;
}

/* Whether ghosts are more than `times` times all rows, or all entries. */
static bool has_more(const part_set *set, const matrix_arrays *a, int times)
{
    int64_t rows = 0, entries = 0;
    for (int j = 0; j < set->depth; j++) {
        rows += set->ghost_rows[j];
        entries += set->ghost_entries[j];
    }
    return rows / times > set->depth * a->rows || entries / times > set->depth * a->nnz;
}

/* --- the set -------------------------------------------------------------------------------------
 */

void powers_parts_clear(spry_context *ctx, part_set *set)
{
    for (int32_t p = 0; set->parts && p < set->count; p++) {
        base_free(ctx, set->parts[p].rows);
        base_free(ctx, set->parts[p].offsets);
        base_free(ctx, set->parts[p].columns);
        base_free(ctx, set->parts[p].values);
    }
    base_free(ctx, set->parts);
    base_free(ctx, set->room);
    *set = (part_set){0};
}

int64_t powers_parts_stride(const part_set *set)
{
    const int64_t bytes = set->largest * (int64_t)spry_type_size(set->type);
    return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static spry_status make_room(spry_context *ctx, part_set *set)
{
    const int threads = spry_context_threads(ctx);
    set->shares = threads < set->count ? threads : set->count > 0 ? set->count : 1;
    return base_alloc(ctx, (int64_t)set->shares * (set->depth + 2),
                      (size_t)powers_parts_stride(set), &set->room);
}

spry_status powers_parts_make(spry_context *ctx, const matrix_arrays *a, const row_cuts *cuts,
                              int depth, bool store, int most, part_set *set, bool *stops)
{
    search s = {.a = a};
    spry_status status = SPRY_STATUS_OK;
    *set = (part_set){.type = a->type, .depth = depth, .count = cuts->count, .stored = store};
    *stops = false;
    SPRY_GO(ctx, base_calloc(ctx, cuts->count, sizeof *set->parts, &set->parts));
    SPRY_GO(ctx, base_alloc(ctx, a->rows, sizeof *s.rows, &s.rows));
    SPRY_GO(ctx, base_alloc(ctx, a->rows, sizeof *s.place, &s.place));
    memset(s.place, -1, (size_t)a->rows * sizeof *s.place);
    for (int32_t p = 0; p < cuts->count && !*stops; p++) {
        if (spry_context_interrupted(ctx, false))
            SPRY_GO(ctx, SPRY_FAIL(ctx, SPRY_STATUS_INTERRUPTED,
                                   "a stop was asked for while parts were made"));
        find_layers(&s, cuts, p, depth, &set->parts[p]);
        count_part(&set->parts[p], (int64_t)spry_type_size(a->type), set);
        if (store)
            SPRY_GO(ctx, store_part(ctx, &s, depth, &set->parts[p]));
        *stops = most > 0 && has_more(set, a, most);
        forget_rows(&s);
    }
    if (store && !*stops)
        SPRY_GO(ctx, make_room(ctx, set));
done:
    base_free(ctx, s.rows);
    base_free(ctx, s.place);
    if (status != SPRY_STATUS_OK)
        powers_parts_clear(ctx, set);
    return status;
}

/* --- running -------------------------------------------------------------------------------------
 */

/* Numbers as their bits. */
typedef uint32_t bits4 __attribute__((may_alias));
typedef uint64_t bits8 __attribute__((may_alias));
typedef struct bits16 {
    uint64_t half[2];
} __attribute__((may_alias)) bits16;

/* to_i = from[rows[i]], numbers of `size` bytes */
static void gather(int64_t n, const int32_t *rows, int64_t size, const void *from, void *to)
{
    if (size == 4)
        for (int64_t i = 0; i < n; i++)
            ((bits4 *)to)[i] = ((const bits4 *)from)[rows[i]];
    else if (size == 8)
        for (int64_t i = 0; i < n; i++)
            ((bits8 *)to)[i] = ((const bits8 *)from)[rows[i]];
    else
        for (int64_t i = 0; i < n; i++)
            ((bits16 *)to)[i] = ((const bits16 *)from)[rows[i]];
}

void powers_scatter(int64_t n, const int32_t *rows, int64_t size, const void *from, void *to)
{
    if (size == 4)
        for (int64_t i = 0; i < n; i++)
            ((bits4 *)to)[rows[i]] = ((const bits4 *)from)[i];
    else if (size == 8)
        for (int64_t i = 0; i < n; i++)
            ((bits8 *)to)[rows[i]] = ((const bits8 *)from)[i];
    else
        for (int64_t i = 0; i < n; i++)
            ((bits16 *)to)[rows[i]] = ((const bits16 *)from)[i];
}

typedef struct gather_job {
    int64_t n, size;
    const int32_t *rows;
    const void *from;
    char *to;
} gather_job;

static void gather_share(void *argument, int share, int shares)
{
    const gather_job *job = argument;
    const range mine = base_share(job->n, shares, share, VECTOR_CHUNK);
    gather(mine.end - mine.begin, job->rows + mine.begin, job->size, job->from,
           job->to + mine.begin * job->size);
}

void powers_gather(const spry_context *ctx, int64_t n, const int32_t *rows, int64_t size,
                   const void *from, void *to)
{
    gather_job job = {n, size, rows, from, to};
    base_share_out(ctx, host_threads(ctx, n), gather_share, &job);
}

typedef struct parts_job {
    const part_set *set;
    const host_kernels *kernels;
    int count;
    const power_step *steps;
    const void *before, *x;
    void *const *v;
} parts_job;

static void run_part(const parts_job *job, const part *p, char *room)
{
    const part_set *set = job->set;
    const int64_t size = (int64_t)spry_type_size(set->type), stride = powers_parts_stride(set);
    const host_csr csr = {p->offsets, p->columns, p->values};
    char *at = room + stride; /* v_j; v_(j-1) is before it */
    if (job->before)
        gather(p->layer[job->count - 1], p->rows, size, job->before, room);
    gather(p->layer[job->count], p->rows, size, job->x, at);
    for (int j = 0; j < job->count; j++, at += stride) {
        const int64_t rows = p->layer[job->count - 1 - j];
        job->kernels->csr_rows(&csr, 0, rows, false, (spry_scalar){1, 0}, at, (spry_scalar){0, 0},
                               at + stride);
        if (job->steps[j].product)
            powers_scatter(p->layer[0], p->rows, size, at + stride, job->steps[j].product->data);
        power_step_finish(job->kernels, &job->steps[j], rows,
                          j > 0 || job->before ? at - stride : NULL, at, at + stride);
        powers_scatter(p->layer[0], p->rows, size, at + stride, job->v[j]);
    }
}

static void run_share(void *argument, int share, int shares)
{
    const parts_job *job = argument;
    const part_set *set = job->set;
    for (int32_t p = share; p < set->count; p += shares)
        run_part(job, &set->parts[p],
                 set->room + share * (set->depth + 2) * powers_parts_stride(set));
}

void powers_parts_run(const spry_context *ctx, const part_set *set, int count,
                      const power_step *steps, const void *before, const void *x, void *const *v)
{
    parts_job job = {set, host_kernels_for(ctx, set->type), count, steps, before, x, v};
    base_share_out(ctx, set->shares, run_share, &job);
}
