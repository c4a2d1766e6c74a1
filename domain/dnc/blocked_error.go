package dnc

import "github.com/callboard/callboard/domain"

// NewBlockedError returns the error for a number on a do-not-call list of the workspace.
func NewBlockedError() error {
	return domain.Errorf(domain.CodeDNCBlocked, "this number is on the do-not-call list of the workspace")
}
