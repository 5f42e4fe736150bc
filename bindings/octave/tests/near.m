function near(x, y, bound)
%NEAR  Asserts that |x - y| <= bound |y|, in sizes and class alike.
  assert(size(x), size(y));
  difference = norm(double(x(:)) - double(y(:)));
  assert(difference <= bound * norm(double(y(:))), sprintf('%g is more than %g', difference, bound * norm(double(y(:)))));
end
