# %% [markdown]
# # A cantilever, and its rigid body modes
#
# Plane stress on bilinear squares: a beam that is held at its left end and hangs under its own weight.
# Multigrid has to know what smoothing cannot see. For elasticity these are the motions that cost no
# energy: two shifts and a turn.

# %%
import sys

import matplotlib.pyplot as plt
import numpy as np
import scipy.sparse as sp

import spry

wide, high, poisson = 240, 40, 0.3


def element():
    """The stiffness of a square of side 1, by two points of Gauss each way."""
    C = np.array([[1, poisson, 0], [poisson, 1, 0], [0, 0, (1 - poisson) / 2]]) / (1 - poisson**2)
    corners = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]])
    K = np.zeros((8, 8))
    for s in (-1, 1):
        for t in (-1, 1):
            at = np.array([s, t]) / np.sqrt(3)
            slope = corners * (1 + corners[:, ::-1] * at[::-1]) / 2
            B = np.zeros((3, 8))
            B[0, 0::2], B[1, 1::2] = slope[:, 0], slope[:, 1]
            B[2, 0::2], B[2, 1::2] = slope[:, 1], slope[:, 0]
            K += B.T @ C @ B / 4
    return K


# %% [markdown]
# The mesh and the matrix: every square adds its 8 x 8 block.

# %%
across, up = np.meshgrid(np.arange(wide), np.arange(high))
first = (up * (wide + 1) + across).ravel()
nodes = np.stack([first, first + 1, first + wide + 2, first + wide + 1], axis=1)
freedoms = np.stack([2 * nodes, 2 * nodes + 1], axis=2).reshape(-1, 8)
rows, cols = np.repeat(freedoms, 8, axis=1).ravel(), np.tile(freedoms, (1, 8)).ravel()
A = sp.coo_matrix((np.tile(element().ravel(), first.size), (rows, cols))).tocsr()
y, x = (part.ravel().astype(float) for part in np.mgrid[0:high + 1, 0:wide + 1])
b = np.zeros(A.shape[0])
np.add.at(b, 2 * nodes.ravel() + 1, -1e-8)

held = np.repeat(x == 0, 2)
A, load = A[~held][:, ~held], b[~held]

# %% [markdown]
# The rigid body modes, one per column, and the solve with them and without.

# %%
modes = np.zeros((b.size, 3))
modes[0::2, 0] = modes[1::2, 1] = 1
modes[0::2, 2], modes[1::2, 2] = -(y - y.mean()), x - x.mean()
with_modes = spry.solve(A, load, method="cg", precon="amg", near_null=modes[~held])
without = spry.solve(A, load, method="cg", precon="amg", max_iter=500)
print(with_modes, without, sep="\n\n")

# %%
u = np.zeros(b.size)
u[~held] = with_modes.x
scale = 30 / np.abs(u).max()
shape = (high + 1, wide + 1)
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
drawn = left.pcolormesh((x + scale * u[0::2]).reshape(shape), (y + scale * u[1::2]).reshape(shape),
                        np.hypot(u[0::2], u[1::2]).reshape(shape) * 1e3, shading="gouraud", cmap="magma")
figure.colorbar(drawn, ax=left, label="displacement / 1000")
left.set_aspect("equal")
left.set_title("the beam, displacements enlarged")
with_modes.plot(right, label="amg with rigid body modes")
without.plot(right, label="amg without")
if len(sys.argv) > 1:
    figure.savefig(sys.argv[1] + "/python-elasticity.png", dpi=80)
assert with_modes.converged and with_modes.iterations < without.iterations
