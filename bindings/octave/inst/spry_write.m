function spry_write(file, A)
%SPRY_WRITE  Writes a sparse matrix, or a full array, to a file.
%   spry_write(file, A): the format follows from the name's ending, as in
%   spry_read (.v73.mat for level 7.3); the file is whole or not there.
%
%   See also spry_read.
  needs(nargin, 2, 'spry_write(file, A)');
  spry_mex('write', plain_text(file), A);
end
