/* Stamps: numbers of elements in the matrices, by places that are found once. */
#include "circuit/circuit.h"

/* Where an entry is; past all where a row or column is ground's. */
int64_t equations_slot(const equations *s, int row, int column)
{
    if (row == 0 || column == 0)
        return s->entries;
    int64_t low = s->offsets[row - 1], high = s->offsets[row] - 1;
    while (low < high) {
        const int64_t middle = (low + high) / 2;
        if (s->columns[middle] < column - 1)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void put(equations *s, double *values, double *linear, int row, int column, double value)
{
    if (s->stamping == STAMP_NUMBERS) {
        values[s->tape[s->cursor++]] += value;
    } else if (s->stamping == STAMP_PLACES) {
        if (row == 0 || column == 0)
            return;
        s->tape = grow(s->tape, s->tape_count + 1, &s->tape_room, sizeof *s->tape);
        s->tape[s->tape_count++] = row;
        s->tape[s->tape_count++] = column;
    } else if (linear) {
        linear[equations_slot(s, row, column)] += value;
    } else {
        s->tape = grow(s->tape, s->tape_count, &s->tape_room, sizeof *s->tape);
        s->tape[s->tape_count++] = equations_slot(s, row, column);
    }
}

void put_g(equations *s, int row, int column, double value)
{
    put(s, s->G, NULL, row, column, value);
}

void put_c(equations *s, int row, int column, double value)
{
    put(s, s->C, NULL, row, column, value);
}

void put_linear_g(equations *s, int row, int column, double value)
{
    put(s, NULL, s->G0, row, column, value);
}

void put_linear_c(equations *s, int row, int column, double value)
{
    put(s, NULL, s->C0, row, column, value);
}

void put_between(equations *s, void (*add)(equations *, int, int, double), int a, int b, double v)
{
    add(s, a, a, v);
    add(s, b, b, v);
    add(s, a, b, -v);
    add(s, b, a, -v);
}
