package registrar

import (
	"net/netip"
	"sync"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/sip/auth"
	"github.com/callboard/callboard/sip/registrar"
	"github.com/callboard/callboard/sip/transport"
)

// PhoneDirectory knows the phones of all workspaces and where they are registered. The
// user agent asks it for each message of a stranger, so it answers from memory.
type PhoneDirectory struct {
	mu     sync.RWMutex
	of     map[string][]string // phones by workspace
	byID   map[string]*domain.Phone
	byUser map[string]*domain.Phone
	bound  map[string][]transport.Source // by phone
	exact  map[transport.Source]int
	hosts  map[netip.Addr]int
}

// NewPhoneDirectory makes an empty one: nobody may register.
func NewPhoneDirectory() *PhoneDirectory {
	return &PhoneDirectory{
		of: make(map[string][]string), byID: make(map[string]*domain.Phone), byUser: make(map[string]*domain.Phone),
		bound: make(map[string][]transport.Source), exact: make(map[transport.Source]int), hosts: make(map[netip.Addr]int),
	}
}

// Set replaces the phones of a workspace.
func (b *PhoneDirectory) Set(workspaceID string, phones []domain.Phone) {
	b.mu.Lock()
	defer b.mu.Unlock()
	gone := make(map[string]bool)
	for _, id := range b.of[workspaceID] {
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
	b.of[workspaceID] = ids
	for id := range gone {
		b.unbind(id)
	}
}

// HasPhones tells whether anybody may register at all.
func (b *PhoneDirectory) HasPhones() bool {
	b.mu.RLock()
	defer b.mu.RUnlock()
	return len(b.byUser) > 0
}

// PhonesOf are the phones of a workspace.
func (b *PhoneDirectory) PhonesOf(workspaceID string) []domain.Phone {
	b.mu.RLock()
	defer b.mu.RUnlock()
	out := make([]domain.Phone, 0, len(b.of[workspaceID]))
	for _, id := range b.of[workspaceID] {
		out = append(out, *b.byID[id])
	}
	return out
}

// CountPhones tells how many phones a workspace has.
func (b *PhoneDirectory) CountPhones(workspaceID string) int {
	b.mu.RLock()
	defer b.mu.RUnlock()
	return len(b.of[workspaceID])
}

// Account is who signs in with a user name.
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

// Phone is a phone by its id.
func (b *PhoneDirectory) Phone(id string) (domain.Phone, bool) {
	b.mu.RLock()
	defer b.mu.RUnlock()
	if x := b.byID[id]; x != nil {
		return *x, true
	}
	return domain.Phone{}, false
}

// SetBindings says where a phone is registered now.
func (b *PhoneDirectory) SetBindings(phoneID string, bindings []registrar.Binding) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.unbind(phoneID)
	if b.byID[phoneID] == nil || len(bindings) == 0 {
		return
	}
	for _, x := range bindings {
		s := transport.Source{Addr: netip.AddrPortFrom(x.Source.Addr().Unmap(), x.Source.Port()), Network: x.Network}
		b.bound[phoneID] = append(b.bound[phoneID], s)
		b.exact[s]++
		b.hosts[s.Addr.Addr()]++
	}
}

func (b *PhoneDirectory) unbind(phoneID string) {
	for _, s := range b.bound[phoneID] {
		if b.exact[s]--; b.exact[s] <= 0 {
			delete(b.exact, s)
		}
		if b.hosts[s.Addr.Addr()]--; b.hosts[s.Addr.Addr()] <= 0 {
			delete(b.hosts, s.Addr.Addr())
		}
	}
	delete(b.bound, phoneID)
}

// PresenceAt tells whether a phone is registered at a source.
func (b *PhoneDirectory) PresenceAt(s transport.Source) registrar.Presence {
	b.mu.RLock()
	defer b.mu.RUnlock()
	s.Addr = netip.AddrPortFrom(s.Addr.Addr().Unmap(), s.Addr.Port())
	switch {
	case b.exact[s] > 0:
		return registrar.AtAddress
	case b.hosts[s.Addr.Addr()] > 0:
		return registrar.AtHost
	}
	return registrar.Absent
}
