/*
 * The .npy format (NumPy's own description: numpy.lib.format, versions 1.0 to 3.0): a magic text, a
 * version, the length of a header, the header as a Python dictionary, the numbers.
 */
#include "io/npy.h"

enum { MAGIC_SIZE = 6, MOST_DIGITS = 18 };

typedef struct cursor {
    const char *p, *end;
} cursor;

static spry_status fault(spry_context *ctx, const npy_array *a, const char *what)
{
    return SPRY_FAIL(ctx, SPRY_STATUS_BAD_INPUT, "%s: %s", a->name, what);
}

static char peek(cursor *c)
{
    while (c->p < c->end && (*c->p == ' ' || *c->p == '\n' || *c->p == '\t' || *c->p == '\r'))
        c->p++;
    return c->p < c->end ? *c->p : '\0';
}

static bool take(cursor *c, char wanted)
{
    if (peek(c) != wanted)
        return false;
    c->p++;
    return true;
}

/* A quoted text without escapes, shorter than size. */
static bool take_text(cursor *c, char *out, size_t size)
{
    const char quote = peek(c);
    if ((quote != '\'' && quote != '"') || size == 0)
        return false;
    const char *begin = ++c->p;
    while (c->p < c->end && *c->p != quote && *c->p != '\\')
        c->p++;
    const size_t length = (size_t)(c->p - begin);
    if (c->p == c->end || *c->p != quote || length >= size)
        return false;
    memcpy(out, begin, length);
    out[length] = '\0';
    c->p++;
    return true;
}

static bool take_word(cursor *c, const char *word)
{
    const size_t length = strlen(word);
    if (peek(c) != word[0] || (size_t)(c->end - c->p) < length || memcmp(c->p, word, length) != 0)
        return false;
    c->p += length;
    return true;
}

/* A non-negative integer, with the L that Python 2 wrote behind large ones. */
static bool take_size(cursor *c, int64_t *value)
{
    int digits = 0;
    peek(c);
    *value = 0;
    for (; c->p < c->end && *c->p >= '0' && *c->p <= '9'; c->p++) {
        if (++digits > MOST_DIGITS)
            return false;
        *value = 10 * *value + (*c->p - '0');
    }
    take(c, 'L');
    return digits > 0;
}

static spry_status parse_shape(spry_context *ctx, cursor *c, npy_array *a)
{
    if (!take(c, '('))
        return fault(ctx, a, "the shape in the header is not a tuple");
    a->count = 1;
    a->dims = 0;
    while (!take(c, ')')) {
        int64_t side;
        if (!take_size(c, &side))
            return fault(ctx, a, "the shape in the header is not a tuple of sizes");
        if (a->dims == NPY_DIMS)
            return fault(ctx, a, "the array has more than 3 dimensions");
        if (__builtin_mul_overflow(a->count, side, &a->count))
            return fault(ctx, a, "the shape in the header is larger than any memory");
        a->shape[a->dims++] = side;
        if (!take(c, ',') && peek(c) != ')')
            return fault(ctx, a, "the shape in the header is not a tuple of sizes");
    }
    return SPRY_STATUS_OK;
}

static bool big_endian(void)
{
    const uint16_t one = 1;
    unsigned char first;
    memcpy(&first, &one, 1);
    return first == 0;
}

char io_npy_order(void)
{
    return big_endian() ? '>' : '<';
}

/* "<f8": byte order, kind, bytes (of a character for U). */
static spry_status parse_type(spry_context *ctx, const char *text, npy_array *a)
{
    const char *p = text;
    const char order = *p && strchr("<>|=", *p) ? *p++ : '=';
    a->kind = *p ? *p++ : '?';
    cursor c = {p, p + strlen(p)};
    const bool sized = take_size(&c, &a->size) && c.p == c.end;
    const bool power = a->size == 1 || a->size == 2 || a->size == 4 || a->size == 8;
    bool known = false;
    switch (a->kind) {
    case 'b':
        known = a->size == 1;
        break;
    case 'i':
    case 'u':
        known = power;
        break;
    case 'f':
        known = a->size == 4 || a->size == 8;
        break;
    case 'c':
        known = a->size == 8 || a->size == 16;
        break;
    case 'S':
    case 'U':
        known = a->size < INT32_MAX;
        a->size *= a->kind == 'U' ? 4 : 1;
        break;
    default:
        break;
    }
    if (!sized || !known)
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_INPUT,
                         "%s: elements of type '%s' cannot be read, only b1, i1 to i8, u1 to u8, "
                         "f4, f8, c8, c16",
                         a->name, text);
    a->swap = (order == '>' && !big_endian()) || (order == '<' && big_endian());
    return SPRY_STATUS_OK;
}

