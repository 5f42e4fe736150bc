/*
 * SELL with columns of 16 bits on devices. What the columns of a group are to the right of the
 * least is a pattern, which many groups share in matrices with some order: all of a grid's inner
 * points have those of a few. Patterns are kept once, as far as a small table remembers them, so
 * that they come from the cache. See sell16.knl.
 */
#include "formats/sell16/sell16.h"

#include "formats/shared/device_make.h"
#include "formats/shared/device_sliced.h"

static spry_status open(const spry_device *d, const layout *L, int columns, device_form *form)
{
    (void)d;
    form->text = "formats/sell16";
    device_open_slices(L, columns > 1 || spry_type_is_complex(L->type) ? 2 : 3, form);
    return SPRY_STATUS_OK;
}

enum { LEAST_BITS = 14, MOST_BITS = 22, NONE = -1 };

/* Bits of the table's size. */
static int table_bits(int64_t groups)
{
    int bits = LEAST_BITS;
    while (bits < MOST_BITS && (int64_t)1 << bits < groups / 4)
        bits++;
    return bits;
}

/* Patterns so far, and the first with each hash. */
typedef struct patterns {
    uint16_t *numbers;
    int64_t count, C;
    int bits;
    int32_t *slots;
} patterns;

static int32_t append(patterns *p, const uint16_t *numbers, int64_t count)
{
    const int64_t first = p->count;
    memcpy(p->numbers + first * p->C, numbers, (size_t)(count * p->C) * sizeof *numbers);
    p->count += count;
    return (int32_t)first;
}

static int32_t find(patterns *p, const uint16_t *numbers)
{
    uint32_t hash = 0;
    bool run = true;
    for (int64_t l = 0; l < p->C; l++) {
        hash = (hash ^ numbers[l]) * 0x9e3779b1u;
        run = run && numbers[l] == l;
    }
    if (run)
        return NONE;
    int32_t *slot = &p->slots[hash >> (32 - p->bits)];
    if (*slot == NONE)
        return *slot = append(p, numbers, 1);
    if (memcmp(p->numbers + *slot * p->C, numbers, (size_t)p->C * sizeof *numbers) == 0)
        return *slot;
    return append(p, numbers, 1);
}

/* The code of a group with this word, whose numbers are those given. */
static int64_t code_of(patterns *p, int32_t word, const uint16_t *numbers)
{
    const bool run = word >= SELL16_RUN;
    const int32_t base = run ? word - SELL16_RUN : word;
    const int32_t pattern = run ? NONE : word < 0 ? append(p, numbers, 2) : find(p, numbers);
    return (int64_t)((uint64_t)(uint32_t)pattern << 32 | (uint32_t)base);
}

/* The arrays in the places of the words and the stream. */
static spry_status find_patterns(const layout *L, layout_array *codes, layout_array *found)
{
    spry_context *ctx = L->ctx;
    const int64_t C = L->number[SELL_C], groups = L->array[SELL16_WORDS].count;
    const int32_t *words = L->array[SELL16_WORDS].data;
    const uint16_t *halves = L->array[SELL16_HALVES].data;
    patterns p = {.C = C, .bits = table_bits(groups)};
    int64_t *code = NULL;
    spry_status status = SPRY_STATUS_OK;
    if (L->array[SELL16_HALVES].count / C >= INT32_MAX)
        return SPRY_FAIL(ctx, SPRY_STATUS_UNSUPPORTED,
                         "format sell16: %" PRId64 " columns of 16 bits are more than devices "
                         "count; take sell",
                         L->array[SELL16_HALVES].count);
    SPRY_GO(ctx, base_alloc(ctx, (int64_t)1 << p.bits, sizeof *p.slots, &p.slots));
    memset(p.slots, 0xff, ((size_t)1 << p.bits) * sizeof *p.slots); /* NONE */
    SPRY_GO(ctx, base_alloc(ctx, groups, sizeof *code, &code));
    *codes = (layout_array){
        .name = "codes", .count = groups, .size = sizeof *code, .data = code, .aside = true};
    SPRY_GO(ctx, base_alloc(ctx, L->array[SELL16_HALVES].count, sizeof *p.numbers, &p.numbers));
    for (int64_t g = 0; g < groups; g++) {
        code[g] = code_of(&p, words[g], halves);
        halves += sell16_halves(words[g], C);
    }
    *found = (layout_array){.name = "patterns",
                            .count = p.count * C,
                            .size = sizeof *p.numbers,
                            .data = p.numbers,
                            .aside = true};
done:
    base_free(ctx, p.slots);
    return status;
}

