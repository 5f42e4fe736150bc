function report = spry_tune(A, varargin)
%SPRY_TUNE  Finds the storage format in which products with A are fastest here.
%   spry_tune(A) prints what was timed, and the choice.
%   report = spry_tune(A, name, value, ...) gives a struct with the choice
%   (report.format, as spry_matrix takes it) and a row for each format.
%
%     products  how many products the choice is for (1000)
%     budget    timing may take as long as this many products (20)
%     again     true: times again what is remembered
%     remember  false: keeps nothing
%     always    true: times formats also where the matrix is too small for it to pay
%     device    'cpu', 'cuda', 'opencl:0'
%
%   See also spry_matrix, spry_info, spry_list.
  needs(nargin, 1, 'spry_tune(A, ...)');
  options = spry_options(varargin);
  device = 'cpu';
  if isfield(options, 'device')
    device = options.device;
    options = rmfield(options, 'device');
  end
  if isa(A, 'spry_matrix')
    A = kept_id(A, 'spry_tune');
  end
  report = spry_mex('tune', A, options, device);
  if nargout == 0
    show(report);
    clear report
  end
end

function show(report)
  from = {'timed', 'remembered'};
  fprintf('  format %s, %s, for %d products\n', report.format, from{1 + report.remembered}, report.products);
  fprintf('  %-28s %12s %12s %12s  %s\n', 'format', 'MB', 'ms forecast', 'ms timed', '');
  timed = report.rows([report.rows.seconds] > 0);
  for r = timed(:)'
    fprintf('  %-28s %12.4g %12.4g %12.4g  %s\n', r.format, r.bytes / 1e6, 1e3 * r.model_seconds, ...
            1e3 * r.seconds, r.note);
  end
  if numel(timed) < numel(report.rows)
    fprintf('  and %d not timed\n', numel(report.rows) - numel(timed));
  end
end