static spry_status parse_entry(spry_context *ctx, cursor *c, npy_array *a, int *seen)
{
    char key[16];
    spry_status status = SPRY_STATUS_OK;
    if (!take_text(c, key, sizeof key) || !take(c, ':'))
        return fault(ctx, a, "the header is not a dictionary with descr, fortran_order and shape");
    if (strcmp(key, "descr") == 0) {
        char text[32];
        *seen |= 1;
        if (peek(c) == '[')
            return fault(ctx, a, "elements with several fields cannot be read");
        if (!take_text(c, text, sizeof text))
            return fault(ctx, a, "the type (descr) in the header is not a short text");
        status = parse_type(ctx, text, a);
    } else if (strcmp(key, "fortran_order") == 0) {
        *seen |= 2;
        a->fortran = take_word(c, "True");
        if (!a->fortran && !take_word(c, "False"))
            status = fault(ctx, a, "fortran_order in the header is neither True nor False");
    } else if (strcmp(key, "shape") == 0) {
        *seen |= 4;
        status = parse_shape(ctx, c, a);
    } else {
        status = SPRY_FAIL(ctx, SPRY_STATUS_BAD_INPUT, "%s: the header has an unknown word '%s'",
                           a->name, key);
    }
    return status;
}

static spry_status parse_dictionary(spry_context *ctx, cursor *c, npy_array *a)
{
    spry_status status = SPRY_STATUS_OK;
    int seen = 0;
    if (!take(c, '{'))
        return fault(ctx, a, "the header is not a dictionary with descr, fortran_order and shape");
    while (!take(c, '}')) {
        SPRY_GO(ctx, parse_entry(ctx, c, a, &seen));
        if (!take(c, ',') && peek(c) != '}')
            return fault(ctx, a, "the header's dictionary does not end with }");
    }
    peek(c);
    if (c->p != c->end || seen != 7)
        return fault(ctx, a, "the header is not a dictionary with descr, fortran_order and shape");
done:
    return status;
}

spry_status io_npy_parse(spry_context *ctx, const char *name, const char *data, size_t have,
                         size_t size, npy_array *a)
{
    spry_status status = SPRY_STATUS_OK;
    *a = (npy_array){.name = name};
    const unsigned char *u = (const unsigned char *)data;
    if (have < MAGIC_SIZE + 2 || memcmp(data, "\x93NUMPY", MAGIC_SIZE) != 0)
        return fault(ctx, a, "does not begin as a NumPy array (.npy) does");
    const int version = u[MAGIC_SIZE];
    if (version < 1 || version > 3)
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_INPUT,
                         "%s: version %d of .npy is not known, 1 to 3 are", name, version);
    const size_t counter = version == 1 ? 2 : 4;
    size_t begin = MAGIC_SIZE + 2 + counter, length = 0;
    for (size_t i = 0; i < counter && begin <= have; i++)
        length |= (size_t)u[MAGIC_SIZE + 2 + i] << (8 * i);
    if (begin > have || length > have - begin)
        return fault(ctx, a,
                     have < size ? "has a header that is too long" : "ends within its header");
    cursor c = {data + begin, data + begin + length};
    SPRY_GO(ctx, parse_dictionary(ctx, &c, a));
    begin += length;
    int64_t bytes;
    if (__builtin_mul_overflow(a->count, a->size, &bytes) || bytes != (int64_t)(size - begin))
        return SPRY_FAIL(ctx, SPRY_STATUS_BAD_INPUT,
                         "%s: %zu bytes follow the header, but %" PRId64 " elements of %" PRId64
                         " bytes are promised",
                         name, size - begin, a->count, a->size);
    a->data = data + begin;
done:
    return status;
}

spry_status io_npy_type(spry_context *ctx, const npy_array *a, spry_type *type)
{
    *type = SPRY_TYPE_D;
    if (a->kind == 'f' && a->size == 4)
        *type = SPRY_TYPE_S;
    else if (a->kind == 'c')
        *type = a->size == 8 ? SPRY_TYPE_C : SPRY_TYPE_Z;
    else if (a->kind == 'S' || a->kind == 'U')
        return fault(ctx, a, "holds text, not numbers");
    return SPRY_STATUS_OK;
}

/* The bytes of a part of an element in this machine's order, at the front of a uint64_t's memory.
 */
