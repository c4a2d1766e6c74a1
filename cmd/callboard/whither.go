package main

import (
	"context"
	"crypto/sha256"
	"encoding/base32"
	"errors"
	"net/netip"
	"strings"
	"sync"
	"time"

	"github.com/callboard/callboard/actors"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/persistence"
	"github.com/callboard/callboard/persistence/lease"
	"github.com/callboard/callboard/sip"
)

const (
	whitherWithin = 400 * time.Millisecond // for the store to say whose a number is: before the question comes again
	whitherFor    = 2 * time.Second        // that its answer counts
	whitherMost   = 10_000                 // answers that are kept, and as many of before
	whitherLong   = 512                    // bytes of the name of one
)

// whither finds the node that has what SIP asks for.
type whither struct {
	in install

	mu    sync.Mutex
	kept  lately // by what is called, or by whom
	hints lately // of CANCEL, by its call
}

// install is what is known of all nodes, and of this one's own seats.
type install interface {
	me() string                                                                      // the ID of this node
	living() []lease.Node                                                            // all that live
	ownerOf(workspace string) (n lease.Node, ok bool)                                // ok false: nobody takes what is for it now
	leads(at netip.AddrPort) bool                                                    // a trunk of the seats here leads there; without a read
	claimed(ctx context.Context, name string) (workspace string, err error)          // of a number or phone, by the store; "": nobody's
	whose(ctx context.Context, q actors.CallQuestion) claim                          // of the seats here
	askNode(ctx context.Context, addr string, q actors.CallQuestion) (claim, error)  // of one other node
	askNodes(ctx context.Context, q actors.CallQuestion) ([]domain.NodeClaim, error) // of all others that have work
}

func newWhither(in install) *whither {
	return &whither{in: in, kept: lately{life: whitherFor}, hints: lately{life: cancelFor}}
}

// markOf names a node in its dialogs, also after a restart.
func markOf(n lease.Node) string {
	sum := sha256.Sum256([]byte(n.Addr))
	return strings.ToLower(base32.HexEncoding.EncodeToString(sum[:5]))
}

// shares lets a user agent pass on what other nodes have.
func (m *member) shares(c *sip.Config) {
	if m.cfg.Shards < 2 {
		return
	}
	w := newWhither(m)
	c.Elsewhere, c.Placed, c.CutOff = w.elsewhere, w.placed, m.holder.CutOff
	c.RelayKey, c.NodeMark = derive(m.master, "callboard relay"), markOf(m.self)
}

// placed answers from memory.
func (w *whither) placed(a sip.Whose) (at netip.AddrPort, elsewhere, sure bool) {
	if a.Mark != "" {
		at, elsewhere = w.marked(a.Mark)
		return at, elsewhere, true
	}
	if node, hinted := w.hinted(a); hinted {
		at, elsewhere = w.ofNode(node)
		return at, elsewhere, true
	}
	for _, name := range names(a) {
		c, known := w.known(name)
		if known && c.workspace != "" && w.disputable(a, name, c.workspace) {
			c, known = w.knownDispute(a, name)
		}
		if !known {
			return at, false, false
		}
		if c.workspace != "" {
			at, elsewhere = w.of(c.workspace)
			return at, elsewhere, true
		}
	}
	if !asksNodes(a) {
		return at, false, true
	}
	c, known := w.claimedBy(a)
	if known && c.weak && a.Method != sipOptions {
		phone, read := w.known("p" + a.From)
		if !read || phone.workspace != "" {
			at, elsewhere = w.of(phone.workspace)
			return at, elsewhere, read
		}
	}
	if known {
		at, elsewhere = w.ofNode(c.node)
	}
	return at, elsewhere, known
}

// elsewhere asks the store what memory does not know, and then the other nodes.
// A phone is found by who it says to be where no trunk at the source has a claim:
// anybody may call a phone like what a carrier writes for its callers.
func (w *whither) elsewhere(a sip.Whose) (netip.AddrPort, bool) {
	if a.Mark != "" {
		return w.marked(a.Mark)
	}
	if node, hinted := w.hinted(a); hinted {
		return w.ofNode(node)
	}
	ctx, cancel := context.WithTimeout(context.Background(), whitherWithin)
	defer cancel()
	for _, name := range names(a) {
		workspace, err := w.find(ctx, name)
		if err != nil {
			return netip.AddrPort{}, true // whoever is known is told to come again
		}
		if workspace != "" && w.disputable(a, name, workspace) {
			workspace = w.settle(ctx, a, name, workspace)
		}
		if workspace != "" {
			return w.of(workspace)
		}
	}
	if !asksNodes(a) {
		return netip.AddrPort{}, false
	}
	phone := ""
	if a.Method != sipOptions { // before the nodes, which may take all of the time
		var err error
		if phone, err = w.find(ctx, "p"+a.From); err != nil {
			return netip.AddrPort{}, true
		}
	}
	c, err := w.claimant(ctx, a)
	switch {
	case c.weak && phone != "":
		return w.of(phone)
	case err != nil:
		return netip.AddrPort{}, true
	}
	return w.ofNode(c.node)
}

