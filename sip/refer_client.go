package sip

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/callboard/callboard/sip/message"
	"github.com/callboard/callboard/sip/transport"
)

const (
	lastNotifyTimeout  = 3 * time.Minute
	firstNotifyTimeout = time.Minute     // the first NOTIFY has to follow at once (RFC 3515 §2.4.4)
	notifyAfterBye     = 5 * time.Second // time limit for a NOTIFY after the BYE
)

// ReferTo is the target of a REFER that this side sends (RFC 3515).
type ReferTo struct {
	URI        string            // sip:, sips: or tel:, without headers
	Replaces   *message.DialogID // attended transfer: the dialog of this side with URI that the remote party takes over
	ReferredBy string            // URI of this side, as the new callee sees it; "": omitted
}

// ReferProgress is the response to a REFER, or the progress of the new call that a NOTIFY reports. Final is set in the
// last ReferProgress of a REFER only.
type ReferProgress struct {
	Code   int // 0: no response arrived
	Phrase string
	Notify bool // reported by a NOTIFY, not by the response to the REFER
	Final  bool
	Failed bool // only with Final: the transfer failed or its outcome is unknown
}

// referral is the state of a sent REFER until its last NOTIFY.
type referral struct {
	cseq     uint32
	report   func(ReferProgress)
	accepted bool // by a 2xx to the REFER, or by a NOTIFY
	notified bool // at least one NOTIFY was received
	over     bool
	last     ReferProgress // from the last NOTIFY
	timeout  *time.Timer
}

// referClient transfers the remote party by REFER. Only one REFER may be pending at a time.
type referClient struct {
	d       *Dialog
	current *referral // nil: none was sent
}

// Refer asks the remote party of an answered call to call another target. report is called in order with the events of
// Notify and must not block. While one REFER is pending, another fails with 491. The call goes on until it is ended.
func (d *Dialog) Refer(r ReferTo, report func(ReferProgress)) {
	d.do(func() { d.referral.send(r, report) })
}

func (c *referClient) send(r ReferTo, report func(ReferProgress)) {
	d := c.d
	headers, err := r.headers()
	refuse := func(code int, phrase string) {
		d.later(func() { report(ReferProgress{Code: code, Phrase: phrase, Final: true, Failed: true}) })
	}
	switch {
	case err != nil:
		refuse(400, err.Error())
	case d.phase != answered:
		refuse(481, "no call to transfer")
	case d.isCallingSuspended(): // because the remote party would make the call for this side
		refuse(503, transport.ErrCallsSuspended.Error())
	case c.isPending():
		refuse(491, "another transfer is under way")
	default:
		f := &referral{report: report}
		c.current = f
		d.requests.send(dialogRequest{method: message.MethodRefer, headers: headers, sentCSeq: &f.cseq}, func(m *received, err error) { c.handleResponse(f, m, err) })
	}
}

func (r ReferTo) headers() ([]message.Header, error) {
	if !message.IsDialable(r.URI) || len(r.URI) > message.MaxURI {
		return nil, fmt.Errorf("sip: %q cannot be called", r.URI)
	}
	to := "<" + r.URI
	if r.Replaces != nil {
		value, err := message.FormatReplaces(r.Replaces)
		if err != nil {
			return nil, err
		}
		to += "?Replaces=" + message.EscapeHeaderValue(value)
	}
	headers := []message.Header{{Name: "Refer-To", Value: to + ">"}}
	if r.ReferredBy != "" {
		if !message.IsDialable(r.ReferredBy) {
			return nil, fmt.Errorf("sip: %q is not a valid Referred-By URI", r.ReferredBy)
		}
		headers = append(headers, message.Header{Name: "Referred-By", Value: "<" + r.ReferredBy + ">"})
	}
	return headers, nil
}

// isPending reports whether the outcome of a REFER is not known yet.
func (c *referClient) isPending() bool { return c.current != nil && !c.current.over }

