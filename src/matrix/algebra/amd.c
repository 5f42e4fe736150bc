/*
 * Approximate minimum degree: P. R. Amestoy, T. A. Davis, I. S. Duff, An approximate minimum degree
 * ordering algorithm, SIAM J. Matrix Anal. Appl. 17 (1996), 886-905, whose notation this file uses.
 *
 * The graph of what is left to be factorized is a quotient graph: a row that is not eliminated (a
 * variable) has a list of elements E_i and then of variables A_i; a row that is eliminated (an
 * element) has the list L_e of the variables that are neighbours by its elimination. Eliminating p
 * makes L_p of A_p and of all L_e, e in E_p, which p then stands for (absorbs). Variables with the
 * same lists are one supervariable, whose rows are eliminated together. The degree of a variable i
 * in L_p is taken to be at most |A_i| + |L_p| + sum |L_e \ L_p| over the other e in E_i, in which
 * variables that are in several L_e are counted several times.
 *
 * Rows with very many neighbours come last: they would be neighbours of every pivot.
 */
#include "matrix/algebra/algebra.h"

#include <math.h>

/* What a row is: the number of rows that a variable stands for is its weight; 0 for one that
 * is gone (eliminated with another or for good, part of another, dense). While L_p is at
 * hand, weights of its variables are negative. */
typedef struct quotient {
    spry_context *ctx;
    int32_t n, left;    /* rows; how many are not eliminated */
    int32_t *list;      /* all lists */
    int64_t used, room; /* of it */
    int64_t *start;     /* of the list of a variable or an element */
    int32_t *length;    /* of the list */
    int32_t *elements;  /* of a variable: how many of the list are elements, the first ones */
    int32_t *weight;
    int32_t *degree; /* of a variable, approximate; of an element the weight of its L_e */
    int32_t *owner;  /* the element or variable that absorbed this one; -1: none yet */
    int64_t *mark;   /* of an element: 0 when it was absorbed; mark - tag = |L_e \ L_p| */
    int64_t tag;     /* above all marks but those of the pivot at hand */
    int32_t *head, *next, *prev;         /* variables of each degree */
    int32_t *bucket;                     /* variables of L_p with the same sum of their lists */
    int32_t *pivots;                     /* elements in the order in which they were made */
    int32_t *lp;                         /* L_p */
    int32_t least, count, size, longest; /* least degree, pivots, size of L_p, largest |L_e| */
} quotient;

static void link_row(quotient *q, int32_t i, int32_t degree)
{
    const int32_t first = q->head[degree];
    q->next[i] = first;
    q->prev[i] = -1;
    if (first >= 0)
        q->prev[first] = i;
    q->head[degree] = i;
    q->least = degree < q->least ? degree : q->least;
}

static void unlink_row(quotient *q, int32_t i)
{
    if (q->prev[i] >= 0)
        q->next[q->prev[i]] = q->next[i];
    else
        q->head[q->degree[i]] = q->next[i];
    if (q->next[i] >= 0)
        q->prev[q->next[i]] = q->prev[i];
}

/* A variable of least degree, taken out of the lists. */
static int32_t take_pivot(quotient *q)
{
    while (q->head[q->least] < 0)
        q->least++;
    const int32_t p = q->head[q->least];
    unlink_row(q, p);
    return p;
}

static void add_to_lp(quotient *q, int32_t i)
{
    const int32_t weight = q->weight[i];
    if (weight <= 0) /* in the list already, or gone */
        return;
    q->lp[q->size++] = i;
    q->weight[i] = -weight;
    unlink_row(q, i);
}

/* Gathers L_p; the weight of it. */
static int32_t gather(quotient *q, int32_t p)
{
    int64_t k = q->start[p];
    const int64_t variables = k + q->elements[p], end = k + q->length[p];
    int32_t weight = 0;
    q->size = 0;
    q->weight[p] = -q->weight[p];
    for (; k < variables; k++) {
        const int32_t e = q->list[k];
        for (int64_t l = q->start[e]; l < q->start[e] + q->length[e]; l++)
            add_to_lp(q, q->list[l]);
        q->mark[e] = 0;
        q->owner[e] = p;
    }
    for (; k < end; k++)
        add_to_lp(q, q->list[k]);
    for (int32_t m = 0; m < q->size; m++)
        weight -= q->weight[q->lp[m]];
    return weight;
}

