function tests = test_clear()
%TEST_CLEAR  `clear all` and `clear functions` while matrices are kept.
%   They take the functions of this file away, too: one test is all of it.
  tests = {@clearing};
end

function clearing()
  assert(evalin('base', 'exist("spry_mex")'), 3);
  evalin('base', 'S = spry_matrix(speye(3)); T = S''; x = S * [1; 2; 3];');
  evalin('base', 'clear all');
  assert(~mislocked('spry_mex'));
  % what was kept is gone, and the gateway works as before
  evalin('base', 'S = spry_matrix(2 * speye(3)); y = S * [1; 2; 3];');
  assert(evalin('base', 'y'), [2; 4; 6]);
  % functions alone: the object is left
  evalin('base', 'clear -functions; clear S');
  evalin('base', 'S = spry_matrix(3 * speye(3)); y = S * [1; 2; 3];');
  assert(evalin('base', 'y'), [3; 6; 9]);
  % started again: what was kept before is released, and says so
  assert(evalin('base', 'spry_mex("open", "threads=1")'), 1);
  evalin('base', 'clear caught; try, S * [1; 2; 3]; catch e, caught = e.identifier; end');
  assert(evalin('base', 'caught'), 'spry:released');
  evalin('base', 'spry_mex("open");');
end
