package actors

import (
	"context"
	"slices"

	"github.com/callboard/callboard/actors/trunk"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/sip"
)

// numberOf finds whose number was called: an exact one of a workspace that has
// a trunk at this source, or the rest of such a trunk. A trunk that wants a
// proof counts only where the caller has given it; where it has not, what it
// might own is asked for with errUnproved, and the trunks that want none give
// nothing but their own. With errNoNumber the entry is the trunk at which the
// number was looked for.
func (n *Node) numberOf(ctx context.Context, in *sip.Incoming) (*domain.PhoneNumber, trunk.Entry, error) {
	if in.PhoneID != "" {
		return n.phoneCalls(ctx, in)
	}
	all := n.book.Of(in.Source)
	entries, closed := parted(all, in)
	num, e, err := n.exactly(ctx, in.To, entries)
	if num != nil || err != nil {
		return num, e, err
	}
	if num, e, err = n.exactly(ctx, in.To, closed); err != nil {
		return nil, e, err
	}
	if num != nil {
		return nil, e, errUnprovedNumber
	}
	rests, err := n.restsFor(ctx, in, all, entries)
	if err != nil {
		return nil, e, err
	}
	if num, e, err = n.restOf(ctx, rests); num != nil || err != nil {
		return num, e, err
	}
	switch {
	case len(closed) > 0:
		return nil, closed[0], errUnproved
	case len(entries) > 0:
		return nil, entries[0], errNoNumber
	case len(all) > 0 && !in.Proved:
		return nil, all[0], errNoNumber
	}
	return nil, trunk.Entry{}, errNoNumber
}

// restsFor are the trunks whose "*" may take a call. A number of a workspace that
// has a trunk at this source is not for the "*" of another workspace, unless the
// call carries the header of that trunk: so says the carrier.
func (n *Node) restsFor(ctx context.Context, in *sip.Incoming, all, entries []trunk.Entry) ([]trunk.Entry, error) {
	if !slices.ContainsFunc(all, func(e trunk.Entry) bool { return !carriesHeader(e, in) }) {
		return entries, nil
	}
	num, _, err := n.exactly(ctx, in.To, all)
	if num == nil || err != nil {
		return entries, err
	}
	return slices.DeleteFunc(slices.Clone(entries), func(e trunk.Entry) bool { return !byHeader(e) && e.WorkspaceID != num.WorkspaceID }), nil
}

// restOf is the "*" of the oldest trunk that has one. Of several trunks of its
// workspace that have one, a trunk whose header the call carries goes first.
func (n *Node) restOf(ctx context.Context, entries []trunk.Entry) (first *domain.PhoneNumber, at trunk.Entry, err error) {
	for _, e := range entries {
		if first != nil && (byHeader(at) || e.WorkspaceID != at.WorkspaceID || !byHeader(e)) {
			continue
		}
		num, err := n.restNumber(ctx, e)
		if err != nil {
			return nil, e, err
		}
		if num != nil {
			first, at = num, e
		}
	}
	return first, at, nil
}

// restNumber is the "*" of one trunk; nil: it has none.
func (n *Node) restNumber(ctx context.Context, e trunk.Entry) (*domain.PhoneNumber, error) {
	num, err := n.remembered(e, "*", func() (*domain.PhoneNumber, error) { return n.claimed(ctx, "*@"+e.Trunk.ID) })
	if err != nil || num == nil || num.WorkspaceID != e.WorkspaceID {
		return nil, err
	}
	return num, nil
}

// byHeader says whether a trunk takes only calls that carry its header.
func byHeader(e trunk.Entry) bool { return e.Trunk.Inbound.Match != nil }

// parted are the trunks that admit a caller, and those that would if it proved
// itself. A trunk whose header the call does not carry is neither.
func parted(all []trunk.Entry, in *sip.Incoming) (entries, closed []trunk.Entry) {
	if !slices.ContainsFunc(all, func(e trunk.Entry) bool { return !admits(e, in) }) {
		return all, nil
	}
	for _, e := range all {
		if admits(e, in) {
			entries = append(entries, e)
		} else if !in.Proved && carriesHeader(e, in) {
			closed = append(closed, e)
		}
	}
	return entries, closed
}

// exactly is the number called where it is one of a workspace with such a
// trunk; nil: it is nobody's.
func (n *Node) exactly(ctx context.Context, to string, entries []trunk.Entry) (*domain.PhoneNumber, trunk.Entry, error) {
	for _, e := range entries {
		w := n.workspace(e.WorkspaceID)
		if w == nil {
			continue
		}
		country := countryOf(&e.Trunk, w)
		num, err := n.remembered(e, country+" "+to, func() (*domain.PhoneNumber, error) {
			return n.exact(ctx, e, spellings(to, country))
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

// trunkOf is the trunk that takes a call to a number: e, or where the number
// names no trunk, one of the same workspace whose header the call carries.
func trunkOf(num *domain.PhoneNumber, e trunk.Entry, entries []trunk.Entry) trunk.Entry {
	if num.TrunkID != "" || byHeader(e) {
		return e
	}
	for _, x := range entries {
		if byHeader(x) && x.WorkspaceID == num.WorkspaceID && x.Trunk.Environment == num.Environment {
			return x
		}
	}
	return e
}

// exact is the number that a trunk may spell in these ways; nil: none.
func (n *Node) exact(ctx context.Context, e trunk.Entry, texts []string) (*domain.PhoneNumber, error) {
	for _, text := range texts {
		num, err := n.claimed(ctx, text)
		if err != nil {
			return nil, err
		}
		if num != nil && num.WorkspaceID == e.WorkspaceID && num.Environment == e.Trunk.Environment &&
			(num.TrunkID == "" || num.TrunkID == e.Trunk.ID) {
			return num, nil
		}
	}
	return nil, nil //nolint:nilnil // none is no error
}

// remembered is a number of a trunk's workspace; each call asks for one, and
// they change seldom. It is shared.
func (n *Node) remembered(e trunk.Entry, called string, read func() (*domain.PhoneNumber, error)) (*domain.PhoneNumber, error) {
	return n.desk.called.of(n.desk.store, e.WorkspaceID, e.Trunk.ID+" "+called, read)
}

// comesTo says whether a caller comes over a trunk or a phone of a workspace, and
// over which trunk: the oldest, or one whose header the call carries.
func (n *Node) comesTo(workspaceID string, env domain.Environment, in *sip.Incoming) (trunkID string, ok bool) {
	if in.PhoneID != "" {
		x, known := n.phones.Phone(in.PhoneID)
		return "", known && x.WorkspaceID == workspaceID && x.Environment == env
	}
	for _, e := range n.book.Of(in.Source) {
		if e.WorkspaceID != workspaceID || e.Trunk.Environment != env || !admits(e, in) {
			continue
		}
		if byHeader(e) {
			return e.Trunk.ID, true
		}
		if !ok {
			trunkID, ok = e.Trunk.ID, true
		}
	}
	return trunkID, ok
}

func admits(e trunk.Entry, in *sip.Incoming) bool { return carriesHeader(e, in) && proves(e, in) }

// carriesHeader says whether a call carries the header of a trunk, if the trunk
// has one.
func carriesHeader(e trunk.Entry, in *sip.Incoming) bool {
	return e.Trunk.Inbound.Match.Matches(in.MatchFields)
}

// proves says whether a caller has given the proof that a trunk wants, if it
// wants one.
func proves(e trunk.Entry, in *sip.Incoming) bool {
	if in.Proved {
		return e.Trunk.ID == in.TrunkID
	}
	return e.Trunk.Inbound.Auth == nil
}
