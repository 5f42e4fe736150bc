#!/usr/bin/env python3
"""What the doctor says of matrices that `spry solve A` does not solve, and whether that is true by SciPy's own computations.

bench/findings.py SPRY FOLDER [NAME...]

FOLDER is what SPRY_MATRICES names. Prints a table: matrix, rows, verdict, findings that are errors or warnings, and of each whether it is
true: `yes`, `no`, or `?` where no check is known that takes no more than a minute or two. Ranks are looked at by singular values (eigenvalues) of the matrix with rows
and columns scaled, up to 3,700 rows; above that by SciPy's structural rank, row sums and a few eigenvalues next to 0.
"""
import csv, gzip, json, os, subprocess, sys, tempfile
import numpy as np, scipy.io, scipy.sparse as sp, scipy.sparse.csgraph as csgraph, scipy.sparse.linalg as sla

DENSE, UNIT = 3700, 2.0**-53


def read(path):
    with (gzip.open if path.endswith(".gz") else open)(path, "rb") as file:
        return sp.csr_matrix(scipy.io.mmread(file))


def scaled(a):
    """Rows and columns divided by the roots of their largest numbers, a few times."""
    a = a.astype(complex if np.iscomplexobj(a.data) else float).copy()
    a.eliminate_zeros()
    for _ in range(8):
        r, c = (1 / np.sqrt(np.where(m > 0, m, 1)) for m in (abs(a).max(axis=k).toarray().ravel() for k in (1, 0)))
        a = sp.diags(r) @ a @ sp.diags(c)
    return a.tocsr()


class Patient:
    def __init__(self, a):
        self.a, self.n, self.s = a, a.shape[0], scaled(a)
        self.hermitian = abs(a - a.conj().T).max() <= 1e-14 * abs(a).max()
        self.hermitian_scaled = self.hermitian and abs(self.s - self.s.conj().T).max() <= 1e-12
        self.values, self.left = None, None

    def singular_values(self):
        if self.values is None and self.n <= DENSE:
            dense = self.s.toarray()
            if self.hermitian_scaled:
                values, vectors = np.linalg.eigh(dense)
                order = np.argsort(-abs(values))
                self.values, self.left = abs(values[order]), vectors[:, order]
            else:
                u, self.values, _ = np.linalg.svd(dense)
                self.left = u
        return self.values

    def rank(self):
        """(least, most)"""
        values = self.singular_values()
        if values is None:
            return 0, csgraph.structural_rank(self.a)
        return tuple(int(np.sum(values > level * values[0])) for level in (1e-11, 1e-16 * np.sqrt(self.n)))

    def near_zero(self, count):
        """Of the scaled matrix (hermitian), eigenvalues next to 0."""
        shift = 1e-13
        return abs(sla.eigsh(self.s, k=count, sigma=shift, return_eigenvectors=False, tol=1e-6))


def check_singular(p, figures, detail):
    words = detail.split("rank ")
    rank = figures.get("rank") or (int(words[1].split(" of")[0].split()[-1]) if len(words) > 1 else None)
    if p.n <= DENSE:
        least, most = p.rank()
        return most < p.n if rank is None else least <= rank <= most + 1 and least < p.n
    if csgraph.structural_rank(p.a) < p.n:
        return True
    sums = abs(p.a @ np.ones(p.n)).max() / abs(p.a).sum(axis=1).max()
    if sums < 1e-14 * np.sqrt(p.n):
        return True
    return bool(p.near_zero(4).min() < 1e-13 * np.sqrt(p.n)) if p.hermitian_scaled else None


def check_range(p, figures, detail):
    b = np.ones(p.n)
    if "rows" in figures:
        a = p.a.copy()
        a.eliminate_zeros()
        return int((np.diff(a.indptr) == 0).sum()) == figures["rows"]
    if abs(p.a.conj().T @ b).max() < 1e-13 * abs(p.a).sum(axis=0).max():  # b itself is a left null vector
        return abs(figures["outside"] - 1) < 1e-6
    values = p.singular_values()
    if values is None:
        return None
    # left null vectors of A are those of the scaled one, scaled back: their span's part of b, by least squares
    null = p.left[:, values <= 1e-13 * values[0]]
    r = abs(scaled_rows(p))
    q, _ = np.linalg.qr(null * r[:, None])
    return bool(np.linalg.norm(q.conj().T @ b) / np.sqrt(p.n) >= 0.99 * figures["outside"])


def scaled_rows(p):
    """The factors of the rows: those of scaled(), found again from its entries."""
    r = np.ones(p.n)
    b = p.a.astype(p.s.dtype).copy()
    b.eliminate_zeros()
    for _ in range(8):
        rows, cols = (1 / np.sqrt(np.where(m > 0, m, 1)) for m in (abs(b).max(axis=k).toarray().ravel() for k in (1, 0)))
        r, b = r * rows, (sp.diags(rows) @ b @ sp.diags(cols)).tocsr()
    return r


