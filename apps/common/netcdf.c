/*
 * NetCDF in its classic formats: CDF-1, CDF-2 (offsets of 64 bits), CDF-5 (sizes of 64 bits). The
 * header is a list of dimensions, one of attributes and one of variables, in big-endian numbers; it
 * is read where it stands, and nothing is believed of it before the file has the bytes. (The NetCDF
 * classic format specification, Unidata; CDF-5: PnetCDF, Argonne.)
 */
#include "common/samples.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { DIMENSIONS = 10, VARIABLES = 11, ATTRIBUTES = 12, TYPES = 12, RANK = 8 };
/* What the library of NetCDF lets a classic file have. */
enum { MOST_DIMENSIONS = 1024, MOST_VARIABLES = 8192 };

/* Bytes of each type; 0: not a number. char is 2. */
static const int type_bytes[TYPES] = {0, 1, 0, 2, 4, 4, 8, 1, 2, 4, 8, 8};

typedef struct reader {
    const app_samples *s;
    const unsigned char *bytes;
    size_t size, at;
    int wide; /* bytes of a count: 8 in CDF-5; and of an offset */
    int far;
    const char *fault; /* the first one; reading goes on with zeros */
    size_t fault_at;
} reader;

/* A part of the header, where it lies. */
typedef struct words {
    const char *text;
    size_t length;
} words;

typedef struct variable {
    words name;
    int rank;
    uint64_t dimension[RANK];
    uint64_t type, begin;
    double factor, offset, missing[2];
    bool degrees;
} variable;

typedef struct header {
    uint64_t records, dimensions, record_bytes;
    size_t dimensions_at;
    size_t variables_at;
    uint64_t variables;
} header;

static void blame(reader *r, const char *fault)
{
    if (r->fault)
        return;
    r->fault = fault;
    r->fault_at = r->at;
}

/* Whether the file goes on for so long; else that is its fault. */
static bool has(reader *r, uint64_t bytes)
{
    if (!r->fault && bytes > r->size - r->at)
        blame(r, "the file ends here");
    return !r->fault;
}

static uint64_t take(reader *r, int bytes)
{
    uint64_t n = 0;
    if (!has(r, (uint64_t)bytes))
        return 0;
    for (int i = 0; i < bytes; i++)
        n = n << 8 | r->bytes[r->at++];
    return n;
}

static uint64_t padded(uint64_t bytes)
{
    return (bytes + 3) / 4 * 4;
}

static words take_name(reader *r)
{
    const uint64_t length = take(r, r->wide);
    words w = {"", 0};
    if (!has(r, length) || !has(r, padded(length)))
        return w;
    w = (words){(const char *)r->bytes + r->at, (size_t)length};
    r->at += (size_t)padded(length);
    return w;
}

/* The tag of a list and how many it has, each of `least` bytes or more. */
static uint64_t take_list(reader *r, uint64_t tag, int least)
{
    const uint64_t found = take(r, 4), count = take(r, r->wide);
    if (found != tag && !(found == 0 && count == 0))
        blame(r, "a list of dimensions, attributes or variables is expected here");
    if (count > (r->size - r->at) / (uint64_t)least)
        blame(r, "a list is longer than the file");
    return r->fault ? 0 : count;
}

/* A number of a type where the reader is. */
static double take_value(reader *r, uint64_t type)
{
    const int bytes = type_bytes[type];
    const uint64_t n = take(r, bytes);
    float single;
    double real;
    switch (type) {
    case 5:
        memcpy(&single, &(uint32_t){(uint32_t)n}, sizeof single);
        return (double)single;
    case 6:
        memcpy(&real, &n, sizeof real);
        return real;
    case 7:
    case 8:
    case 9:
    case 11:
        return (double)n;
    default: /* whole numbers with a sign */
        return bytes < 8 && n >> (8 * bytes - 1) ? (double)n - ldexp(1, 8 * bytes)
                                                 : (double)(int64_t)n;
    }
}

static bool is_word(words w, const char *text)
{
    return w.length == strlen(text) && memcmp(w.text, text, w.length) == 0;
}