/* mark[e] = tag + |L_e \ L_p| for all elements next to L_p. */
static void measure_elements(quotient *q)
{
    for (int32_t m = 0; m < q->size; m++) {
        const int32_t i = q->lp[m], weight = -q->weight[i];
        const int32_t *e = q->list + q->start[i], *end = e + q->elements[i];
        for (; e < end; e++) {
            int64_t *mark = &q->mark[*e];
            if (*mark >= q->tag)
                *mark -= weight;
            else if (*mark != 0)
                *mark = q->tag + q->degree[*e] - weight;
        }
    }
}

/* Shortens the lists of variable i of L_p, with p as its first element, and finds its degree but
 * for L_p. *sum becomes that of its lists. There is room for p: an element that p absorbed, or p
 * itself as a variable, leaves the list. */
static int64_t shorten(quotient *q, int32_t i, int32_t p, uint32_t *sum)
{
    int32_t *list = q->list + q->start[i];
    const int32_t elements = q->elements[i], length = q->length[i];
    int64_t degree = 0;
    int32_t kept = 0;
    *sum = 0;
    for (int32_t k = 0; k < elements; k++) {
        const int32_t e = list[k];
        if (q->mark[e] == 0)
            continue;
        const int64_t outside = q->mark[e] - q->tag;
        if (outside > 0) {
            degree += outside;
            list[kept++] = e;
            *sum += (uint32_t)e;
        } else { /* within L_p */
            q->mark[e] = 0;
            q->owner[e] = p;
        }
    }
    const int32_t first = kept; /* of the variables */
    q->elements[i] = kept + 1;
    for (int32_t k = elements; k < length; k++) {
        const int32_t j = list[k];
        if (q->weight[j] <= 0)
            continue;
        degree += q->weight[j];
        list[kept++] = j;
        *sum += (uint32_t)j;
    }
    list[kept] = list[first];
    list[first] = list[0];
    list[0] = p;
    q->length[i] = kept + 1;
    return degree;
}

/* Variable i is one with `owner` from now on, and needs no list. */
static void give_to(quotient *q, int32_t i, int32_t owner)
{
    q->owner[i] = owner;
    q->weight[i] = q->length[i] = 0;
}

/* New degrees for L_p. Variables with no neighbours but L_p are eliminated with p at once, the
 * others go to the buckets. */
static void update_degrees(quotient *q, int32_t p, int32_t *weight_lp)
{
    for (int32_t m = 0; m < q->size; m++) {
        const int32_t i = q->lp[m];
        uint32_t sum;
        const int64_t degree = shorten(q, i, p, &sum);
        if (q->length[i] == 1) {
            *weight_lp += q->weight[i];
            q->weight[p] += q->weight[i];
            give_to(q, i, p);
            continue;
        }
        q->degree[i] = degree < q->degree[i] ? (int32_t)degree : q->degree[i];
        const int32_t place = (int32_t)(sum % (uint32_t)q->n);
        q->next[i] = q->bucket[place];
        q->bucket[place] = i;
        q->prev[i] = place;
    }
}

/* Whether j has the lists of i, whose entries are marked by the tag. */
static bool same_lists(const quotient *q, int32_t i, int32_t j)
{
    if (q->length[i] != q->length[j] || q->elements[i] != q->elements[j])
        return false;
    const int32_t *list = q->list + q->start[j];
    for (int32_t k = 1; k < q->length[j]; k++)
        if (q->mark[list[k]] != q->tag)
            return false;
    return true;
}

/* Variables of one bucket with the same lists become one. */
static void merge_bucket(quotient *q, int32_t i)
{
    for (; i >= 0 && q->next[i] >= 0; i = q->next[i]) {
        const int32_t *list = q->list + q->start[i];
        q->tag++;
        for (int32_t k = 1; k < q->length[i]; k++)
            q->mark[list[k]] = q->tag;
        for (int32_t before = i, j = q->next[i]; j >= 0; j = q->next[before]) {
            if (!same_lists(q, i, j)) {
                before = j;
                continue;
            }
            q->weight[i] += q->weight[j]; /* both negative */
            give_to(q, j, i);
            q->next[before] = q->next[j];
        }
    }
}

static void merge_alike(quotient *q)
{
    q->tag += q->longest; /* above all that measure_elements() left */
    for (int32_t m = 0; m < q->size; m++) {
        const int32_t i = q->lp[m];
        if (q->weight[i] == 0)
            continue;
        const int32_t first = q->bucket[q->prev[i]];
        q->bucket[q->prev[i]] = -1;
        if (first >= 0)
            merge_bucket(q, first);
    }
    q->tag++;
}

/* Moves all lists that are still needed to the front. The first number of each is kept in its
 * `start` for the while, and its owner's number, negated, in its place. */
