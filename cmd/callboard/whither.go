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

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/persistence"
	"github.com/callboard/callboard/persistence/lease"
	"github.com/callboard/callboard/sip"
)

const (
	whitherWithin = 400 * time.Millisecond // for the store to say whose a number is: before the question comes again
	whitherFor    = 2 * time.Second        // that its answer counts
	whitherMost   = 10_000                 // answers that are kept
	whitherLong   = 512                    // bytes of the name of one
)

// whither finds the node that has what SIP asks for.
type whither struct {
	m *member

	mu   sync.Mutex
	kept map[string]claimed // by what is called, or by whom
}

// claimed is whose a number or a phone is; workspace "": nobody's. Or it is which
// node has a claim to a call; node "": this one, or nobody.
type claimed struct {
	workspace, node string
	until           time.Time // it counts
}

func newWhither(m *member) *whither { return &whither{m: m, kept: make(map[string]claimed)} }

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
	for _, name := range names(a) {
		if c, known := w.known(name); !known {
			return at, false, false
		} else if c.workspace != "" {
			at, elsewhere = w.of(c.workspace)
			return at, elsewhere, true
		}
	}
	if !asksNodes(a) {
		return at, false, true
	}
	node, known := w.claimedBy(a)
	if known {
		at, elsewhere = w.ofNode(node)
	}
	return at, elsewhere, known
}

// elsewhere asks the store what memory does not know, and then the other nodes.
func (w *whither) elsewhere(a sip.Whose) (netip.AddrPort, bool) {
	if a.Mark != "" {
		return w.marked(a.Mark)
	}
	ctx, cancel := context.WithTimeout(context.Background(), whitherWithin)
	defer cancel()
	for _, name := range names(a) {
		c, known := w.known(name)
		workspace := c.workspace
		if !known {
			var err error
			if workspace, err = w.look(ctx, name); err != nil {
				return netip.AddrPort{}, true // whoever is known is told to come again
			}
		}
		if workspace != "" {
			return w.of(workspace)
		}
	}
	if !asksNodes(a) {
		return netip.AddrPort{}, false
	}
	node, err := w.claimant(ctx, a)
	if err != nil {
		return netip.AddrPort{}, true
	}
	return w.ofNode(node)
}

// names are what a request may be found by, each with its kind: a phone by who
// it is, and a call or a message by the number that it goes to.
func names(a sip.Whose) (out []string) {
	switch {
	case a.Within, a.Method == sipOptions:
		return nil
	case a.Method == "REGISTER":
		return []string{"p" + a.To}
	case strings.HasPrefix(a.To, "+"):
		out = []string{"n" + a.To}
	default:
		out = []string{"n" + a.To, "n+" + a.To}
	}
	return append(out, "p"+a.From)
}

func (w *whither) known(name string) (c claimed, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	c, ok = w.kept[name]
	return c, ok && time.Now().Before(c.until)
}

// keep is called under mu.
func (w *whither) keep(name string, c claimed) {
	if len(name) > whitherLong {
		return
	}
	if len(w.kept) >= whitherMost {
		clear(w.kept)
	}
	w.kept[name] = c
}

// look reads whose a number or a phone is.
func (w *whither) look(ctx context.Context, name string) (workspace string, err error) {
	err = errNoWork
	if r := w.m.reader.Load(); r != nil && len(w.m.sitting()) == 0 {
		workspace, err = claimOf(ctx, r, name[0], name[1:])
	}
	for _, t := range w.m.sitting() { // one whose shard is refused holds up no other
		if workspace, err = claimOf(ctx, t.vault.store, name[0], name[1:]); err == nil {
			break
		}
	}
	if err != nil {
		return "", err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.keep(name, claimed{workspace: workspace, until: time.Now().Add(whitherFor)})
	return workspace, nil
}

// claimOf is whose a phone (p) or a number is; "": nobody's.
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
		_, err = store.Get(ctx, claim)
		workspace = claim.WorkspaceID
	}
	if errors.Is(err, domain.ErrNotFound) || errors.Is(err, persistence.ErrMalformed) {
		return "", nil
	}
	return workspace, err
}

// of is the node that has a workspace; nobody where none has it now.
func (w *whither) of(workspace string) (netip.AddrPort, bool) {
	shard := domain.ShardOf(workspace, w.m.cfg.Shards)
	n, ok := w.m.engine.Owner(shard)
	if !ok || n.ID == w.m.self.ID && !w.m.takes(shard) { // or not yet, or no longer
		return netip.AddrPort{}, true
	}
	return w.at(n)
}

// marked is the node that a dialog names. One that is gone has left its
// dialogs to whoever has the work: nobody knows them.
func (w *whither) marked(mark string) (netip.AddrPort, bool) {
	for _, n := range w.m.engine.Nodes() {
		if markOf(n) == mark {
			return w.at(n)
		}
	}
	return netip.AddrPort{}, false
}

func (w *whither) at(n lease.Node) (netip.AddrPort, bool) {
	if n.ID == w.m.self.ID {
		return netip.AddrPort{}, false
	}
	at, err := netip.ParseAddrPort(n.SIP)
	if err != nil {
		return netip.AddrPort{}, true
	}
	return at, true
}
