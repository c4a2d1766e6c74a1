package sip

import (
	"net/textproto"
	"strconv"
	"strings"
	"time"

	"github.com/callboard/callboard/sip/message"
	"github.com/callboard/callboard/sip/outcome"
)

const (
	// decideWithin is how long an owner may think about a transfer.
	decideWithin = 5 * time.Second
	// byeWithin is how long a BYE waits for the last NOTIFY of a REFER to be
	// answered: behind the BYE nobody would hear it.
	byeWithin = 2 * time.Second
	notifyFor = "active;expires=180"
)

// subscription is what a REFER of the far end made us owe it: NOTIFYs, one
// after the other.
type subscription struct {
	event string
	busy  bool
	next  *notice // the newest that waits; a final one is never replaced
	over  bool    // the last was sent, or the far end wants no more
	owed  bool    // the last is known, and not answered yet
}

type notice struct {
	code   int
	phrase string
	final  bool
}

// referred takes a REFER. Only the owner can make us call somebody.
func (d *Dialog) referred(m *received) {
	values := m.HeaderValues("Refer-To")
	var to string
	var replaces *message.DialogID
	ok := len(values) == 1
	if ok {
		to, replaces, ok = message.ParseReferTo(values[0])
	}
	open := true
	refuse := func(code int) {
		if open && d.phase != over {
			open = false
			d.keep(m, d.ua.reply(m, code, d.key.tag, nil))
		}
	}
	switch {
	case !ok:
		refuse(400)
		return
	case d.phase != up || d.notify == nil:
		refuse(403)
		return
	}
	by := ""
	if values = m.HeaderValues("Referred-By"); len(values) == 1 {
		if uri := message.ReadURI(values[0]); len(uri) <= message.MaxURI && message.IsDialable(uri) {
			by = uri
		}
	}
	d.keep(m, nil)
	wait := d.after(decideWithin, func() { refuse(403) })
	d.emit(Referred{
		To: to, ReferredBy: by, Replaces: replaces,
		Accept: func() func(int, string, bool) {
			s, taken := &subscription{event: "refer;id=" + decimal(m.CSeq)}, false
			d.do(func() {
				if !open || d.phase == over {
					return
				}
				taken = true
				open = false
				d.release(wait)
				if message.IsSIPURI(m.Contact) && message.IsSingleLine(m.Contact) {
					d.far.target = m.Contact
				}
				b, err := d.ua.answer(m, 202, d.key.tag, []message.Header{{Name: "Contact", Value: d.contact(d.flow)}}, nil)
				if err == nil {
					d.keep(m, b)
					d.ua.respond(m, b)
				}
				d.tellReferrer(s, notice{code: 100})
			})
			if !taken {
				return nil
			}
			return func(code int, phrase string, final bool) {
				d.do(func() { d.tellReferrer(s, notice{max(100, min(code, 699)), phrase, final}) })
			}
		},
		Refuse: func(code int) {
			d.do(func() {
				d.release(wait)
				refuse(max(300, min(code, 699)))
			})
		},
	})
}

// tellReferrer sends a NOTIFY, or keeps it until the one before is answered.
func (d *Dialog) tellReferrer(s *subscription, n notice) {
	if n.final && !s.over && !s.owed {
		s.owed = true
		d.notices++
	}
	switch {
	case s.over:
		return
	case s.busy:
		if s.next == nil || !s.next.final {
			s.next = &n
		}
		return
	}
	if n.phrase = strings.Map(message.ReplaceControlChar, n.phrase); n.phrase == "" {
		n.phrase = message.ReasonPhrase(n.code)
	}
	state := notifyFor
	if n.final {
		state, s.over = "terminated;reason=noresource", true
	}
	s.busy = true
	d.ask(ownRequest{
		method: message.MethodNotify, contentType: message.ContentSipfrag + ";version=2.0",
		extra: []message.Header{{Name: "Event", Value: s.event}, {Name: "Subscription-State", Value: state}},
		body:  []byte("SIP/2.0 " + strconv.Itoa(n.code) + " " + n.phrase + "\r\n"),
	}, func(m *received, _ error) {
		s.busy = false
		if m == nil || m.Code >= 300 && m.Code != 491 && m.Code < 500 {
			s.over = true // nobody listens any more
		}
		if next := s.next; next != nil {
			s.next = nil
			d.tellReferrer(s, *next)
		}
		if s.over && !s.busy && s.owed {
			s.owed = false
			d.notices = max(d.notices-1, 0)
			d.noticed()
		}
	})
}

// noticed goes on with a BYE that waits for the last NOTIFYs.
func (d *Dialog) noticed() {
	if bye := d.lastBye; bye != nil && d.notices == 0 {
		d.lastBye = nil
		bye()
	}
}

// replacing takes an INVITE with Replaces: it is told to the dialog that it
// names, and to nobody else.
func (u *UserAgent) replacing(in *Incoming) {
	old := u.dialogs.find(dialogKey{in.Replaces.CallID, in.Replaces.LocalTag})
	code := 481
	in.old = old
	if old != nil {
		old.do(func() {
			if code = old.replaceable(in); code == 0 {
				old.emit(Replaced{By: in})
			}
		})
	}
	if code != 0 {
		in.Reject(code, 0)
		return
	}
	in.d.do(func() {
		in.d.after(decideWithin, func() {
			if !in.d.taken {
				in.d.refuseCaller(403, nil, outcome.Final{Code: 403, Phrase: "nobody let the call be replaced"})
			}
		})
	})
}

// replaceable is the answer to an INVITE that would replace this dialog (RFC
// 3891 3), 0 if its owner is to decide.
func (d *Dialog) replaceable(in *Incoming) int {
	tag := in.Replaces.RemoteTag
	isEarly := d.phase == early && d.out != nil && d.out.fork(tag) != nil
	switch {
	case !isEarly && (d.phase == early || d.far.tag != tag):
		return 481
	case d.phase == closing || d.phase == over:
		return 603
	case in.earlyOnly && !isEarly:
		return 486
	case d.notify == nil:
		return 403
	}
	return 0
}

// confirm notes that the caller has had our 2xx: a dialog that this one
// replaces is not needed any more.
func (d *Dialog) confirm() {
	d.confirmed = true
	if old := d.replaced; old != nil {
		d.replaced = nil
		d.later(func() { old.Bye(16, "replaced") })
	}
}

// replacesHeader reads the Replaces of an INVITE. ok is false when there are
// several, or one that cannot be read.
func (i *Incoming) replacesHeader(m *received) (ok bool) {
	values := m.HeaderValues("Replaces")
	if len(values) == 0 {
		return true
	}
	callID, to, from, earlyOnly, ok := message.ParseReplaces(values[0])
	if !ok || len(values) > 1 {
		return false
	}
	i.Replaces, i.earlyOnly = &message.DialogID{CallID: callID, LocalTag: to, RemoteTag: from}, earlyOnly
	delete(i.Header, textproto.CanonicalMIMEHeaderKey("Replaces"))
	return true
}