static void take_attribute(reader *r, variable *v)
{
    const words name = take_name(r);
    const uint64_t type = take(r, 4), count = take(r, r->wide);
    if (type == 0 || type >= TYPES)
        blame(r, "a type of numbers that does not exist");
    const int bytes = r->fault ? 1 : type == 2 ? 1 : type_bytes[type];
    if (r->fault || count > r->size / (uint64_t)bytes || !has(r, padded(count * (uint64_t)bytes))) {
        blame(r, "an attribute is longer than the file");
        return;
    }
    const size_t after = r->at + (size_t)padded(count * (uint64_t)bytes);
    const struct {
        const char *name;
        double *to;
    } known[] = {{"scale_factor", &v->factor},
                 {"add_offset", &v->offset},
                 {"_FillValue", &v->missing[0]},
                 {"missing_value", &v->missing[1]}};
    for (size_t i = 0; i < sizeof known / sizeof *known && type != 2 && count > 0; i++)
        if (is_word(name, known[i].name))
            *known[i].to = take_value(r, type);
    if (is_word(name, "units") && type == 2 && count >= 6)
        v->degrees = memcmp(r->bytes + r->at, "degree", 6) == 0;
    r->at = after;
}

static void take_attributes(reader *r, variable *v)
{
    const uint64_t count = take_list(r, ATTRIBUTES, 12);
    for (uint64_t i = 0; i < count && !r->fault; i++)
        take_attribute(r, v);
}

static void take_variable(reader *r, const header *h, variable *v)
{
    *v = (variable){.factor = 1, .missing = {NAN, NAN}};
    v->name = take_name(r);
    const uint64_t rank = take(r, r->wide);
    if (rank > (r->size - r->at) / (uint64_t)r->wide)
        blame(r, "a variable has more dimensions than the file has bytes");
    for (uint64_t i = 0; i < rank && !r->fault; i++) {
        const uint64_t d = take(r, r->wide);
        if (d >= h->dimensions)
            blame(r, "a dimension that does not exist");
        if (i < RANK)
            v->dimension[i] = d;
    }
    v->rank = rank > RANK ? RANK + 1 : (int)rank;
    take_attributes(r, v);
    v->type = take(r, 4);
    (void)take(r, r->wide); /* its bytes: known from the dimensions */
    v->begin = take(r, r->far);
    if (v->type == 0 || v->type >= TYPES)
        blame(r, "a type of numbers that does not exist");
}

/* The length of a dimension; 0 in the file: as many as there are records. */
static uint64_t length_of(const reader *r, const header *h, uint64_t number, words *name,
                          bool *records)
{
    reader at = *r;
    uint64_t length = 0;
    at.at = h->dimensions_at;
    for (uint64_t i = 0; i <= number; i++) {
        *name = take_name(&at);
        length = take(&at, at.wide);
    }
    *records = length == 0;
    return length == 0 ? h->records : length;
}

static void take_header(reader *r, header *h)
{
    variable ignored = {0};
    *h = (header){.records = 0};
    h->records = take(r, r->wide);
    if (h->records == (r->wide == 8 ? UINT64_MAX : UINT32_MAX))
        blame(r, "a file that is still being written (its records are not counted)");
    h->dimensions = take_list(r, DIMENSIONS, 8);
    h->dimensions_at = r->at;
    for (uint64_t i = 0; i < h->dimensions && !r->fault; i++) {
        (void)take_name(r);
        (void)take(r, r->wide);
    }
    take_attributes(r, &ignored);
    h->variables = take_list(r, VARIABLES, 20);
    h->variables_at = r->at;
    if (h->dimensions > MOST_DIMENSIONS || h->variables > MOST_VARIABLES)
        blame(r, "more dimensions or variables than such a file has");
}

