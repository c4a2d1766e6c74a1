package sip

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/textproto"
	"strconv"
	"strings"
	"time"
)

const (
	replyWithin = 10 * time.Second // the owner's answer to a Reoffer
	maxReplies  = 8                // answers kept for repeated requests
)

var errPending = errors.New("sip: another offer is pending")

// request takes a request of the far end within the dialog.
func (d *Dialog) request(m *message) {
	if m.method == methodAck {
		d.acked(m)
		return
	}
	if m.from.tag != d.far.tag {
		d.foreign(m)
		return
	}
	if kept, ok := d.answers[m.cseq]; ok && kept.method == m.method {
		d.ua.stats.retransmitted.Add(1)
		d.ua.respond(m, kept.b)
		return
	}
	if m.method == methodInvite && d.srv != nil && d.srv.request.cseq == m.cseq {
		if d.srv.last != nil && d.srv.request.branch() == m.branch() && !d.srv.acked {
			d.ua.respond(d.srv.request, d.srv.last)
		}
		return
	}
	if int64(m.cseq) <= d.remoteCSeq {
		d.ua.stats.rejected.Add(1)
		d.ua.reject(m, 500) // RFC 3261 12.2.2
		return
	}
	d.remoteCSeq = int64(m.cseq)
	switch m.method {
	case methodBye:
		d.byeFrom(m)
	case methodInvite:
		d.reinvited(m)
	case methodUpdate:
		d.updated(m)
	case methodInfo:
		d.informed(m)
	default:
		d.keep(m, d.ua.reply(m, 200, d.key.tag, nil))
	}
}

// keep remembers an answer for a repetition of its request.
func (d *Dialog) keep(m *message, b []byte) {
	if d.answers == nil || len(d.answers) >= maxReplies {
		d.answers = make(map[uint32]lastReply, 1)
	}
	d.answers[m.cseq] = lastReply{m.method, b}
}

// foreign takes a request of another fork's dialog. We have ended those.
func (d *Dialog) foreign(m *message) {
	code := 481
	if m.method == methodBye {
		for key := range d.acks {
			if strings.HasSuffix(key, " "+m.from.tag) {
				code = 200
			}
		}
	}
	d.ua.reply(m, code, d.key.tag, nil)
}

func (d *Dialog) byeFrom(m *message) {
	if d.phase == early && !d.inbound {
		d.ua.reject(m, 481)
		return
	}
	d.keep(m, d.ua.reply(m, 200, d.key.tag, nil))
	switch d.phase {
	case early:
		d.refuseCaller(487, 0, Final{Code: 487, Cancelled: true})
	case up, closing:
		e := Ended{ByRemote: d.phase == up, Header: make(map[string]string)}
		e.Q850, e.Text = reasonOf(m.all("Reason"))
		for _, h := range m.headers {
			name := canonical(h.Name())
			if (name == "reason" || strings.HasPrefix(name, "x-")) && len(e.Header) < maxHeaders && len(h.Value()) <= maxValue {
				e.Header[textproto.CanonicalMIMEHeaderKey(name)] = h.Value()
			}
		}
		d.finish(e)
	case over:
	}
}

// acked takes the ACK of our final answer.
func (d *Dialog) acked(m *message) {
	srv := d.srv
	if srv == nil || srv.request.cseq != m.cseq || srv.code == 0 {
		d.ua.stats.stray.Add(1)
		return
	}
	if srv.acked {
		return
	}
	srv.acked = true
	srv.timer.Stop()
	if srv.code >= 300 {
		return
	}
	d.confirmed = true
	if len(m.body) > 0 && m.contentType == contentSDP && d.phase == up {
		d.emit(Accepted{Body: m.body})
	}
	if bye := d.wantBye; bye != nil {
		d.wantBye = nil
		bye()
	}
}

// offering tells whether an INVITE of ours is in progress.
func (d *Dialog) offering() bool {
	for _, tx := range d.txs {
		if tx.method == methodInvite {
			return true
		}
	}
	return false
}

// reinvited takes a re-INVITE. Two at once get the answers of RFC 3261 14.2.
func (d *Dialog) reinvited(m *message) {
	busy := d.srv != nil && (d.srv.code == 0 || d.srv.code < 300 && !d.srv.acked)
	switch {
	case d.phase != up:
		d.ua.reject(m, 481)
		return
	case d.offering():
		d.keep(m, d.ua.reply(m, 491, d.key.tag, nil))
		return
	case busy:
		d.keep(m, d.ua.reply(m, 500, d.key.tag, []Header{{"Retry-After", strconv.Itoa(rand.IntN(10))}})) //nolint:gosec // no secret
		return
	}
	srv := &serverTx{request: m}
	d.srv = srv
	d.provisional(100)
	d.offer(m, func(code int, body []byte) {
		if d.srv != srv || srv.code != 0 {
			return
		}
		if code < 300 && isSIPURI(m.contact) && clean(m.contact) {
			d.far.target = m.contact
		}
		d.answerInvite(code, body, nil)
	})
}

