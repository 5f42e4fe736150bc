function tests = test_tools()
%TEST_TOOLS  Information, tuning, files, lists and the guided menu.
  tests = {@information, @tuning, @files, @octaves_files, @dense_files, @complex_files, @bad_files, @lists, ...
           @too_few_arguments, @generated, @threads, @the_menu, @every_entry_of_the_menu, ...
           @the_menu_goes_on_after_errors, @plots, @help_texts};
end

function information()
  A = sparse([4 1 0; 1 4 0; 0 0 0]);
  info = spry_info(A);
  assert([info.rows, info.cols, info.nnz], [3, 3, 4]);
  assert(info.symmetric);
  assert([info.row_min, info.row_max, info.empty_rows], [0, 2, 1]);
  assert(info.row_histogram(1:3), [1, 0, 2]);
  assert(info.norm_one, 5);
  assert(~isempty(strfind(evalc('spry_info(A)'), '3 x 3, 4 entries')));
  assert(spry_info(spry_matrix(A)).nnz, 4);
  assert(~isempty(strfind(evalc('spry_info()'), 'cpu')));
  fails('spry:badType', 'logical', @() spry_info(A ~= 0));
  fails('spry:unsupported', '^spry_info: S is a transpose', @() spry_info(spry_matrix(A)'));
  fails('spry:unsupported', '^spry_tune: S is a transpose', @() spry_tune(spry_matrix(A)'));
end

function tuning()
  A = spry_generate('poisson2d', 'size', 50);
  report = spry_tune(A, 'products', 100, 'remember', false, 'always', true);
  assert(ischar(report.format) && ~isempty(report.rows));
  assert(report.products, 100);
  assert(report.rows(1).format, 'csr');
  x = ones(2500, 1);
  near(spry_matrix(A, 'format', report.format) * x, A * x, 1e-12);
  assert(~isempty(strfind(evalc('spry_tune(A, ''always'', true)'), 'csr')));
  fails('spry:badUsage', 'unknown', @() spry_tune(A, 'nonsense', 1));
end

function file_of(ending, check)
  name = [tempname(), ending];
  guard = onCleanup(@() delete(name));
  check(name);
end

function files()
  A = sprandn(20, 15, 0.3);
  for ending = {'.mtx', '.mtx.gz', '.npz', '.spry', '.rb', '.mat', '.v73.mat'}
    file_of(ending{1}, @(name) there_and_back(name, A));
  end
end

% Octave's own files, and ours for Octave.
function octaves_files()
  A = sprandn(20, 15, 0.3);
  for kind = {A, A + 1i * A, randn(6, 5)}
    file_of('.mat', @(name) by_hdf5(name, kind{1}));
  end
  for level = {'-v6', '-v7'}
    file_of('.mat', @(name) by_octave(name, A, level{1}));
    file_of('.mat', @(name) by_octave(name, A + 1i * A, level{1}));
    file_of('.mat', @(name) by_octave(name, randn(6, 5), level{1}));
  end
end

function by_octave(name, A, level)
  save(level, name, 'A');
  assert(spry_read(name), A);
  delete(name);
  spry_write(name, A);
  given = struct2cell(load(name));
  assert(given{1}, A);
end

% Octave reads no .mat of level 7.3, but its own HDF5.
function by_hdf5(name, A)
  save('-hdf5', name, 'A');
  assert(spry_read(name), A);
end

function there_and_back(name, A)
  spry_write(name, A);
  B = spry_read(name);
  assert(issparse(B) == issparse(A));
  assert(B, A);
end

function dense_files()
  file_of('.mtx', @(name) there_and_back(name, randn(7, 3)));
  file_of('.npy', @(name) there_and_back(name, randn(7, 1)));
  file_of('.mtx', @(name) there_and_back(name, randn(5, 2) + 1i));
  file_of('.v73.mat', @(name) there_and_back(name, randn(5, 2) + 1i));
end

function complex_files()
  file_of('.mtx', @(name) there_and_back(name, sprandn(9, 9, 0.4) + 1i * speye(9)));
  file_of('.npz', @(name) there_and_back(name, sprandn(9, 9, 0.4) + 1i * speye(9)));
end

function bad_files()
  fails('spry:io', 'nothing-here', @() spry_read('/nothing-here.mtx'));
  file_of('.mtx', @(name) not_a_matrix(name));
  fails('spry:badType', 'logical', @() spry_write('/tmp/a.mtx', true));
end

function not_a_matrix(name)
  f = fopen(name, 'w');
  fprintf(f, 'hello\n');
  fclose(f);
  fails('spry:badInput', 'mtx:1: a Matrix Market file begins', @() spry_read(name));
end

function lists()
  for name = {'methods', 'precons', 'formats', 'files', 'generators', 'devices'}
    entries = spry_list(name{1});
    assert(numel(entries) > 0 && ischar(entries(1).name));
  end
  assert(~isempty(strfind(evalc('spry_list(''methods'')'), 'gmres')));
  fails('spry:badUsage', 'stars', @() spry_list('stars'));
end

% Each name alone, but those that need no argument.
function too_few_arguments()
  for name = {'spry_bounded', 'spry_generate', 'spry_helmholtz', 'spry_make', 'spry_matrix', 'spry_pcg', ...
              'spry_places', 'spry_plot', 'spry_read', 'spry_solve', 'spry_stencil', 'spry_step', 'spry_threads', ...
              'spry_tune', 'spry_write'}
    fails('spry:badUsage', ['^', name{1}, '\(.*\): too few arguments$'], @() feval(name{1}));
  end
end

function generated()
  A = spry_generate('poisson3d', 'size', 4);
  assert(size(A), [64, 64]);
  assert(issymmetric(A));
  fails('spry:badUsage', '.', @() spry_generate('stars'));
end

function threads()
  assert(spry_threads(1), 1);
  spry_threads(0);
  fails('spry:badUsage', 'threads', @() spry_threads(-3));
  near(spry_solve(speye(2), [1; 2]), [1; 2], 1e-8);
  % what is kept outlives a number that is refused
  S = spry_matrix(2 * speye(2));
  fails('spry:badType', '^count is to be one real number', @() spry_threads('x'));
  fails('spry:badUsage', 'threads=100000', @() spry_threads(100000));
  assert(S * [1; 2], [2; 4]);
end

function the_menu()
  text = evalc(['spry_start({''1'', ''poisson2d'', ''10'', ''4'', ''5'', '''', ''3'', ', ...
                '''6'', '''', ''cg'', ''jacobi'', ''1e-9'', ''7'', '''', '''', '''', '''', ''9''})']);
  for code = {'A = spry_generate(''poisson2d'', ''size'', 10);', 'S = spry_matrix(A', 'y = S * x', ...
              '[x, result] = solve(S, b, ''method'', ''cg''', '[x, result] = spry_solve(A, b', ...
              'S: keeps A', 'converged'}
    assert(~isempty(strfind(text, code{1})), ['no ', code{1}, ' in ', text]);
  end
  assert(evalin('base', 'result.converged'));
  assert(isempty(strfind(text, 'did not work')), text);
  evalin('base', 'clear A S b x y result seconds k');
end

% Each entry, as often as its questions ask; entries are counted in the code, so that a new one is missed here.
function every_entry_of_the_menu()
  answers = {{'poisson2d', '8'}, {'', 'sell', 'single'}, {}, {}, {'', '3'}, {'', 'cg', 'jacobi', '1e-5'}, ...
             {'', '', '', '1e-5'}, {}, {}};
  if ~can_draw()
    fprintf('plots of the menu need fonts-freefont-otf\n');
    answers(8) = [];
  end
  given = {};
  for k = 1:numel(answers)
    number = k + (numel(answers) < 9 && k > 7);
    given = [given, {sprintf('%d', number)}, answers{k}];
  end
  hidden = get(0, 'defaultfigurevisible');
  guard = onCleanup(@() set(0, 'defaultfigurevisible', hidden));
  set(0, 'defaultfigurevisible', 'off');
  text = evalc('spry_start(given)');
  close all
  assert(numel(regexp(text, '^  \d  ', 'lineanchors')), 9 * numel(answers), text);
  assert(numel(strfind(text, 'what next [9]: ')), numel(answers));
  assert(isempty(strfind(text, 'did not work')), text);
  assert(isempty(strfind(text, 'please')), text);
  assert(numel(strfind(text, 'converged: ')), 2);
  evalin('base', 'clear A S b x y result seconds k');
end

function yes = can_draw()
  yes = true;
  try
    figure('visible', 'off');
    axes();
  catch
    yes = false;
  end
  close all
end

% What is drawn, by the numbers in the picture.
function plots()
  if ~can_draw()
    fprintf('plots need fonts-freefont-otf\n');
    return
  end
  figure('visible', 'off');
  A = sparse([4 1 0; 1 4 0; 0 0 0]);
  spry_plot(A);
  points = findobj(gca, 'type', 'line');
  assert(numel(get(points(end), 'xdata')), 4);
  clf
  spry_plot(A, 'rows');
  assert(get(gca, 'yticklabel')(:)', {'0', '1', '2-3'});
  bars = findobj(gca, 'type', 'hggroup');
  assert(get(bars(1), 'ydata')(:)', [1 0 2]);
  clf
  [~, result] = spry_solve(spry_generate('poisson2d', 'size', 8), ones(64, 1), 'method', 'cg', 'precon', 'none');
  spry_plot(result);
  curve = findobj(gca, 'type', 'line');
  assert(get(curve(1), 'ydata')(:), result.history(:));
  clf
  spry_plot([4 2 1]);
  curve = findobj(gca, 'type', 'line');
  assert(get(curve(1), 'ydata')(:)', [1 0.5 0.25]);
  close all
end

function the_menu_goes_on_after_errors()
  text = evalc(['spry_start({''3'', ''x'', ''1'', ''/nothing.mtx'', ''2'', ''cpu'', ''paper'', '''', ', ...
                '''2'', '''', ''ellr-t:T=3'', '''', ''1'', ''poisson2d'', ''5'', ''5'', ''9''})']);
  assert(numel(strfind(text, 'did not work')), 5, text);
  assert(~isempty(strfind(text, 'there is no A yet')));
  assert(~isempty(strfind(text, 'a number from 1 to 9')));
  evalin('base', 'clear A');
end

function help_texts()
  folder = fileparts(which('spry_solve'));
  files = dir(fullfile(folder, 'spry_*.m'));
  assert(numel(files) >= 20);
  for file = files(:)'
    name = file.name(1:end-2);
    text = get_help_text(name);
    assert(numel(text) > 100, name);
    assert(~isempty(strfind(text, upper(name))), name);
  end
end
