// Package inbound finds the number, the workspace and the trunk of an inbound call or message, and says how good a claim
// to it a node has.
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

// Reasons why a call has no number.
var (
	// ErrNoNumber says that no workspace with a trunk at this source has the number.
	ErrNoNumber = errors.New("no such number")
	// ErrAuthRequired says that a trunk with inbound.auth may have the number, and that the call is not authenticated.
	ErrAuthRequired = errors.New("the call is not authenticated")
	// ErrPhoneCallsOut is the ErrNoNumber of a registered phone that calls a number outside its workspace.
	ErrPhoneCallsOut = fmt.Errorf("%w: phones do not call out", ErrNoNumber)
	// errNumberAuthRequired is the ErrAuthRequired of a number that the trunk surely has.
	errNumberAuthRequired = fmt.Errorf("%w, and the number is the trunk's", ErrAuthRequired)
)

// Store is what a Lookup needs of the store.
type Store interface {
	Get(ctx context.Context, into domain.Record) (uint64, error)
	// Changes counts the changes of a workspace's agents, pathways, numbers and trunks.
	Changes(workspaceID string) uint64
}

// Config of a Lookup.
type Config struct {
	Store     Store
	Trunks    *trunk.Sources
	Phones    *registrar.PhoneDirectory
	Workspace func(id string) *domain.Workspace // nil: not on this node
}

// Lookup finds the numbers that are called.
type Lookup struct {
	store     Store
	trunks    *trunk.Sources
	phones    *registrar.PhoneDirectory
	workspace func(id string) *domain.Workspace
	cache     storecache.Cache[*domain.PhoneNumber]
}

// New makes a Lookup.
func New(cfg Config) *Lookup {
	return &Lookup{store: cfg.Store, trunks: cfg.Trunks, phones: cfg.Phones, workspace: cfg.Workspace}
}

// NumberCountry returns the country in which a trunk writes national numbers.
func NumberCountry(t *domain.Trunk, w *domain.Workspace) string {
	if t.NumberCountry != "" {
		return t.NumberCountry
	}
	return w.DefaultCountry
}

// spellings are the ways in which a trunk may write a number of ours.
func spellings(to, country string) []string {
	out := []string{to}
	if e164, _, err := domain.ParsePhone(to, country); err == nil && e164 != to {
		out = append(out, e164)
	}
	if !strings.HasPrefix(to, "+") {
		out = append(out, "+"+to)
	}
	return out
}

// claimedNumber is the number of a claim; nil: nobody's.
func (l *Lookup) claimedNumber(ctx context.Context, text string) (*domain.PhoneNumber, error) {
	claim := &domain.NumberClaim{Number: text}
	if _, err := l.store.Get(ctx, claim); err != nil {
		if errors.Is(err, domain.ErrNotFound) {
			return nil, nil //nolint:nilnil // nobody's number is no error
		}
		return nil, err
	}
	num := &domain.PhoneNumber{Meta: domain.Meta{ID: claim.NumberID, WorkspaceID: claim.WorkspaceID}}
	if _, err := l.store.Get(ctx, num); err != nil {
		if errors.Is(err, domain.ErrNotFound) {
			return nil, nil //nolint:nilnil // it went in between
		}
		return nil, err
	}
	if num.Status != domain.NumberLive {
		return nil, nil //nolint:nilnil // nobody's until an operator has said so
	}
	return num, nil
}

// NormalizeCalledNumber is a number that was called, as E.164 where it is one.
func NormalizeCalledNumber(to, country string) string {
	if e164, err := domain.E164(to, country); err == nil {
		return e164
	}
	return to
}
