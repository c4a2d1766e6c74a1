package sip

import (
	"slices"

	"github.com/callboard/callboard/sip/message"
	"github.com/callboard/callboard/sip/transport"
)

// maxQueued is the maximum number of requests that wait in one dialog.
const maxQueued = 64

// dialogRequest is a request of this side within a dialog.
type dialogRequest struct {
	method         string
	headers        []message.Header
	credentials    []message.Header // set after a challenge
	ownCredentials bool             // the sender answers challenges itself
	contentType    string           // "": SDP
	body           []byte
	fork           *fork   // the early dialog of the request; nil: the dialog itself
	sentCSeq       *uint32 // set to the CSeq of the request; may be nil
}

// requestSender sends the requests of a requestQueue. Dialog implements it.
type requestSender interface {
	// sendRequest sends one request. done gets its final response. If none arrives, m is nil and err is the reason.
	sendRequest(r dialogRequest, done func(m *received, err error))
	// answerChallenge returns the headers with credentials for a challenged request; nil if the challenge cannot be
	// answered.
	answerChallenge(m *received, method string, first bool, body []byte) []message.Header
}

// requestQueue sends the requests within a dialog one after another. If one of two concurrent requests was lost and
// arrived after the other, the remote party would refuse it because of its lower CSeq (RFC 3261 §12.2.2). Requests of
// early dialogs do not wait.
type requestQueue struct {
	sender  requestSender
	busy    bool
	waiting []queuedRequest
}

type queuedRequest struct {
	request dialogRequest
	done    func(m *received, err error)
}

// send sends a request once the previous requests have their final responses. If the request is challenged, send repeats
// it with credentials. done gets the final response. If none arrives, m is nil and err is the reason.
func (q *requestQueue) send(r dialogRequest, done func(m *received, err error)) {
	switch {
	case r.fork == nil && q.busy && len(q.waiting) >= maxQueued:
		done(nil, errTooMany)
		return
	case r.fork == nil && q.busy:
		q.waiting = append(q.waiting, queuedRequest{r, done})
		return
	case r.fork == nil:
		q.busy = true
	}
	q.sender.sendRequest(r, func(m *received, err error) {
		if r.fork == nil {
			q.busy = false
		}
		if m != nil && !r.ownCredentials && m.IsChallenge() {
			if credentials := q.sender.answerChallenge(m, r.method, r.credentials == nil, r.body); credentials != nil {
				r.credentials = credentials
				q.send(r, done)
				return
			}
		}
		done(m, err)
		if !q.busy && len(q.waiting) > 0 {
			next := q.waiting[0]
			q.waiting = q.waiting[1:]
			q.send(next.request, next.done)
		}
	})
}

// endAll reports to the senders of all waiting requests that the dialog has ended.
func (q *requestQueue) endAll() {
	waiting := q.waiting
	q.waiting = nil
	for _, w := range waiting {
		w.done(nil, errEnded)
	}
}

// sendRequest sends one request within the dialog. done gets its final response.
func (d *Dialog) sendRequest(r dialogRequest, done func(m *received, err error)) {
	tx := &clientTransaction{
		method: r.method, remote: d.remote, headers: slices.Concat(r.headers, r.credentials), contentType: r.contentType, body: r.body,
	}
	if r.fork != nil {
		r.fork.localCSeq++
		tx.cseq, tx.remote, tx.fork = r.fork.localCSeq, r.fork.remote, r.fork.remote.tag
	} else {
		d.localCSeq++
		tx.cseq = d.localCSeq
	}
	if r.sentCSeq != nil {
		*r.sentCSeq = tx.cseq
	}
	d.withNextHop(tx.remote, func(to transport.Flow) {
		tx.to = to
		d.start(tx, func(m *received, err error) {
			if m != nil && m.Code < 200 {
				if tx.method == message.MethodInvite {
					tx.extend(reinviteTimeout)
				}
				return
			}
			done(m, err)
		})
	})
}

// Probe asks the remote party of an answered call whether it still knows the call; 481 means that it does not (RFC 3261
// §12.2.2). It sends UPDATE if the remote party accepts that, which also refreshes the session, otherwise OPTIONS. done
// gets the status code of the final response, or 0 if none arrived. It is called in order with the events of Notify and
// must not block. The call goes on whatever the code is.
func (d *Dialog) Probe(done func(code int)) {
	d.do(func() {
		if d.phase != answered {
			d.later(func() { done(0) })
			return
		}
		r := dialogRequest{method: message.MethodOptions, headers: []message.Header{{Name: "Accept", Value: message.ContentSDP}}}
		if d.session.acceptsUpdate {
			r = dialogRequest{method: message.MethodUpdate, headers: d.session.terms.RefreshHeaders()}
		}
		d.requests.send(r, func(m *received, _ error) {
			code := 0
			if m != nil {
				code = m.Code
			}
			if r.method == message.MethodUpdate && code >= 200 && code < 300 && d.phase == answered {
				d.remote.refreshTarget(m)
				d.session.agree(m)
			}
			d.later(func() { done(code) })
		})
	})
}

// Info sends an INFO within an answered call, for example application/dtmf-relay. A refusal has no effect, unless the
// remote party does not know the call any more: then the call ends.
func (d *Dialog) Info(contentType string, body []byte) {
	d.do(func() {
		if d.phase != answered || len(body) > MaxBody {
			return
		}
		d.requests.send(dialogRequest{method: message.MethodInfo, contentType: contentType, body: body}, func(m *received, _ error) {
			if m != nil && (m.Code == 481 || m.Code == 408) {
				d.endLostCall("the remote party no longer knows the call")
			}
		})
	})
}
