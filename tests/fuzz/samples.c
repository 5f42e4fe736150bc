/*
 * Samples of applications: arrays and points as text, ESRI grids, NetCDF. The first byte says how
 * the file ends. What is taken has values at its own places; what is refused says why.
 */
#include "../../apps/common/samples.h"

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const names[] = {"fuzz.txt", "fuzz.xyz", "fuzz.nc", "fuzz.nc:z"};
    app_samples s;
    double value;
    int64_t memory = 0;
    if (size < 1 || size > 65536)
        return 0;
    spry_context *ctx = fuzz_begin(&memory);
    char *bytes = malloc(size);
    fuzz_require(bytes != NULL);
    memcpy(bytes, data + 1, size - 1);
    bytes[size - 1] = '\0';
    spry_status status = app_samples_take(ctx, names[data[0] % 4], bytes, size - 1, &s);
    if (status == SPRY_STATUS_OK)
        status = app_samples_span(&s, 0, 3, data[0] & 4);
    if (status == SPRY_STATUS_OK)
        status = app_samples_span(&s, 1, 2, data[0] & 8);
    for (int i = 0; status == SPRY_STATUS_OK && i < 8; i++)
        (void)app_samples_at(&s, 0.5 * i, 0.25 * i, &value);
    if (status != SPRY_STATUS_OK) /* 64 MB are a thousand times the input */
        fuzz_require(status == SPRY_STATUS_BAD_INPUT && strlen(spry_message(ctx)) > 5);
    app_samples_free(&s);
    fuzz_end(ctx, memory);
    free(bytes);
    return 0;
}
