function one_number(value, name)
%ONE_NUMBER  An error unless an argument is one real number.
  if ~isnumeric(value) || ~isscalar(value) || ~isreal(value)
    error('spry:badType', '%s is to be one real number', name);
  end
end
