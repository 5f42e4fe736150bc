function spry_make(library, sources)
%SPRY_MAKE  Builds the gateway, in Octave and in MATLAB.
%   spry_make(library) builds spry_mex in the folder of this file, from the
%   sources of the project: library is the folder where libspry was built or
%   installed.
%   spry_make(library, sources) with the project's folder elsewhere.
%
%   In Octave, `pkg install` of the package does all of this by itself.
%
%   Example
%     spry_make('/usr/local/lib')
  needs(nargin, 1, 'spry_make(library)');
  here = fileparts(mfilename('fullpath'));
  if nargin < 2
    sources = fullfile(here, '..', '..', '..');
  end
  files = dir(fullfile(sources, 'bindings', 'octave', 'src', '*.c'));
  files = cellfun(@(name) fullfile(sources, 'bindings', 'octave', 'src', name), {files.name}, 'UniformOutput', false);
  include = ['-I', fullfile(sources, 'include')];
  output = fullfile(here, 'spry_mex');
  if exist('OCTAVE_VERSION', 'builtin')
    mex(include, files{:}, ['-L', library], '-lspry_grid', '-lspry', ['-Wl,-rpath,', library], '-o', [output, '.mex']);
  else
    mex('-R2017b', '-D_POSIX_C_SOURCE=200809L', include, files{:}, ['-L', library], '-lspry_grid', '-lspry', '-lut', ...
        ['LDFLAGS=$LDFLAGS -Wl,-rpath,', library], '-output', output);
  end
end
