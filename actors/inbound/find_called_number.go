package inbound

import (
	"context"
	"slices"

	"github.com/callboard/callboard/actors/trunk"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/sip"
)

// FindNumber finds the called number and the trunk of a call. It prefers an exact number of a workspace with a trunk at the
// source address to the catch-all number "*" of such a trunk. It returns ErrAuthRequired (401) if a trunk with inbound.auth
// may have the number and the call is not authenticated. With ErrNoNumber it also returns the trunk that it searched, if any.
func (l *Lookup) FindNumber(ctx context.Context, in *sip.Incoming) (*domain.PhoneNumber, trunk.Entry, error) {
	if in.PhoneID != "" {
		return l.calledByPhone(ctx, in)
	}
	all := l.trunks.TrunksAt(in.Source)
	entries, needAuth := splitByAuth(all, in)
	num, e, err := l.findNumber(ctx, in.To, entries)
	if num != nil || err != nil {
		return num, e, err
	}
	if num, e, err = l.findNumber(ctx, in.To, needAuth); err != nil {
		return nil, e, err
	}
	if num != nil {
		return nil, e, errNumberAuthRequired
	}
	rests, err := l.catchAllTrunks(ctx, in, all, entries)
	if err != nil {
		return nil, e, err
	}
	if num, e, err = l.catchAllNumber(ctx, rests); num != nil || err != nil {
		return num, e, err
	}
	switch {
	case len(needAuth) > 0:
		return nil, needAuth[0], ErrAuthRequired
	case len(entries) > 0:
		return nil, entries[0], ErrNoNumber
	case len(all) > 0 && !in.IsAuthenticated:
		return nil, all[0], ErrNoNumber
	}
	return nil, trunk.Entry{}, ErrNoNumber
}

// catchAllTrunks returns the trunks whose catch-all number "*" may take a call. If the called number belongs to a workspace
// with a trunk at the source address, a trunk of another workspace takes the call only with its match header. The carrier
// sets that header.
func (l *Lookup) catchAllTrunks(ctx context.Context, in *sip.Incoming, all, entries []trunk.Entry) ([]trunk.Entry, error) {
	if !slices.ContainsFunc(all, func(e trunk.Entry) bool { return !carriesHeader(e, in) }) {
		return entries, nil
	}
	num, _, err := l.findNumber(ctx, in.To, all)
	if num == nil || err != nil {
		return entries, err
	}
	return slices.DeleteFunc(slices.Clone(entries), func(e trunk.Entry) bool { return !hasMatch(e) && e.WorkspaceID != num.WorkspaceID }), nil
}

// catchAllNumber returns the catch-all number "*" of the oldest trunk that has one. Within the same workspace it prefers a
// trunk whose match header the call carries.
func (l *Lookup) catchAllNumber(ctx context.Context, entries []trunk.Entry) (first *domain.PhoneNumber, at trunk.Entry, err error) {
	for _, e := range entries {
		if first != nil && (hasMatch(at) || e.WorkspaceID != at.WorkspaceID || !hasMatch(e)) {
			continue
		}
		num, err := l.catchAllOf(ctx, e)
		if err != nil {
			return nil, e, err
		}
		if num != nil {
			first, at = num, e
		}
	}
	return first, at, nil
}

// catchAllOf returns the catch-all number "*" of one trunk, or nil if the trunk has none.
func (l *Lookup) catchAllOf(ctx context.Context, e trunk.Entry) (*domain.PhoneNumber, error) {
	num, err := l.cachedNumber(e, "*", func() (*domain.PhoneNumber, error) { return l.claimedNumber(ctx, "*@"+e.Trunk.ID) })
	if err != nil || num == nil || num.WorkspaceID != e.WorkspaceID {
		return nil, err
	}
	return num, nil
}

// hasMatch reports whether a trunk takes only calls with a certain header (inbound.match).
func hasMatch(e trunk.Entry) bool { return e.Trunk.Inbound.Match != nil }

// splitByAuth returns the trunks that admit a call, and the trunks that would admit it if it were authenticated. It skips
// trunks whose match header the call does not carry.
func splitByAuth(all []trunk.Entry, in *sip.Incoming) (entries, needAuth []trunk.Entry) {
	if !slices.ContainsFunc(all, func(e trunk.Entry) bool { return !admits(e, in) }) {
		return all, nil
	}
	for _, e := range all {
		if admits(e, in) {
			entries = append(entries, e)
		} else if !in.IsAuthenticated && carriesHeader(e, in) {
			needAuth = append(needAuth, e)
		}
	}
	return entries, needAuth
}

