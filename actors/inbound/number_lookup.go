// Package inbound finds the number, the workspace and the trunk of an inbound call or message. If several nodes could take
// the same call, the package ranks how well the call fits this node.
package inbound

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/callboard/callboard/actors/registrar"
	"github.com/callboard/callboard/actors/storecache"
	"github.com/callboard/callboard/actors/trunk"
	"github.com/callboard/callboard/domain"
)

// Reasons why no number is found for an inbound call.
var (
	// ErrNoNumber says that the called number belongs to no workspace with a trunk at the source address.
	ErrNoNumber = errors.New("no such number")
	// ErrAuthRequired says that a trunk with inbound.auth may have the number, but the call is not authenticated.
	ErrAuthRequired = errors.New("the call is not authenticated")
	// ErrPhoneCallsOut wraps ErrNoNumber. It says that a registered phone calls a number outside its workspace.
	ErrPhoneCallsOut = fmt.Errorf("%w: phones cannot call external numbers", ErrNoNumber)
	// errNumberAuthRequired wraps ErrAuthRequired. It says that the called number certainly belongs to the trunk.
	errNumberAuthRequired = fmt.Errorf("%w, and the number belongs to the trunk", ErrAuthRequired)
)

// Store reads the records that a Lookup needs.
type Store interface {
	Get(ctx context.Context, into domain.Record) (uint64, error)
	// Changes returns a counter that increases with each change of a workspace's agents, pathways, numbers and trunks.
	Changes(workspaceID string) uint64
}

// Config configures a Lookup.
type Config struct {
	Store     Store
	Trunks    *trunk.Sources
	Phones    *registrar.PhoneDirectory
	Workspace func(id string) *domain.Workspace // nil result: the workspace is not on this node
}

// Lookup finds the phone number record that an inbound call dials. Its methods are safe for concurrent use.
type Lookup struct {
	store     Store
	trunks    *trunk.Sources
	phones    *registrar.PhoneDirectory
	workspace func(id string) *domain.Workspace
	cache     storecache.Cache[*domain.PhoneNumber]
}

// New returns a Lookup.
func New(cfg Config) *Lookup {
	return &Lookup{store: cfg.Store, trunks: cfg.Trunks, phones: cfg.Phones, workspace: cfg.Workspace}
}

// NumberCountry returns the country whose national number format the calls of a trunk use.
func NumberCountry(t *domain.Trunk, w *domain.Workspace) string {
	if t.NumberCountry != "" {
		return t.NumberCountry
	}
	return w.DefaultCountry
}

// numberForms returns the forms in which a number may be stored: as received, as E.164, and with a leading "+".
func numberForms(to, country string) []string {
	out := []string{to}
	if e164, _, err := domain.ParsePhone(to, country); err == nil && e164 != to {
		out = append(out, e164)
	}
	if !strings.HasPrefix(to, "+") {
		out = append(out, "+"+to)
	}
	return out
}

// claimedNumber returns the phone number record that is stored under text, or nil if there is none.
func (l *Lookup) claimedNumber(ctx context.Context, text string) (*domain.PhoneNumber, error) {
	claim := &domain.NumberClaim{Number: text}
	if _, err := l.store.Get(ctx, claim); err != nil {
		if errors.Is(err, domain.ErrNotFound) {
			return nil, nil //nolint:nilnil // an unknown number is no error
		}
		return nil, err
	}
	num := &domain.PhoneNumber{Meta: domain.Meta{ID: claim.NumberID, WorkspaceID: claim.WorkspaceID}}
	if _, err := l.store.Get(ctx, num); err != nil {
		if errors.Is(err, domain.ErrNotFound) {
			return nil, nil //nolint:nilnil // the number was deleted meanwhile
		}
		return nil, err
	}
	if num.Status != domain.NumberLive {
		return nil, nil //nolint:nilnil // the number waits for the approval of an operator
	}
	return num, nil
}

// NormalizeCalledNumber returns a called number in E.164, or unchanged if it is no valid phone number.
func NormalizeCalledNumber(to, country string) string {
	if e164, err := domain.E164(to, country); err == nil {
		return e164
	}
	return to
}
