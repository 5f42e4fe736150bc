# %% [markdown]
# # A sequence of systems in time
#
# Heat spreads through a plate that conducts the better the hotter it is: du/dt = div(k(u) grad u),
# k = 0.1 + u^2. Implicit Euler with k of the step before gives a system in each step: other numbers,
# the same pattern. `Solver.update` keeps what depends on the pattern alone: of a direct solve the order
# of the unknowns and the places of the factors.

# %%
import sys
import time

import matplotlib.pyplot as plt
import numpy as np
import scipy.sparse as sp

import spry

side, steps, dt = 150, 40, 1e-3
h = 1 / (side - 1)
number = np.arange(side * side).reshape(side, side)
pairs = np.concatenate([np.stack([number[:, :-1].ravel(), number[:, 1:].ravel()]),
                        np.stack([number[:-1].ravel(), number[1:].ravel()])], axis=1)
rows = np.concatenate([number.ravel(), pairs[0], pairs[1]])
cols = np.concatenate([number.ravel(), pairs[1], pairs[0]])


def matrix(u):
    """I + dt L(u): each pair of neighbours exchanges heat by the mean of their conductivities."""
    k = 0.1 + u**2
    between = dt / h**2 * (k[pairs[0]] + k[pairs[1]]) / 2
    diagonal = 1 + np.bincount(pairs.ravel(), np.tile(between, 2))
    return sp.coo_matrix((np.concatenate([diagonal, -between, -between]), (rows, cols))).tocsr()


y, x = np.mgrid[0:1:side * 1j, 0:1:side * 1j]
start = (np.exp(-200 * ((x - 0.3) ** 2 + (y - 0.35) ** 2)) + 0.8 * (abs(x - 0.7) + abs(y - 0.65) < 0.12)).ravel()


# %% [markdown]
# The same forty steps twice: with a new set-up each, and with set-up kept where possible.


# %%
def march(keep):
    u, seconds = start.copy(), []
    solver = None
    for _ in range(steps):
        A = matrix(u)
        begin = time.process_time()
        if solver is None or not keep:
            solver = spry.Solver(A, method="direct")
        else:
            solver.update(A)
        u = solver.solve(u).check().x
        seconds.append(time.process_time() - begin)
    return u, seconds


fresh, kept = march(False), march(True)
print(f"new set-ups: {sum(fresh[1]):.2f} s, kept: {sum(kept[1]):.2f} s")

# %%
figure, (left, middle, right) = plt.subplots(1, 3, figsize=(10, 3.2), layout="constrained")
for ax, u, title in ((left, start, "at the start"), (middle, kept[0], f"after {steps} steps")):
    ax.imshow(u.reshape(side, side), origin="lower", cmap="inferno", vmin=0, vmax=1)
    ax.set_title(title)
    ax.set_axis_off()
right.plot(1e3 * np.array(fresh[1]), label="new set-ups")
right.plot(1e3 * np.array(kept[1]), label="kept, new values")
right.set_ylim(bottom=0)
right.set_xlabel("step")
right.set_ylabel("milliseconds of processor time")
right.legend()
if len(sys.argv) > 1:
    figure.savefig(sys.argv[1] + "/python-heat.png", dpi=80)
assert np.allclose(fresh[0], kept[0], rtol=1e-6, atol=1e-9)
