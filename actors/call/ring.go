package call

import (
	"github.com/callboard/callboard/sip"
	"github.com/callboard/callboard/sip/registrar"
)

// ringing is a call to several contacts of a phone as one Dialog: until one of
// them has answered it stands for all, then the vessel puts the answered
// dialog in its place.
type ringing struct {
	Dialog // the first that rings
	all    *sip.Ringer
}

// State is that of the answered dialog, or of the first.
func (r *ringing) State() sip.DialogState { return r.all.Dialog().State() }

// Ack is for the answered one.
func (r *ringing) Ack() { r.all.Dialog().Ack() }

// Cancel gives all of them up.
func (r *ringing) Cancel(reason string) { r.all.Cancel(reason) }

// Bye ends all of them.
func (r *ringing) Bye(q850 int, text string) { r.all.Bye(q850, text) }

// winning is the dialog that has the call, where that is known already.
func winning(d Dialog) Dialog {
	if r, several := d.(*ringing); several {
		if winner := r.all.Answered(); winner != nil {
			return winner
		}
	}
	return d
}

// hostsOf are the addresses from which a phone's sound may come, whatever the
// address behind its NAT is called.
func hostsOf(contacts []registrar.Contact) []string {
	var out []string
	for _, c := range contacts {
		out = append(out, c.Target.Host)
	}
	return out
}
