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
	referWithin  = 3 * time.Minute // for the last NOTIFY
	notifyWithin = time.Minute     // for the first one, which is to come at once (RFC 3515 section 2.4.4)
	afterBye     = 5 * time.Second // for a NOTIFY that comes behind a BYE
)

// ReferTo is where a REFER of ours sends the far end (RFC 3515).
type ReferTo struct {
	URI        string            // sip:, sips: or tel:, without headers
	Replaces   *message.DialogID // attended: the dialog of ours with URI that the far end takes over, as we see it
	ReferredBy string            // our URI towards whom it calls; "" leaves it out
}

// ReferProgress is what is heard of a REFER: first its answer, then what the
// NOTIFYs tell of the far end's new call. Exactly one is Final, the last.
type ReferProgress struct {
	Code   int // 0 when nothing came
	Phrase string
	Notify bool // it came by NOTIFY, and not as the answer to the REFER
	Final  bool
	Failed bool // only with Final: the transfer did not succeed, or nobody told
}

// referral is a REFER of ours until its last NOTIFY.
type referral struct {
	cseq     uint32
	told     func(ReferProgress)
	taken    bool // 2xx to the REFER, or a NOTIFY
	notified bool // by one NOTIFY at least
	over     bool
	heard    ReferProgress // of the last NOTIFY
	limits   *time.Timer
}

// Refer asks the far end of an answered call to call somebody else. told is
// called in the order and on the terms of Notify. One at a time: another one
// fails with 491. The call itself goes on; who is done with it ends it.
func (d *Dialog) Refer(r ReferTo, told func(ReferProgress)) {
	d.do(func() {
		extra, err := r.headers()
		refuse := func(code int, phrase string) {
			d.later(func() { told(ReferProgress{Code: code, Phrase: phrase, Final: true, Failed: true}) })
		}
		switch {
		case err != nil:
			refuse(400, err.Error())
		case d.phase != up:
			refuse(481, "no call to transfer")
		case d.isHeld(): // somebody else would ring for us
			refuse(503, transport.ErrHeld.Error())
		case d.referral != nil && !d.referral.over:
			refuse(491, "another transfer is under way")
		default:
			f := &referral{told: told}
			d.referral = f
			d.ask(ownRequest{method: message.MethodRefer, extra: extra, sentAs: &f.cseq}, func(m *received, err error) { d.referHeard(f, m, err) })
		}
	})
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
			return nil, fmt.Errorf("sip: %q refers nobody", r.ReferredBy)
		}
		headers = append(headers, message.Header{Name: "Referred-By", Value: "<" + r.ReferredBy + ">"})
	}
	return headers, nil
}

// referHeard takes the answer to a REFER. A NOTIFY may have been quicker.
func (d *Dialog) referHeard(f *referral, m *received, err error) {
	switch {
	case f.over:
	case m == nil && f.taken: // it was obeyed: its answer got lost
	case m == nil:
		d.referDone(f, ReferProgress{Phrase: err.Error(), Failed: true})
	case m.Code >= 300:
		d.referDone(f, ReferProgress{Code: m.Code, Phrase: m.Phrase, Failed: true})
		if m.Code == 481 || m.Code == 408 {
			d.lost("the far end lost the call")
		}
	case strings.EqualFold(strings.TrimSpace(message.TextBefore(m.HeaderValue("Refer-Sub"), ";")), "false"): // no NOTIFY will come (RFC 4488)
		d.referDone(f, ReferProgress{Code: m.Code, Phrase: m.Phrase})
	default:
		d.referTold(f, ReferProgress{Code: m.Code, Phrase: m.Phrase})
		if !f.taken {
			d.limitReferral(f, notifyWithin)
		}
		f.taken = true
	}
}

// limitReferral bounds how long a peer that has accepted a REFER may send no NOTIFY.
func (d *Dialog) limitReferral(f *referral, limit time.Duration) {
	if f.limits != nil {
		d.release(f.limits)
	}
	f.limits = d.after(limit, func() {
		d.referDone(f, ReferProgress{Code: f.heard.Code, Phrase: "no further NOTIFY came", Notify: f.heard.Code > 0, Failed: true})
	})
}

