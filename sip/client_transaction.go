package sip

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/callboard/callboard/sip/message"
	"github.com/callboard/callboard/sip/resolve"
	"github.com/callboard/callboard/sip/transport"
)

// The timers of RFC 3261 §17.
const (
	t1                 = 500 * time.Millisecond
	t2                 = 4 * time.Second
	transactionTimeout = 64 * t1 // Timers B, F, H
)

// ErrTimeout reports that a request got no final response in time.
var ErrTimeout = errors.New("sip: no answer")

var (
	errEnded       = errors.New("sip: the dialog has ended")
	errUnreachable = errors.New("port or host unreachable")
)

// clientTransaction is a client transaction until its final response (RFC 3261 §17.1).
type clientTransaction struct {
	method      string
	cseq        uint32
	remote      remoteParty
	to          transport.Flow
	udpFlow     *transport.Flow // the UDP flow of a request that is sent over TCP because of its size
	headers     []message.Header
	contentType string // "": SDP
	body        []byte
	fork        string // distinguishes requests with the same CSeq to several forks
	ackOf2xx    bool
	reliable    bool        // 100rel is offered
	beginsCall  bool        // an initial INVITE
	mayBegin    func() bool // Invite.MayBegin of an initial INVITE

	bytes      []byte
	branch     string
	onResponse func(m *received, err error) // m nil: no final response arrived, and err says why
	timer      *time.Timer
	wait       time.Duration // until the next retransmission
	deadline   time.Time
	timeout    time.Duration // 0: 64*T1
	sent       bool          // the request was sent as a datagram
	proceeding bool          // a provisional response arrived
	terminated bool
}

// hasInviteBranch reports whether the request has the same branch as its INVITE: a CANCEL, or the ACK of a response other
// than 2xx.
func (tx *clientTransaction) hasInviteBranch() bool {
	return tx.method == message.MethodCancel || tx.method == message.MethodAck && !tx.ackOf2xx
}

// contactFlow returns the flow whose local address is in the Contact. A request that uses TCP only because of its size
// keeps the Contact of its UDP flow.
func (tx *clientTransaction) contactFlow() transport.Flow {
	if tx.udpFlow != nil {
		return *tx.udpFlow
	}
	return tx.to
}

func (tx *clientTransaction) firstWait() time.Duration {
	if tx.to.IsStream() {
		return tx.timeout
	}
	return min(tx.wait, tx.timeout)
}

// extend sets a new time limit for a transaction.
func (tx *clientTransaction) extend(limit time.Duration) {
	tx.deadline = time.Now().Add(limit)
	tx.timer.Reset(limit)
}

// start sends a request and retransmits it until its final response. onResponse receives the responses, or the error
// if no final response arrives.
func (c *userAgentClient) start(tx *clientTransaction, onResponse func(*received, error)) {
	tx.onResponse = onResponse
	var err error
	if tx.bytes, err = c.buildRequest(tx); err == nil {
		err = c.preferTCP(tx)
	}
	if err != nil {
		c.fail(tx, err)
		return
	}
	if tx.timeout == 0 {
		tx.timeout = transactionTimeout
	}
	tx.wait, tx.deadline = t1, time.Now().Add(tx.timeout)
	tx.timer = time.AfterFunc(tx.firstWait(), func() { c.do(func() { c.retransmit(tx) }) })
	c.transactions = append(c.transactions, tx)
	c.transmit(tx)
}

// transmit sends the request of a transaction once.
func (c *userAgentClient) transmit(tx *clientTransaction) {
	o := transport.Outgoing{Bytes: tx.bytes, Failed: func(err error) { c.do(func() { c.fail(tx, err) }) }}
	if tx.beginsCall && !tx.sent {
		o.BeginsCall, o.MayBegin = true, tx.mayBegin
	}
	tx.sent = tx.sent || !tx.to.IsStream()
	if err := c.send(tx.to, o); err != nil {
		// fail runs on another goroutine, because it reports to the owner, which may not know the dialog yet.
		go c.do(func() { c.fail(tx, err) })
	}
}

// retransmit sends the request again after T1, doubled each time and, except for an INVITE, capped at T2. An INVITE
// is not retransmitted after its first provisional response.
func (c *userAgentClient) retransmit(tx *clientTransaction) {
	if tx.terminated {
		return
	}
	left := time.Until(tx.deadline)
	if left <= 0 {
		c.fail(tx, ErrTimeout)
		return
	}
	if tx.to.IsStream() || tx.proceeding && tx.method == message.MethodInvite {
		tx.timer.Reset(left)
		return
	}
	c.ua.stats.retransmitted.Add(1)
	c.transmit(tx)
	if tx.wait *= 2; tx.method != message.MethodInvite {
		tx.wait = min(tx.wait, t2)
	}
	if tx.proceeding {
		tx.wait = t2
	}
	tx.timer.Reset(min(tx.wait, left))
}

