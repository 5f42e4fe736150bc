/* The tuner's files: what is read is what would be written, also after the checksum is made right.
 */
#include "choose/tune.h"
#include "fuzz.h"

static void read_both(const char *text, size_t size)
{
    static char again[TUNE_FILE_SIZE];
    static tune_entry entry;
    static tune_machine machine;
    static tune_solved solved;
    if (tune_entry_read(text, size, &entry)) {
        fuzz_require(entry.count >= 0 && entry.count <= TUNE_ROWS);
        fuzz_require(strlen(entry.winner) > 0);
        fuzz_require(tune_entry_write(&entry, again) <= TUNE_FILE_SIZE);
    }
    if (tune_machine_read(text, size, &machine)) {
        fuzz_require(machine.count >= 0 && machine.count <= TUNE_FACTORS);
        fuzz_require(tune_machine_write(&machine, again) <= TUNE_FILE_SIZE);
    }
    if (tune_solved_read(text, size, &solved)) {
        fuzz_require(solved.count >= 0 && solved.count <= TUNE_FAILED);
        fuzz_require(strlen(solved.precon) > 0 && strlen(solved.method) > 0);
        fuzz_require(tune_solved_write(&solved, again) <= TUNE_FILE_SIZE);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { LAST = sizeof "check 0123456789abcdef\n" - 1 };
    read_both((const char *)data, size);
    if (size < LAST)
        return 0;
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    char *sealed = malloc(size + 1);
    fuzz_require(sealed != NULL);
    memcpy(sealed, data, size);
    for (size_t i = 0; i < size - LAST; i++)
        hash = (hash ^ data[i]) * UINT64_C(0x100000001b3);
    snprintf(sealed + size - LAST, LAST + 1, "check %016" PRIx64 "\n", hash);
    read_both(sealed, size);
    free(sealed);
    return 0;
}
