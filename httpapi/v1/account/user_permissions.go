package account

import (
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/access"
)

// MayManageUser keeps users who may do more out of the hands of a key, and operators
// out of those of any but an operator's.
func MayManageUser(p domain.Principal, u *domain.User) error {
	if u.Operator && (!p.Operator || p.UsesTokenOrSession()) {
		return domain.Errorf(domain.CodeOperatorRequired, "Who is an operator is up to operator keys, and so is what becomes of one.")
	}
	if rights := u.Role.Permissions(); !access.IsSubset(rights, p.Permissions) {
		return domain.Errorf(domain.CodeInsufficientPermissions, "The role may do more than the key.").With("required", rights)
	}
	return nil
}

// ManagesUsers says of whom a key may dispose.
func ManagesUsers(p domain.Principal) func(*domain.User) error {
	return func(u *domain.User) error { return MayManageUser(p, u) }
}
