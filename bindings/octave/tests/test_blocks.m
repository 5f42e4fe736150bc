function tests = test_blocks()
%TEST_BLOCKS  Octave's own test blocks of pcg and its kin, run through the spry_ functions.
%   A folder is made in which pcg calls spry_pcg and has the blocks of Octave's pcg.m.
  tests = {};
  known = {'pcg', 0, 'pcr', 0, 'gmres', 0, 'bicg', 1, 'bicgstab', 0, 'cgs', 0, 'qmr', 0, 'tfqmr', 1};
  for k = 1:2:numel(known)
    tests{end+1} = @() as_octaves(known{k:k+1});
  end
end

% apart: blocks that pass with Octave's function and not with ours. bicg: one gives b a second
% column, which Octave takes for its shadow residual. tfqmr: one counts iterations whose halves are
% told apart.
function as_octaves(name, apart)
  own = run_blocks(name, which(name));
  folder = tempname();
  mkdir(folder);
  cleaner = onCleanup(@() remove(folder));
  file = fullfile(folder, [name, '.m']);
  shadow(file, name);
  warning('off', 'Octave:shadowed-function', 'local');
  addpath(folder);
  [passed, count, log] = run_blocks(name, file);
  fprintf('%s: %d of %d blocks, Octave %d\n', name, passed, count, own);
  assert(passed >= own - apart, log);
end

% The blocks of a file: how many pass, of how many, and what those say that fail.
function [passed, count, log] = run_blocks(name, file)
  out = tempname();
  [passed, count] = test(file, 'quiet', out);
  log = fileread(out);
  delete(out);
end

function shadow(file, name)
  blocks = regexp(fileread(which(name)), '^%!.*?$', 'match', 'lineanchors');
  out = fopen(file, 'w');
  fprintf(out, 'function varargout = %s(varargin)\n', name);
  fprintf(out, '  [varargout{1:max(nargout, 1)}] = spry_%s(varargin{:});\nend\n\n', name);
  fprintf(out, '%s\n', strjoin(regexprep(blocks, '\s+$', ''), "\n"));
  fclose(out);
end

function remove(folder)
  rmpath(folder);
  delete(fullfile(folder, '*.m'));
  rmdir(folder);
end
