function needs(given, least, call)
%NEEDS  An error where a call has too few arguments: needs(nargin, 2, 'spry_solve(A, b, ...)').
  if given < least
    error('spry:badUsage', '%s: too few arguments', call);
  end
end
