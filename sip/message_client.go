package sip

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
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
const TextRemembered = giveUp

// firstAddress is how long an address is waited for that is not the last one.
const firstAddress = 10 * time.Second

// SendText sends a MESSAGE and waits for its final answer, which may be a
// refusal: Final.Code is 0 where none came. An error says that nothing was
// sent, or that ctx is over.
func (u *UserAgent) SendText(ctx context.Context, t *Text) (outcome.Final, error) {
	if !u.isReady() {
		return outcome.Final{}, errNotReady
	}
	d, err := u.newText(t)
	if err != nil {
		return outcome.Final{}, err
	}
	if err = u.checkEnvironment(t.Environment, d.target); err != nil {
		return outcome.Final{}, err
	}
	found := u.reachable(u.resolve(d.target))
	if ctx.Err() != nil {
		return outcome.Final{}, ctx.Err()
	}
	if len(found) == 0 {
		return outcome.Final{Transport: true, Phrase: "no address for the target"}, nil
	}
	if !u.dialogs.add(d) {
		return outcome.Final{}, fmt.Errorf("sip: message %s is on the wire already", t.Name)
	}
	s := &sending{d: d, t: t, addrs: found, answer: make(chan outcome.Final, 1)}
	d.do(s.next)
	defer d.do(func() {
		for _, tx := range slices.Clone(d.txs) {
			tx.heard = nil
			d.drop(tx)
		}
		d.retire(0)
	})
	select {
	case f := <-s.answer:
		return f, nil
	case <-ctx.Done():
		return outcome.Final{Silent: true, Sent: true}, ctx.Err()
	}
}

func (u *UserAgent) newText(t *Text) (*Dialog, error) {
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
		routes = []string{"sip:" + hop.HostPort() + hop.TransportParam() + ";lr"}
	}
	switch {
	case t.Name == "":
		return nil, errors.New("sip: a message needs a name")
	case t.FromDomain != "" && !message.IsHost(t.FromDomain):
		return nil, fmt.Errorf("sip: %q is no domain", t.FromDomain)
	case len(t.Body) == 0 || len(t.Body) > maxBody || t.ContentType == "":
		return nil, errors.New("sip: a message has a body of 1 to 8192 bytes and its type")
	}
	f := transport.Flow{Network: hop.Transport}
	if ip, err := netip.ParseAddr(strings.Trim(hop.Host, "[]")); err == nil {
		f = transport.FlowTo(resolve.WithAddress(hop, ip))
	}
	domain := t.FromDomain
	if domain == "" {
		domain = u.transport.PublicHost(f)
	}
	callID := u.id.StandaloneCallID("text " + t.Name)
	d := &Dialog{
		ua: u, untold: true, key: dialogKey{callID, u.id.FromTag(callID)}, flow: f, remoteCSeq: -1, localCSeq: 1, creds: t.Credentials, environment: t.Environment,
		localURI: "sip:" + from + "@" + domain, remoteURI: "sip:" + to + "@" + named.WithName().HostPort(), contactUser: from, target: hop, preset: routes,
	}
	d.localParty = "<" + d.localURI + ">"
	d.far.target = d.remoteURI
	return d, nil
}

// sending is a Text under way, under the lock of its dialog.
type sending struct {
	d      *Dialog
	t      *Text
	addrs  []resolve.Target
	tries  int // with credentials, at this address
	answer chan outcome.Final
}

func (s *sending) next() {
	d := s.d
	d.target, d.flow = s.addrs[0], transport.FlowTo(s.addrs[0])
	d.flow.Socket = d.ua.transport.SocketAt(d.target.Local)
	s.addrs = s.addrs[1:]
	s.tries, d.auth, d.signer = 0, nil, nil
	d.hold(d.flow.Addr.Addr())
	s.send()
}

func (s *sending) send() {
	d, patience := s.d, s.t.Patience
	if patience <= 0 {
		patience = giveUp
	}
	if len(s.addrs) > 0 {
		patience = min(patience, firstAddress)
	}
	d.start(&clientTx{
		method: message.MethodMessage, cseq: d.localCSeq, far: d.before(), to: d.flow, patience: patience, content: s.t.ContentType, body: s.t.Body,
		extra: slices.Concat(s.t.Headers, d.auth),
	}, s.heard)
}

func (s *sending) heard(_ *clientTx, m *received, err error) {
	d := s.d
	switch {
	case m != nil && m.Code < 200:
		return
	case m != nil && m.Code >= 200 && m.Code < 300:
		s.tell(outcome.Final{Code: m.Code, Phrase: m.Phrase})
	case m != nil && m.IsChallenge() && s.authenticate(m):
		s.tries++
		d.localCSeq++
		s.send()
	case len(s.addrs) > 0 && (m == nil || m.Code == 503 || m.Code == 408): // another address of the target may do (RFC 3263 4.3)
		d.localCSeq++
		s.next()
	case m != nil:
		f := outcome.ReadFinal(&m.Message)
		f.Authenticated = s.tries > 0
		s.tell(f)
	case errors.Is(err, errTimeout):
		s.tell(outcome.Final{Silent: true})
	default:
		s.tell(outcome.Final{Transport: true, Phrase: err.Error()})
	}
}

// authenticate answers a challenge.
func (s *sending) authenticate(m *received) bool {
	auth := s.d.answerChallenge(m, message.MethodMessage, s.tries == 0, s.t.Body)
	if auth != nil {
		s.d.auth = auth
	}
	return auth != nil
}

func (s *sending) tell(f outcome.Final) {
	f.Sent = true
	select {
	case s.answer <- f:
	default:
	}
}
