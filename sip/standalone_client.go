package sip

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/sip/message"
	"github.com/callboard/callboard/sip/resolve"
	"github.com/callboard/callboard/sip/transport"
)

// StandaloneClient sends requests outside of any dialog that share a Call-ID and a From tag: REGISTER, OPTIONS,
// MESSAGE (RFC 3261 §8.1). All methods except Do must be called within Do, or within a callback of another method.
type StandaloneClient struct{ userAgentClient }

// StandaloneConfig describes the sender and the target of the requests of a StandaloneClient.
type StandaloneConfig struct {
	Name        string             // Call-ID and tag are derived from Name; the same name gives retransmissions
	FromUser    string             // escaped; may be empty
	FromDomain  string             // "": the public host
	To          string             // URI
	ContactUser string             // of the Contact; "": FromUser
	Environment domain.Environment // as in Invite
	Target      resolve.Target
	Proxy       *resolve.Target // outbound proxy: requests are sent there with a Route
}

// StandaloneRequest is one request that a StandaloneClient sends.
type StandaloneRequest struct {
	Method      string
	URI         string // "": To
	Headers     []message.Header
	ContentType string // "": SDP
	Body        []byte
	Timeout     time.Duration // for the final response. Default: 32 s
}

// NewStandaloneClient returns a client for requests to a target. It returns an error if the target cannot be reached or
// if the environment forbids it.
func (u *UserAgent) NewStandaloneClient(c StandaloneConfig) (*StandaloneClient, error) {
	if !u.isReady() {
		return nil, errNotReady
	}
	hop := c.Target
	if err := u.checkTarget(&hop); err != nil {
		return nil, err
	}
	if c.FromDomain != "" && !message.IsHost(c.FromDomain) {
		return nil, fmt.Errorf("sip: %q is not a valid domain", c.FromDomain)
	}
	s, callID := new(StandaloneClient), u.id.StandaloneCallID(c.Name)
	if c.Proxy != nil {
		hop = *c.Proxy
		if err := u.checkTarget(&hop); err != nil {
			return nil, err
		}
		s.preloaded = []string{proxyRoute(hop)}
	}
	if err := u.checkEnvironment(c.Environment, hop); err != nil {
		return nil, err
	}
	s.init(u, dialogKey{callID, u.id.FromTag(callID)}, func() { u.dialogs.removeStandalone(s) })
	s.flow, s.target, s.remoteURI, s.environment, s.untraced = transport.Flow{Network: hop.Transport}, hop, c.To, c.Environment, true
	s.contactUser = cmp.Or(c.ContactUser, c.FromUser, defaultContactUser)
	s.setLocal(localURI(c.FromUser, cmp.Or(c.FromDomain, u.transport.PublicHost(flowBeforeLookup(hop)))))
	if !u.dialogs.addStandalone(s) {
		return nil, fmt.Errorf("sip: requests named %s are under way already", c.Name)
	}
	return s, nil
}

// localURI returns the SIP URI of a user at a host. If user is "", the URI has no user part.
func localURI(user, host string) string {
	if user == "" {
		return "sip:" + host
	}
	return "sip:" + user + "@" + host
}

// Do runs f under the lock of the client, and then the functions that f has passed to Notify.
func (s *StandaloneClient) Do(f func()) { s.do(f) }

// Notify runs f once the lock of the client is released. Functions passed to Notify run in order and never concurrently.
func (s *StandaloneClient) Notify(f func()) { s.later(f) }

// After runs f under the lock of the client after a delay, unless Retire or Release is called before.
func (s *StandaloneClient) After(wait time.Duration, f func()) *time.Timer { return s.after(wait, f) }

// FindAddresses looks up the target and calls then with the addresses to which requests may be sent. resolved is false
// if the name of the target has no address.
func (s *StandaloneClient) FindAddresses(then func(addresses []resolve.Target, resolved bool)) {
	go func() {
		defer s.ua.recovered("lookup", func() { s.do(func() { then(nil, false) }) })
		found := s.ua.resolve(s.target)
		addresses := s.ua.reachable(found)
		s.do(func() { then(addresses, len(found) > 0) })
	}()
}

// Address returns the address of the target to which requests are sent now.
func (s *StandaloneClient) Address() netip.AddrPort { return s.flow.Addr }

// UseAddress sends the next requests to this address of the target. changed reports whether the address differs from
// the previous one.
func (s *StandaloneClient) UseAddress(t resolve.Target) (changed bool) {
	to := transport.FlowTo(t)
	to.Socket = s.ua.transport.SocketAt(t.Local)
	changed = s.flow.Addr != to.Addr || s.flow.Network != to.Network
	s.flow = to
	s.admitFlow()
	return changed
}

// Contact returns the Contact of this side for the current address of the target.
func (s *StandaloneClient) Contact() string { return s.contact(s.flow) }

// Send sends a request with the next CSeq. done is called with the final response, or with an error if none
// arrived.
func (s *StandaloneClient) Send(r StandaloneRequest, done func(m *transport.Received, err error)) {
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

// Abort ends all requests without a final response. Their responses are dropped.
func (s *StandaloneClient) Abort() {
	for _, tx := range slices.Clone(s.transactions) {
		s.terminate(tx)
	}
}

// Retire stops the timers. The client stays in memory for a while, in which it drops late responses.
func (s *StandaloneClient) Retire() {
	s.stopTimers()
	s.expireAfter(s.ua.cfg.Linger)
}

// Release ends all requests and removes the client from memory at once.
func (s *StandaloneClient) Release() {
	s.Abort()
	s.stopTimers()
	s.expireAfter(0)
}
