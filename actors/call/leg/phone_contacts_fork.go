package leg

import (
	"github.com/callboard/callboard/sip"
	"github.com/callboard/callboard/sip/forking"
	"github.com/callboard/callboard/sip/registrar"
)

// forkedDialog is a call to several contacts of a phone (forking). It represents the dialogs with all contacts until one
// contact answers. Then Resources replaces it by the dialog with that contact.
type forkedDialog struct {
	Dialog // to the first contact
	all    *forking.Call
}

// State returns the state of the answered dialog, or of the first one before an answer.
func (f *forkedDialog) State() sip.DialogState { return f.all.Dialog().State() }

// Ack acknowledges the answered dialog.
func (f *forkedDialog) Ack() { f.all.Dialog().Ack() }

// Cancel cancels the INVITEs to all contacts.
func (f *forkedDialog) Cancel(reason string) { f.all.Cancel(reason) }

// Bye ends the dialogs with all contacts.
func (f *forkedDialog) Bye(q850 int, text string) { f.all.Bye(q850, text) }

// answeredDialog returns the answered dialog of a forked call, or d if d is not forked or not answered.
func answeredDialog(d Dialog) Dialog {
	if f, forked := d.(*forkedDialog); forked {
		if answered := f.all.Answered(); answered != nil {
			return answered
		}
	}
	return d
}

// ContactHosts returns the hosts of a phone's contacts. Audio from these hosts is accepted, whatever the phone's
// address behind its NAT is.
func ContactHosts(contacts []registrar.Contact) []string {
	var out []string
	for _, c := range contacts {
		out = append(out, c.Target.Host)
	}
	return out
}
