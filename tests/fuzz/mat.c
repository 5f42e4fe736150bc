/* MATLAB's files of level 5, plain and packed. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_read(&io_mat, "fuzz.mat", data, size);
}
