function warn_unless_converged(result)
%WARN_UNLESS_CONVERGED  Says so when a solve has not come to its end.
  for j = find(~[result.converged])
    warning('spry:notConverged', 'not converged (%s) after %d iterations, true residual %.2g: %s', ...
            result(j).reason, result(j).iterations, result(j).true_residual, result(j).detail);
  end
end
