function warn_unless_converged(result)
%WARN_UNLESS_CONVERGED  Says so when a solve has not come to its end, or has warnings.
  for j = 1:numel(result)
    r = result(j);
    if ~isempty(r.warnings)
      warning('spry:warning', '%s', strtrim(r.warnings));
    end
    if ~r.converged
      warning('spry:notConverged', 'not converged (%s) after %d iterations, true residual %.2g: %s', ...
              r.reason, r.iterations, r.true_residual, r.detail);
    end
  end
end
