/* What flows through contacts: the residual of their nodes, so that it adds up to 0. */
#include "semi/semi.h"

#include <math.h>

/* Carriers that leave the nodes of a contact, and the field's flux from them. */
void semi_device_currents(semi_device *d)
{
    const semi_mesh *m = &d->mesh;
    double flow[SEMI_CONTACTS] = {0}, field[SEMI_CONTACTS] = {0};
    for (int64_t i = 0; i < m->nodes; i++) {
        const int k = m->contact[i];
        if (k < 0)
            continue;
        for (int64_t e = m->start[i]; e < m->start[i + 1]; e++) {
            field[k] -= m->couple_eps[e] * semi_difference(d, PSI, i, e);
            if (m->node_material[i] >= 0)
                flow[k] += semi_carrier_flow(d, ELECTRONS, i, e).value -
                           semi_carrier_flow(d, HOLES, i, e).value;
        }
        if (m->node_material[i] >= 0)
            field[k] -=
                m->volume[i] * (exp(d->u[HOLES][i]) - exp(d->u[ELECTRONS][i]) + d->doping[i]);
    }
    for (int k = 0; k < m->contacts; k++) {
        d->contact[k].current = flow[k] * d->j0;
        d->contact[k].charge = field[k] * d->q0;
    }
}

/* Where fewer than two contacts carry, or none a current worth the name, there is only rounding. */
double semi_imbalance(const semi_device *d)
{
    double sum = 0, most = 0;
    int carrying = 0;
    for (int k = 0; k < d->mesh.contacts; k++) {
        sum += d->contact[k].current;
        most = fmax(most, fabs(d->contact[k].current));
        carrying += d->contact[k].kind != CONTACT_GATE;
    }
    return carrying > 1 && most > 1e-18 * d->j0 ? fabs(sum) / most : 0;
}
