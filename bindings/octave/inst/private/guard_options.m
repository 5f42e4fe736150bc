function options = guard_options(options)
%GUARD_OPTIONS  Options with their functions guarded.
  names = {'precon', 'monitor'};
  for k = 1:2
    if isfield(options, names{k}) && isa(options.(names{k}), 'function_handle')
      options.(names{k}) = guarded(options.(names{k}));
    end
  end
end
