/* HDF5: what an object is, from the messages of its header (IV.A.2). */
#include "io/hdf5.h"

enum {
    SPACE = 0x01,
    LINK_INFO = 0x02,
    TYPE = 0x03,
    LINK = 0x06,
    LAYOUT = 0x08,
    FILTERS = 0x0b,
    ATTRIBUTE = 0x0c,
    SYMBOLS = 0x11
};

enum { WHOLE_NUMBER = 0, FLOATING = 1, TEXT = 3, COMPOUND = 6 };

#define NO_ADDRESS UINT64_MAX

/* Dimensions; a scalar has none. */
static spry_status read_space(const hdf5_file *f, hdf5_span body, int *rank, uint64_t sides[])
{
    const char *p = hdf5_take(&body, 4);
    if (!p || (p[0] != 1 && p[0] != 2))
        return hdf5_broken(f, "a data set has no shape that is known");
    const unsigned given = (unsigned char)p[1];
    if (p[0] == 1 && !hdf5_take(&body, 4))
        return hdf5_broken(f, "a shape is cut short");
    if (body.size < 8 * (size_t)given)
        return hdf5_broken(f, "a shape is cut short");
    *rank = given <= HDF5_RANK ? (int)given : -1;
    for (int k = 0; k < *rank; k++)
        sides[k] = hdf5_number(body.data + 8 * k, 8);
    if (p[0] == 2 && p[3] == 2) /* "null": no elements */
        *rank = -1;
    return SPRY_STATUS_OK;
}

/* The class and the size of a type; the high bits of the first byte are its version. */
static bool type_head(hdf5_span *body, int *version, int *class, uint32_t *bits, size_t *size)
{
    const char *p = hdf5_take(body, 8);
    if (!p)
        return false;
    *version = (unsigned char)p[0] >> 4;
    *class = p[0] & 15;
    *bits = (uint32_t)hdf5_number(p + 1, 3);
    *size = (size_t)hdf5_number(p + 4, 4);
    return true;
}

/* A plain number, the low bytes first: MI_..., or 0. Takes it off the span. */
static uint32_t plain_type(hdf5_span *body, size_t *size)
{
    static const uint32_t whole[2][4] = {{MI_UINT8, MI_UINT16, MI_UINT32, MI_UINT64},
                                         {MI_INT8, MI_INT16, MI_INT32, MI_INT64}};
    int version, class;
    uint32_t bits;
    if (!type_head(body, &version, &class, &bits, size) || (bits & 1))
        return 0;
    if (class == WHOLE_NUMBER && hdf5_take(body, 4)) {
        for (int k = 0; k < 4; k++)
            if (*size == (size_t)1 << k)
                return whole[bits >> 3 & 1][k];
    } else if (class == FLOATING && hdf5_take(body, 12)) {
        return *size == 8 ? MI_DOUBLE : *size == 4 ? MI_SINGLE : 0;
    }
    return 0;
}

/* The next member of a compound: its name is followed by where it lies, and by its type. */
static bool take_member(hdf5_span *body, int version, size_t whole, size_t *offset, uint32_t *part,
                        size_t *size)
{
    const char *end = memchr(body->data, '\0', body->size);
    if (!end)
        return false;
    const size_t length = (size_t)(end - body->data) + 1;
    const size_t width = version < 3        ? 4
                         : whole < 1u << 8  ? 1
                         : whole < 1u << 16 ? 2
                         : whole < 1u << 24 ? 3
                                            : 4;
    if (!hdf5_take(body, version < 3 ? (length + 7) / 8 * 8 : length))
        return false;
    const char *p = hdf5_take(body, width);
    if (!p || (version == 1 && !hdf5_take(body, 28)))
        return false;
    *offset = (size_t)hdf5_number(p, width);
    *part = plain_type(body, size);
    return *part != 0 && *offset <= whole && *size <= whole - *offset;
}

