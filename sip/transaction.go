package sip

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/callboard/callboard/sip/message"
	"github.com/callboard/callboard/sip/transport"
)

var (
	errTimeout = errors.New("sip: no answer")
	errEnded   = errors.New("sip: the dialog has ended")
)

// clientTx is one request of ours until its final answer (RFC 3261 17.1).
type clientTx struct {
	method   string
	cseq     uint32
	far      remote
	to       transport.Flow
	narrow   *transport.Flow // over UDP, which a large request has left for TCP
	extra    []message.Header
	body     []byte
	fork     string // tells the requests to several forks apart
	ackOf2xx bool
	reliable bool   // 100rel is offered
	content  string // type of the body; "" is SDP

	bytes    []byte
	branch   string
	heard    func(tx *clientTx, m *received, err error) // m nil: never answered, err says why
	timer    *time.Timer
	wait     time.Duration // until the next retransmission
	deadline time.Time
	patience time.Duration // 0: 64*T1
	left     bool          // as a datagram, which is sent again
	answered bool          // a 1xx came
	done     bool
}

// start sends a request and minds its retransmissions.
func (d *Dialog) start(tx *clientTx, heard func(*clientTx, *received, error)) {
	tx.heard = heard
	var err error
	if tx.bytes, err = d.build(tx); err == nil {
		err = d.widen(tx)
	}
	if err != nil {
		d.fail(tx, err)
		return
	}
	if tx.patience == 0 {
		tx.patience = giveUp
	}
	tx.wait, tx.deadline = t1, time.Now().Add(tx.patience)
	tx.timer = time.AfterFunc(d.firstWait(tx), func() { d.do(func() { d.due(tx) }) })
	d.txs = append(d.txs, tx)
	d.transmit(tx)
}

func (d *Dialog) firstWait(tx *clientTx) time.Duration {
	if tx.to.IsStream() {
		return tx.patience
	}
	return min(tx.wait, tx.patience)
}

func (d *Dialog) transmit(tx *clientTx) {
	p := transport.Outgoing{Bytes: tx.bytes, Failed: func(err error) { d.do(func() { d.fail(tx, err) }) }}
	if d.out != nil && d.out.tx == tx && !tx.left {
		p.BeginsCall, p.May = true, d.out.inv.May
	}
	tx.left = tx.left || !tx.to.IsStream()
	err := d.post(tx.to, p)
	if err != nil {
		// Not at once: the owner may not know the dialog yet.
		go d.do(func() { d.fail(tx, err) })
	}
}

func (d *Dialog) fail(tx *clientTx, err error) {
	if tx.done || d.narrow(tx, err) {
		return
	}
	d.drop(tx)
	if tx.heard != nil {
		tx.heard(tx, nil, err)
	}
}

// drop ends a transaction.
func (d *Dialog) drop(tx *clientTx) {
	tx.done, tx.bytes, tx.body, tx.extra = true, nil, nil, nil
	if tx.timer != nil {
		tx.timer.Stop()
	}
	for i, other := range d.txs {
		if other == tx {
			d.txs = append(d.txs[:i], d.txs[i+1:]...)
			return
		}
	}
}

// ownRequest is one of ours within a dialog.
type ownRequest struct {
	method       string
	extra, auth  []message.Header // auth: its credentials, once it was challenged
	contentType  string
	body         []byte
	fork         *fork   // an early dialog; nil: the dialog itself
	unchallenged bool    // the caller answers a challenge
	sentAs       *uint32 // set to the CSeq
}

// waiting is a request of ours that waits for the one before it.
type waiting struct {
	ownRequest
	heard func(m *received, err error)
}

// maxWaiting is how many of them may wait in one dialog.
const maxWaiting = 64

// ask sends a request within the dialog and tells its final answer; m nil:
// none came. Challenges are answered. One request is under way at a time:
// of two, the far end would refuse the first if it got lost and came again
// behind the second (RFC 3261 12.2.2).
func (d *Dialog) ask(r ownRequest, heard func(m *received, err error)) {
	switch {
	case r.fork == nil && d.asking && len(d.waiting) >= maxWaiting:
		heard(nil, errTooMany)
		return
	case r.fork == nil && d.asking:
		d.waiting = append(d.waiting, waiting{r, heard})
		return
	case r.fork == nil:
		d.asking = true
	}
	d.sendOwn(r, func(m *received, err error) {
		if r.fork == nil {
			d.asking = false
		}
		if m != nil && !r.unchallenged && m.IsChallenge() {
			if auth := d.answerChallenge(m, r.method, r.auth == nil, r.body); auth != nil {
				r.auth = auth
				d.ask(r, heard)
				return
			}
		}
		heard(m, err)
		if !d.asking && len(d.waiting) > 0 {
			next := d.waiting[0]
			d.waiting = d.waiting[1:]
			d.ask(next.ownRequest, next.heard)
		}
	})
}

