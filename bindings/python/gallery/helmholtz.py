# %% [markdown]
# # A wave in a half-open room
#
# The Helmholtz equation -laplace(u) - k^2 u = f with layers at the edges that swallow the wave: the
# matrix is complex and indefinite. GMRES by itself goes nowhere, and incomplete factors of the matrix
# are unstable; the shifted matrix, -laplace - (1 + 0.5 i) k^2, makes a good preconditioner (Erlangga,
# Vuik and Oosterlee, Appl. Numer. Math. 50 (2004), 409-425).

# %%
import sys

import matplotlib.pyplot as plt
import numpy as np
import scipy.sparse as sp

import spry

side, waves, layer = 160, 12, 20
h = 1 / (side + 1)
k = 2 * np.pi * waves

# %% [markdown]
# The layer stretches the coordinate into the complex plane (a perfectly matched layer).


# %%
def stretch(at):
    depth = np.clip(np.maximum(layer - at, at - (side + 1 - layer)), 0, None) / layer
    return 1 / (1 + 1j * 4 * depth**2)


middle, points = stretch(np.arange(side + 1) + 0.5), stretch(np.arange(1, side + 1))
line = sp.diags([-points[1:] * middle[1:-1], points * (middle[:-1] + middle[1:]),
                 -points[:-1] * middle[1:-1]], [-1, 0, 1]) / h**2
laplace = sp.csr_matrix(sp.kronsum(line, line))
y, x = np.mgrid[1:side + 1, 1:side + 1] * h
slow = 1 + 0.5 * (((x - 0.62) / 0.14) ** 2 + ((y - 0.5) / 0.2) ** 2 < 1)  # a lens in the way
wave = sp.diags((k * slow.ravel()) ** 2)
A = sp.csr_matrix(laplace - wave)
f = np.zeros(side * side, complex)
f[(side // 2) * side + side // 4] = 1 / h**2

# %% [markdown]
# Preconditioners are made from any matrix; `precon=` takes them.

# %%
shifted = sp.csr_matrix(laplace - (1 + 0.5j) * wave)
options = dict(method="gmres:restart=80", tol=1e-6, max_iter=600)
plain = spry.solve(A, f, precon="none", **options)
better = spry.solve(A, f, precon=spry.Preconditioner(shifted, "direct"), **options)
direct = spry.solve(A, f, method="direct")
print(better, direct, sep="\n\n")

# %%
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
u = direct.x.reshape(side, side).real
left.imshow(u, extent=(0, 1, 0, 1), origin="lower", cmap="RdBu", vmin=-0.25, vmax=0.25)
left.contour(x, y, slow, levels=[1.25], colors="k", linewidths=0.8)
left.set_title("real part of u, with a lens")
plain.plot(right, label="gmres alone")
better.plot(right, label="gmres + factors of the shifted A")
if len(sys.argv) > 1:
    figure.savefig(sys.argv[1] + "/python-helmholtz.png", dpi=80)
assert better.converged and direct.converged