// handleResponse handles the final response to a REFER. m is nil if none arrived. A NOTIFY may have arrived earlier.
func (c *referClient) handleResponse(f *referral, m *received, err error) {
	switch {
	case f.over:
	case m == nil && f.accepted: // the response was lost, but a NOTIFY accepted the REFER
	case m == nil:
		c.conclude(f, ReferProgress{Phrase: err.Error(), Failed: true})
	case m.Code >= 300:
		c.conclude(f, ReferProgress{Code: m.Code, Phrase: m.Phrase, Failed: true})
		if m.Code == 481 || m.Code == 408 {
			c.d.endLostCall("the remote party no longer knows the call")
		}
	case strings.EqualFold(strings.TrimSpace(message.TextBefore(m.HeaderValue("Refer-Sub"), ";")), "false"): // no NOTIFY will follow (RFC 4488)
		c.conclude(f, ReferProgress{Code: m.Code, Phrase: m.Phrase})
	default:
		c.report(f, ReferProgress{Code: m.Code, Phrase: m.Phrase})
		if !f.accepted {
			c.limit(f, firstNotifyTimeout)
		}
		f.accepted = true
	}
}

// limit restarts the time limit for the next NOTIFY of an accepted REFER.
func (c *referClient) limit(f *referral, timeout time.Duration) {
	if f.timeout != nil {
		c.d.stopTimer(f.timeout)
	}
	f.timeout = c.d.after(timeout, func() { c.concludeUnknown(f, "no further NOTIFY came") })
}

func (c *referClient) report(f *referral, p ReferProgress) {
	c.d.later(func() { f.report(p) })
}

func (c *referClient) conclude(f *referral, p ReferProgress) {
	if f.over {
		return
	}
	f.over = true
	if f.timeout != nil {
		f.timeout.Stop()
	}
	p.Final = true
	c.report(f, p)
}

// concludeUnknown reports a transfer as failed, because its outcome is unknown.
func (c *referClient) concludeUnknown(f *referral, why string) {
	c.conclude(f, ReferProgress{Code: f.last.Code, Phrase: why, Notify: f.last.Code > 0, Failed: true})
}

// awaitLastNotify sets a short time limit for the last NOTIFY of a pending REFER after the call is over.
func (c *referClient) awaitLastNotify() {
	if f := c.current; c.isPending() {
		time.AfterFunc(notifyAfterBye, func() { c.d.do(func() { c.concludeUnknown(f, "the call ended first") }) })
	}
}

// handleNotify handles a NOTIFY, which reports the progress of the new call. While a REFER is pending, a NOTIFY
// without Event, Subscription-State or Content-Type is accepted, because no other subscription exists.
func (c *referClient) handleNotify(m *received) {
	d, f := c.d, c.current
	event, params, _ := strings.Cut(m.HeaderValue("Event"), ";")
	state := strings.ToLower(m.HeaderValue("Subscription-State"))
	pending := c.isPending()
	switch {
	case event == "" && pending:
	case !strings.EqualFold(strings.TrimSpace(event), "refer"):
		d.responder.reply(m, 489, message.Header{Name: "Allow-Events", Value: "refer"})
		return
	case f == nil || !isReferral(params, f.cseq):
		d.responder.reply(m, 481)
		return
	case state == "" && !pending:
		d.responder.reply(m, 400)
		return
	case len(m.Body) > 0 && m.ContentType != message.ContentSipfrag && (m.ContentType != "" || !pending):
		d.responder.replyUnsupported(m, message.ContentSipfrag)
		return
	}
	d.responder.reply(m, 200)
	if f.over {
		return
	}
	f.accepted = true
	if !f.notified { // once, so that NOTIFYs cannot keep a transfer open
		f.notified = true
		c.limit(f, lastNotifyTimeout)
	}
	if code, phrase, ok := message.ParseSipfrag(m.Body); ok {
		f.last = ReferProgress{Code: code, Phrase: phrase, Notify: true}
	}
	p := f.last
	switch {
	case p.Code >= 200:
		p.Failed = p.Code >= 300
		c.conclude(f, p)
	case strings.TrimSpace(message.TextBefore(state, ";")) == "terminated":
		p.Failed = true
		c.conclude(f, p)
	case p.Code > 0:
		c.report(f, p)
	}
}

// isReferral reports whether the parameters of an Event header belong to the REFER with this CSeq. Parameters without an
// id belong to it too.
func isReferral(params string, cseq uint32) bool {
	for p := range strings.SplitSeq(params, ";") {
		name, value, _ := strings.Cut(strings.TrimSpace(p), "=")
		if strings.EqualFold(name, "id") {
			n, err := strconv.ParseUint(value, 10, 32)
			return err == nil && uint32(n) == cseq
		}
	}
	return true
}
