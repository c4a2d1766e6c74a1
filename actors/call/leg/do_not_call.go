package leg

import (
	"context"
	"errors"
	"fmt"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/dnc"
)

// IsListed reports whether a number is on one of the do-not-call lists that s selects. It may block. After an error the
// number is not called.
type IsListed func(ctx context.Context, s dnc.ScrubRules, e164 string) (bool, error)

// BlockedError reports that a number must not be called. cause is set if the do-not-call lists could not be
// queried.
type BlockedError struct{ cause error }

// Error says whether the number is listed or the lists were unavailable.
func (b *BlockedError) Error() string {
	if b.cause != nil {
		return fmt.Sprintf("call: the do-not-call lists could not be queried: %v", b.cause)
	}
	return "call: the number is on a do-not-call list"
}

// Code returns the error code that the record of a transfer shows.
func (b *BlockedError) Code() domain.Code {
	if b.cause != nil {
		return domain.CodeUnavailable
	}
	return domain.CodeDNCBlocked
}

// CheckDoNotCall checks a number right before its INVITE or REFER. It returns a *BlockedError if the number must not be
// called. A nil listed function allows every number.
func CheckDoNotCall(ctx context.Context, listed IsListed, s dnc.ScrubRules, e164 string) error {
	if listed == nil {
		return nil
	}
	on, err := listed(ctx, s, e164)
	if err != nil {
		return &BlockedError{err}
	}
	if on {
		return &BlockedError{}
	}
	return nil
}

// FailureReason returns the reason that a call record shows for a leg that was not placed.
func FailureReason(err error) string {
	if b, ok := errors.AsType[*BlockedError](err); ok {
		return string(b.Code())
	}
	return string(domain.ReasonNotSent)
}
