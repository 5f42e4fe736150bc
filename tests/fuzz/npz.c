/* SciPy's sparse matrices. */
#include "fuzz.h"

#include <zlib.h>

enum { ENTRY = 46, LOCAL = 30 };

static size_t get(const uint8_t *p, int bytes)
{
    size_t value = 0;
    for (int i = 0; i < bytes; i++)
        value |= (size_t)p[i] << (8 * i);
    return value;
}

/* Makes the checksums of stored members right, which chance would not. */
static void seal(uint8_t *file, size_t size)
{
    for (size_t at = 0; at + ENTRY <= size; at++) {
        uint8_t *entry = file + at;
        if (memcmp(entry, "PK\1\2", 4) != 0 || get(entry + 10, 2) != 0)
            continue;
        const size_t length = get(entry + 20, 4), local = get(entry + 42, 4);
        if (local > size || size - local < LOCAL)
            continue;
        const size_t begin = local + LOCAL + get(file + local + 26, 2) + get(file + local + 28, 2);
        if (begin > size || length > size - begin)
            continue;
        const uint32_t crc = (uint32_t)crc32_z(0, file + begin, length);
        for (int i = 0; i < 4; i++)
            entry[16 + i] = (uint8_t)(crc >> (8 * i));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_read(&io_npz, "fuzz.npz", data, size);
    uint8_t *sealed = malloc(size ? size : 1);
    fuzz_require(sealed != NULL);
    memcpy(sealed, data, size);
    seal(sealed, size);
    fuzz_read(&io_npz, "fuzz.npz", sealed, size);
    free(sealed);
    return 0;
}
