package sip

import (
	"cmp"
	"errors"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/sip/message"
	"github.com/callboard/callboard/sip/resolve"
	"github.com/callboard/callboard/sip/transport"
)

// Standalone sends requests outside of any dialog that share a Call-ID and a From tag: REGISTER, OPTIONS, MESSAGE
// (RFC 3261 §8.1). Its methods besides Do are called within Do, or within a function that they call back.
type Standalone struct{ userAgentClient }

// StandaloneConfig says who sends requests to whom.
type StandaloneConfig struct {
	Name        string             // the Call-ID and the tag are derived from it; the same name gives retransmissions
	From, To    string             // URIs
	ContactUser string             // of our Contact
	Environment domain.Environment // as in Invite
	Target      resolve.Target
}

// StandaloneRequest is one of the requests.
type StandaloneRequest struct {
	Method      string
	URI         string // "": To
	Headers     []message.Header
	ContentType string // "": SDP
	Body        []byte
	Timeout     time.Duration // for the final response; 0: 32 s
}

// NewStandalone prepares requests to a target. It refuses targets that cannot or may not be reached.
func (u *UserAgent) NewStandalone(c StandaloneConfig) (*Standalone, error) {
	if err := u.checkStandalone(&c); err != nil {
		return nil, err
	}
	s := u.newStandalone(c)
	if !u.dialogs.addStandalone(s) {
		return nil, errors.New("sip: requests of this name are under way already")
	}
	return s, nil
}

func (u *UserAgent) checkStandalone(c *StandaloneConfig) error {
	if !u.isReady() {
		return errNotReady
	}
	if err := u.checkTarget(&c.Target); err != nil {
		return err
	}
	return u.checkEnvironment(c.Environment, c.Target)
}

func (u *UserAgent) newStandalone(c StandaloneConfig) *Standalone {
	s, callID := new(Standalone), u.id.StandaloneCallID(c.Name)
	s.init(u, dialogKey{callID, u.id.FromTag(callID)}, func() { u.dialogs.removeStandalone(s) })
	s.setLocal(c.From)
	s.remoteURI, s.contactUser, s.environment, s.target = c.To, c.ContactUser, c.Environment, c.Target
	s.flow, s.untraced = transport.Flow{Network: c.Target.Transport}, true
	return s
}

// Do runs f under the lock, and then what f has passed to Notify.
func (s *Standalone) Do(f func()) { s.do(f) }

// Notify runs f once the lock is released, after what was passed before and never concurrently with it.
func (s *Standalone) Notify(f func()) { s.later(f) }

// After runs f under the lock after a time, unless Retire is called before.
func (s *Standalone) After(wait time.Duration, f func()) *time.Timer { return s.after(wait, f) }

// FindAddresses looks the target up and calls back with the addresses that may be reached. resolved is false where the
// target's name has no address at all.
func (s *Standalone) FindAddresses(then func(addresses []resolve.Target, resolved bool)) {
	go func() {
		defer s.ua.recovered("lookup", nil)
		found := s.ua.resolve(s.target)
		s.do(func() { then(s.ua.reachable(found), len(found) > 0) })
	}()
}

// UseAddress directs the next requests to an address of the target. changed: it is another one than before.
func (s *Standalone) UseAddress(t resolve.Target) (changed bool) {
	to := transport.FlowTo(t)
	changed = s.flow.Addr != to.Addr || s.flow.Network != to.Network
	s.flow = to
	s.admitFlow()
	return changed
}

// Contact is our Contact as the current address of the target reaches it.
func (s *Standalone) Contact() string { return s.contact(s.flow) }

// Send sends a request with the next CSeq. done is called with the final response, or with an error where none came.
func (s *Standalone) Send(r StandaloneRequest, done func(m *transport.Received, err error)) {
	s.localCSeq++
	s.start(&clientTransaction{
		method: r.Method, cseq: s.localCSeq, remote: remoteParty{target: cmp.Or(r.URI, s.remoteURI), routes: s.preloaded}, to: s.flow,
		headers: r.Headers, contentType: r.ContentType, body: r.Body, timeout: r.Timeout,
	}, func(m *received, err error) {
		switch {
		case m == nil:
			done(nil, err)
		case m.Code >= 200:
			done(&m.Received, nil)
		}
	})
}

// Abort ends the requests under way; their responses are dropped.
func (s *Standalone) Abort() { s.terminateAll() }

// Retire stops the timers. Late responses are dropped for a while.
func (s *Standalone) Retire() { s.retire(s.ua.cfg.Linger) }

func (s *Standalone) retire(wait time.Duration) {
	s.stopTimers()
	s.expireAfter(wait)
}
