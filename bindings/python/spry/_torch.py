"""Gradients of PyTorch through a solve: the adjoint of x = A^-1 b is a solve with A^H."""

from __future__ import annotations

from typing import Any

import torch

from ._errors import UsageError


class _Solve(torch.autograd.Function):
    """x, of which b and A were the inputs."""

    @staticmethod
    def forward(ctx: Any, A: Any, b: Any, x: Any, back: Any) -> Any:
        ctx.back, ctx.x, ctx.A, ctx.takes_b = back, x, A, isinstance(b, torch.Tensor)
        return x.view_as(x)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, gradient: Any) -> Any:
        g = ctx.back(gradient)
        to_A = _of_matrix(ctx.A, g, ctx.x) if ctx.needs_input_grad[0] else None
        return to_A, g if ctx.takes_b and ctx.needs_input_grad[1] else None, None, None


def _of_matrix(A: Any, g: Any, x: Any) -> Any:
    """-g x^H at the places where A has entries, in A's layout."""
    g, x = (part.reshape(part.shape[0], -1) for part in (g, x))
    layout = str(A.layout)
    if layout == "torch.strided":
        return -(g @ x.mH)
    if layout == "torch.sparse_csr":
        starts, cols = A.crow_indices(), A.col_indices()
        rows = torch.repeat_interleave(torch.arange(A.shape[0], device=starts.device), starts.diff())
        values = -(g[rows] * x[cols].conj()).sum(dim=1)
        return torch.sparse_csr_tensor(starts, cols, values, A.shape)
    if layout == "torch.sparse_coo":
        places = A.detach()._indices()
        values = -(g[places[0]] * x[places[1]].conj()).sum(dim=1)
        return torch.sparse_coo_tensor(places, values, A.shape)
    raise UsageError(f"no gradients of matrices of {layout}: dense, sparse CSR or sparse COO is needed")


def attach(solver: Any, b: Any, result: Any) -> None:
    """Makes x of a result, or of several, a part of the graph of A and b."""
    if not torch.is_grad_enabled():
        return
    refused, mirrored = None, None
    try:
        mirrored = solver.mirror()
    except UsageError as cause:  # which matters to those alone who call backward()
        refused = str(cause)

    def back(gradient: Any) -> Any:
        from ._solver import solve

        if mirrored is None:
            raise UsageError(f"no gradient of this solve: {refused}")
        A, options = mirrored
        gradient = gradient.resolve_conj().contiguous()
        return solve(A, gradient, **options).check().x.to(gradient.dtype)

    x = result.x if isinstance(result.x, torch.Tensor) else torch.as_tensor(result.x)
    result.x = _Solve.apply(solver._given, b, x, back)
    if isinstance(result, list):
        for k, one in enumerate(result):
            one.x = result.x[:, k]
