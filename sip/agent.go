// Package sip is one SIP user agent: it calls, is called, and keeps the
// dialogs of both until they are over. SDP is opaque bytes to it; it knows no
// sound, no campaign and no actor.
package sip

import (
	"context"
	"errors"
	"net/netip"
	"time"
)

var errNotReady = errors.New("sip: not listening")

// UserAgent is one SIP endpoint with its listeners and dialogs.
type UserAgent struct{ ready chan struct{} }

// New prepares a user agent.
func New(Config) (*UserAgent, error) { return &UserAgent{ready: make(chan struct{})}, nil }

// Serve listens until ctx ends.
func (u *UserAgent) Serve(ctx context.Context) error { <-ctx.Done(); return nil }

// Ready is closed once all sockets are bound.
func (u *UserAgent) Ready() <-chan struct{} { return u.ready }

// Addr is the bound address of the first listener of a network.
func (u *UserAgent) Addr(string) netip.AddrPort { return netip.AddrPort{} }

// Close ends the listeners.
func (u *UserAgent) Close() error { return nil }

// Counters tells totals and what is live.
func (u *UserAgent) Counters() Counters { return Counters{} }

// CallID is the Call-ID of a leg, known before its INVITE is sent.
func (u *UserAgent) CallID(string, int) string { return "" }

// Invite starts an outbound leg.
func (u *UserAgent) Invite(Invite) (*Dialog, error) { return nil, errNotReady }

// Orphan ends a dialog of an earlier process.
func (u *UserAgent) Orphan(_ DialogState, done func(answered bool)) { done(false) }

// OnInvite sets who takes inbound calls; before Serve.
func (u *UserAgent) OnInvite(func(*Incoming)) {}

// Admit sets who decides which sources are answered; before Serve.
func (u *UserAgent) Admit(func(Source) Admission) {}

// Dialog is one call leg.
type Dialog struct{}

// CallID is the dialog's Call-ID.
func (d *Dialog) CallID() string { return "" }

// State is what must survive a crash.
func (d *Dialog) State() DialogState { return DialogState{} }

// Cancel gives the leg up; after the answer it is a BYE.
func (d *Dialog) Cancel(string) {}

// Bye ends the call.
func (d *Dialog) Bye(int, string) {}

// Reinvite offers a new session and waits for its answer.
func (d *Dialog) Reinvite(context.Context, []byte) ([]byte, error) { return nil, errNotReady }

// Incoming is an inbound call that waits to be taken.
type Incoming struct {
	From, FromName, To, CallID, TrunkID string
	Source                              netip.AddrPort
	Body                                []byte
	Header                              map[string]string
}

// Ring sends 180.
func (i *Incoming) Ring() {}

// Answer takes the call.
func (i *Incoming) Answer([]byte, func(Event)) *Dialog { return nil }

// Reject refuses the call.
func (i *Incoming) Reject(int, time.Duration) {}

// Notify sets who hears before Answer that the caller has given up.
func (i *Incoming) Notify(func(Event)) {}
