function options = spry_options(given)
%SPRY_OPTIONS  The struct that names and values, or structs, stand for.
  options = struct();
  given = cellfun(@plain_text, given, 'UniformOutput', false);
  k = 1;
  while k <= numel(given)
    if isstruct(given{k}) && isscalar(given{k})
      names = fieldnames(given{k});
      for i = 1:numel(names)
        options.(names{i}) = plain_text(given{k}.(names{i}));
      end
      k = k + 1;
    elseif ischar(given{k}) && k < numel(given)
      name = strrep(given{k}, '-', '_');
      if ~isvarname(name)
        error('spry:badUsage', '''%s'' is not the name of an option', given{k});
      end
      options.(name) = given{k + 1};
      k = k + 2;
    elseif isempty(given{k})
      k = k + 1;
    else
      error('spry:badUsage', 'options are structs, or names with values');
    end
  end
end