/* Numbers of a variable in a record, and in all; 0: more than the file can have. */
static uint64_t count_of(const reader *r, const header *h, const variable *v, uint64_t *each,
                         bool *records)
{
    uint64_t all = 1;
    words name;
    *each = 1;
    *records = false;
    for (int i = 0; i < v->rank && i < RANK; i++) {
        bool is;
        const uint64_t n = length_of(r, h, v->dimension[i], &name, &is);
        if (n == 0 || all > r->size / n)
            return 0;
        *records = *records || (is && i == 0);
        *each *= is && i == 0 ? 1 : n;
        all *= n;
    }
    return all;
}

/* Bytes from one record to the next; of a single variable they are not padded. */
static void count_records(reader *r, header *h)
{
    uint64_t count = 0, last = 0;
    h->record_bytes = 0;
    for (uint64_t i = 0; i < h->variables && !r->fault; i++) {
        variable v;
        uint64_t each;
        bool records;
        take_variable(r, h, &v);
        if (r->fault || count_of(r, h, &v, &each, &records) == 0 || !records)
            continue;
        last = each * (uint64_t)(v.type == 2 ? 1 : type_bytes[v.type]);
        h->record_bytes += padded(last);
        count++;
    }
    if (count == 1)
        h->record_bytes = last;
}

/* All numbers of a variable. */
static spry_status read_values(reader *r, const header *h, const variable *v, double *to,
                               uint64_t n)
{
    static const double fill = 9.9e36; /* from there on nothing was written */
    /* Whole numbers by type that stand where nothing was written, unless an attribute has another.
     */
    static const double never[TYPES] = {
        NAN, NAN,   NAN,     -32767.0,     -2147483647.0,          NAN,
        NAN, 255.0, 65535.0, 4294967295.0, -9223372036854775806.0, 18446744073709551614.0};
    const bool marked = !isnan(v->missing[0]) || !isnan(v->missing[1]);
    uint64_t each;
    bool records;
    const uint64_t bytes = (uint64_t)type_bytes[v->type];
    (void)count_of(r, h, v, &each, &records);
    for (uint64_t i = 0; i < n; i++) {
        const uint64_t record = records ? i / each : 0;
        const uint64_t at = v->begin + record * h->record_bytes + (i - record * each) * bytes;
        if (v->begin > r->size || at > r->size - bytes || bytes > r->size)
            return app_samples_fail(
                r->s, 0, 0,
                "byte %" PRIu64 ": the file ends before number %" PRIu64 " of %" PRIu64 " of %.*s",
                (uint64_t)r->size, i + 1, n, (int)fmin((double)v->name.length, 40), v->name.text);
        r->at = (size_t)at;
        const double raw = take_value(r, v->type);
        const bool none = raw == v->missing[0] || raw == v->missing[1] ||
                          (!marked && raw == never[v->type]) || !(fabs(raw) < fill);
        to[i] = none ? NAN : raw * v->factor + v->offset;
    }
    return SPRY_STATUS_OK;
}

/* Variable number i; one with a name (of length 0: any). */
static bool find_variable(reader *r, const header *h, words name, variable *v)
{
    r->at = h->variables_at;
    for (uint64_t i = 0; i < h->variables; i++) {
        take_variable(r, h, v);
        if (v->name.length == name.length && memcmp(v->name.text, name.text, name.length) == 0)
            return true;
    }
    return false;
}

/* Where the lines of an axis are: the variable that has the name of the dimension, if there is one.
 */
static spry_status read_axis(app_samples *s, reader *r, const header *h, uint64_t dimension,
                             int axis)
{
    variable v;
    words name;
    uint64_t each;
    bool records;
    const uint64_t n = length_of(r, h, dimension, &name, &records);
    app_axis *a = &s->axis[axis];
    a->count = (int64_t)n;
    if (!find_variable(r, h, name, &v) || v.rank != 1 || v.dimension[0] != dimension ||
        type_bytes[v.type] == 0 || count_of(r, h, &v, &each, &records) != n)
        return SPRY_STATUS_OK;
    if (v.degrees)
        return app_samples_fail(s, 0, 0, "%.*s is in degrees, expected metres: project it first",
                                (int)fmin((double)name.length, 40), name.text);
    a->at = spry_alloc(s->ctx, (size_t)n * sizeof *a->at);
    if (!a->at)
        return SPRY_STATUS_NO_MEMORY;
    const spry_status status = read_values(r, h, &v, a->at, n);
    return status == SPRY_STATUS_OK ? app_samples_sort(s, axis) : status;
}

