function id = kept_id(S, call)
%KEPT_ID  The gateway's id of a matrix or stencil that is kept, and not of a transpose.
  if ~isa(S, 'spry_matrix')
    error('spry:badType', '%s: S is of spry_stencil or spry_matrix, not of class %s', call, class(S));
  elseif ~isempty(S.owner)
    error('spry:unsupported', '%s: S is a transpose: spry_matrix(sparse(S)) keeps it', call);
  end
  id = S.id;
end
