function n = spry_threads(count)
%SPRY_THREADS  How many threads products and solves use.
%   n = spry_threads(count) starts again with this number; 0: all cores
%   cores.  Matrices that spry_matrix keeps are released by it.
%
%   See also spry_info.
  n = spry_mex('open', sprintf('threads=%d', count));
  if nargout == 0
    clear n
  end
end