static void compact(quotient *q)
{
    int64_t to = 0;
    for (int32_t i = 0; i < q->n; i++) {
        const bool needed = q->length[i] > 0 && (q->weight[i] != 0 || q->mark[i] != 0);
        if (!needed)
            continue;
        const int64_t start = q->start[i];
        q->start[i] = q->list[start];
        q->list[start] = -i - 1;
    }
    for (int64_t k = 0; k < q->used;) {
        if (q->list[k] >= 0) {
            k++;
            continue;
        }
        const int32_t i = -q->list[k] - 1;
        const int64_t first = to;
        q->list[to++] = (int32_t)q->start[i];
        for (int32_t l = 1; l < q->length[i]; l++)
            q->list[to++] = q->list[k + l];
        q->start[i] = first;
        k += q->length[i];
    }
    q->used = to;
}

/* L_p as a list of p, and its variables back into the lists by degree. */
static void store_lp(quotient *q, int32_t p, int32_t weight_lp)
{
    int32_t kept = 0;
    for (int32_t m = 0; m < q->size; m++) {
        const int32_t i = q->lp[m], weight = -q->weight[i];
        if (weight == 0)
            continue;
        const int64_t degree = (int64_t)q->degree[i] + weight_lp - weight;
        const int32_t most = q->left - weight;
        q->weight[i] = weight;
        q->degree[i] = degree < most ? (int32_t)degree : most;
        link_row(q, i, q->degree[i]);
        q->lp[kept++] = i;
    }
    q->length[p] = 0;
    if (q->used + kept > q->room)
        compact(q);
    q->start[p] = q->used;
    q->length[p] = kept;
    q->degree[p] = weight_lp;
    q->mark[p] = kept > 0; /* one without variables is no neighbour of any */
    q->weight[p] = 0;
    memcpy(q->list + q->used, q->lp, (size_t)kept * sizeof *q->lp);
    q->used += kept;
}

static void eliminate(quotient *q, int32_t p)
{
    int32_t weight_lp = gather(q, p);
    q->longest = weight_lp > q->longest ? weight_lp : q->longest;
    measure_elements(q);
    update_degrees(q, p, &weight_lp);
    merge_alike(q);
    q->left += q->weight[p]; /* which is negative */
    store_lp(q, p, weight_lp);
    q->pivots[q->count++] = p;
}

/* Rows without neighbours first, dense ones last: neither takes part. */
static int32_t set_apart(quotient *q, const int64_t *offsets, int32_t *last)
{
    const double dense = fmax(16, 10 * sqrt((double)q->n));
    int32_t dense_count = 0;
    for (int32_t i = 0; i < q->n; i++) {
        const int64_t degree = offsets[i + 1] - offsets[i];
        if (degree == 0) {
            q->weight[i] = 0;
            q->pivots[q->count++] = i;
        } else if ((double)degree > dense) {
            q->weight[i] = 0;
            q->length[i] = 0;
            last[dense_count++] = i;
        } else {
            link_row(q, i, q->degree[i]);
        }
    }
    return dense_count;
}

static spry_status make_quotient(quotient *q, const int64_t *offsets, const int32_t *columns)
{
    spry_context *ctx = q->ctx;
    const int64_t n = q->n, nnz = offsets[n];
    spry_status status = SPRY_STATUS_OK;
    q->room = nnz + nnz / 5 + n;
    SPRY_GO(ctx, base_alloc(ctx, q->room, sizeof *q->list, &q->list));
    SPRY_GO(ctx, base_alloc(ctx, n, sizeof *q->start, &q->start));
    SPRY_GO(ctx, base_alloc(ctx, n, sizeof *q->length, &q->length));
    SPRY_GO(ctx, base_calloc(ctx, n, sizeof *q->elements, &q->elements));
    SPRY_GO(ctx, base_alloc(ctx, n, sizeof *q->weight, &q->weight));
    SPRY_GO(ctx, base_alloc(ctx, n, sizeof *q->degree, &q->degree));
    SPRY_GO(ctx, base_alloc(ctx, n, sizeof *q->owner, &q->owner));
    SPRY_GO(ctx, base_calloc(ctx, n, sizeof *q->mark, &q->mark));
    SPRY_GO(ctx, base_alloc(ctx, n, sizeof *q->head, &q->head));
    SPRY_GO(ctx, base_alloc(ctx, n, sizeof *q->next, &q->next));
    SPRY_GO(ctx, base_alloc(ctx, n, sizeof *q->prev, &q->prev));
    SPRY_GO(ctx, base_alloc(ctx, n, sizeof *q->bucket, &q->bucket));
    SPRY_GO(ctx, base_alloc(ctx, n, sizeof *q->pivots, &q->pivots));
    SPRY_GO(ctx, base_alloc(ctx, n, sizeof *q->lp, &q->lp));
    memcpy(q->list, columns, (size_t)nnz * sizeof *q->list);
    q->used = nnz;
    q->tag = 2;
    for (int64_t i = 0; i < n; i++) {
        q->start[i] = offsets[i];
        q->length[i] = q->degree[i] = (int32_t)(offsets[i + 1] - offsets[i]);
        q->weight[i] = 1;
        q->owner[i] = q->head[i] = q->bucket[i] = -1;
    }
done:
    return status;
}

