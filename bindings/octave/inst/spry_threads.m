function n = spry_threads(count)
%SPRY_THREADS  How many threads products and solves use.
%   n = spry_threads(count) restarts the library with this number; 0: all
%   cores.  Matrices that spry_matrix keeps are released.
%
%   See also spry_info.
  needs(nargin, 1, 'spry_threads(count)');
  one_number(count, 'count');
  n = spry_mex('open', sprintf('threads=%d', count));
  if nargout == 0
    clear n
  end
end
