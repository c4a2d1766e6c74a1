package sip

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/sip/auth"
	"github.com/callboard/callboard/sip/message"
	"github.com/callboard/callboard/sip/outcome"
	"github.com/callboard/callboard/sip/resolve"
	"github.com/callboard/callboard/sip/transport"
)

// Text is one MESSAGE of ours outside of any dialog (RFC 3428).
type Text struct {
	// Name makes its Call-ID, tag and branch: sent once more under its name
	// while the far end remembers it, it is a retransmission (RFC 3261 17.2.3).
	Name        string
	Environment domain.Environment // as in Invite
	Target      resolve.Target
	Proxy       *resolve.Target // an outbound proxy: sent there with a Route, Target stays in the Request-URI
	Credentials *auth.Credentials
	To, From    string // users, best E.164
	FromDomain  string // "" is the public host
	Headers     []message.Header
	ContentType string
	Body        []byte        // 8 KiB at most
	Patience    time.Duration // for the last address; 0 is 32 s, and 10 s for those before
}

// TextRemembered is how long a far end knows a MESSAGE that came by UDP, and
// answers it again alike: timer J.
const TextRemembered = transactionTimeout

// firstAddress is how long an address is waited for that is not the last one.
const firstAddress = 10 * time.Second

// SendText sends a MESSAGE and waits for its final response, which may be a failure: Final.Code is 0 where none came. An
// error says that nothing was sent, or that ctx is over.
func (u *UserAgent) SendText(ctx context.Context, t *Text) (outcome.Final, error) {
	if !u.isReady() {
		return outcome.Final{}, errNotReady
	}
	s, err := u.newText(t)
	if err != nil {
		return outcome.Final{}, err
	}
	if err = u.checkEnvironment(t.Environment, s.target); err != nil {
		return outcome.Final{}, err
	}
	found := u.reachable(u.resolve(s.target))
	if ctx.Err() != nil {
		return outcome.Final{}, ctx.Err()
	}
	if len(found) == 0 {
		return outcome.Final{Transport: true, Phrase: "no address for the target"}, nil
	}
	if !u.dialogs.addStandalone(s) {
		return outcome.Final{}, fmt.Errorf("sip: message %s is on the wire already", t.Name)
	}
	tx := &messageDelivery{Standalone: s, message: t, addresses: found, result: make(chan outcome.Final, 1)}
	s.do(tx.tryNextAddress)
	defer s.do(func() {
		s.Abort()
		s.retire(0)
	})
	select {
	case f := <-tx.result:
		return f, nil
	case <-ctx.Done():
		return outcome.Final{Silent: true, Sent: true}, ctx.Err()
	}
}

func (u *UserAgent) newText(t *Text) (*Standalone, error) {
	to, err := message.EscapeUser(t.To)
	if err != nil {
		return nil, err
	}
	from, err := message.EscapeUser(t.From)
	if err != nil {
		return nil, err
	}
	hop, named := t.Target, t.Target
	if err = u.checkTarget(&hop); err != nil {
		return nil, err
	}
	var routes []string
	if t.Proxy != nil {
		hop = *t.Proxy
		if err = u.checkTarget(&hop); err != nil {
			return nil, err
		}
		routes = []string{proxyRoute(hop)}
	}
	switch {
	case t.Name == "":
		return nil, errors.New("sip: a message needs a name")
	case t.FromDomain != "" && !message.IsHost(t.FromDomain):
		return nil, fmt.Errorf("sip: %q is no domain", t.FromDomain)
	case len(t.Body) == 0 || len(t.Body) > maxBody || t.ContentType == "":
		return nil, errors.New("sip: a message has a body of 1 to 8192 bytes and its type")
	}
	s := u.newStandalone(StandaloneConfig{
		Name: "text " + t.Name, From: "sip:" + from + "@" + cmp.Or(t.FromDomain, u.transport.PublicHost(flowBeforeLookup(hop))), To: "sip:" + to + "@" + named.WithName().HostPort(),
		ContactUser: from, Environment: t.Environment, Target: hop,
	})
	s.preloaded, s.digest.credentials = routes, t.Credentials
	return s, nil
}

// messageDelivery sends a MESSAGE to the addresses of its target in turn. The lock of Standalone guards it.
type messageDelivery struct {
	*Standalone

	message   *Text
	addresses []resolve.Target // still to be tried
	tries     int              // with credentials, at this address
	result    chan outcome.Final
}

func (d *messageDelivery) tryNextAddress() {
	d.target = d.addresses[0]
	d.addresses = d.addresses[1:]
	d.UseAddress(d.target)
	d.flow.Socket = d.ua.transport.SocketAt(d.target.Local)
	d.tries = 0
	d.digest.reset()
	d.sendMessage()
}

func (d *messageDelivery) sendMessage() {
	timeout := d.message.Patience
	if timeout <= 0 {
		timeout = transactionTimeout
	}
	if len(d.addresses) > 0 {
		timeout = min(timeout, firstAddress)
	}
	d.Send(StandaloneRequest{
		Method: message.MethodMessage, ContentType: d.message.ContentType, Body: d.message.Body, Headers: slices.Concat(d.message.Headers, d.digest.headers),
		Timeout: timeout,
	}, d.handleFinal)
}

// handleFinal takes the final response of one address; m nil: none came.
func (d *messageDelivery) handleFinal(m *transport.Received, err error) {
	switch {
	case m != nil && m.Code < 300:
		d.report(outcome.Final{Code: m.Code, Phrase: m.Phrase})
	case m != nil && m.IsChallenge() && d.authenticate(m):
		d.tries++
		d.sendMessage()
	case len(d.addresses) > 0 && (m == nil || m.Code == 503 || m.Code == 408): // another address of the target may do (RFC 3263 §4.3)
		d.tryNextAddress()
	case m != nil:
		f := outcome.ReadFinal(&m.Message)
		f.Authenticated = d.tries > 0
		d.report(f)
	case errors.Is(err, ErrTimeout):
		d.report(outcome.Final{Silent: true})
	default:
		d.report(outcome.Final{Transport: true, Phrase: err.Error()})
	}
}

// authenticate answers a challenge.
func (d *messageDelivery) authenticate(m *transport.Received) bool {
	headers := d.digest.answer(m, challengedRequest{
		method: message.MethodMessage, uri: d.remoteURI, body: d.message.Body, first: d.tries == 0, initial: true,
	}, d.flow.Addr.Addr())
	if headers != nil {
		d.digest.headers = headers
	}
	return headers != nil
}

func (d *messageDelivery) report(f outcome.Final) {
	f.Sent = true
	select {
	case d.result <- f:
	default:
	}
}
