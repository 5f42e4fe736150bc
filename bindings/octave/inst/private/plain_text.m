function value = plain_text(value)
%PLAIN_TEXT  MATLAB's strings ("...") as characters; anything else as it is.
  if isa(value, 'string') && isscalar(value)
    value = char(value);
  end
end