/* --- on the device -------------------------------------------------------------------------------
 */

typedef struct coding {
    spry_context *ctx;
    device_program *p;
    int64_t groups;
    int bits;
    device_memory *columns, *codes, *table, *counts;
} coding;

static spry_status find_codes(const coding *c)
{
    spry_context *ctx = c->ctx;
    const int32_t bits = c->bits;
    const device_arg codes[] = {DEVICE_VALUE(c->groups),     device_arg_memory(c->columns),
                                DEVICE_VALUE(bits),          device_arg_memory(c->codes),
                                device_arg_memory(c->table), {0}};
    const device_arg counts[] = {DEVICE_VALUE(c->groups),      device_arg_memory(c->columns),
                                 device_arg_memory(c->table),  device_arg_memory(c->codes),
                                 device_arg_memory(c->counts), {0}};
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, make_launch(c->p, "find_codes", c->groups, codes));
    SPRY_GO(ctx, make_launch(c->p, "count_patterns", c->groups, counts));
done:
    return status;
}

/* Codes in the place of the words, patterns in that of the stream. */
static spry_status put_patterns(device_maker *m, coding *c)
{
    spry_context *ctx = m->d->ctx;
    const int64_t C = m->L->number[SELL_C];
    device_memory *numbers = NULL;
    int64_t count = 0;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, device_sum_up(m->d, c->counts, c->groups + 1));
    SPRY_GO(ctx, make_look(c->counts, c->groups, &count));
    if (count >= INT32_MAX) {
        m->elsewhere = true; /* which reports it */
        goto done;
    }
    make_adopt(m, SELL16_WORDS, "codes", c->groups, sizeof(int64_t), c->codes);
    device_memory *codes = c->codes;
    c->codes = NULL;
    SPRY_GO(ctx, make_add(m, SELL16_HALVES, "patterns", count * C, sizeof(uint16_t), &numbers));
    const device_arg args[] = {DEVICE_VALUE(c->groups),      device_arg_memory(c->columns),
                               device_arg_memory(c->counts), device_arg_memory(codes),
                               device_arg_memory(numbers),   {0}};
    SPRY_GO(ctx, make_launch(c->p, "put_patterns", c->groups, args));
done:
    return status;
}

static spry_status build(const device_maker *m, device_program **p)
{
    char options[32];
    snprintf(options, sizeof options, "-DSLICE=%d", (int)m->L->number[SELL_C]);
    return make_build(m, "make_sell16", options, p);
}

static spry_status code_columns(device_maker *m, device_memory *columns)
{
    spry_context *ctx = m->d->ctx;
    const int64_t groups = m->L->stored / m->L->number[SELL_C];
    coding c = {.ctx = ctx, .groups = groups, .bits = table_bits(groups), .columns = columns};
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, build(m, &c.p));
    SPRY_GO(ctx, device_alloc(m->d, groups * (int64_t)sizeof(int64_t), &c.codes));
    SPRY_GO(ctx, make_cleared(m->d, (int64_t)1 << c.bits, sizeof(int32_t), &c.table));
    SPRY_GO(ctx, make_cleared(m->d, groups + 1, sizeof(int64_t), &c.counts));
    SPRY_GO(ctx, find_codes(&c));
    SPRY_GO(ctx, put_patterns(m, &c));
done:
    device_free(c.codes);
    device_free(c.table);
    device_free(c.counts);
    return status;
}

static spry_status make(device_maker *m)
{
    spry_context *ctx = m->d->ctx;
    make_slices s = {0};
    device_memory *columns = NULL;
    spry_status status = SPRY_STATUS_OK;
    SPRY_GO(ctx, make_slices_cut(m, &s));
    m->elsewhere = m->elsewhere || s.stored / s.C >= INT32_MAX;
    if (m->elsewhere)
        goto done;
    SPRY_GO(ctx, make_slices_fill(m, &s, &columns));
    SPRY_GO(ctx, code_columns(m, columns));
    make_slices_add(m, &s);
done:
    device_free(columns);
    make_slices_free(&s);
    return status;
}

static spry_status arrays(const layout *L, layout_array *array)
{
    array[0] = L->array[SELL_VALUES];
    const spry_status status = find_patterns(L, &array[1], &array[2]);
    if (status == SPRY_STATUS_OK)
        device_add_slices(L, array + 3);
    return status;
}

const device_format device_format_sell16 = {.name = "sell16",
                                            .open = open,
                                            .grid = "C=32|64 sigma=1|256",
                                            .defaults = "C=32",
                                            .arrays = arrays,
                                            .make = make};
