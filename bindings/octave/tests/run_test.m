function run_test(name)
%RUN_TEST  Runs the functions that a test file gives, and says how many passed.
  tests = feval(name);
  for k = 1:numel(tests)
    try
      tests{k}();
    catch failure
      fprintf('FAILED: %s: %s\n', func2str(tests{k}), failure.message);
      for line = failure.stack(:)'
        fprintf('    %s, line %d\n', line.name, line.line);
      end
      exit(1);
    end
  end
  fprintf('ok: %s, %d tests\n', name, numel(tests));
end