// findNumber returns the called number if it belongs to the workspace of one of the trunks. Otherwise it returns nil.
func (l *Lookup) findNumber(ctx context.Context, to string, entries []trunk.Entry) (*domain.PhoneNumber, trunk.Entry, error) {
	for _, e := range entries {
		w := l.workspace(e.WorkspaceID)
		if w == nil {
			continue
		}
		country := NumberCountry(&e.Trunk, w)
		num, err := l.cachedNumber(e, country+" "+to, func() (*domain.PhoneNumber, error) {
			return l.findOnTrunk(ctx, e, numberForms(to, country))
		})
		if err != nil {
			return nil, e, err
		}
		if num != nil {
			return num, trunkOf(num, e, entries), nil
		}
	}
	return nil, trunk.Entry{}, nil
}

// trunkOf returns the trunk for a call to num. It prefers a trunk of the same workspace whose match header the call carries.
// Otherwise, and if the number is bound to a trunk, it returns e.
func trunkOf(num *domain.PhoneNumber, e trunk.Entry, entries []trunk.Entry) trunk.Entry {
	if num.TrunkID != "" || hasMatch(e) {
		return e
	}
	for _, x := range entries {
		if hasMatch(x) && x.WorkspaceID == num.WorkspaceID && x.Trunk.Environment == num.Environment {
			return x
		}
	}
	return e
}

// findOnTrunk returns the number that is stored under one of the texts and belongs to the trunk's workspace. Otherwise it
// returns nil.
func (l *Lookup) findOnTrunk(ctx context.Context, e trunk.Entry, texts []string) (*domain.PhoneNumber, error) {
	for _, text := range texts {
		num, err := l.claimedNumber(ctx, text)
		if err != nil {
			return nil, err
		}
		if num != nil && num.WorkspaceID == e.WorkspaceID && num.Environment == e.Trunk.Environment &&
			(num.TrunkID == "" || num.TrunkID == e.Trunk.ID) {
			return num, nil
		}
	}
	return nil, nil //nolint:nilnil // a missing number is no error
}

// cachedNumber returns a number of a trunk's workspace from the cache and calls read if it is missing. Every call needs a
// number, and numbers rarely change. Callers must not modify the result.
func (l *Lookup) cachedNumber(e trunk.Entry, called string, read func() (*domain.PhoneNumber, error)) (*domain.PhoneNumber, error) {
	return l.cache.Current(l.store, e.WorkspaceID, e.Trunk.ID+" "+called, read)
}

func admits(e trunk.Entry, in *sip.Incoming) bool {
	return carriesHeader(e, in) && IsAuthenticated(e, in)
}

// carriesHeader reports whether a call carries the match header of a trunk. A trunk without inbound.match accepts
// every call.
func carriesHeader(e trunk.Entry, in *sip.Incoming) bool {
	return e.Trunk.Inbound.Match.Matches(in.MatchFields)
}

// IsAuthenticated reports whether a call has the credentials of a trunk. A trunk without inbound.auth needs none.
func IsAuthenticated(e trunk.Entry, in *sip.Incoming) bool {
	if in.IsAuthenticated {
		return e.Trunk.ID == in.TrunkID
	}
	return e.Trunk.Inbound.Auth == nil
}

// TrunkInWorkspace reports whether a call comes over a trunk or from a phone of a workspace and environment. trunkID is the
// oldest such trunk, or a trunk whose match header the call carries. It is "" for a phone.
func (l *Lookup) TrunkInWorkspace(workspaceID string, env domain.Environment, in *sip.Incoming) (trunkID string, ok bool) {
	if in.PhoneID != "" {
		x, known := l.phones.Phone(in.PhoneID)
		return "", known && x.WorkspaceID == workspaceID && x.Environment == env
	}
	for _, e := range l.trunks.TrunksAt(in.Source) {
		if e.WorkspaceID != workspaceID || e.Trunk.Environment != env || !admits(e, in) {
			continue
		}
		if hasMatch(e) {
			return e.Trunk.ID, true
		}
		if !ok {
			trunkID, ok = e.Trunk.ID, true
		}
	}
	return trunkID, ok
}
