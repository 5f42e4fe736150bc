/* MATLAB's files of level 7.3 and Octave's, which are HDF5. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_read(&io_mat73, "fuzz.mat", data, size);
}
