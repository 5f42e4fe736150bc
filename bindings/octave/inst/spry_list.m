function entries = spry_list(name)
%SPRY_LIST  What there is to choose from.
%   spry_list(name) prints a list: 'methods', 'precons', 'formats', 'files',
%   'generators', 'orderings', 'scalings', 'findings', or 'devices'.
%   entries = spry_list(name) gives it as structs.
%
%   See also spry_solve, spry_matrix, spry_info.
  if nargin < 1
    name = 'methods';
  end
  name = plain_text(name);
  if strcmp(name, 'devices')
    entries = spry_mex('devices');
    [entries.summary] = entries.description;
  else
    entries = spry_mex('list', name);
  end
  if nargout == 0
    for e = entries(:)'
      fprintf('  %-14s %s\n', e.name, e.summary);
    end
    clear entries
  end
end
