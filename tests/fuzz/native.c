/* Native files, from memory instead of a mapping; and by blocks, for matrix powers. */
#define _GNU_SOURCE /* of files without a name */
#include "fuzz.h"

#include <spry/powers.h>
#include <sys/mman.h>
#include <unistd.h>

enum { SIZE = 80, CHECKSUM = 120, HEADER = 128 };

/* Makes size and checksum of the header right, which chance would not. */
static void seal(uint8_t *file, size_t size)
{
    const uint64_t whole = size;
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    memcpy(file + SIZE, &whole, sizeof whole);
    for (int i = 0; i < CHECKSUM; i++)
        hash = (hash ^ file[i]) * UINT64_C(0x100000001b3);
    memcpy(file + CHECKSUM, &hash, sizeof hash);
}

/* What is opened can be multiplied by; what is refused says why. */
static void by_blocks(const uint8_t *data, size_t size)
{
    char path[64];
    int64_t memory = 0;
    spry_context *ctx = fuzz_begin(&memory);
    spry_powers *p = NULL;
    spry_operator *op = NULL;
    spry_vector *x = NULL, *v[2] = {NULL};
    const int file = memfd_create("fuzz.spry", MFD_CLOEXEC);
    if (file < 0)
        return;
    fuzz_require(write(file, data, size) == (ssize_t)size);
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    if (spry_powers_open(ctx, path, "k=2 memory=1M", &p) == SPRY_STATUS_OK) {
        fuzz_require(spry_powers_operator(p, &op) == SPRY_STATUS_OK);
        const int64_t n = spry_operator_rows(op);
        spry_status status =
            spry_vector_new(ctx, spry_operator_type(op), n, NULL, SPRY_OWN_COPY, &x);
        for (int j = 0; j < 2 && status == SPRY_STATUS_OK; j++)
            status = spry_vector_like(x, n, &v[j]);
        if (status == SPRY_STATUS_OK)
            fuzz_require(spry_powers_apply(p, x, v) == SPRY_STATUS_OK);
    } else {
        fuzz_require(p == NULL && spry_message(ctx)[0] != '\0');
    }
    spry_operator_free(op);
    spry_powers_free(p);
    for (int j = 0; j < 2; j++)
        spry_vector_free(v[j]);
    spry_vector_free(x);
    fuzz_end(ctx, memory);
    close(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_read(&io_native, "fuzz.spry", data, size);
    if (size < HEADER)
        return 0;
    uint8_t *sealed = malloc(size);
    fuzz_require(sealed != NULL);
    memcpy(sealed, data, size);
    seal(sealed, size);
    fuzz_read(&io_native, "fuzz.spry", sealed, size);
    by_blocks(sealed, size);
    free(sealed);
    return 0;
}
