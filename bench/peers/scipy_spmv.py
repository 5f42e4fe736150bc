"""SciPy's csr @ x on the arrays spry makes, or csr @ csr: scipy_spmv.py LIBSPRY MATRIX [square]; prints best and
median seconds."""
import ctypes
import sys
import time

import numpy
import scipy.sparse


class Arrays(ctypes.Structure):
    """spry_arrays of include/spry/matrix.h"""

    _fields_ = [
        ("size", ctypes.c_size_t),
        ("type", ctypes.c_int),
        ("format", ctypes.c_int),
        ("symmetry", ctypes.c_int),
        ("rows", ctypes.c_int64),
        ("cols", ctypes.c_int64),
        ("nnz", ctypes.c_int64),
        ("offsets", ctypes.c_void_p),
        ("row_index", ctypes.c_void_p),
        ("col_index", ctypes.c_void_p),
        ("values", ctypes.c_void_p),
        ("offset_bits", ctypes.c_int),
        ("index_bits", ctypes.c_int),
        ("base", ctypes.c_int),
    ]


def view(address, dtype, count):
    size = count * numpy.dtype(dtype).itemsize
    return numpy.frombuffer((ctypes.c_char * size).from_address(address), dtype)


def main():
    spry = ctypes.CDLL(sys.argv[1])
    kind, _, options = sys.argv[2].partition(":")
    context, matrix = ctypes.c_void_p(), ctypes.c_void_p()
    spry.spry_context_new(None, ctypes.byref(context))
    if spry.spry_generate(context, kind.encode(), options.encode(), ctypes.byref(matrix)) != 0:
        sys.exit(2)
    a = Arrays(size=ctypes.sizeof(Arrays))
    spry.spry_matrix_arrays(matrix, ctypes.byref(a))
    dtype = ["f4", "f8", "c8", "c16"][a.type]
    offsets = view(a.offsets, "i8", a.rows + 1).astype("i4")  # SciPy wants both indices alike
    csr = scipy.sparse.csr_matrix(
        (view(a.values, dtype, a.nnz), view(a.col_index, "i4", a.nnz), offsets),
        shape=(a.rows, a.cols), copy=False)
    square = sys.argv[3:] == ["square"]
    x = csr if square else numpy.ones(a.cols, dtype)
    times = []
    csr @ x
    while len(times) < 5 or (sum(times) < 1 and len(times) < 100):
        start = time.perf_counter()
        product = csr @ x
        if square:
            product.sort_indices()
        times.append(time.perf_counter() - start)
    times.sort()
    print(times[0], times[len(times) // 2])


main()
