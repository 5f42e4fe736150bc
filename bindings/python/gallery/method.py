# %% [markdown]
# # A method of your own
#
# Steepest descent crawls. Barzilai and Borwein (IMA J. Numer. Anal. 8 (1988), 141-148) take the step
# length of the iteration before, and it flies, without any line search; the residual rises and falls
# on the way. Both are a few lines in spry's notation, and run fused, on all cores and on devices, as
# the methods that come with it do.

# %%
import sys

import matplotlib.pyplot as plt
import numpy as np

import spry

descent = spry.Method('''
method descent "steepest descent"
for "hermitian positive definite matrices"
start:
    r = b - A x
    residual |r|
loop:
    q = A r
    alpha = (r, r) / (r, q)
    x = x + alpha r
    r = r - alpha q
    residual |r|
''')

borwein = spry.Method('''
method borwein "steps of the iteration before"
for "hermitian positive definite matrices"
reference "J. Barzilai, J. M. Borwein, IMA J. Numer. Anal. 8 (1988), 141-148"
start:
    r = b - A x
    residual |r|
    q = A r
    alpha = (r, r) / (r, q)
loop:
    q = A r
    next = (r, r) / (r, q)
    x = x + alpha r
    r = r - alpha q
    residual |r|
    alpha = next
''')

# %% [markdown]
# What it costs is known before it runs.

# %%
print(borwein.explanation)

# %%
A = spry.generate("poisson2d", size=60)
b = np.ones(A.shape[0])
options = dict(precon="none", tol=1e-6, max_iter=3000)
results = [spry.solve(A, b, method=method, **options) for method in (descent, borwein, "cg")]
for result in results:
    print(result.headline())

# %%
figure, ax = plt.subplots(figsize=(6.5, 3.4), layout="constrained")
for result in results:
    result.plot(ax, linewidth=1)
ax.set_xlim(0, 1200)
if len(sys.argv) > 1:
    figure.savefig(sys.argv[1] + "/python-method.png", dpi=80)
assert results[1].converged and results[2].converged and results[1].iterations < results[0].iterations