// sendOwn sends one request and tells its final answer.
func (d *Dialog) sendOwn(r ownRequest, heard func(m *received, err error)) {
	tx := &clientTx{method: r.method, far: d.far, extra: slices.Concat(r.extra, r.auth), content: r.contentType, body: r.body}
	if r.fork != nil {
		r.fork.local++
		tx.cseq, tx.far, tx.fork = r.fork.local, r.fork.far, r.fork.far.tag
	} else {
		d.localCSeq++
		tx.cseq = d.localCSeq
	}
	if r.sentAs != nil {
		*r.sentAs = tx.cseq
	}
	d.withHop(tx.far, func(to transport.Flow) {
		tx.to = to
		d.start(tx, func(tx *clientTx, m *received, err error) {
			if m != nil && m.Code < 200 {
				if tx.method == message.MethodInvite {
					tx.patient(offerWait)
				}
				return
			}
			heard(m, err)
		})
	})
}

// due retransmits: T1, doubled, capped at T2 unless it is an INVITE, which
// stops at its first 1xx. After the last the far end counts as gone.
func (d *Dialog) due(tx *clientTx) {
	if tx.done {
		return
	}
	left := time.Until(tx.deadline)
	if left <= 0 {
		d.fail(tx, errTimeout)
		return
	}
	if tx.to.IsStream() || tx.answered && tx.method == message.MethodInvite {
		tx.timer.Reset(left)
		return
	}
	d.ua.stats.retransmitted.Add(1)
	d.transmit(tx)
	if tx.wait *= 2; tx.method != message.MethodInvite {
		tx.wait = min(tx.wait, t2)
	}
	if tx.answered {
		tx.wait = t2
	}
	tx.timer.Reset(min(tx.wait, left))
}

// patient sets a new limit for a transaction.
func (tx *clientTx) patient(limit time.Duration) {
	tx.deadline = time.Now().Add(limit)
	tx.timer.Reset(limit)
}

// response finds the transaction of an answer. Answers to finished INVITEs
// are acknowledged again.
func (d *Dialog) response(m *received) {
	for _, tx := range d.txs {
		if tx.cseq == m.CSeq && tx.method == m.CSeqMethod && d.branch(tx) == m.Branch() {
			d.advance(tx, m)
			return
		}
	}
	if m.CSeqMethod != message.MethodInvite || m.Branch() != d.ua.id.Branch(d.key.callID, d.key.tag, m.CSeq, message.MethodInvite, "") {
		d.ua.stats.stray.Add(1)
		return
	}
	d.lateAnswer(m)
}

func (d *Dialog) advance(tx *clientTx, m *received) {
	if m.Code < 200 {
		first := !tx.answered
		tx.answered = true
		if first && tx.method == message.MethodInvite {
			tx.timer.Reset(time.Until(tx.deadline))
		}
		tx.heard(tx, m, nil)
		return
	}
	d.drop(tx)
	if tx.method == message.MethodInvite && m.Code >= 300 {
		d.ackRefusal(tx.far, tx.to, m)
	}
	tx.heard(tx, m, nil)
}

// ackRefusal acknowledges a non-2xx answer hop by hop (RFC 3261 17.1.1.3).
func (d *Dialog) ackRefusal(far remote, to transport.Flow, m *received) {
	far.tag = m.To.Tag
	b, err := d.build(&clientTx{method: message.MethodAck, cseq: m.CSeq, far: far, to: to, extra: d.auth})
	if err == nil {
		_ = d.send(to, b)
	}
}

// acknowledge sends the ACK of a 2xx and keeps it for the repetitions of it.
// body is the answer to an offer that came in the 2xx.
func (d *Dialog) acknowledge(far remote, m *received, body []byte, then func()) {
	key := ackKey(m)
	if d.acks == nil {
		d.acks = make(map[string]*sentAck, 1)
	}
	d.acks[key] = &sentAck{}
	d.withHop(far, func(to transport.Flow) {
		tx := &clientTx{method: message.MethodAck, cseq: m.CSeq, far: far, to: to, extra: d.auth, body: body, ackOf2xx: true, fork: far.tag}
		b, err := d.build(tx)
		if err == nil {
			d.acks[key] = &sentAck{b, to}
			_ = d.send(to, b)
		}
		then()
	})
}

type sentAck struct {
	b  []byte
	to transport.Flow
}

func ackKey(m *received) string { return strconv.FormatUint(uint64(m.CSeq), 10) + " " + m.To.Tag }

// acknowledged sends the kept ACK again, if this 2xx had one.
func (d *Dialog) acknowledged(m *received) bool {
	ack, known := d.acks[ackKey(m)]
	if known && ack.b != nil {
		d.ua.stats.retransmitted.Add(1)
		_ = d.send(ack.to, ack.b)
	}
	return known
}

// undelivered hears from ICMP that a request of ours did not arrive.
func (d *Dialog) undelivered(method, branch string) {
	for _, tx := range d.txs {
		if tx.method == method && d.branch(tx) == branch && !tx.answered {
			d.fail(tx, fmt.Errorf("sip: %s is unreachable: %w", tx.to.Addr, errUnreachable))
			return
		}
	}
}

var errUnreachable = errors.New("port or host unreachable")

// farOf reads the far end of the dialog that an answer creates. The route set
// is taken in reverse (RFC 3261 12.1.2) and frozen.
func farOf(m *received, fallback string) remote {
	r := remote{tag: m.To.Tag, target: m.Contact}
	if !message.IsSIPURI(r.target) || !message.IsSingleLine(r.target) {
		r.target = fallback
	}
	for _, v := range slices.Backward(m.Routes) {
		r.routes = append(r.routes, v)
	}
	return r
}
