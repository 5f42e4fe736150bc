/* The inside of libspry_mpi. It calls nothing of libspry but spry_context_new_ranked(): programs
 * that carry the library within them load it for its team alone. */
#ifndef SPRY_RANKS_MPI_H
#define SPRY_RANKS_MPI_H

#include "base/team.h"

#include <spry/mpi.h>

/* The longest message in bytes; those above go in pieces. A power of two, below what an int counts.
 */
#ifndef MPI_PIECE
#define MPI_PIECE ((int64_t)1 << 30)
#endif

enum { TAG_SWAP = 1, TAG_HALO, TAG_POST };

struct team_request {
    MPI_Request request;
};

/* A message that was posted and may not have gone yet. */
typedef struct posted {
    MPI_Request request;
    struct posted *next;
} posted; /* its bytes follow */

typedef struct mpi_state {
    MPI_Comm comm;
    bool ours;              /* MPI was started for it */
    team_request under_way; /* the gather */
    posted *posts;
} mpi_state;

spry_status mpi_failed(team *t, const char *what, int error);
spry_status mpi_no_memory(team *t, int64_t bytes);

spry_status mpi_swap(team *t, const int64_t *send_bytes, const void *send,
                     const int64_t *receive_bytes, void *receive);
spry_status mpi_halo_new(team *t, int sends, const team_message *send, int receives,
                         const team_message *receive, team_halo **halo);
spry_status mpi_halo_start(team *t, team_halo *halo);
spry_status mpi_halo_finish(team *t, team_halo *halo);
void mpi_halo_free(team *t, team_halo *halo);
spry_status mpi_post(team *t, int to, const void *data, int64_t bytes);
spry_status mpi_poll(team *t, int *from, void *data, int64_t room, int64_t *bytes);
void mpi_posts_free(mpi_state *m);
bool mpi_takes_devices(team *t, const char *engine);
#ifdef SPRY_HAVE_PTSCOTCH
spry_status mpi_partition(team *t, const team_graph *g, int32_t *part);
#endif

#endif
