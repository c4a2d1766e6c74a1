package account

import (
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/access"
)

// MayManageUser returns an error if the principal may not manage a user. The principal needs all permissions of the
// user. To manage an operator, the principal needs an operator key.
func MayManageUser(p domain.Principal, u *domain.User) error {
	if u.Operator && (!p.Operator || p.UsesTokenOrSession()) {
		return domain.Errorf(domain.CodeOperatorRequired, "Only operator keys can create, change and delete operators.")
	}
	if rights := u.Role.Permissions(); !access.IsSubset(rights, p.Permissions) {
		return domain.Errorf(domain.CodeInsufficientPermissions, "The role has permissions that the key does not have.").With("required", rights)
	}
	return nil
}

// ManagesUsers returns a function that calls MayManageUser with the principal p.
func ManagesUsers(p domain.Principal) func(*domain.User) error {
	return func(u *domain.User) error { return MayManageUser(p, u) }
}
