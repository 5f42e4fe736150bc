/* Ranks of MPI: the library libspry_mpi. */
#ifndef SPRY_MPI_H
#define SPRY_MPI_H

#include <mpi.h>
#include <spry/ranks.h>

SPRY_BEGIN

/**
 * Makes a context for the ranks of a communicator. Collective over it.
 *
 * @param comm     of a started MPI; it is duplicated, and you may free it before the context. Call
 *                 MPI_Finalize() after freeing the last object of the context.
 * @param options  as of spry_context_new(), alike on all ranks
 * @param ctx      out: the context, as of spry_context_new()
 */
SPRY_API spry_status spry_mpi_context_new(MPI_Comm comm, const char *options, spry_context **ctx);

/** The same with a communicator as Fortran has it: `comm` of the module mpi, `comm%MPI_VAL` of
 * mpi_f08. */
SPRY_API spry_status spry_mpi_context_new_f(int comm, const char *options, spry_context **ctx);

/** The ranks of a communicator for spry_context_new_ranked(), for programs that load this library
 * at run time. NULL: MPI_COMM_WORLD; MPI is started if necessary, and then ended with the team.
 * Returns NULL if that failed. */
SPRY_API spry_team *spry_mpi_team_new(const MPI_Comm *comm);

SPRY_END

#endif
