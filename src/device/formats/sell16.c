/*
 * SELL with columns of 16 bits on devices. What the columns of a group are to the right of the
 * least is a pattern, which many groups share in matrices with some order: all of a grid's inner
 * points have those of a few. Patterns are kept once, as far as a small table remembers them, so
 * that they come from the cache. See kernels/formats/sell16.knl.
 */
#include "matrix/formats/sell16.h"

#include "device/format_sliced.h"

static spry_status open(const spry_device *d, const layout *L, int columns, device_form *form)
{
    (void)d;
    form->text = "formats/sell16";
    device_open_slices(L, columns > 1 || spry_type_is_complex(L->type) ? 2 : 3, form);
    return SPRY_STATUS_OK;
}

enum { SLOTS = 1 << 14, NONE = -1 };

/* Patterns so far, and where one with a hash was seen last. */
typedef struct patterns {
    uint16_t *numbers;
    int64_t count, C;
    int32_t slot[SLOTS];
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
    uint64_t hash = 0;
    for (int64_t l = 0; l < p->C; l++)
        hash = (hash ^ numbers[l]) * 0x9e3779b97f4a7c15u;
    int32_t *slot = &p->slot[hash >> 50];
    if (*slot == NONE ||
        memcmp(p->numbers + *slot * p->C, numbers, (size_t)p->C * sizeof *numbers) != 0)
        *slot = append(p, numbers, 1);
    return *slot;
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
    patterns *p = NULL;
    int64_t *code = NULL;
    spry_status status = SPRY_STATUS_OK;
    if (L->array[SELL16_HALVES].count / C >= INT32_MAX)
        return SPRY_FAIL(ctx, SPRY_STATUS_UNSUPPORTED,
                         "format sell16: %" PRId64 " columns of 16 bits are more than devices "
                         "count; take sell",
                         L->array[SELL16_HALVES].count);
    SPRY_GO(ctx, base_calloc(ctx, 1, sizeof *p, &p));
    p->C = C;
    for (int i = 0; i < SLOTS; i++)
        p->slot[i] = NONE;
    SPRY_GO(ctx, base_alloc(ctx, groups, sizeof *code, &code));
    *codes = (layout_array){
        .name = "codes", .count = groups, .size = sizeof *code, .data = code, .aside = true};
    SPRY_GO(ctx, base_alloc(ctx, L->array[SELL16_HALVES].count, sizeof *p->numbers, &p->numbers));
    for (int64_t g = 0; g < groups; g++) {
        code[g] = code_of(p, words[g], halves);
        halves += sell16_halves(words[g], C);
    }
    *found = (layout_array){.name = "patterns",
                            .count = p->count * C,
                            .size = sizeof *p->numbers,
                            .data = p->numbers,
                            .aside = true};
done:
    base_free(ctx, p);
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
                                            .arrays = arrays};
