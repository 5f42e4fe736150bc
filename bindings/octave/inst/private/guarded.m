function handle = guarded(f)
%GUARDED  A function whose errors come back as a text: [y, message] = handle(x).
%   Errors must not pass through the library's functions that call it.
  handle = @(varargin) attempt(f, varargin{:});
end

function [y, message] = attempt(f, varargin)
  message = '';
  try
    y = f(varargin{:});
  catch failure
    y = [];
    message = failure.message;
    if isempty(message)
      message = 'a function of yours failed';
    end
  end
end