// updated takes an UPDATE (RFC 3311); without a body it refreshes the target.
func (d *Dialog) updated(m *message) {
	finish := func(code int, body []byte) {
		if code < 300 && isSIPURI(m.contact) && clean(m.contact) {
			d.far.target = m.contact
		}
		b, err := d.ua.answer(m, code, d.key.tag, d.contactOf(code), body)
		if err == nil {
			d.keep(m, b)
			d.ua.respond(m, b)
		}
	}
	switch {
	case len(m.body) == 0:
		finish(200, nil)
	case d.phase != up || d.offering():
		finish(491, nil)
	default:
		d.offer(m, finish)
	}
}

// offer asks the owner. Without an owner, or when it takes too long, the
// offer is refused and the session stays as it was.
func (d *Dialog) offer(m *message, answer func(code int, body []byte)) {
	open := true
	once := func(code int, body []byte) {
		if open && d.phase != over {
			open = false
			answer(code, body)
		}
	}
	if d.notify == nil {
		once(488, nil)
		return
	}
	d.after(replyWithin, func() { once(500, nil) })
	d.emit(Reoffer{Body: m.body, Reply: func(code int, body []byte) {
		d.do(func() { once(max(200, min(code, 699)), body) })
	}})
}

// informed takes an INFO: a key pressed, or nothing we know.
func (d *Dialog) informed(m *message) {
	key, duration := byte(0), 0
	switch m.contentType {
	case "application/dtmf-relay":
		key, duration = dtmfRelay(m.body)
	case "application/dtmf":
		if s := strings.TrimSpace(string(m.body)); len(s) == 1 {
			key = digit(s)
		}
	case "":
	default:
		d.keep(m, d.ua.reply(m, 415, d.key.tag, []Header{{"Accept", "application/dtmf-relay, application/dtmf"}}))
		return
	}
	d.keep(m, d.ua.reply(m, 200, d.key.tag, nil))
	if key != 0 && d.phase == up {
		d.emit(InfoDigit{Key: key, DurationMs: duration})
	}
}

// dtmfRelay reads "Signal=5" and "Duration=160".
func dtmfRelay(body []byte) (key byte, duration int) {
	duration = 160
	for line := range strings.Lines(string(body)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		value = strings.TrimSpace(value)
		switch {
		case strings.EqualFold(strings.TrimSpace(name), "signal"):
			key = digit(value)
		case strings.EqualFold(strings.TrimSpace(name), "duration"):
			if n, err := strconv.ParseUint(value, 10, 16); err == nil {
				duration = int(n)
			}
		}
	}
	return key, duration
}

func digit(s string) byte {
	switch s = strings.ToUpper(s); {
	case s == "10":
		return '*'
	case s == "11":
		return '#'
	case len(s) == 1 && strings.Contains("0123456789*#ABCD", s):
		return s[0]
	}
	return 0
}

// heardOffer is what came back to a re-INVITE of ours.
type heardOffer struct {
	code int
	body []byte
	err  error
}

// Reinvite offers a new session and waits for its answer. When two offers
// cross it waits and tries once more (RFC 3261 14.1).
func (d *Dialog) Reinvite(ctx context.Context, body []byte) ([]byte, error) {
	if len(body) > maxBody {
		return nil, errors.New("sip: body too large")
	}
	for try := 0; ; try++ {
		heard := make(chan heardOffer, 1)
		d.do(func() { d.reinvite(body, 0, heard) })
		var h heardOffer
		select {
		case h = <-heard:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		switch {
		case h.err != nil:
			return nil, h.err
		case h.code < 300:
			return h.body, nil
		case h.code != 491 || try > 0:
			return nil, fmt.Errorf("sip: re-INVITE refused: %d", h.code)
		}
		wait := time.Duration(rand.IntN(200)) * 10 * time.Millisecond //nolint:gosec // no secret
		if !d.inbound {
			wait += 2100 * time.Millisecond
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func (d *Dialog) reinvite(body []byte, tries int, heard chan<- heardOffer) {
	serving := d.srv != nil && !d.srv.acked && (d.srv.code == 0 || d.srv.code < 300)
	if d.phase != up || d.offering() || serving {
		heard <- heardOffer{err: errPending}
		return
	}
	var extra []Header
	if tries > 0 {
		extra = d.auth
	}
	d.localCSeq++
	cseq, far := d.localCSeq, d.far
	d.withHop(far, func(to flow) {
		tx := &clientTx{method: methodInvite, cseq: cseq, far: far, to: to, extra: extra, body: body}
		d.start(tx, func(_ *clientTx, m *message, err error) {
			switch {
			case m == nil:
				heard <- heardOffer{err: err}
				if errors.Is(err, errTimeout) {
					d.bye(0, "re-INVITE unanswered")
				}
			case m.code < 200:
			case m.code < 300:
				if isSIPURI(m.contact) && clean(m.contact) {
					d.far.target = m.contact
				}
				d.acknowledge(d.far, m, func() { heard <- heardOffer{code: m.code, body: m.body} })
			case (m.code == 401 || m.code == 407) && tries == 0 && d.answerChallenge(m, methodInvite, true, body):
				d.reinvite(body, 1, heard)
			default:
				heard <- heardOffer{code: m.code}
				if m.code == 481 || m.code == 408 {
					d.bye(0, "the far end lost the call")
				}
			}
		})
	})
}
