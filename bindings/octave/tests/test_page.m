function tests = test_page()
%TEST_PAGE  The code that docs/octave.md shows runs, on a processor where it names a GPU.
  tests = {@blocks};
end

function blocks()
  here = fileparts(mfilename('fullpath'));
  text = fileread(fullfile(here, '..', '..', '..', 'docs', 'octave.md'));
  found = regexp(text, '```matlab\n(.*?)```', 'tokens');
  assert(numel(found) >= 5);
  folder = tempname();
  mkdir(folder);
  before = cd(folder);
  cleaner = onCleanup(@() leave(before, folder));
  in_order(strrep([cellfun(@(t) t{1}, found, 'UniformOutput', false){:}], '''cuda''', '''cpu'''));
end

% What the page leaves to its reader, and then the page, line by line.
function in_order(code)
  A = spry_generate('poisson2d', 'size', 12);
  spry_write('A.mtx.gz', A);
  [b, b1, b2, b3, x] = deal(sin(1:144)');
  [L, U] = ilu(A);
  M1 = M2 = x0 = [];
  tol = 1e-6;
  maxit = 100;
  for line = strsplit(code, "\n")
    try
      eval(line{1});
    catch failure
      error('%s: %s', line{1}, failure.message);
    end
  end
end

function leave(before, folder)
  cd(before);
  delete(fullfile(folder, '*'));
  rmdir(folder);
end
