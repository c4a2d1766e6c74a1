package registrar

import (
	"net/netip"
	"sync"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/sip/auth"
	"github.com/callboard/callboard/sip/registrar"
	"github.com/callboard/callboard/sip/transport"
)

// PhoneDirectory holds the phones of all workspaces and the addresses where they are registered. It answers from
// memory, because the SIP user agent consults it for each message from an unknown source address. Its methods are
// safe for concurrent use.
type PhoneDirectory struct {
	mu          sync.RWMutex
	byWorkspace map[string][]string // phone IDs by workspace
	byID        map[string]*domain.Phone
	byUser      map[string]*domain.Phone
	sources     map[string][]transport.Source // addresses by phone ID
	sourceCount map[transport.Source]int
	hostCount   map[netip.Addr]int
}

// NewPhoneDirectory returns an empty directory, with which no phone may register.
func NewPhoneDirectory() *PhoneDirectory {
	return &PhoneDirectory{
		byWorkspace: make(map[string][]string), byID: make(map[string]*domain.Phone), byUser: make(map[string]*domain.Phone),
		sources: make(map[string][]transport.Source), sourceCount: make(map[transport.Source]int), hostCount: make(map[netip.Addr]int),
	}
}

// Set replaces the phones of a workspace.
func (b *PhoneDirectory) Set(workspaceID string, phones []domain.Phone) {
	b.mu.Lock()
	defer b.mu.Unlock()
	gone := make(map[string]bool)
	for _, id := range b.byWorkspace[workspaceID] {
		gone[id] = true
		if x := b.byID[id]; x != nil && b.byUser[x.Username] == x {
			delete(b.byUser, x.Username)
		}
		delete(b.byID, id)
	}
	ids := make([]string, 0, len(phones))
	for _, x := range phones {
		if x.IsTestOnly() {
			continue
		}
		delete(gone, x.ID)
		ids = append(ids, x.ID)
		b.byID[x.ID], b.byUser[x.Username] = &x, &x
	}
	b.byWorkspace[workspaceID] = ids
	for id := range gone {
		b.removeBindings(id)
	}
}

// HasPhones reports whether any phone may register.
func (b *PhoneDirectory) HasPhones() bool {
	b.mu.RLock()
	defer b.mu.RUnlock()
	return len(b.byUser) > 0
}

// PhonesOf returns the phones of a workspace.
func (b *PhoneDirectory) PhonesOf(workspaceID string) []domain.Phone {
	b.mu.RLock()
	defer b.mu.RUnlock()
	out := make([]domain.Phone, 0, len(b.byWorkspace[workspaceID]))
	for _, id := range b.byWorkspace[workspaceID] {
		out = append(out, *b.byID[id])
	}
	return out
}

// CountPhones returns the number of a workspace's phones.
func (b *PhoneDirectory) CountPhones(workspaceID string) int {
	b.mu.RLock()
	defer b.mu.RUnlock()
	return len(b.byWorkspace[workspaceID])
}

// Account returns the digest account of a SIP user name. The second result is false if there is none.
func (b *PhoneDirectory) Account(user string) (auth.Account, bool) {
	b.mu.RLock()
	defer b.mu.RUnlock()
	x := b.byUser[user]
	if x == nil {
		return auth.Account{}, false
	}
	account := auth.Account{ID: x.ID, User: x.Username, Password: x.Password}
	if x.Transport != domain.PhoneTransportAny {
		account.Network = x.Transport
	}
	return account, true
}

// Phone returns the phone with an ID. The second result is false if there is none.
func (b *PhoneDirectory) Phone(id string) (domain.Phone, bool) {
	b.mu.RLock()
	defer b.mu.RUnlock()
	if x := b.byID[id]; x != nil {
		return *x, true
	}
	return domain.Phone{}, false
}

// SetBindings replaces the current registrations of a phone.
func (b *PhoneDirectory) SetBindings(phoneID string, bindings []registrar.Binding) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.removeBindings(phoneID)
	if b.byID[phoneID] == nil || len(bindings) == 0 {
		return
	}
	for _, x := range bindings {
		s := transport.Source{Addr: netip.AddrPortFrom(x.Source.Addr().Unmap(), x.Source.Port()), Network: x.Network}
		b.sources[phoneID] = append(b.sources[phoneID], s)
		b.sourceCount[s]++
		b.hostCount[s.Addr.Addr()]++
	}
}

func (b *PhoneDirectory) removeBindings(phoneID string) {
	for _, s := range b.sources[phoneID] {
		if b.sourceCount[s]--; b.sourceCount[s] <= 0 {
			delete(b.sourceCount, s)
		}
		if b.hostCount[s.Addr.Addr()]--; b.hostCount[s.Addr.Addr()] <= 0 {
			delete(b.hostCount, s.Addr.Addr())
		}
	}
	delete(b.sources, phoneID)
}

// PresenceAt reports whether a phone is registered at a source address, at another port of the same host, or at neither.
func (b *PhoneDirectory) PresenceAt(s transport.Source) registrar.Presence {
	b.mu.RLock()
	defer b.mu.RUnlock()
	s.Addr = netip.AddrPortFrom(s.Addr.Addr().Unmap(), s.Addr.Port())
	switch {
	case b.sourceCount[s] > 0:
		return registrar.AtAddress
	case b.hostCount[s.Addr.Addr()] > 0:
		return registrar.AtHost
	}
	return registrar.Absent
}
