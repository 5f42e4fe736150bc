#!/bin/sh
# The matrices that formats are measured with: bench/set.sh [SCALE [d|z]]. All are larger than a last-level cache of 32 MB in CSR
# (100 MB and more); SCALE makes them SCALE times larger. Those of the folder SPRY_MATRICES are repeated along the diagonal.
scale=${1:-1}
types=${2:-dz}
scaled() { echo "$(($1 * scale))"; }
# A grid's edge grows with the root of the number of points.
edge() { awk "BEGIN { printf \"%d\", $1 * $scale ^ (1 / $2) }"; }
tiled() { # name rows
    [ -z "${SPRY_MATRICES:-}" ] || [ ! -f "$SPRY_MATRICES/$1.mtx.gz" ] || echo "tiled:$SPRY_MATRICES/$1.mtx.gz,size=$(scaled "$2")"
}
case $types in *d*)
    echo "poisson2d:size=$(edge 1500 2)"
    echo "poisson3d:size=$(edge 128 3)"
    echo "poisson3d:size=$(edge 80 3),points=27"
    echo "anisotropic:size=$(edge 1500 2)"
    echo "convection-diffusion:size=$(edge 1500 2)"
    echo "elasticity:size=$(edge 38 3)"
    echo "tridiagonal:size=$(scaled 4000000)"
    echo "random:size=$(scaled 1000000)"
    echo "rmat:size=$(scaled 1000000)"
    echo "circuit:size=$(scaled 1500000)"
    tiled bcsstk38 240000
    tiled cage11 700000
    tiled epb3 1700000
    tiled stokes_A 1200000
    tiled kkt_CONT-300 2000000
    tiled usroads 3300000
    tiled ScaleMicrogrid_Jacobian_N1000_01 1700000
    tiled ct2010 1800000
    tiled delaunay_n16 1600000
    tiled kkt_BOYD1 800000
    ;;
esac
case $types in *z*)
    echo "helmholtz:size=$(edge 100 3)"
    tiled kim1 300000
    tiled smallLQCD_A1 150000
    ;;
esac
