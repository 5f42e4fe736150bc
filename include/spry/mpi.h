/* Ranks of MPI: libspry_mpi, beside libspry. */
#ifndef SPRY_MPI_H
#define SPRY_MPI_H

#include <mpi.h>
#include <spry/ranks.h>

SPRY_BEGIN

/**
 * Makes a context for the ranks of a communicator. Collective over it.
 *
 * @param comm     MPI has been started; the communicator is duplicated, and may be freed before the
 *                 context is. MPI_Finalize() comes after the last object of the context is gone.
 * @param options  as of spry_context_new(), alike on all ranks
 * @param ctx      out: the context, as of spry_context_new()
 */
SPRY_API spry_status spry_mpi_context_new(MPI_Comm comm, const char *options, spry_context **ctx);

/** The same with a communicator as Fortran has it: `comm` of the module mpi, `comm%MPI_VAL` of
 * mpi_f08. */
SPRY_API spry_status spry_mpi_context_new_f(int comm, const char *options, spry_context **ctx);

/** The ranks of a communicator for spry_context_new_ranked(), for programs that load this library
 * at run time. With no communicator (NULL) those of MPI_COMM_WORLD: MPI is started if it was not,
 * and ended with the team then. NULL where that failed. */
SPRY_API spry_team *spry_mpi_team_new(const MPI_Comm *comm);

SPRY_END

#endif
