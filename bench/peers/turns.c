/* Contenders that take turns. */
#include "turns.h"

enum { MOST_ROUNDS = 99, MOST_TURNS = 64, MOST_WORK = 2000 };

static double seconds_of(const turn *t, int count)
{
    const double begin = peer_seconds();
    for (int k = 0; k < count; k++)
        t->work(t->data);
    if (t->finish)
        t->finish(t->data);
    return peer_seconds() - begin;
}

/* How often it can work in the time; the first work, which may compile and allocate, is not
 * counted. */
static int count_of(const turn *t, double seconds)
{
    seconds_of(t, 1);
    const double many = seconds / (seconds_of(t, 3) / 3);
    return many < 1 ? 1 : many > MOST_WORK ? MOST_WORK : (int)many;
}

void turns_take(turn *turns, int count, int rounds, double seconds)
{
    double times[MOST_TURNS][MOST_ROUNDS];
    int many[MOST_TURNS];
    count = count < MOST_TURNS ? count : MOST_TURNS;
    rounds = rounds < MOST_ROUNDS ? rounds : MOST_ROUNDS;
    for (int t = 0; t < count; t++)
        many[t] = count_of(&turns[t], seconds);
    for (int round = 0; round < rounds; round++)
        for (int t = 0; t < count; t++)
            times[t][round] = seconds_of(&turns[t], many[t]) / many[t];
    for (int t = 0; t < count; t++) {
        const double median = peer_median(times[t], rounds); /* and sorts them */
        turns[t].times = (peer_times){times[t][0], median};
    }
}
