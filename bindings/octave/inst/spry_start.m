function spry_start(answers)
%SPRY_START  A guided menu: load a matrix, keep it, multiply, solve.
%   spry_start asks what to do, shows the code of each step, and runs it in your
%   workspace, with the variables A, S, b, x, y and result.  What it shows can
%   be pasted into a script.
%
%   spry_start(answers) takes the answers from a cell of texts instead of asking.
%
%   See also spry_solve, spry_matrix, spry_tune.
  if nargin < 1
    answers = {};
  end
  ask([], answers, nargin > 0);
  steps = {'load a matrix',                                @load_matrix
           'configure: device, format, precision',         @configure
           'convert: keep the matrix so',                  @convert
           'automatic: let the tuner choose, and keep it', @automatic
           'multiply with the matrix that is kept',        @multiply
           'solve with the matrix that is kept',           @solve_system
           'one shot: solve with the matrix as it is',     @one_shot
           'plots: entries, rows, convergence',            @plots
           'exit',                                         []};
  choice = struct('device', 'cpu', 'format', 'auto', 'precision', 'double');
  while true
    show_state(choice);
    for k = 1:size(steps, 1)
      fprintf('  %d  %s\n', k, steps{k, 1});
    end
    k = str2double(ask('what next', '9'));
    if k == size(steps, 1)
      return
    elseif isnan(k) || k < 1 || k > size(steps, 1) || k ~= round(k)
      fprintf('a number from 1 to %d, please\n', size(steps, 1));
      continue
    end
    try
      choice = steps{k, 2}(choice);
    catch failure
      fprintf('that did not work: %s\n', failure.message);
    end
  end
end

% Asks, or takes the next of the answers that were given; '' is the default.
function answer = ask(question, initial, scripted)
  persistent given from_script
  if isempty(question)
    given = initial;
    from_script = scripted;
    return
  end
  if ~from_script
    answer = input(sprintf('%s [%s]: ', question, initial), 's');
  else
    given(end+1:1) = {'9'};   % out of answers: the exit
    answer = given{1};
    given(1) = [];
    fprintf('%s [%s]: %s\n', question, initial, answer);
  end
  answer = strtrim(answer);
  if isempty(answer)
    answer = initial;
  end
end

% Shows code and runs it in the workspace.
function run_code(format, varargin)
  code = sprintf(format, varargin{:});
  fprintf('  >> %s\n', code);
  evalin('base', code);
end

function text = quoted(text)
  text = ['''', strrep(text, '''', ''''''), ''''];
end

function yes = there_is(name)
  yes = evalin('base', sprintf('exist(''%s'', ''var'')', name)) == 1;
end

function need(name, how)
  if ~there_is(name)
    error('spry:badUsage', 'there is no %s yet: %s', name, how);
  end
end

function show_state(choice)
  fprintf('\n');
  if there_is('A')
    A = evalin('base', 'A');
    fprintf('A: %d x %d, %d entries\n', size(A, 1), size(A, 2), nnz(A));
    if there_is('S') && isa(evalin('base', 'S'), 'spry_matrix')
      S = evalin('base', 'S');
      words = {'S: keeps another matrix than A', 'S: keeps A'};
      try
        d = describe(S);
        fprintf('%s, in %s on %s\n', words{1 + matches(S, A)}, d.format, d.device);
      catch
        fprintf('S: was released\n');
      end
    end
  end
  fprintf('device %s, format %s, precision %s\n', choice.device, choice.format, choice.precision);
end

function choice = load_matrix(choice)
  from = ask('file, or kind of matrix to make (poisson3d)', 'poisson3d');
  kinds = spry_list('generators');
  if any(strcmp(from, {kinds.name}))
    run_code('A = spry_generate(%s, ''size'', %d);', quoted(from), str2double(ask('size', '30')));
  else
    run_code('A = spry_read(%s);', quoted(from));
  end
  run_code('spry_info(A)');
end

function choice = configure(choice)
  spry_list('devices');
  device = ask('device', choice.device);
  spry_list('formats');
  format = ask('format, options after a colon (ellr-t:T=2,BS=128)', choice.format);
  precision = ask('precision', choice.precision);
  % tried on a small matrix, so that what cannot be says so now
  small = spry_matrix(speye(8), 'device', device, 'format', format, 'precision', precision);
  delete(small);
  choice = struct('device', device, 'format', format, 'precision', precision);
end

function choice = convert(choice)
  need('A', 'load a matrix first');
  run_code('S = spry_matrix(A, ''device'', %s, ''format'', %s, ''precision'', %s)', ...
           quoted(choice.device), quoted(choice.format), quoted(choice.precision));
end

function choice = automatic(choice)
  need('A', 'load a matrix first');
  run_code('spry_tune(A, ''device'', %s)', quoted(choice.device));
  choice.format = 'auto';
  choice = convert(choice);
end

function choice = multiply(choice)
  need('S', 'convert the matrix first');
  vector = ask('x', 'ones(size(S, 2), 1)');
  times = str2double(ask('how many times', '100'));
  run_code('x = %s;', vector);
  run_code('tic; for k = 1:%d, y = S * x; end, seconds = toc;', times);
  seconds = evalin('base', 'seconds');
  entries = describe(evalin('base', 'S'));
  fprintf('%d products in %.4g s, %.4g GFlop/s\n', times, seconds, 2e-9 * entries.nnz * times / seconds);
end

function options = ask_solver()
  method = ask('method (auto, cg, gmres, ...)', 'auto');
  precon = ask('preconditioner (auto, none, jacobi, ilu, amg, ...)', 'auto');
  tol = ask('tolerance', '1e-8');
  options = sprintf('''method'', %s, ''precon'', %s, ''tol'', %s', quoted(method), quoted(precon), tol);
end

function print_result()
  r = evalin('base', 'result');
  fprintf('%s: %s with %s, iterations: %d, true residual %.3g, %.3g s\n', r(1).reason, ...
          r(1).method, r(1).precon, r(1).iterations, r(1).true_residual, ...
          r(1).setup_seconds + r(1).solve_seconds);
end

function choice = solve_system(choice)
  need('S', 'convert the matrix first');
  run_code('b = %s;', ask('b', 'ones(size(S, 1), 1)'));
  run_code('[x, result] = solve(S, b, %s);', ask_solver());
  print_result();
end

function choice = one_shot(choice)
  need('A', 'load a matrix first');
  run_code('b = %s;', ask('b', 'ones(size(A, 1), 1)'));
  run_code('[x, result] = spry_solve(A, b, ''device'', %s, ''precision'', %s, %s);', ...
           quoted(choice.device), quoted(choice.precision), ask_solver());
  print_result();
end

function choice = plots(choice)
  need('A', 'load a matrix first');
  run_code('figure; spry_plot(A)');
  run_code('figure; spry_plot(A, ''rows'')');
  if there_is('result')
    run_code('figure; spry_plot(result)');
  end
end
