function spry_plot(what, varargin)
%SPRY_PLOT  Plots a matrix, its rows, or how a solve converged.
%   spry_plot(A) or spry_plot(A, 'spy')   where A has entries
%   spry_plot(A, 'rows')                  how many rows have how many entries
%   spry_plot(result)                     residuals of a solve; several results
%                                         are several curves
%   spry_plot(resvec)                     the same from spry_pcg and its kin
%
%   Example
%     [x, result] = spry_solve(A, b);  spry_plot(result);
%
%   See also spry_solve, spry_info.
  needs(nargin, 1, 'spry_plot(what)');
  if isstruct(what)
    convergence({what.history}, arrayfun(@(r) [r.method, ', ', r.precon], what, 'UniformOutput', false));
  elseif isnumeric(what) && ~issparse(what) && isvector(what)
    convergence({what / what(1)}, {'residual'});
  elseif nargin > 1 && strcmp(varargin{1}, 'rows')
    histogram(spry_info(what));
  else
    spy(what);
    axis image
    xlabel('');   % spy counts the entries there
    title(sprintf('%d x %d, %d entries', size(what, 1), size(what, 2), nnz(what)));
  end
end

function convergence(histories, names)
  for k = 1:numel(histories)
    h = histories{k};
    h(h <= 0) = realmin;
    semilogy(0:numel(h) - 1, h, '.-');
    hold on
  end
  hold off
  grid on
  xlabel('iteration');
  ylabel('relative residual');
  legend(names{:});
end

function histogram(info)
  last = max([find(info.row_histogram, 1, 'last'), 1]);
  counts = info.row_histogram(1:last);
  barh(1:last, counts);   % lying, so that the names of bins have room
  for k = find(counts(:)')   % a few long rows are too few to see
    text(counts(k), k, sprintf(' %d', counts(k)));
  end
  names = arrayfun(@bin_name, 1:last, 'UniformOutput', false);
  set(gca, 'ytick', 1:last, 'yticklabel', names, 'ydir', 'reverse', 'ylim', [0.4, last + 0.6], ...
      'xlim', [0, 1.15 * max(counts)]);
  ylabel('entries per row');
  xlabel('rows');
end
