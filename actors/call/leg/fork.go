package leg

import (
	"github.com/callboard/callboard/sip"
	"github.com/callboard/callboard/sip/forking"
	"github.com/callboard/callboard/sip/registrar"
)

// forkedDialog is a call to several contacts of a phone. It stands for all of them
// until one has answered; then Resources puts the answered dialog in its place.
type forkedDialog struct {
	Dialog // to the first contact
	all    *forking.Call
}

// State is that of the answered dialog, or of the first.
func (f *forkedDialog) State() sip.DialogState { return f.all.Dialog().State() }

// Ack acknowledges the answered dialog.
func (f *forkedDialog) Ack() { f.all.Dialog().Ack() }

// Cancel cancels all of them.
func (f *forkedDialog) Cancel(reason string) { f.all.Cancel(reason) }

// Bye ends all of them.
func (f *forkedDialog) Bye(q850 int, text string) { f.all.Bye(q850, text) }

// answeredDialog is the answered dialog of a fork as soon as it is known, else d.
func answeredDialog(d Dialog) Dialog {
	if f, forked := d.(*forkedDialog); forked {
		if answered := f.all.Answered(); answered != nil {
			return answered
		}
	}
	return d
}

// ContactHosts are the addresses from which a phone's audio may come, whatever the
// address behind its NAT is.
func ContactHosts(contacts []registrar.Contact) []string {
	var out []string
	for _, c := range contacts {
		out = append(out, c.Target.Host)
	}
	return out
}
