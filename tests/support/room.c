/*
 * The program of a room's tests: `test_ROOM NAME` runs the tests of the file NAME.c, `test_ROOM`
 * lists the names. TEST_ENTRIES is written by CMake, an item for each file of the room.
 */
#include "entries.h"

#include <stdio.h>
#include <string.h>

#define ENTRY(name) int main_of_##name(void);
TEST_ENTRIES(ENTRY)
#undef ENTRY

static const struct {
    const char *name;
    int (*run)(void);
} entries[] = {
#define ENTRY(name) {#name, main_of_##name},
    TEST_ENTRIES(ENTRY)
#undef ENTRY
};
enum { ENTRY_COUNT = sizeof entries / sizeof *entries };

int main(int argc, char **argv)
{
    for (int i = 0; i < ENTRY_COUNT; i++) {
        if (argc < 2)
            puts(entries[i].name);
        else if (strcmp(argv[1], entries[i].name) == 0)
            return entries[i].run();
    }
    if (argc >= 2)
        fprintf(stderr, "%s: there are no tests %s\n", argv[0], argv[1]);
    return 2;
}
