package calls

import (
	"context"
	"errors"
	"time"

	"github.com/callboard/callboard/actors/lines"
	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/actors/testcalls"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/sip/testcarrier"
)

// testCallTimeout bounds how long a call of the test carrier may take until it is
// accepted or refused.
const testCallTimeout = 6 * time.Second

// SIP status codes of refused calls.
const (
	sipNotFound = 404
	sipBusyHere = 486
)

// InboundTest orders a call from the test carrier to a number of the workspace.
type InboundTest struct {
	To     string        // E.164
	From   string        // E.164 or anonymous
	Name   string        // shown beside it
	Digits string        // pressed one by one as the agent pauses
	Says   string        // once the agent pauses
	HangUp time.Duration // after so long; 0: when the agent does
}

// TestInboundCall lets the test carrier call a number of the workspace and returns
// the call. Errors: invalid_state, no_trunk, validation_failed,
// concurrent_limit_exceeded, unavailable.
func (s *Service) TestInboundCall(ctx context.Context, p domain.Principal, o InboundTest) (*domain.Call, error) {
	if err := s.checkTestCalls(p, s.cfg.TestCall != nil); err != nil {
		return nil, err
	}
	mark := mailbox.NewID("test")
	arrived, remove := s.cfg.TestCalls.Add(mark, testcalls.Order{})
	defer remove()
	bound, cancel := context.WithTimeout(ctx, testCallTimeout)
	defer cancel()
	err := s.cfg.TestCall(bound, testcarrier.Order{
		To: o.To, From: o.From, Name: o.Name, Mark: mark, Digits: o.Digits, Says: o.Says, HangUp: o.HangUp,
	})
	if err = s.testCallError(ctx, p, err); err != nil {
		return nil, err
	}
	select {
	case id := <-arrived:
		return s.Call(ctx, p, id)
	case <-bound.Done():
		return nil, testCallLate()
	}
}

func testCallLate() error {
	return domain.Errorf(domain.CodeUnavailable, "the call was not taken in time; try again").With("retry_after", 1)
}

// checkTestCalls returns an error if the test carrier makes no calls for p.
func (s *Service) checkTestCalls(p domain.Principal, hasCarrier bool) error {
	switch {
	case p.Environment != domain.Test:
		return domain.Errorf(domain.CodeInvalidState, "the built-in carrier calls with a test key only")
	case !hasCarrier:
		return domain.Errorf(domain.CodeNoTrunk, "the built-in carrier is switched off")
	}
	return s.cfg.Admission.CheckInboundCallAdmission()
}

// testCallError returns the error for the response to a call of the test carrier.
func (s *Service) testCallError(ctx context.Context, p domain.Principal, err error) error {
	refused, ok := errors.AsType[*testcarrier.RefusedError](err)
	switch {
	case !ok:
		return err
	case refused.Code == sipNotFound:
		return domain.FieldError("to", domain.CodeValidation, "to must be a number of this workspace's test environment that an agent answers")
	case refused.Code == sipBusyHere:
		return s.inboundLimitError(ctx, p)
	}
	return domain.Errorf(domain.CodeUnavailable, "the call was refused: %d %s", refused.Code, refused.Phrase).With("retry_after", 1)
}

// inboundLimitError is concurrent_limit_exceeded with the number of inbound calls.
func (s *Service) inboundLimitError(ctx context.Context, p domain.Principal) error {
	pid, err := s.cfg.Permits.InboundLinesPID(p.WorkspaceID)
	if err != nil {
		return err
	}
	now, err := mailbox.Ask[lines.Usage](ctx, s.cfg.System, pid, lines.GetUsage{})
	if err != nil {
		return err
	}
	return domain.Errorf(domain.CodeConcurrentLimit, "all %d inbound lines are busy", now.Limit).With("active_calls", now.Active).With("limit", now.Limit)
}