/* Numbers, or pairs of a real and an imaginary part, in that order. */
static void read_type(hdf5_span body, hdf5_type *type)
{
    hdf5_span look = body;
    int version, class;
    uint32_t bits, second;
    size_t size;
    *type = (hdf5_type){0};
    if (!type_head(&look, &version, &class, &bits, &type->size))
        return;
    if (class != COMPOUND) {
        type->part = plain_type(&body, &size);
        return;
    }
    if ((bits & 0xffff) != 2 || version < 1 || version > 5 ||
        !take_member(&look, version, type->size, &type->re, &type->part, &size) ||
        !take_member(&look, version, type->size, &type->im, &second, &size) || second != type->part)
        type->part = 0;
    type->complex = true;
}

static spry_status read_layout(const hdf5_file *f, hdf5_span body, hdf5_object *o)
{
    const char *p = hdf5_take(&body, 2);
    if (!p || p[0] < 3)
        return p ? hdf5_unsupported(f, "data sets of before 2003") : hdf5_broken(f, "no layout");
    if (p[1] == 0 && body.size >= 2) {
        o->layout = HDF5_INSIDE;
        o->inside.size = (size_t)hdf5_number(hdf5_take(&body, 2), 2);
        o->inside.data = hdf5_take(&body, o->inside.size);
        return o->inside.data ? SPRY_STATUS_OK : hdf5_broken(f, "a data set is cut short");
    }
    if (p[1] == 1 && body.size >= 16) {
        o->start = hdf5_number(body.data, 8);
        o->layout = o->start == NO_ADDRESS ? HDF5_NOWHERE : HDF5_WHOLE;
        return SPRY_STATUS_OK;
    }
    if (p[1] != 2 || p[0] != 3)
        return SPRY_STATUS_OK; /* reported where its numbers are wanted: HDF5_NOWHERE */
    const char *rank = hdf5_take(&body, 1);
    if (!rank || body.size < 8 + 4 * (size_t)(unsigned char)*rank)
        return hdf5_broken(f, "a layout is cut short");
    o->start = hdf5_number(body.data, 8);
    o->layout = o->start == NO_ADDRESS ? HDF5_NOWHERE : HDF5_CHUNKS;
    for (int k = 0; k < HDF5_RANK && k + 1 < *rank; k++)
        o->chunk[k] = hdf5_number(body.data + 8 + 4 * k, 4);
    return SPRY_STATUS_OK;
}

/* The filters that chunks went through when they were written. */
static spry_status read_filters(const hdf5_file *f, hdf5_span body, hdf5_object *o)
{
    const char *p = hdf5_take(&body, 2);
    if (!p || (p[0] != 1 && p[0] != 2) || (p[0] == 1 && !hdf5_take(&body, 6)))
        return hdf5_broken(f, "filters of an unknown version");
    const bool first = p[0] == 1;
    const int count = (unsigned char)p[1];
    o->filters = 0; /* a second list counts, not both */
    for (int k = 0; k < count && o->filters >= 0; k++) {
        const char *id = hdf5_take(&body, 2);
        const bool named = id && (first || hdf5_number(id, 2) >= 256);
        const char *name = named ? hdf5_take(&body, 2) : "\0";
        const char *rest = hdf5_take(&body, 4);
        if (!id || !name || !rest)
            return hdf5_broken(f, "a filter is cut short");
        const size_t values = (size_t)hdf5_number(rest + 2, 2);
        if (!hdf5_take(&body, (size_t)hdf5_number(name, 2)) ||
            !hdf5_take(&body, 4 * (values + (first ? values % 2 : 0))))
            return hdf5_broken(f, "a filter is cut short");
        const int number = (int)hdf5_number(id, 2);
        if (o->filters >= HDF5_FILTERS || number < HDF5_DEFLATE || number > HDF5_CHECKSUM)
            o->filters = -1;
        else
            o->filter[o->filters++] = number;
    }
    return SPRY_STATUS_OK;
}