static void free_quotient(quotient *q)
{
    void *const arrays[] = {q->list,   q->start,  q->length, q->elements, q->weight,
                            q->degree, q->owner,  q->mark,   q->head,     q->next,
                            q->prev,   q->bucket, q->pivots, q->lp};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++)
        base_free(q->ctx, arrays[k]);
}

/* Children of each node as lists; `first` and `sibling` begin as -1. */
static void link_child(int32_t *first, int32_t *sibling, int32_t parent, int32_t child)
{
    sibling[child] = first[parent];
    first[parent] = child;
}

/* The element that a variable was eliminated with. The way there is not gone twice. */
static int32_t find_element(quotient *q, int32_t i)
{
    int32_t e = i;
    while (q->elements[e] == 0)
        e = q->owner[e];
    while (q->elements[i] == 0) {
        const int32_t above = q->owner[i];
        q->owner[i] = e;
        i = above;
    }
    return e;
}

/* Appends the tree below `root` to the ordering, children first; each element is followed by the
 * variables that were eliminated with it. */
static void number_below(quotient *q, int32_t root, const int32_t *member, int32_t *perm,
                         int32_t *at)
{
    int32_t *child = q->head, *stack = q->lp, top = 0;
    stack[0] = root;
    while (top >= 0) {
        const int32_t e = stack[top], c = child[e];
        if (c >= 0) {
            child[e] = q->next[c];
            stack[++top] = c;
            continue;
        }
        top--;
        perm[(*at)++] = e;
        for (int32_t i = member[e]; i >= 0; i = q->prev[i])
            perm[(*at)++] = i;
    }
}

/*
 * The ordering: a postorder of the tree in which an element's parent is the one that absorbed it,
 * so that rows whose factors are alike stand together. Lists by degree are no longer needed: head
 * and next become the children of elements, bucket and prev the variables eliminated with them.
 */
static int32_t number_tree(quotient *q, int32_t *perm)
{
    int32_t *child = q->head, *member = q->bucket, at = 0;
    for (int32_t i = 0; i < q->n; i++) {
        child[i] = member[i] = -1;
        q->elements[i] = 0; /* whether it is an element */
    }
    for (int32_t k = 0; k < q->count; k++)
        q->elements[q->pivots[k]] = 1;
    for (int32_t i = q->n - 1; i >= 0; i--)
        if (q->elements[i] == 0 && q->owner[i] >= 0)
            link_child(member, q->prev, find_element(q, i), i);
    for (int32_t k = q->count - 1; k >= 0; k--)
        if (q->owner[q->pivots[k]] >= 0)
            link_child(child, q->next, q->owner[q->pivots[k]], q->pivots[k]);
    for (int32_t k = 0; k < q->count; k++)
        if (q->owner[q->pivots[k]] < 0)
            number_below(q, q->pivots[k], member, perm, &at);
    return at;
}

spry_status algebra_amd(spry_context *ctx, int64_t n, const int64_t *offsets,
                        const int32_t *columns, int32_t **perm)
{
    quotient q = {.ctx = ctx, .n = (int32_t)n};
    int32_t *last = NULL;
    spry_status status = SPRY_STATUS_OK;
    *perm = NULL;
    SPRY_GO(ctx, base_alloc(ctx, n, sizeof *last, &last));
    SPRY_GO(ctx, make_quotient(&q, offsets, columns));
    const int32_t dense = set_apart(&q, offsets, last);
    q.left = q.n - q.count - dense;
    for (int32_t step = 0; q.left > 0; step++) {
        if (step % 1024 == 0 && spry_context_interrupted(ctx, false)) {
            status = SPRY_FAIL(ctx, SPRY_STATUS_INTERRUPTED, "order amd: interrupted");
            goto done;
        }
        eliminate(&q, take_pivot(&q));
    }
    SPRY_GO(ctx, base_alloc(ctx, n, sizeof **perm, perm));
    const int32_t sparse = number_tree(&q, *perm);
    memcpy(*perm + sparse, last, (size_t)dense * sizeof *last);
done:
    free_quotient(&q);
    base_free(ctx, last);
    return status;
}
