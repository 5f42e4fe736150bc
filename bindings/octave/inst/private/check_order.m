function check_order(A, b)
%CHECK_ORDER  An error where the right-hand side stands in the place of the matrix.
%   One column for A and a matrix for b, sparse or square, is A and b exchanged.
  column = size(A, 2) == 1 && size(A, 1) > 1 && size(A, 1) == size(b, 1) && size(b, 2) > 1;
  if (column && (issparse(b) || size(b, 1) == size(b, 2))) || ...
     (isa(b, 'spry_matrix') && ~isa(A, 'spry_matrix'))
    error('spry:badShape', 'the matrix comes first: A is %d x %d, and b %d x %d', size(A, 1), ...
          size(A, 2), size(b, 1), size(b, 2));
  end
end
