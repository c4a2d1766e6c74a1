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

// testCallTimeout is how long a call of the test carrier may take until this service accepts or refuses it.
const testCallTimeout = 6 * time.Second

// SIP status codes with which this service refuses calls of the test carrier.
const (
	sipNotFound = 404
	sipBusyHere = 486
)

// InboundTest is a request for a call from the test carrier to a number of the workspace.
type InboundTest struct {
	To     string        // E.164
	From   string        // E.164, or anonymous
	Name   string        // caller's name
	Digits string        // DTMF digits, sent one by one in pauses of the agent
	Says   string        // text that the caller speaks in a pause of the agent
	HangUp time.Duration // when the caller hangs up, from the answer; 0: when the agent hangs up
}

// TestInboundCall makes the test carrier call a number of the workspace, and returns the call. Errors:
// invalid_state, no_trunk, validation_failed, concurrent_limit_exceeded, unavailable.
func (s *Service) TestInboundCall(ctx context.Context, p domain.Principal, o InboundTest) (*domain.Call, error) {
	if err := s.checkTestCalls(p, s.cfg.TestCall != nil); err != nil {
		return nil, err
	}
	mark := mailbox.NewID("test")
	arrived, remove := s.cfg.TestCalls.Add(mark, testcalls.TestCallRequest{})
	defer remove()
	callCtx, cancel := context.WithTimeout(ctx, testCallTimeout)
	defer cancel()
	err := s.cfg.TestCall(callCtx, testcarrier.CallRequest{
		To: o.To, From: o.From, Name: o.Name, TestID: mark, Digits: o.Digits, Speech: o.Says, HangUp: o.HangUp,
	})
	if err = s.testCallError(ctx, p, err); err != nil {
		return nil, err
	}
	select {
	case id := <-arrived:
		return s.Call(ctx, p, id)
	case <-callCtx.Done():
		return nil, testCallTimeoutError()
	}
}

func testCallTimeoutError() error {
	return domain.Errorf(domain.CodeUnavailable, "the service did not accept the call in time; try again").With("retry_after", 1)
}

// checkTestCalls returns an error if p may not use the test carrier, or if there is none.
func (s *Service) checkTestCalls(p domain.Principal, hasCarrier bool) error {
	switch {
	case p.Environment != domain.Test:
		return domain.Errorf(domain.CodeInvalidState, "the test carrier places calls only for keys of the test environment")
	case !hasCarrier:
		return domain.Errorf(domain.CodeNoTrunk, "the test carrier is disabled")
	}
	return s.cfg.Admission.CheckInboundCallAdmission()
}

// testCallError converts an error of the test carrier to the error of the API.
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

// inboundLimitError returns the error concurrent_limit_exceeded with the number of live inbound calls.
func (s *Service) inboundLimitError(ctx context.Context, p domain.Principal) error {
	pid, err := s.cfg.Permits.InboundLinesPID(p.WorkspaceID)
	if err != nil {
		return err
	}
	now, err := mailbox.Ask[lines.Usage](ctx, s.cfg.System, pid, lines.GetUsage{})
	if err != nil {
		return err
	}
	return domain.Errorf(domain.CodeConcurrentLimit, "all %d concurrent inbound calls are in use", now.Limit).With("active_calls", now.Active).With("limit", now.Limit)
}
