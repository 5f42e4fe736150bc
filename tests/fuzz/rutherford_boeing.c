/* Rutherford-Boeing and Harwell-Boeing files. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_read(&io_rutherford_boeing, "fuzz.rb", data, size);
}