def check_rounding(p, figures, detail):
    """x by factors of the scaled matrix, refined; its numbers moved by half a unit each, at random."""
    lu = sla.splu(p.s.tocsc())
    r = scaled_rows(p)
    c = scaled_rows(Patient(p.a.conj().T.tocsr())) if not p.hermitian else r
    b = np.ones(p.n)
    x = c * lu.solve((r * b).astype(p.s.dtype))
    for _ in range(3):
        x = x + c * lu.solve((r * (b - p.a @ x)).astype(p.s.dtype))
    moved = p.a @ (x * (np.random.default_rng(1).choice([-1, 1], p.n) * UNIT))
    return bool(np.linalg.norm(moved) / np.sqrt(p.n) >= 1e-9)


def check_condition(p, figures, detail):
    values = p.singular_values()
    if values is not None:
        return bool(values[0] / values[-1] >= 0.1 * figures["condition"])
    return bool(p.near_zero(2).min() <= 10 / figures["condition"]) if p.hermitian_scaled else None


def check_scaling(p, figures, detail):
    a = abs(p.a)
    rows, cols = (m[m > 0] for m in (a.max(axis=k).toarray().ravel() for k in (1, 0)))
    return bool(np.isclose(max(rows.max() / rows.min(), cols.max() / cols.min()), max(figures["row_ratio"], figures["column_ratio"]), rtol=1e-6))


def check_indefinite(p, figures, detail):
    d, coupled = p.a.diagonal().real, np.asarray(abs(p.a - sp.diags(p.a.diagonal())).sum(axis=1)).ravel()
    if (d < 0).any() or ((d == 0) & (coupled > 0)).any():
        return True
    return bool(np.linalg.eigvalsh(p.s.toarray())[0] < 0) if p.n <= DENSE else None


def check_zero_diagonal(p, figures, detail):
    return int((p.a.diagonal() == 0).sum()) == figures["rows"]


def check_structure(p, figures, detail):
    a = p.a.copy()
    a.eliminate_zeros()
    return csgraph.structural_rank(a) == figures["structural_rank"]


def check_zeros(axis):
    def check(p, figures, detail):
        return int((abs(p.a).max(axis=axis).toarray().ravel() == 0).sum()) == figures["rows" if axis == 1 else "columns"]
    return check


def check_null_space(p, figures, detail):
    return bool(abs(p.a @ np.ones(p.n)).max() <= 1e-12 * abs(p.a).sum(axis=1).max())


CHECKS = {"singular": check_singular, "not-in-range": check_range, "rounding": check_rounding, "ill-conditioned": check_condition, "scaling": check_scaling,
          "indefinite": check_indefinite, "zero-diagonal": check_zero_diagonal, "structurally-singular": check_structure,
          "zero-rows": check_zeros(1), "zero-columns": check_zeros(0), "null-space": check_null_space}


def judge(p, finding, detail):
    check = CHECKS.get(finding["code"])
    try:
        found = check(p, finding.get("figures", {}), detail) if check else None
    except Exception as error:
        print(f"{finding['code']}: {error}", file=sys.stderr)
        found = None
    return "?" if found is None else "yes" if found else "no"


def main():
    spry, folder, names = sys.argv[1], sys.argv[2], sys.argv[3:]
    print("| matrix | rows | verdict, residual | findings | true |\n|---|---|---|---|---|", flush=True)
    with open(os.path.join(folder, "INDEX.tsv")) as file:
        rows = sorted(csv.DictReader(file, delimiter="\t"), key=lambda row: int(row["nnz stored"]))
    for row in rows:
        if row["rows"] != row["cols"] or (names and row["name"] not in names):
            continue
        path = os.path.join(folder, row["file"])
        ended = subprocess.run([spry, "solve", path, "--json", "--quiet", "--no-memory"], capture_output=True, text=True, env={**os.environ, "SPRY_CACHE": ""})
        result = json.loads(ended.stdout)
        if result["converged"]:
            continue
        patient = Patient(read(path))
        findings = [finding for finding in result["findings"] if finding["severity"] != "note"]
        true = [judge(patient, finding, result["detail"]) for finding in findings]
        print(f"| {row['name']} | {row['rows']} | {result['reason']}, {result['true_residual']:.2g} | {', '.join(f['code'] for f in findings)} | "
              + ", ".join(true if len(set(true)) > 1 else true[:1]) + " |", flush=True)


if __name__ == "__main__":
    main()
