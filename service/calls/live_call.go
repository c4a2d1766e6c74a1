package calls

import (
	"context"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/call"
	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/service/record"
)

// liveCall returns a call that is not over, and the actor that has it.
func (s *Service) liveCall(ctx context.Context, p domain.Principal, id string) (*domain.Call, *actor.PID, error) {
	c, err := record.LiveCall(ctx, s.store, p, id)
	if err != nil {
		return nil, nil, err
	}
	pid, err := s.cfg.Actors.CallsPID(p.WorkspaceID)
	return c, pid, err
}

// HangupCall ends a live call.
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

// SayInCall lets the agent of a live call say a text.
func (s *Service) SayInCall(ctx context.Context, p domain.Principal, id, text string) (*domain.Call, error) {
	return s.command(ctx, p, id, func(callID string) any { return call.SpeakText{CallID: callID, Text: text} })
}

// PressInCall sends digits to the remote party of a live call.
func (s *Service) PressInCall(ctx context.Context, p domain.Principal, id, digits string) (*domain.Call, error) {
	return s.command(ctx, p, id, func(callID string) any { return call.SendDigits{CallID: callID, Digits: digits} })
}

// command sends a message to a live call and returns the call as it is then.
func (s *Service) command(ctx context.Context, p domain.Principal, id string, message func(callID string) any) (*domain.Call, error) {
	c, pid, err := s.liveCall(ctx, p, id)
	if err != nil {
		return nil, err
	}
	done, err := mailbox.Ask[call.RequestDone](ctx, s.cfg.System, pid, message(c.ID))
	return &done.Call, err
}
