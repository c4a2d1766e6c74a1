package sip

import (
	"sync"

	"github.com/callboard/callboard/sip/message"
)

// dialogTable finds the dialog of a message.
type dialogTable struct {
	mu    sync.RWMutex
	byKey map[dialogKey]*Dialog
	// pending are inbound INVITEs by Call-ID and From-tag, for repetitions and CANCELs, which have no tag of ours.
	pending map[dialogKey]*Dialog
}

// add stores a dialog; false: its key is taken.
func (t *dialogTable) add(d *Dialog) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.byKey[d.key] != nil {
		return false
	}
	t.byKey[d.key] = d
	return true
}

// addInbound stores the dialog of an inbound INVITE; false: it is known already.
func (t *dialogTable) addInbound(d *Dialog) bool {
	caller := d.callerKey()
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
	if d.invite != nil {
		if k := d.callerKey(); t.pending[k] == d {
			delete(t.pending, k)
		}
	}
}

func (t *dialogTable) find(k dialogKey) *Dialog {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.byKey[k]
}

// ofRequest finds the dialog of a request: by our tag, or, for an INVITE and its
// CANCEL, by the caller's.
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
	if m.Method == message.MethodCancel && (d == nil || d.inviteBranch != m.Branch()) {
		return nil
	}
	return d
}

func (t *dialogTable) all() []*Dialog {
	t.mu.RLock()
	defer t.mu.RUnlock()
	all := make([]*Dialog, 0, len(t.byKey))
	for _, d := range t.byKey {
		all = append(all, d)
	}
	return all
}

// size is the number of dialogs and of pending inbound INVITEs.
func (t *dialogTable) size() (dialogs, pending int) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return len(t.byKey), len(t.pending)
}
