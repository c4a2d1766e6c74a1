package sip

import (
	"net/textproto"

	"github.com/callboard/callboard/sip/message"
	"github.com/callboard/callboard/sip/outcome"
)

// offerReplacement reports an INVITE with Replaces to the owner of the dialog to be replaced (RFC 3891).
func (u *UserAgent) offerReplacement(in *Incoming) {
	old := u.dialogs.find(dialogKey{in.Replaces.CallID, in.Replaces.LocalTag})
	code := 481
	in.replacedDialog = old
	if old != nil {
		old.do(func() {
			if code = old.refusesReplacement(in); code == 0 {
				old.emit(Replaced{By: in})
			}
		})
	}
	if code != 0 {
		in.Reject(code, 0)
		return
	}
	in.d.do(func() {
		in.d.after(decisionTimeout, func() {
			if !in.d.server.ownerResponded {
				in.d.server.refuse(403, nil, outcome.Final{Code: 403, Phrase: "the call was not replaced"})
			}
		})
	})
}

// refusesReplacement returns the status code that refuses to replace this dialog (RFC 3891 §3). It returns 0 if the
// owner of this dialog decides.
func (d *Dialog) refusesReplacement(in *Incoming) int {
	tag := in.Replaces.RemoteTag
	isEarly := d.phase == early && d.invite != nil && d.invite.fork(tag) != nil
	switch {
	case !isEarly && (d.phase == early || d.remote.tag != tag):
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

// replacesHeader stores the Replaces header of an INVITE. ok is false if there are several or if it is malformed.
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