/* Whether a variable is of one or two axes, besides such of length 1; which they are. */
static int find_axes(const reader *r, const header *h, const variable *v, uint64_t axes[2])
{
    int count = 0;
    words name;
    bool records;
    if (v->rank > RANK || type_bytes[v->type] == 0)
        return 0;
    for (int i = 0; i < v->rank; i++)
        if (length_of(r, h, v->dimension[i], &name, &records) != 1) {
            if (count < 2)
                axes[count] = v->dimension[i];
            count++;
        }
    /* places of lines are no samples */
    if (v->rank == 1) {
        (void)length_of(r, h, v->dimension[0], &name, &records);
        if (v->name.length == name.length && memcmp(v->name.text, name.text, name.length) == 0)
            return 0;
    }
    return count <= 2 ? count : 0;
}

/* The variable of a name; or the only one that has samples. */
static spry_status choose(reader *r, const header *h, const char *name, variable *chosen)
{
    char list[256] = "";
    int found = 0;
    r->at = h->variables_at;
    for (uint64_t i = 0; i < h->variables; i++) {
        variable v;
        uint64_t axes[2];
        take_variable(r, h, &v);
        if (find_axes(r, h, &v, axes) == 0)
            continue;
        if (!name || is_word(v.name, name)) {
            *chosen = v;
            found++;
        }
        const size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, " %.*s", (int)fmin((double)v.name.length, 40),
                 v.name.text);
    }
    if (found == 1)
        return SPRY_STATUS_OK;
    return app_samples_fail(r->s, 0, 0,
                            name ? "there is no variable %.40s of one or two axes; there are:%s"
                            : found > 0 ? "which variable?%.0s FILE.nc:NAME picks one of:%s"
                                        : "no variable has numbers along one or two axes%.0s%s",
                            name ? name : "", list);
}

spry_status app_samples_netcdf(app_samples *s, const char *bytes, size_t size, const char *name)
{
    const int version = bytes[3];
    reader r = {.s = s, .bytes = (const unsigned char *)bytes, .size = size, .at = 4};
    header h;
    variable v;
    uint64_t axes[2], each;
    bool records;
    r.wide = version == 5 ? 8 : 4;
    r.far = version == 1 ? 4 : 8;
    if (version != 1 && version != 2 && version != 5)
        return app_samples_fail(s, 0, 0, "byte 3: version %d of NetCDF, expected 1, 2 or 5",
                                version);
    take_header(&r, &h);
    count_records(&r, &h);
    if (r.fault)
        return app_samples_fail(s, 0, 0, "byte %zu: %s", r.fault_at, r.fault);
    spry_status status = choose(&r, &h, name, &v);
    if (status != SPRY_STATUS_OK)
        return status;
    const int count = find_axes(&r, &h, &v, axes);
    const uint64_t n = count_of(&r, &h, &v, &each, &records);
    if (n == 0)
        return app_samples_fail(s, 0, 0, "%.*s has no numbers, or more than the file has bytes",
                                (int)fmin((double)v.name.length, 40), v.name.text);
    s->value = spry_alloc(s->ctx, (size_t)n * sizeof *s->value);
    if (!s->value)
        return SPRY_STATUS_NO_MEMORY;
    status = read_values(&r, &h, &v, s->value, n);
    /* both counts first: sorting an axis moves values of the other */
    words ignored;
    s->axis[0].count = (int64_t)length_of(&r, &h, axes[count - 1], &ignored, &records);
    s->axis[1].count = (int64_t)n / s->axis[0].count;
    if (status == SPRY_STATUS_OK)
        status = read_axis(s, &r, &h, axes[count - 1], 0);
    if (status == SPRY_STATUS_OK && count == 2)
        status = read_axis(s, &r, &h, axes[0], 1);
    return status;
}
