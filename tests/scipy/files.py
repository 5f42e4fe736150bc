"""Files against SciPy's own reading and writing: files.py SPRY

SciPy writes what spry converts and SciPy reads again, bit by bit; needs numpy and scipy.
"""

import os
import subprocess
import sys
import tempfile
import zipfile

import numpy as np
import scipy.io
import scipy.sparse as sp

SPRY = sys.argv[1]
TYPES = ("f4", "f8", "c8", "c16")
random = np.random.default_rng(1)


def convert(source, target, *options):
    subprocess.run([SPRY, "convert", source, target, "--quiet", *options], check=True)
    return target


def numbers(kind, shape):
    """Numbers of a random type, over many powers of two."""
    parts = random.standard_normal(shape) * 2.0 ** random.integers(-60, 60, shape)
    if np.dtype(kind).kind == "c":
        parts = parts + 1j * random.standard_normal(shape)
    return parts.astype(kind)


def matrix(kind, rows=40, cols=30, entries=200):
    places = random.permutation(rows * cols)[:entries]
    return sp.coo_matrix((numbers(kind, entries), (places // cols, places % cols)), (rows, cols))


def same(a, b, what):
    a, b = sp.csr_matrix(a), sp.csr_matrix(b)
    a.sort_indices()
    b.sort_indices()
    assert a.shape == b.shape, what
    assert np.array_equal(a.indptr, b.indptr) and np.array_equal(a.indices, b.indices), what
    assert a.dtype == b.dtype, (what, a.dtype, b.dtype)
    assert a.data.tobytes() == b.data.tobytes(), what


def check_sparse():
    for kind in TYPES:
        A = matrix(kind)
        for layout in ("csr", "csc", "coo"):
            for compressed in (False, True):
                sp.save_npz("a.npz", A.asformat(layout), compressed=compressed)
                same(A, sp.load_npz(convert("a.npz", "b.npz")), (kind, layout))
        convert("a.npz", "a.spry")
        same(A, sp.load_npz(convert("a.spry", "c.npz")), kind)
        assert np.array_equal(A.toarray(), np.load(convert("a.spry", "d.npy"))), kind
        assert zipfile.ZipFile("c.npz").testzip() is None
    # dia and bsr fill up with zeros, which SciPy drops (dia) or keeps (bsr)
    band = sp.diags([numbers("f8", 9), numbers("f8", 10), numbers("f8", 7)], [-1, 0, 3], (10, 10))
    sp.save_npz("dia.npz", band)
    same(band.tocsr(), sp.load_npz(convert("dia.npz", "b.npz")), "dia")
    blocks = sp.bsr_matrix(numbers("f8", (12, 9)), blocksize=(4, 3))
    sp.save_npz("bsr.npz", blocks)
    same(blocks.tocsr(), sp.load_npz(convert("bsr.npz", "b.npz")), "bsr")
    # indices of 64 bits; numbers that are integers, bytes, truth values
    A = matrix("f8").tocsr()
    A.indices, A.indptr = A.indices.astype("i8"), A.indptr.astype("i8")
    sp.save_npz("i8.npz", A)
    same(A, sp.load_npz(convert("i8.npz", "b.npz")), "i8")
    for kind in ("i1", "i4", "i8", "u2", "bool"):
        B = sp.csr_matrix((random.integers(0, 2, A.nnz).astype(kind), A.indices, A.indptr), A.shape)
        sp.save_npz("i.npz", B)
        same(B.astype("f8"), sp.load_npz(convert("i.npz", "b.npz")), kind)


def check_dense():
    for kind in TYPES:
        for order in "CF":
            A = np.array(numbers(kind, (7, 5)), order=order)
            np.save("a.npy", A)
            B = np.load(convert("a.npy", "b.npy", "--as", "matrix"))
            assert B.dtype == A.dtype and np.array_equal(A, B), (kind, order)
        v = numbers(kind, 100)
        np.save("v.npy", v)
        w = np.load(convert("v.npy", "w.npy", "--as", "vector"))
        assert w.shape == v.shape and w.tobytes() == v.tobytes(), kind
        np.save("v.npy", v.astype(np.dtype(kind).newbyteorder(">")))
        w = np.load(convert("v.npy", "w.npy", "--as", "vector"))
        assert w.dtype == v.dtype and w.tobytes() == v.tobytes(), kind
        convert("v.npy", "v.spry", "--as", "vector")
        assert np.load(convert("v.spry", "w.npy", "--as", "vector")).tobytes() == v.tobytes()


def check_boeing():
    """SciPy reads and writes real, general Harwell-Boeing files."""
    A = matrix("f8", 40, 40).tocsc()
    sp.save_npz("a.npz", A)
    same(A, scipy.io.hb_read(convert("a.npz", "a.rb")), "hb_read")
    same(A, sp.load_npz(convert("a.rb", "b.npz")), "rb")
    scipy.io.hb_write("a.rua", A)
    same(scipy.io.hb_read("a.rua"), sp.load_npz(convert("a.rua", "b.npz")), "hb_write")
    B = sp.csc_matrix(([3, 1, 2], ([0, 2, 1], [0, 0, 1])), (3, 2))
    scipy.io.hb_write("i.rua", B)
    same(B.astype("f8"), sp.load_npz(convert("i.rua", "b.npz")), "integers")


def check_mat():
    """MATLAB's files: sparse or full, packed or not, alone, among others and in structs."""
    for kind in ("f8", "c16"):
        A = matrix(kind)
        for packed in (False, True):
            scipy.io.savemat("a.mat", {"name": "text", "full": np.ones((3, 3)), "A": A.tocsc()}, do_compression=packed)
            same(A, sp.load_npz(convert("a.mat", "b.npz")), (kind, packed))
            problem = {"title": "one of a collection", "A": A.tocsc(), "b": np.ones(40)}
            scipy.io.savemat("p.mat", {"Problem": problem}, do_compression=packed)
            same(A, sp.load_npz(convert("p.mat", "c.npz")), (kind, packed))
        same(A, scipy.io.loadmat(convert("b.npz", "d.mat"))["A"], kind)
        for name in "d.mat", "a.mat":
            convert(name, "e.spry")
            same(A, sp.load_npz(convert("e.spry", "e.npz")), name)
    for kind in TYPES:
        B = numbers(kind, (7, 3))
        scipy.io.savemat("f.mat", {"B": B}, do_compression=True)
        assert np.array_equal(B, np.load(convert("f.mat", "f.npy"))), kind
        x = numbers(kind, 9)
        np.save("x.npy", x)
        y = scipy.io.loadmat(convert("x.npy", "x.mat"))["x"]
        assert y.dtype == x.dtype and np.array_equal(x, y[:, 0]), kind
    # whole numbers are kept in the smallest type that holds them
    W = sp.csc_matrix(np.array([[1.0, 0, 300], [0, -7, 0], [70000, 0, 0]]))
    scipy.io.savemat("w.mat", {"W": W})
    same(W, sp.load_npz(convert("w.mat", "w.npz")), "whole numbers")


def check_matrix_market():
    for kind in ("f8", "c16"):
        A = matrix(kind)
        scipy.io.mmwrite("a.mtx", A, precision=17)
        same(A, sp.load_npz(convert("a.mtx", "b.npz")), kind)
        same(A, scipy.io.mmread(convert("b.npz", "c.mtx")), kind)


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    for check in (check_sparse, check_dense, check_boeing, check_mat, check_matrix_market):
        check()
        print(check.__name__, "ok")
    os.chdir("/")
