package main

import (
	"context"
	"errors"
	"fmt"
	"net"

	"github.com/callboard/callboard/actors"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/event"
	"github.com/callboard/callboard/httpapi/forward"
	"github.com/callboard/callboard/persistence/lease"
)

// seat is what a service has from the node that it is the work of; nil: it is
// the only one.
type seat struct {
	member *member
	token  lease.Token
}

// may says, each time it is asked, whether the node still has the work; nil: it
// always has.
func (s *seat) may() func() bool {
	if s == nil {
		return nil
	}
	if _, looks := fence(""); !looks {
		return nil
	}
	return s.member.may
}

// store tells the node where a commit was refused because another one has the
// work.
func (s *seat) store(of actors.Store) actors.Store {
	if s == nil {
		return of
	}
	return &fenced{of, func() { s.member.holder.Lost(theWork, s.token) }}
}

type fenced struct {
	actors.Store
	lost func()
}

// Apply is the store's.
func (f *fenced) Apply(ctx context.Context, c commit.Change) ([]event.Event, error) {
	events, err := f.Store.Apply(ctx, c)
	if errors.Is(err, domain.ErrFenced) {
		f.lost()
	}
	return events, err
}

// open opens the store.
func (s *service) open(ctx context.Context) (err error) {
	if s.seat == nil {
		s.vault, err = openVault(ctx, s.cfg, s.log)
		return err
	}
	token, _ := fence(string(s.seat.token))
	s.vault, err = openStore(ctx, s.cfg, s.log, s.seat.member.master, token, func() {})
	return err
}

// listen opens the doors; nobody is answered yet.
func (s *service) listen(ctx context.Context) (err error) {
	if s.seat == nil {
		if s.ln, err = new(net.ListenConfig).Listen(ctx, "tcp", s.cfg.HTTPAddr.String()); err != nil {
			return fmt.Errorf("http_addr: %w", err)
		}
		return nil
	}
	if s.ln, err = s.seat.member.front.lend(); err != nil {
		return err
	}
	s.nodes, err = s.seat.member.door.lend()
	return err
}

// answer begins to take requests.
func (s *service) answer() {
	go func() { s.ended <- s.http.Serve(s.ln) }()
	if s.seat != nil {
		go func() { s.ended <- s.http.ServeNodes(forward.Door(s.nodes, s.seat.member.nodes)) }()
	}
}
