/* What went wrong, as the team's message. */
#include "ranks/mpi/dist.h"

#include <stdio.h>

spry_status mpi_failed(team *t, const char *what, int error)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    MPI_Error_string(error, text, &length);
    snprintf(t->message, sizeof t->message, "MPI: %s: %.180s", what, text);
    return SPRY_STATUS_DEVICE;
}

spry_status mpi_no_memory(team *t, int64_t bytes)
{
    snprintf(t->message, sizeof t->message, "no memory for messages of %lld bytes",
             (long long)bytes);
    return SPRY_STATUS_NO_MEMORY;
}