static void load(const npy_array *a, int64_t k, int64_t part, int64_t size, void *out)
{
    const char *p = a->data + k * a->size + part * size;
    char *to = out;
    if (!a->swap) {
        memcpy(to, p, (size_t)size);
        return;
    }
    for (int64_t i = 0; i < size; i++)
        to[i] = p[size - 1 - i];
}

static double load_real(const npy_array *a, int64_t k, int64_t part, int64_t size)
{
    if (size == 4) {
        float value = 0;
        load(a, k, part, size, &value);
        return (double)value;
    }
    double value = 0;
    load(a, k, part, size, &value);
    return value;
}

static int64_t load_signed(const npy_array *a, int64_t k)
{
    int8_t i1 = 0;
    int16_t i2 = 0;
    int32_t i4 = 0;
    int64_t i8 = 0;
    switch (a->size) {
    case 1:
        return load(a, k, 0, 1, &i1), i1;
    case 2:
        return load(a, k, 0, 2, &i2), i2;
    case 4:
        return load(a, k, 0, 4, &i4), i4;
    default:
        return load(a, k, 0, 8, &i8), i8;
    }
}

static uint64_t load_unsigned(const npy_array *a, int64_t k)
{
    const uint64_t all = UINT64_MAX >> (8 * (8 - a->size));
    return (uint64_t)load_signed(a, k) & all;
}

spry_scalar io_npy_number(const npy_array *a, int64_t k)
{
    switch (a->kind) {
    case 'c':
        return (spry_scalar){load_real(a, k, 0, a->size / 2), load_real(a, k, 1, a->size / 2)};
    case 'f':
        return (spry_scalar){load_real(a, k, 0, a->size), 0};
    case 'i':
        return (spry_scalar){(double)load_signed(a, k), 0};
    case 'b':
        return (spry_scalar){load_signed(a, k) != 0, 0};
    default:
        return (spry_scalar){(double)load_unsigned(a, k), 0};
    }
}

bool io_npy_int(const npy_array *a, int64_t k, int64_t *value)
{
    if (a->kind == 'u') {
        const uint64_t wide = load_unsigned(a, k);
        *value = (int64_t)wide;
        return wide <= INT64_MAX;
    }
    if (a->kind != 'i')
        return false;
    *value = load_signed(a, k);
    return true;
}

void io_npy_copy(spry_context *ctx, const npy_array *a, spry_type type, void *out)
{
    const bool same = !a->swap && (a->kind == 'f' || a->kind == 'c');
    const int parts = spry_context_threads(ctx);
#pragma omp parallel for schedule(static) num_threads(parts)
    for (int part = 0; part < parts; part++) {
        const range r = base_share(a->count, parts, part, 1);
        if (same)
            memcpy((char *)out + r.begin * a->size, a->data + r.begin * a->size,
                   (size_t)((r.end - r.begin) * a->size));
        else
            for (int64_t k = r.begin; k < r.end; k++)
                value_set(type, out, k, io_npy_number(a, k));
    }
}

size_t io_npy_header(char *out, const char *descr, int dims, const int64_t *shape, bool fortran)
{
    char sides[80] = "";
    if (dims == 1)
        snprintf(sides, sizeof sides, "%" PRId64 ",", shape[0]);
    else if (dims == 2)
        snprintf(sides, sizeof sides, "%" PRId64 ", %" PRId64, shape[0], shape[1]);
    else if (dims == 3)
        snprintf(sides, sizeof sides, "%" PRId64 ", %" PRId64 ", %" PRId64, shape[0], shape[1],
                 shape[2]);
    memset(out, ' ', NPY_HEADER);
    memcpy(out, "\x93NUMPY\x01", MAGIC_SIZE + 1);
    out[MAGIC_SIZE + 1] = 0;
    const int used =
        snprintf(out + 10, NPY_HEADER - 10, "{'descr': '%s', 'fortran_order': %s, 'shape': (%s), }",
                 descr, fortran ? "True" : "False", sides);
    /* The numbers begin at a multiple of 64, behind a line end. */
    const size_t whole = (10 + (size_t)used + 1 + 63) / 64 * 64;
    out[10 + used] = ' ';
    out[whole - 1] = '\n';
    out[8] = (char)((whole - 10) & 0xff);
    out[9] = (char)((whole - 10) >> 8);
    return whole;
}

const char *io_npy_descr(spry_type type)
{
    static const char *const little[] = {"<f4", "<f8", "<c8", "<c16"};
    static const char *const big[] = {">f4", ">f8", ">c8", ">c16"};
    return (big_endian() ? big : little)[type];
}
