/*
 * Products with CSR whose columns have 16 bits. An entry takes 2 bytes and its value's, a row 8 and
 * those of y: for rows of n doubles 10 n + 16 bytes against the 12 n + 16 of CSR. Four codes come
 * with one load, so that an entry takes 1.75 loads against CSR's 2.5; taking the codes apart is
 * left to units that have nothing to do otherwise. What the next four entries wait for is one
 * addition.
 */
#include "formats/csr16/csr16.h"
#include "host/kernels/sums.h"

/* A group's arrays, and where in them a walk is. */
typedef struct group {
    const uint16_t *code;
    const stored *value, *values;
    const csr16_part *part, *end;
    bool wide, simple; /* columns of 32 bits; one part a row */
} group;

ALWAYS_INLINE group open_group(const layout *A, int64_t g)
{
    const int64_t *start = (const int64_t *)A->array[CSR16_STARTS].data + CSR16_STEP * g;
    const stored *values = (const stored *)A->array[CSR16_VALUES].data + start[CSR16_VALUE];
    const csr16_part *parts = A->array[CSR16_PARTS].data;
    const int64_t rest = A->rows - g * CSR16_GROUP,
                  count = start[CSR16_STEP + CSR16_PART] - start[CSR16_PART];
    return (group){(const uint16_t *)A->array[CSR16_CODES].data + start[CSR16_CODE],
                   values,
                   values,
                   parts + start[CSR16_PART],
                   parts + start[CSR16_STEP + CSR16_PART],
                   csr16_wide(start),
                   count == (rest < CSR16_GROUP ? rest : CSR16_GROUP)};
}

/* Adds four entries; the place the next four are relative to. */
ALWAYS_INLINE const scalar *add_coded(sums *s, const uint16_t *code, const stored *value,
                                      const scalar *x)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ && defined(__aarch64__)
    uint64_t all;
    memcpy(&all, code, sizeof all);
    const scalar *last = x + (all >> 48);
    add_four(s, value, x + (all & 0xffff), x + (all >> 16 & 0xffff), x + (all >> 32 & 0xffff),
             last);
#else
    const scalar *last = x + code[3];
    add_four(s, value, x + code[0], x + code[1], x + code[2], last);
#endif
    return last;
}

/* The sum over a part that ends before the value at `end`. */
ALWAYS_INLINE scalar sum_part(group *g, const stored *end, bool conjugated, const scalar *x)
{
    sums s = {0};
    const uint16_t *code = g->code;
    const stored *value = g->value;
    while (end - value >= 8) {
        AHEAD(value, AHEAD_BYTES);
        AHEAD(code, AHEAD_BYTES / 4);
        x = add_coded(&s, code, value, x);
        x = add_coded(&s, code + 4, value + 4, x);
        code += 8;
        value += 8;
    }
    const int64_t rest = end - value;
    if (rest & 4) {
        x = add_coded(&s, code, value, x);
        code += 4;
        value += 4;
    }
    if (rest & 2) {
        add_two(&s, 0, value, x + code[0], x + code[1]);
        code += 2;
        value += 2;
    }
    if (rest & 1) {
        add_one(&s, 2, value, x + code[0]);
        code += 1;
        value += 1;
    }
    g->code = code;
    g->value = value;
    return total(&s, conjugated);
}

ALWAYS_INLINE void put_row(bool plain, factors f, scalar sum, scalar *y)
{
    if (plain)
        *y = sum;
    else
        put(f, sum, y);
}

/* A group with columns of 32 bits. */
ALWAYS_INLINE void wide_group(group g, const host_product *p, bool plain, factors f, scalar *y)
{
    cursor at = {(const int32_t *)(const void *)g.code, g.value};
    for (; g.part < g.end; g.part++)
        put_row(plain, f,
                sum_entries(&at, g.values + g.part->end, plain ? false : p->conjugate, p->x), y++);
}

/* One with rows of one part each. */
ALWAYS_INLINE void simple_group(group g, const host_product *p, bool plain, factors f, scalar *y)
{
    const scalar *x = p->x;
    for (; g.part < g.end; g.part++)
        put_row(plain, f,
                sum_part(&g, g.values + g.part->end, plain ? false : p->conjugate,
                         x + (uint32_t)g.part->base),
                y++);
}

