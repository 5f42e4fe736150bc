/* NumPy's arrays, plain and gzip. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_read(&io_npy, "fuzz.npy", data, size);
}