/* The parts of an attribute; in version 1 each is padded to a multiple of eight. */
static bool attribute_parts(hdf5_span body, hdf5_span part[3], hdf5_span *value)
{
    const char *p = hdf5_take(&body, 8);
    if (!p || p[0] < 1 || p[0] > 3 || (p[0] == 3 && !hdf5_take(&body, 1)))
        return false;
    for (int k = 0; k < 3; k++) {
        part[k].size = (size_t)hdf5_number(p + 2 + 2 * k, 2);
        part[k].data = hdf5_take(&body, p[0] == 1 ? (part[k].size + 7) / 8 * 8 : part[k].size);
        if (!part[k].data)
            return false;
    }
    *value = body;
    return true;
}

static bool is_named(hdf5_span name, const char *text)
{
    const size_t length = strlen(text);
    return name.size >= length && memcmp(name.data, text, length) == 0 &&
           (name.size == length || name.data[length] == '\0');
}

/* Those that MATLAB sets; others, and what is not as it sets them, are passed over. */
static void read_attribute(hdf5_span body, hdf5_object *o)
{
    hdf5_span part[3], value, look;
    int version, class;
    uint32_t bits;
    size_t size;
    if (!attribute_parts(body, part, &value))
        return;
    look = part[1];
    if (!type_head(&look, &version, &class, &bits, &size) || size == 0 || size > value.size)
        return;
    if (is_named(part[0], "MATLAB_class") && class == TEXT && size < sizeof o->class) {
        memcpy(o->class, value.data, size);
        o->class[size] = '\0';
    } else if (class == WHOLE_NUMBER && size <= 8) {
        const uint64_t number = hdf5_number(value.data, size);
        if (is_named(part[0], "MATLAB_sparse"))
            o->sparse_rows = number <= INT32_MAX ? (int64_t)number : INT64_MAX;
        else if (is_named(part[0], "MATLAB_empty"))
            o->empty = number != 0;
    }
}

typedef struct describing {
    hdf5_file *f;
    hdf5_object *o;
} describing;

static spry_status take_message(void *data, const hdf5_message *m)
{
    const hdf5_file *f = ((describing *)data)->f;
    hdf5_object *o = ((describing *)data)->o;
    if (m->shared) /* e.g. a named type, which this reader does not know */
        return SPRY_STATUS_OK;
    switch (m->type) {
    case SPACE:
        o->is_data = true;
        return read_space(f, m->body, &o->rank, o->sides);
    case TYPE:
        read_type(m->body, &o->type);
        return SPRY_STATUS_OK;
    case LAYOUT:
        return read_layout(f, m->body, o);
    case FILTERS:
        return read_filters(f, m->body, o);
    case ATTRIBUTE:
        read_attribute(m->body, o);
        return SPRY_STATUS_OK;
    case SYMBOLS:
        o->is_group = m->body.size >= 16;
        o->tree = o->is_group ? hdf5_number(m->body.data, 8) : 0;
        o->heap = o->is_group ? hdf5_number(m->body.data + 8, 8) : 0;
        return SPRY_STATUS_OK;
    case LINK_INFO: {
        const size_t at = m->body.size > 1 && (m->body.data[1] & 1) ? 10 : 2;
        o->is_group = true;
        o->dense_links = m->body.size >= at + 8 && hdf5_number(m->body.data + at, 8) != NO_ADDRESS;
        return SPRY_STATUS_OK;
    }
    case LINK:
        o->is_group = true;
        return SPRY_STATUS_OK;
    default:
        return SPRY_STATUS_OK;
    }
}

spry_status hdf5_describe(hdf5_file *f, uint64_t address, hdf5_object *object)
{
    *object = (hdf5_object){.address = address, .sparse_rows = -1};
    return hdf5_messages(f, address, take_message, &(describing){f, object});
}
