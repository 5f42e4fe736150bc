function tests = test_device()
%TEST_DEVICE  Matrices that are kept on a device, where there is one.
  tests = {};
  devices = spry_list('devices');
  usable = devices([devices.usable] & ~strcmp({devices.kind}, 'cpu'));
  for k = 1:numel(usable)
    tests{end+1} = @() products_and_solves(usable(k).name);
  end
end

function products_and_solves(device)
  A = spry_generate('poisson2d', 'size', 12);
  A(1, 7) = 0.5;
  b = cos((1:144)');
  S = spry_matrix(A, 'device', device, 'format', 'csr');
  assert(describe(S).device, device);
  bound = 100 * eps;
  near(S * b, A * b, bound);
  near(S * [b, 2 * b], A * [b, 2 * b], bound);
  near(S' * b, A' * b, bound);
  [x, result] = solve(S, b, 'method', 'bicgstab', 'precon', 'jacobi', 'tol', 1e-10);
  assert(result.device, device);
  near(A * x, b, 1e-9);
  assert(update(S, 2 * A), 'values');
  near(S * b, 2 * A * b, bound);
  delete(S);
  fails('spry:released', 'released', @() S * b);
end
