/* Whether MPI takes addresses of a device's memory. */
#define _GNU_SOURCE /* RTLD_DEFAULT */

#include "ranks/mpi/dist.h"

#include <dlfcn.h>
#include <string.h>

/* Open MPI and MPICH have one name for it, which is in no standard: it exists, or not. */
bool mpi_takes_devices(team *t, const char *engine)
{
    int (*query)(void) = NULL;
    void *found = dlsym(RTLD_DEFAULT, "MPIX_Query_cuda_support");
    (void)t;
    if (!found || strcmp(engine, "cuda") != 0)
        return false;
    memcpy(&query, &found, sizeof query); /* ISO C has no cast between them */
    return query() == 1;
}
