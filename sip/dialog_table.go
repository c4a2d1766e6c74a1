package sip

import (
	"maps"
	"slices"
	"sync"

	"github.com/callboard/callboard/sip/message"
)

// dialogTable finds the dialog to which a received message belongs.
type dialogTable struct {
	mu    sync.RWMutex
	byKey map[dialogKey]*Dialog
	// standalone are the clients that send requests outside of dialogs.
	standalone map[dialogKey]*StandaloneClient
	// pending are inbound INVITEs by Call-ID and From tag. Retransmissions and CANCELs of an INVITE are found here,
	// because they do not contain the tag of this side.
	pending map[dialogKey]*Dialog
}

// add stores a dialog. It returns false if its key is in use.
func (t *dialogTable) add(d *Dialog) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.byKey[d.key] != nil {
		return false
	}
	t.byKey[d.key] = d
	return true
}

// addInbound stores the dialog of an inbound INVITE. It returns false if a dialog of this INVITE is already stored.
func (t *dialogTable) addInbound(d *Dialog) bool {
	caller := d.server.callerKey()
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.byKey[d.key] != nil || t.pending[caller] != nil {
		return false
	}
	t.byKey[d.key], t.pending[caller] = d, d
	return true
}

// remove deletes a dialog.
func (t *dialogTable) remove(d *Dialog) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.byKey[d.key] == d {
		delete(t.byKey, d.key)
	}
	if d.server.initial != nil {
		if k := d.server.callerKey(); t.pending[k] == d {
			delete(t.pending, k)
		}
	}
}

// addStandalone stores a StandaloneClient. It returns false if its key is in use.
func (t *dialogTable) addStandalone(s *StandaloneClient) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.standalone[s.key] != nil {
		return false
	}
	t.standalone[s.key] = s
	return true
}

// removeStandalone deletes a StandaloneClient.
func (t *dialogTable) removeStandalone(s *StandaloneClient) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.standalone[s.key] == s {
		delete(t.standalone, s.key)
	}
}

func (t *dialogTable) findStandalone(k dialogKey) *StandaloneClient {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.standalone[k]
}

// client returns the sender of the requests with a dialog key: a dialog or a StandaloneClient. It returns nil if there
// is none.
func (t *dialogTable) client(k dialogKey) *userAgentClient {
	if d := t.find(k); d != nil {
		return &d.userAgentClient
	}
	if s := t.findStandalone(k); s != nil {
		return &s.userAgentClient
	}
	return nil
}

func (t *dialogTable) find(k dialogKey) *Dialog {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.byKey[k]
}

// ofRequest returns the dialog of a request: by the tag of this side or, for an INVITE and its CANCEL, by the tag
// of the caller.
func (t *dialogTable) ofRequest(m *received) *Dialog {
	t.mu.RLock()
	defer t.mu.RUnlock()
	if m.To.Tag != "" && m.Method != message.MethodCancel {
		return t.byKey[m.key()]
	}
	if m.Method != message.MethodInvite && m.Method != message.MethodCancel {
		return nil
	}
	d := t.pending[dialogKey{m.CallID, m.From.Tag}]
	if m.Method == message.MethodCancel && (d == nil || d.server.branch != m.Branch()) {
		return nil
	}
	return d
}

func (t *dialogTable) all() ([]*Dialog, []*StandaloneClient) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return slices.Collect(maps.Values(t.byKey)), slices.Collect(maps.Values(t.standalone))
}

// size returns the number of dialogs, including standalone clients, and of pending inbound INVITEs.
func (t *dialogTable) size() (dialogs, pending int) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return len(t.byKey) + len(t.standalone), len(t.pending)
}