// names are what a request is found by before anybody is asked, each with its
// kind: a phone by who it is, and a call or a message by the number that it goes to.
func names(a sip.Whose) []string {
	switch {
	case a.Within, a.Method == sipOptions:
		return nil
	case a.Method == "REGISTER":
		return []string{"p" + a.To}
	case strings.HasPrefix(a.To, "+"):
		return []string{"n" + a.To}
	}
	return []string{"n" + a.To, "n+" + a.To}
}

func (w *whither) known(name string) (claimed, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.kept.get(name, time.Now())
}

// hinted is the node of the call that a CANCEL is for.
func (w *whither) hinted(a sip.Whose) (node string, ok bool) {
	if a.Method != "CANCEL" {
		return "", false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	c, ok := w.hints.get(cancelName(a), time.Now())
	return c.node, ok
}

func (w *whither) keep(name string, c claimed) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.kept.put(name, c, time.Now())
}

// find is whose a number or a phone is; "": nobody's.
func (w *whither) find(ctx context.Context, name string) (workspace string, err error) {
	if c, known := w.known(name); known {
		return c.workspace, nil
	}
	if workspace, err = w.in.claimed(ctx, name); err == nil {
		w.keep(name, claimed{workspace: workspace})
	}
	return workspace, err
}

// claimed reads whose a number or a phone is.
func (m *member) claimed(ctx context.Context, name string) (workspace string, err error) {
	err = errNoWork
	if r := m.reader.Load(); r != nil && len(m.sitting()) == 0 {
		workspace, err = claimOf(ctx, r, name[0], name[1:])
	}
	for _, t := range m.sitting() { // one whose shard is refused holds up no other
		if workspace, err = claimOf(ctx, t.vault.store, name[0], name[1:]); err == nil {
			break
		}
	}
	return workspace, err
}

// claimOf is whose a phone (p) or a number is; "": nobody's, as a number is that
// waits for an operator.
func claimOf(ctx context.Context, store interface {
	Get(ctx context.Context, into domain.Record) (uint64, error)
}, kind byte, of string,
) (workspace string, err error) {
	if kind == 'p' {
		claim := &domain.UsernameClaim{Username: of}
		_, err = store.Get(ctx, claim)
		workspace = claim.WorkspaceID
	} else {
		claim := &domain.NumberClaim{Number: of}
		if _, err = store.Get(ctx, claim); err == nil {
			workspace = claim.WorkspaceID
			number := &domain.PhoneNumber{Meta: domain.Meta{ID: claim.NumberID, WorkspaceID: workspace}}
			if _, err = store.Get(ctx, number); err == nil && number.Status != domain.NumberLive {
				workspace = ""
			}
		}
	}
	if errors.Is(err, domain.ErrNotFound) || errors.Is(err, persistence.ErrMalformed) {
		return "", nil
	}
	return workspace, err
}

// of is the node that has a workspace; nobody where none has it now.
func (w *whither) of(workspace string) (netip.AddrPort, bool) {
	n, ok := w.in.ownerOf(workspace)
	if !ok {
		return netip.AddrPort{}, true
	}
	return w.at(n)
}

func (m *member) ownerOf(workspace string) (n lease.Node, ok bool) {
	shard := domain.ShardOf(workspace, m.cfg.Shards)
	n, ok = m.engine.Owner(shard)
	return n, ok && (n.ID != m.self.ID || m.takes(shard)) // not yet, or no longer
}

func (m *member) me() string           { return m.self.ID }
func (m *member) living() []lease.Node { return m.engine.Nodes() }

// marked is the node that a dialog names. One that is gone has left its
// dialogs to whoever has the work: nobody knows them.
func (w *whither) marked(mark string) (netip.AddrPort, bool) {
	for _, n := range w.in.living() {
		if markOf(n) == mark {
			return w.at(n)
		}
	}
	return netip.AddrPort{}, false
}

func (w *whither) at(n lease.Node) (netip.AddrPort, bool) {
	if n.ID == w.in.me() {
		return netip.AddrPort{}, false
	}
	at, err := netip.ParseAddrPort(n.SIP)
	if err != nil {
		return netip.AddrPort{}, true
	}
	return at, true
}