/* One with rows of several parts. */
static void parted_group(group g, const host_product *p, factors f, scalar *y)
{
    const scalar *x = p->x, one = from_scalar((spry_scalar){1, 0});
    scalar sum = from_scalar((spry_scalar){0, 0});
    for (; g.part < g.end; g.part++) {
        const int32_t base = g.part->base;
        const scalar more =
            sum_part(&g, g.values + g.part->end, p->conjugate, x + (base < 0 ? ~base : base));
        sum = muladd(one, more, sum);
        if (base >= 0) {
            put(f, sum, y++);
            sum = from_scalar((spry_scalar){0, 0});
        }
    }
}

ALWAYS_INLINE void groups(const layout *A, int64_t begin, int64_t end, const host_product *p,
                          bool plain)
{
    const factors f = factors_of(p->alpha, p->beta);
    for (int64_t i = begin; i < end; i++) {
        const group g = open_group(A, i);
        scalar *y = (scalar *)p->y + (i * CSR16_GROUP - p->first);
        if (g.wide)
            wide_group(g, p, plain, f, y);
        else if (g.simple)
            simple_group(g, p, plain, f, y);
        else
            parted_group(g, p, f, y);
    }
}

void W(csr16_multiply)(const layout *A, int64_t begin, int64_t end, const host_product *p)
{
    if (factors_of(p->alpha, p->beta).plain && !p->conjugate)
        groups(A, begin, end, p, true);
    else
        groups(A, begin, end, p, false);
}

/* --- several columns ----------------------------------------------------------------------------
 */

ALWAYS_INLINE tile tile_part(group *g, const stored *end, const real *x, int64_t stride,
                             int vectors)
{
    tile s[4] = {0};
    const uint16_t *code = g->code;
    const stored *value = g->value;
    for (; end - value >= 4; value += 4, code += 4) {
        tile_add(&s[0], vectors, value_of(value[0]), x + code[0] * stride);
        tile_add(&s[1], vectors, value_of(value[1]), x + code[1] * stride);
        tile_add(&s[2], vectors, value_of(value[2]), x + code[2] * stride);
        x += code[3] * stride;
        tile_add(&s[3], vectors, value_of(value[3]), x);
    }
    const int64_t rest = end - value;
    if (rest & 2) {
        tile_add(&s[0], vectors, value_of(value[0]), x + code[0] * stride);
        tile_add(&s[1], vectors, value_of(value[1]), x + code[1] * stride);
        value += 2;
        code += 2;
    }
    if (rest & 1) {
        tile_add(&s[2], vectors, value_of(value[0]), x + code[0] * stride);
        value += 1;
        code += 1;
    }
    g->code = code;
    g->value = value;
    return tile_total(s, vectors);
}

ALWAYS_INLINE void wide_columns(group g, const host_columns *p, int vectors, factors f, int64_t row)
{
    cursor at = {(const int32_t *)(const void *)g.code, g.value};
    for (; g.part < g.end; g.part++) {
        const tile sum = tile_entries(&at, g.values + g.part->end, p->x, p->x_stride, vectors);
        tile_put(&sum, vectors, p, f, row++);
    }
}

ALWAYS_INLINE void coded_columns(group g, const host_columns *p, int vectors, factors f,
                                 int64_t row)
{
    const real *x = p->x;
    const int64_t stride = p->x_stride;
    tile before = {0};
    bool several = false;
    for (; g.part < g.end; g.part++) {
        const int32_t base = g.part->base;
        tile sum = tile_part(&g, g.values + g.part->end, x + (base < 0 ? ~base : base) * stride,
                             stride, vectors);
        if (several)
            sum = tile_plus(before, sum, vectors);
        several = base < 0;
        if (several)
            before = sum;
        else
            tile_put(&sum, vectors, p, f, row++);
    }
}

ALWAYS_INLINE void columns(const layout *A, int64_t begin, int64_t end, const host_columns *p,
                           int vectors)
{
    const factors f = factors_of(p->alpha, p->beta);
    for (int64_t i = begin; i < end; i++) {
        const group g = open_group(A, i);
        if (g.wide)
            wide_columns(g, p, vectors, f, i * CSR16_GROUP);
        else
            coded_columns(g, p, vectors, f, i * CSR16_GROUP);
    }
}

void W(csr16_columns)(const layout *A, int64_t begin, int64_t end, const host_columns *p)
{
    if (p->packs == 1)
        columns(A, begin, end, p, TILE_PACK);
    else
        columns(A, begin, end, p, TILE_MOST);
}
