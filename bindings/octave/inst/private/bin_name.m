function name = bin_name(k)
%BIN_NAME  Which rows bin k of a row histogram counts: 0, 1, 2-3, 4-7, ...
  if k <= 2
    name = sprintf('%d', k - 1);
  else
    name = sprintf('%d-%d', 2^(k - 2), 2^(k - 1) - 1);
  end
end