func (d *Dialog) referTold(f *referral, p ReferProgress) {
	d.later(func() { f.told(p) })
}

func (d *Dialog) referDone(f *referral, p ReferProgress) {
	if f.over {
		return
	}
	f.over = true
	if f.limits != nil {
		f.limits.Stop()
	}
	p.Final = true
	d.referTold(f, p)
}

// endReferral waits a little for a NOTIFY when the call is over.
func (d *Dialog) endReferral() {
	f := d.referral
	if f == nil || f.over {
		return
	}
	time.AfterFunc(afterBye, func() {
		d.do(func() {
			d.referDone(f, ReferProgress{Code: f.heard.Code, Phrase: "the call ended first", Notify: f.heard.Code > 0, Failed: true})
		})
	})
}

// notified takes a NOTIFY, which reports the progress of the peer's new call. While a REFER is
// pending, phones that leave out Event, Subscription-State or Content-Type are
// understood: no other subscription exists.
func (d *Dialog) notified(m *received) {
	event, params, _ := strings.Cut(m.HeaderValue("Event"), ";")
	f := d.referral
	state := strings.ToLower(m.HeaderValue("Subscription-State"))
	waits := f != nil && !f.over
	switch {
	case event == "" && waits:
	case !strings.EqualFold(strings.TrimSpace(event), "refer"):
		d.keep(m, d.ua.reply(m, 489, d.key.tag, []message.Header{{Name: "Allow-Events", Value: "refer"}}))
		return
	case f == nil || !isReferral(params, f.cseq):
		d.keep(m, d.ua.reply(m, 481, d.key.tag, nil))
		return
	case state == "" && !waits:
		d.keep(m, d.ua.reply(m, 400, d.key.tag, nil))
		return
	case len(m.Body) > 0 && m.ContentType != message.ContentSipfrag && (m.ContentType != "" || !waits):
		d.keep(m, d.ua.reply(m, 415, d.key.tag, []message.Header{{Name: "Accept", Value: message.ContentSipfrag}}))
		return
	}
	d.keep(m, d.ua.reply(m, 200, d.key.tag, nil))
	if f.over {
		return
	}
	f.taken = true
	if !f.notified { // once, so that NOTIFYs cannot keep a transfer open
		f.notified = true
		d.limitReferral(f, referWithin)
	}
	if code, phrase, ok := message.ParseSipfrag(m.Body); ok {
		f.heard = ReferProgress{Code: code, Phrase: phrase, Notify: true}
	}
	p := f.heard
	switch {
	case p.Code >= 200:
		p.Failed = p.Code >= 300
		d.referDone(f, p)
	case strings.TrimSpace(message.TextBefore(state, ";")) == "terminated":
		p.Failed = true
		d.referDone(f, p)
	case p.Code > 0:
		d.referTold(f, p)
	}
}

// isReferral tells whether the parameters of an Event name this REFER: by its
// CSeq, or not at all.
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

// Info sends an INFO of an answered call, for example application/dtmf-relay.
// What cannot be sent, and an answer that refuses it, change nothing; a far
// end that no longer knows the call ends it.
func (d *Dialog) Info(contentType string, body []byte) {
	d.do(func() {
		if d.phase != up || len(body) > maxBody {
			return
		}
		d.ask(ownRequest{method: message.MethodInfo, contentType: contentType, body: body}, func(m *received, err error) {
			if m != nil && (m.Code == 481 || m.Code == 408) {
				d.lost("the far end lost the call")
			}
		})
	})
}

// ID names the dialog as we see it.
func (d *Dialog) ID() message.DialogID {
	d.mu.Lock()
	defer d.mu.Unlock()
	return message.DialogID{CallID: d.key.callID, LocalTag: d.key.tag, RemoteTag: d.far.tag}
}
