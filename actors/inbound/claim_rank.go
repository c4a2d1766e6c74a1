package inbound

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/callboard/callboard/actors/trunk"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/sip"
)

// RankClaim returns how well an inbound call fits a trunk of this node. The nodes compare these ranks, because trunks of
// several nodes may have the same source address.
func (l *Lookup) RankClaim(ctx context.Context, in *sip.Incoming) (domain.CallClaim, error) {
	number, e, err := l.FindNumber(ctx, in)
	c := domain.CallClaim{Since: e.Trunk.CreatedAt, TrunkID: e.Trunk.ID, NamedByCredentials: in.IsAuthenticated, ByHeader: slices.ContainsFunc(l.trunks.TrunksAt(in.Source), hasMatch)}
	switch {
	case err == nil && number.Number == "*":
		c.Rank, c.Since = domain.ClaimCatchAll, l.catchAllSince(ctx, in, e)
	case err == nil:
		c.Rank = domain.ClaimNumber
	case errors.Is(err, errNumberAuthRequired):
		c.Rank = domain.ClaimUnauthenticatedNumber
	case errors.Is(err, ErrAuthRequired):
		c.Rank = domain.ClaimUnauthenticated
	case errors.Is(err, ErrNoNumber) && e.Trunk.ID != "":
		c.Rank = domain.ClaimSource
	case errors.Is(err, ErrNoNumber):
	default:
		return domain.CallClaim{}, err
	}
	return c, nil
}

// catchAllSince returns the creation time of the workspace's oldest trunk with a catch-all number. If trunks of several
// workspaces have one, the oldest trunk takes the call.
func (l *Lookup) catchAllSince(ctx context.Context, in *sip.Incoming, e trunk.Entry) time.Time {
	for _, x := range l.trunks.TrunksAt(in.Source) {
		if x.WorkspaceID != e.WorkspaceID || !admits(x, in) {
			continue
		}
		if num, err := l.catchAllOf(ctx, x); err == nil && num != nil {
			return x.Trunk.CreatedAt
		}
	}
	return e.Trunk.CreatedAt
}

// MayBeElsewhere reports whether a call that no trunk of this node takes may belong to a workspace on another node. here
// reports whether a node of this process owns a workspace.
func (l *Lookup) MayBeElsewhere(ctx context.Context, in *sip.Incoming, here func(workspace string) bool) bool {
	tried := make(map[string]bool)
	for _, e := range l.trunks.TrunksAt(in.Source) {
		w := l.workspace(e.WorkspaceID)
		if w == nil {
			return true
		}
		for _, text := range numberForms(in.To, NumberCountry(&e.Trunk, w)) {
			if tried[text] {
				continue
			}
			tried[text] = true
			claim := &domain.NumberClaim{Number: text}
			if _, err := l.store.Get(ctx, claim); err == nil && !here(claim.WorkspaceID) || err != nil && !errors.Is(err, domain.ErrNotFound) {
				return true
			}
		}
	}
	return false
}
