package validation

import (
	"github.com/callboard/callboard/domain"
)

// OperatorUser adds a problem if a user cannot be a dashboard operator. The role must be viewer or admin, because they
// can read everything, and the environment must be live.
func OperatorUser(p *domain.Problems, u *domain.User) {
	switch {
	case !u.Operator:
	case u.Role != domain.RoleViewer && u.Role != domain.RoleAdmin:
		p.Add("operator", domain.CodeValidation, "must be false for this role: an operator is a viewer, who looks on, or an admin, who acts")
	case u.Environment == domain.Test:
		p.Add("operator", domain.CodeValidation, "must be false for a user of the test environment")
	}
}
