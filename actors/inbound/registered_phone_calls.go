package inbound

import (
	"context"
	"errors"
	"strings"

	"github.com/callboard/callboard/actors/trunk"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/sip"
)

// calledByPhone finds the number that a registered phone calls: the extension of an agent, or a number of the
// workspace. The returned trunk accepts media from the address of the phone.
func (l *Lookup) calledByPhone(ctx context.Context, in *sip.Incoming) (*domain.PhoneNumber, trunk.Entry, error) {
	x, known := l.phones.Phone(in.PhoneID)
	w := l.workspace(x.WorkspaceID)
	entry := trunk.Entry{WorkspaceID: x.WorkspaceID, Trunk: x.MediaTrunk()}
	entry.Trunk.MediaNetworks = []string{in.Source.Addr().Unmap().String()}
	if !known || w == nil {
		return nil, entry, ErrNoNumber
	}
	if num, err := l.agentOfExtension(ctx, &x, in.To); num != nil || err != nil {
		return num, entry, err
	}
	for _, text := range numberForms(in.To, w.DefaultCountry) {
		num, err := l.claimedNumber(ctx, text)
		if err != nil {
			return nil, entry, err
		}
		if num != nil && num.WorkspaceID == x.WorkspaceID && num.Environment == x.Environment {
			return num, entry, nil
		}
	}
	if !domain.IsExtension(in.To) {
		return nil, entry, ErrPhoneCallsOut
	}
	return nil, entry, ErrNoNumber
}

// agentOfExtension returns the agent with the dialled extension, as a number that belongs to the agent. It returns nil if no
// agent has the extension.
func (l *Lookup) agentOfExtension(ctx context.Context, x *domain.Phone, to string) (*domain.PhoneNumber, error) {
	if !domain.IsExtension(to) {
		return nil, nil //nolint:nilnil // not an extension
	}
	c := &domain.ExtensionClaim{WorkspaceID: x.WorkspaceID, Environment: x.Environment, Extension: to}
	_, err := l.store.Get(ctx, c)
	switch {
	case errors.Is(err, domain.ErrNotFound):
		return nil, nil //nolint:nilnil // an unused extension is no error
	case err != nil:
		return nil, err
	case !strings.HasPrefix(c.OwnerID, string(domain.PrefixAgent)+"_"):
		return nil, nil //nolint:nilnil // extension of a phone, which another phone cannot call here
	}
	return &domain.PhoneNumber{
		Meta: domain.Meta{WorkspaceID: x.WorkspaceID, Environment: x.Environment}, Number: to, AgentID: c.OwnerID,
	}, nil
}
