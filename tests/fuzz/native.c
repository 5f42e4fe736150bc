/* Native files, from memory instead of a mapping. */
#include "fuzz.h"

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
    free(sealed);
    return 0;
}