// fail ends a transaction without a final response, unless fallBackToUDP sends its request again over UDP.
func (c *userAgentClient) fail(tx *clientTransaction, err error) {
	if tx.terminated || c.fallBackToUDP(tx, err) {
		return
	}
	c.terminate(tx)
	tx.onResponse(nil, err)
}

// terminate ends a transaction without calling onResponse.
func (c *userAgentClient) terminate(tx *clientTransaction) {
	tx.terminated, tx.bytes, tx.body, tx.headers = true, nil, nil, nil
	if tx.timer != nil {
		tx.timer.Stop()
	}
	if i := slices.Index(c.transactions, tx); i >= 0 {
		c.transactions = slices.Delete(c.transactions, i, i+1)
	}
}

// matchResponse passes a response to its transaction. It returns false if no transaction matches.
func (c *userAgentClient) matchResponse(m *received) bool {
	for _, tx := range c.transactions {
		if tx.cseq == m.CSeq && tx.method == m.CSeqMethod && c.branch(tx) == m.Branch() {
			c.advance(tx, m)
			return true
		}
	}
	return false
}

func (c *userAgentClient) advance(tx *clientTransaction, m *received) {
	if m.Code < 200 {
		first := !tx.proceeding
		tx.proceeding = true
		if first && tx.method == message.MethodInvite {
			tx.timer.Reset(time.Until(tx.deadline))
		}
		tx.onResponse(m, nil)
		return
	}
	c.terminate(tx)
	if tx.method == message.MethodInvite && m.Code >= 300 {
		c.ackFailure(tx.remote, tx.to, m)
	}
	tx.onResponse(m, nil)
}

// ackFailure sends the ACK of a final response other than 2xx, which goes hop by hop (RFC 3261 §17.1.1.3).
func (c *userAgentClient) ackFailure(remote remoteParty, to transport.Flow, m *received) {
	remote.tag = m.To.Tag
	b, err := c.buildRequest(&clientTransaction{method: message.MethodAck, cseq: m.CSeq, remote: remote, to: to, headers: c.digest.headers})
	if err == nil {
		_ = c.send(to, transport.Outgoing{Bytes: b})
	}
}

// handleUndelivered ends the transaction of a request that did not arrive according to an ICMP error.
func (c *userAgentClient) handleUndelivered(method, branch string) {
	for _, tx := range c.transactions {
		if tx.method == method && c.branch(tx) == branch && !tx.proceeding {
			c.fail(tx, fmt.Errorf("sip: %s is unreachable: %w", tx.to.Addr, errUnreachable))
			return
		}
	}
}

// preferTCP sends a large request over TCP instead of UDP (RFC 3261 §18.1.1), unless the address refused TCP
// recently.
func (c *userAgentClient) preferTCP(tx *clientTransaction) error {
	if tx.to.IsStream() || c.pinned || len(tx.bytes) <= transport.MaxDatagramRequest || c.ua.resolver.FailedRecently(tx.to.TCPTarget(), time.Now()) {
		return nil
	}
	udp := tx.to
	tx.udpFlow, tx.to = &udp, transport.Flow{Network: resolve.TCP, Addr: udp.Addr, ShortDial: true}
	b, err := c.buildRequest(tx)
	if err != nil {
		tx.to, tx.udpFlow = udp, nil
		return err
	}
	tx.bytes = b
	return nil
}

// fallBackToUDP sends a large request over UDP after its TCP connection failed. It returns false if the transaction
// failed for another reason. After a timeout it sends nothing, because a slow peer would get the request twice.
func (c *userAgentClient) fallBackToUDP(tx *clientTransaction, why error) bool {
	if tx.udpFlow == nil || tx.proceeding || errors.Is(why, ErrTimeout) || errors.Is(why, errEnded) {
		return false
	}
	c.ua.resolver.MarkFailed(tx.to.TCPTarget())
	tx.to, tx.udpFlow = *tx.udpFlow, nil
	b, err := c.buildRequest(tx)
	if err != nil {
		return false
	}
	tx.bytes = b
	tx.timer.Reset(tx.firstWait())
	c.transmit(tx)
	return true
}
