/* Libraries that are loaded while the program runs. */
#include "base/base.h"

#include <dlfcn.h>

const char *base_find_symbols(void *library, const base_symbol *symbols, size_t count, void *table)
{
    for (size_t i = 0; i < count; i++) {
        void *address = dlsym(library, symbols[i].name);
        if (!address)
            return symbols[i].name;
        memcpy((char *)table + symbols[i].at, &address, sizeof address);
    }
    return NULL;
}
