package sip

import (
	"cmp"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	sipmsg "github.com/emiago/sipgo/sip"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/sip/cluster"
	"github.com/callboard/callboard/sip/message"
	"github.com/callboard/callboard/sip/resolve"
	"github.com/callboard/callboard/sip/transport"
)

// defaultContactUser is the user part of the Contact if no other user is known.
const defaultContactUser = "callboard"

// maxPeers is the maximum number of hosts that one dialog admits through the ingress filter.
const maxPeers = 8

// userAgentClient sends requests that share a Call-ID and a local tag (RFC 3261 §8.1): those of a dialog, or a
// series of requests outside of any dialog. The lock of its eventQueue guards its fields.
type userAgentClient struct {
	eventQueue
	ua           *UserAgent
	key          dialogKey
	localURI     string
	localParty   string // value of From without the tag
	remoteURI    string
	contactUser  string
	environment  domain.Environment // restricts the destinations of requests (UserAgent.allowsFlow)
	pinned       bool               // with a phone: requests go to the source of its REGISTER, because its Contact may be behind NAT
	untraced     bool
	traceTag     string // TracedMessage.Tag
	target       resolve.Target
	preloaded    []string // route set until the remote party provides one
	sentBy       string   // of the Via of an earlier process's INVITE, which a CANCEL has to repeat
	flow         transport.Flow
	localCSeq    uint32
	digest       digestClient
	transactions []*clientTransaction
	peers        []netip.Addr // hosts that the ingress filter admits for this client
	timers       []*time.Timer
	expires      time.Time // when the client is removed from memory; zero: it is in use
	onExpired    func()
}

// init sets the fields that clients of dialogs and of other requests have in common.
func (c *userAgentClient) init(u *UserAgent, key dialogKey, onExpired func()) {
	c.ua, c.key, c.recovered, c.onExpired = u, key, u.recovered, onExpired
}

// setLocal sets the local URI and the value of From.
func (c *userAgentClient) setLocal(uri string) { c.localURI, c.localParty = uri, "<"+uri+">" }

// remoteParty is the remote side of a dialog (RFC 3261 §12): its tag, target and route set. Each fork has its own.
type remoteParty struct {
	tag, target string
	routes      []string
}

// beforeDialog returns the remote party before a dialog exists: the called URI, reached through the outbound proxy.
func (c *userAgentClient) beforeDialog() remoteParty {
	return remoteParty{target: c.remoteURI, routes: c.preloaded}
}

// route returns the Request-URI, the Route headers and the next hop (RFC 3261 §12.2.1.1). It supports strict
// routers (RFC 2543).
func (r remoteParty) route() (uri string, routes []string, hop string) {
	if len(r.routes) == 0 {
		return r.target, nil, r.target
	}
	var first sipmsg.Uri
	if err := sipmsg.ParseUri(r.routes[0], &first); err == nil && !message.HasParam(first.UriParams, "lr") {
		return r.routes[0], slices.Concat(r.routes[1:], []string{r.target}), r.routes[0]
	}
	return r.target, r.routes, r.routes[0]
}

// refreshTarget sets the remote target to the Contact of a request or response (RFC 3261 §12.2). The route set does not
// change.
func (r *remoteParty) refreshTarget(m *received) {
	if message.IsSIPURI(m.Contact) && message.IsSingleLine(m.Contact) {
		r.target = m.Contact
	}
}

// remoteOfResponse returns the remote party of the dialog that a response creates. Its route set is the reversed
// Record-Route (RFC 3261 §12.1.2). fallback is the target if the response has no usable Contact.
func remoteOfResponse(m *received, fallback string) remoteParty {
	r := remoteParty{tag: m.To.Tag, target: fallback}
	r.refreshTarget(m)
	for _, v := range slices.Backward(m.Routes) {
		r.routes = append(r.routes, v)
	}
	return r
}

// after runs f under the lock of the client after a delay, unless the timers are stopped before.
func (c *userAgentClient) after(wait time.Duration, f func()) *time.Timer {
	t := time.AfterFunc(wait, func() { c.do(f) })
	c.timers = append(c.timers, t)
	return t
}

// stopTimer stops a timer that after has returned.
func (c *userAgentClient) stopTimer(t *time.Timer) {
	t.Stop()
	if i := slices.Index(c.timers, t); i >= 0 {
		c.timers = slices.Delete(c.timers, i, i+1)
	}
}

func (c *userAgentClient) stopTimers() {
	for _, t := range c.timers {
		t.Stop()
	}
	c.timers = nil
}

// stop stops all timers and transactions.
func (c *userAgentClient) stop() {
	c.stopTimers()
	for _, tx := range c.transactions {
		tx.timer.Stop()
	}
	c.transactions = nil
}

// expireAfter removes the client from memory after a delay, in which it handles late messages.
func (c *userAgentClient) expireAfter(wait time.Duration) {
	if c.expires.IsZero() {
		time.AfterFunc(wait, c.expire)
	}
	c.expires = time.Now().Add(wait)
}

func (c *userAgentClient) expire() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if left := time.Until(c.expires); left > 0 {
		time.AfterFunc(left, c.expire)
		return
	}
	c.onExpired()
	c.stop()
	for _, a := range c.peers {
		c.ua.transport.Filter.RemovePeer(a)
	}
	c.peers = nil
}

