package httpapi_test

import (
	"context"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/event"
	"github.com/callboard/callboard/service/calls"
	"github.com/callboard/callboard/service/events"
	"github.com/callboard/callboard/service/record"
)

func (f *fakeServices) TransferCall(_ context.Context, _ domain.Principal, id string, o calls.Transfer) (*domain.Call, error) {
	c, err := f.calls.get(id)
	if err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.transfers = append(f.transfers, o)
	shown := *c
	shown.Status = domain.CallTransferring
	shown.Transfers = []domain.Transfer{{To: o.To, Mode: domain.TransferBridge, Status: domain.TransferStarted, By: "api", StartedAt: time.Unix(1, 0).UTC()}}
	return &shown, nil
}

func (f *fakeServices) SayInCall(_ context.Context, _ domain.Principal, id, text string) (*domain.Call, error) {
	f.mu.Lock()
	f.spoken = append(f.spoken, text)
	f.mu.Unlock()
	return f.calls.get(id)
}

func (f *fakeServices) PressInCall(_ context.Context, _ domain.Principal, id, digits string) (*domain.Call, error) {
	f.mu.Lock()
	f.spoken = append(f.spoken, digits)
	f.mu.Unlock()
	return f.calls.get(id)
}

func (f *fakeServices) CallEvents(_ context.Context, _ domain.Principal, id string, q events.Query) (record.Page[event.Event], error) {
	if _, err := f.calls.get(id); err != nil {
		return record.Page[event.Event]{}, err
	}
	e := someEvent(1, event.CallStarted, id)
	l := record.Page[event.Event]{Data: []event.Event{e}}
	if q.Limit == 1 {
		l.Next = e.ID
	}
	return l, nil
}

func (f *fakeServices) CallTrace(_ context.Context, _ domain.Principal, id string) (*domain.CallTrace, error) {
	if _, err := f.calls.get(id); err != nil {
		return nil, err
	}
	return &domain.CallTrace{CallID: id, Messages: []domain.SIPMessage{{
		At: time.Unix(1_900_000_000, 0).UTC(), Out: true, Network: "udp", Local: "192.0.2.9:5060", Remote: "192.0.2.1:5060", SIPCallID: "one",
		Data: []byte("INVITE sip:+12025550123@192.0.2.1 SIP/2.0\r\nCSeq: 1 INVITE\r\n\r\n\xff"),
	}}}, nil
}
