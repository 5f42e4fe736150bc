function info = spry_info(A)
%SPRY_INFO  What a sparse matrix looks like.
%   spry_info(A) prints sizes, row lengths as a histogram, bandwidths, symmetry,
%   diagonal and norms.  A is sparse, a matrix kept by spry_matrix, or the name
%   of a file.
%   info = spry_info(A) gives the same as a struct.
%   spry_info() shows the version and the devices.
%
%   See also spry_tune, spry_plot, spry_list.
  if nargin < 1
    info = struct('version', spry_mex('version'), 'devices', spry_mex('devices'));
    if nargout == 0
      fprintf('spry %s\n', info.version);
      for d = info.devices(:)'
        words = {d.why, d.description};
        fprintf('  %-10s %s\n', d.name, words{1 + d.usable});
      end
      clear info
    end
    return
  end
  A = plain_text(A);
  if ischar(A)
    A = spry_read(A);
  elseif isa(A, 'spry_matrix')
    A = kept_id(A, 'spry_info');
  end
  info = spry_mex('info', A);
  if nargout == 0
    show(info);
    clear info
  end
end

function show(s)
  yes = {'no', 'yes'};
  fprintf('  %d x %d, %d entries\n', s.rows, s.cols, s.nnz);
  fprintf('  entries per row  %d to %d, mean %.4g, deviation %.4g\n', s.row_min, s.row_max, ...
          s.row_mean, s.row_deviation);
  fprintf('  bandwidth        %d below, %d above\n', s.lower_bandwidth, s.upper_bandwidth);
  fprintf('  symmetric        %s (pattern %.4g, values %.4g)\n', yes{1 + s.symmetric}, ...
          s.pattern_symmetry, s.value_symmetry);
  fprintf('  hermitian        %s\n', yes{1 + s.hermitian});
  fprintf('  diagonal         %d missing, %d zero, %d positive\n', s.missing_diagonal, ...
          s.zero_diagonal, s.positive_diagonal);
  fprintf('  dominant rows    %d\n', s.dominant_rows);
  fprintf('  blocks           %d x %d, %.0f%% filled\n', s.block_size, s.block_size, 100 * s.block_fill);
  fprintf('  magnitudes       %.4g to %.4g\n', s.value_min, s.value_max);
  fprintf('  norms            1: %.4g, infinity: %.4g, Frobenius: %.4g\n', s.norm_one, ...
          s.norm_inf, s.norm_frobenius);
  most = max(s.row_histogram);
  for k = 1:find(s.row_histogram, 1, 'last')
    fprintf('  %14s   %9d %s\n', bin_name(k), s.row_histogram(k), ...
            repmat('#', 1, ceil(40 * s.row_histogram(k) / max(most, 1))));
  end
end
