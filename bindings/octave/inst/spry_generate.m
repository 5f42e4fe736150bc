function A = spry_generate(kind, varargin)
%SPRY_GENERATE  A generated sparse test matrix.
%   A = spry_generate(kind, name, value, ...): kinds are those of
%   spry_list('generators').
%
%   Example
%     A = spry_generate('poisson3d', 'size', 40);
%
%   See also spry_list, spry_read.
  needs(nargin, 1, 'spry_generate(kind, ...)');
  A = spry_mex('generate', plain_text(kind), spry_options(varargin));
end
