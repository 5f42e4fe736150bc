function A = spry_read(file, varargin)
%SPRY_READ  Reads a sparse matrix, or a dense array, from a file.
%   A = spry_read(file) reads a matrix as a sparse one: Matrix Market (.mtx,
%   .mtx.gz), Rutherford-Boeing and Harwell-Boeing (.rb, .rua, ...), SciPy's
%   .npz, .mat (also of level 7.3, and Octave's save -hdf5), .spry;
%   spry_list('files') has them all.  Symmetric files are written out in full.  A matrix that has all its entries, as dense arrays have (.mtx
%   array, .npy), is a full one.
%   A = spry_read(file, name, value, ...) with
%     duplicates  'error', 'sum': what entries given twice come to
%     nonfinite   'error', 'keep': NaN and infinite values
%
%   See also spry_write, spry_info.
  needs(nargin, 1, 'spry_read(file, ...)');
  A = spry_mex('read', plain_text(file), spry_options(varargin));
end