// admitPeer makes the ingress filter admit messages of a host until the client expires.
func (c *userAgentClient) admitPeer(a netip.Addr) {
	if len(c.peers) < maxPeers && !slices.Contains(c.peers, a) {
		c.peers = append(c.peers, a)
		c.ua.transport.Filter.AddPeer(a)
	}
}

// admitFlow makes the ingress filter admit messages of the host in the current flow, and of the phone behind it.
func (c *userAgentClient) admitFlow() {
	c.admitPeer(c.flow.Addr.Addr())
	if c.flow.RemotePhone != nil {
		c.admitPeer(c.flow.RemotePhone.Addr.Addr())
	}
}

// withNextHop finds the flow for requests to a remote party and calls f with it under the lock. If the next hop is a
// host name that is not cached, f is called later, after a DNS lookup.
func (c *userAgentClient) withNextHop(r remoteParty, f func(transport.Flow)) {
	_, _, hop := r.route()
	if c.pinned && len(r.routes) == 0 {
		f(c.flow)
		return
	}
	p := c.ua.transport.NextHop(hop, c.flow)
	if p.Lookup == nil {
		c.admitPeer(p.Addr.Addr())
		f(p.Flow)
		return
	}
	found := c.ua.resolver.ResolveCached(*p.Lookup)
	use := func() {
		to := c.flow
		if len(found) > 0 {
			to = c.ua.transport.FlowOrKeep(found[0], c.flow)
		}
		c.admitPeer(to.Addr.Addr())
		f(to)
	}
	if found != nil {
		use()
		return
	}
	go func() {
		defer c.ua.recovered("lookup", nil)
		found = c.ua.resolve(*p.Lookup)
		c.do(use)
	}()
}

// contact returns the Contact of this side for a peer that is reached over a flow.
func (c *userAgentClient) contact(to transport.Flow) string {
	if to.RemotePhone != nil {
		to = transport.Flow{Network: c.ua.transport.Network(to.RemotePhone.Network), Addr: to.RemotePhone.Addr}
	}
	uri := "<sip:" + c.contactUser + "@" + c.ua.transport.SentBy(to)
	if to.IsStream() {
		uri += ";transport=" + to.Network
	}
	return cluster.Mark(c.ua.cfg.NodeMark).MarkContact(uri) + ">"
}

// send traces a message and sends it. It returns an error if the environment forbids the flow.
func (c *userAgentClient) send(to transport.Flow, o transport.Outgoing) error {
	if !c.ua.allowsFlow(c.environment, to) {
		return ErrTestEnvironment
	}
	if !c.untraced {
		c.ua.trace(c.key.callID, c.traceTag, to, true, o.Bytes)
	}
	return c.ua.transport.Send(to, o)
}

// traceReceived traces a received message that belongs to the Call-ID and tag of this client.
func (c *userAgentClient) traceReceived(m *received) {
	if c.untraced {
		return
	}
	m.Traced, m.TraceTag = true, c.traceTag
	c.ua.trace(m.CallID, m.TraceTag, m.ObservedFlow(), false, m.Raw)
}

// buildRequest writes the request of a transaction.
func (c *userAgentClient) buildRequest(tx *clientTransaction) ([]byte, error) {
	uri, routes, _ := tx.remote.route()
	w := message.NewRequest(tx.method, uri)
	by := c.ua.transport.SentBy(tx.to)
	if tx.hasInviteBranch() { // repeat the Via of an earlier process; rport makes the responses arrive here
		by = cmp.Or(c.sentBy, by)
	}
	w.AddHeader("Via", "SIP/2.0/", strings.ToUpper(tx.to.Network), " ", by, ";rport;branch=", c.branch(tx))
	w.AddHeader("From", c.localParty, ";tag=", c.key.tag)
	if tx.remote.tag != "" {
		w.AddHeader("To", "<", c.remoteURI, ">;tag=", tx.remote.tag)
	} else {
		w.AddHeader("To", "<", c.remoteURI, ">")
	}
	w.AddHeader("Call-ID", c.key.callID)
	w.AddHeader("CSeq", strconv.FormatUint(uint64(tx.cseq), 10), " ", tx.method)
	w.AddHeader("Max-Forwards", "70")
	for _, r := range routes {
		w.AddHeader("Route", "<", r, ">")
	}
	switch tx.method {
	case message.MethodInvite, message.MethodUpdate:
		w.AddHeader("Contact", c.contact(tx.contactFlow()))
		w.AddHeader("Allow", message.AllowedMethods)
		if tx.reliable {
			w.AddHeader("Supported", message.SupportedExtensions)
		} else {
			w.AddHeader("Supported", "timer, replaces")
		}
	case message.MethodRefer, message.MethodNotify:
		w.AddHeader("Contact", c.contact(tx.contactFlow()))
	}
	if c.ua.cfg.UserAgent != "" {
		w.AddHeader("User-Agent", c.ua.cfg.UserAgent)
	}
	for _, h := range tx.headers {
		w.AddHeader(h.Name, h.Value)
	}
	return w.FinishWithType(cmp.Or(tx.contentType, message.ContentSDP), tx.body)
}

// branch returns the branch of a request. A CANCEL and the ACK of a refusal have the branch of their INVITE.
func (c *userAgentClient) branch(tx *clientTransaction) string {
	if tx.branch == "" {
		method := tx.method
		if tx.hasInviteBranch() {
			method = message.MethodInvite
		}
		tx.branch = c.ua.id.Branch(c.key.callID, c.key.tag, tx.cseq, method, tx.fork)
	}
	return tx.branch
}
