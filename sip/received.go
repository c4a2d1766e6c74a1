package sip

import "github.com/callboard/callboard/sip/transport"

// received is a message with where it came from, and what the user agent knows
// of its sender.
type received struct {
	transport.Received

	trunk    string // of the source, as admitted
	proved   bool   // the trunk, by digest
	phone    string // the account of the phone that calls, once proved
	traced   bool   // belongs to a dialog, and so do its answers
	traceTag string
}

// dialogKey names a dialog, or a dialog to be, by Call-ID and our own tag.
type dialogKey struct{ callID, tag string }

// key names the dialog at our side: by From-tag for answers to our requests,
// by To-tag for requests of the far end.
func (m *received) key() dialogKey {
	if m.IsRequest() {
		return dialogKey{m.CallID, m.To.Tag}
	}
	return dialogKey{m.CallID, m.From.Tag}
}
