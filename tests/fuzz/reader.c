/* JSON: what is taken apart is whole, what is refused says why and where. */
#include "../../cli/reader.h"

#include "fuzz.h"

/* How many values there are below one, itself included; keys are there in objects alone. */
static int32_t count_values(const reader *r, const reader_value *v, int depth)
{
    int32_t count = 1;
    fuzz_require(depth <= 32 && v >= r->values && v < r->values + r->count && v->text != NULL);
    fuzz_require(strchr("{[\"0tfn", v->kind) != NULL);
    for (const reader_value *one = reader_first(r, v); one; one = reader_next(r, one)) {
        fuzz_require(one > v && (one->key != NULL) == (v->kind == '{'));
        if (one->key)
            fuzz_require(reader_member(r, v, one->key) != NULL);
        count += count_values(r, one, depth + 1);
    }
    return count;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    reader r;
    if (size > 4096) /* looking for members takes the square of it */
        return 0;
    if (reader_parse(&r, (const char *)data, size))
        fuzz_require(count_values(&r, r.values, 0) == r.count);
    else
        fuzz_require(r.fault != NULL && r.line >= 1);
    reader_free(&r);
    return 0;
}
