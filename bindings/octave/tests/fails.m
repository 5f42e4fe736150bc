function fails(id, pattern, f)
%FAILS  Asserts that f() is an error with an identifier and a text that a pattern is found in.
  try
    f();
  catch failure
    assert(failure.identifier, id);
    assert(~isempty(regexp(failure.message, pattern, 'once')), ...
           sprintf('"%s" has no "%s"', failure.message, pattern));
    return
  end
  error('%s: no error was raised', func2str(f));
end
