package calls

import (
	"context"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/call"
	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/service/record"
)

// liveCall returns a call that has not ended, and the calls actor of its workspace. Errors: not_found, invalid_state.
func (s *Service) liveCall(ctx context.Context, p domain.Principal, id string) (*domain.Call, *actor.PID, error) {
	c, err := record.LiveCall(ctx, s.store, p, id)
	if err != nil {
		return nil, nil, err
	}
	pid, err := s.cfg.Actors.CallsPID(p.WorkspaceID)
	return c, pid, err
}

// HangupCall ends a live call and returns the call. Errors: not_found, invalid_state.
func (s *Service) HangupCall(ctx context.Context, p domain.Principal, id string) (*domain.Call, error) {
	c, pid, err := s.liveCall(ctx, p, id)
	if err != nil {
		return nil, err
	}
	if _, err := mailbox.Ask[call.HangupStarted](ctx, s.cfg.System, pid, call.HangUp{CallID: c.ID}); err != nil {
		return nil, err
	}
	return s.Call(ctx, p, id)
}

// SayInCall makes the agent of a live call speak a text.
func (s *Service) SayInCall(ctx context.Context, p domain.Principal, id, text string) (*domain.Call, error) {
	return s.sendCommand(ctx, p, id, func(callID string) any { return call.SpeakText{CallID: callID, Text: text} })
}

// PressInCall sends DTMF digits to the remote party of a live call.
func (s *Service) PressInCall(ctx context.Context, p domain.Principal, id, digits string) (*domain.Call, error) {
	return s.sendCommand(ctx, p, id, func(callID string) any { return call.SendDigits{CallID: callID, Digits: digits} })
}

// sendCommand sends a message about a live call to the calls actor and returns the call.
func (s *Service) sendCommand(ctx context.Context, p domain.Principal, id string, message func(callID string) any) (*domain.Call, error) {
	c, pid, err := s.liveCall(ctx, p, id)
	if err != nil {
		return nil, err
	}
	done, err := mailbox.Ask[call.RequestDone](ctx, s.cfg.System, pid, message(c.ID))
	return &done.Call, err
}
