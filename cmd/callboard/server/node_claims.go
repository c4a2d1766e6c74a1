package server

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/netip"
	"slices"
	"sync"

	"github.com/callboard/callboard/actors"
	"github.com/callboard/callboard/cmd/callboard/datafolder"
	"github.com/callboard/callboard/cmd/callboard/server/location"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/persistence/lease"
	"github.com/callboard/callboard/sip"
)

// LocalClaim is the best claim of those seats here that can say.
func (m *node) LocalClaim(ctx context.Context, q actors.CallQuestion) (c location.Claim) {
	m.mu.Lock()
	s := m.service
	for shard := range m.cfg.Shards { // a seat that is being made knows nothing yet
		n, ok := m.leases.Owner(shard)
		c.Part = c.Part || ok && n.ID == m.self.ID && m.shards[shard] == nil
	}
	m.mu.Unlock()
	if s != nil {
		best, all := s.router.Whose(ctx, q)
		c.CallClaim, c.Part = best, c.Part || !all
	}
	return c
}

// HasTrunkTo says whether a trunk of the seats here leads to an address.
func (m *node) HasTrunkTo(at netip.AddrPort) bool {
	m.mu.Lock()
	s := m.service
	m.mu.Unlock()
	if s == nil {
		return false
	}
	c, all := s.router.Whose(context.Background(), actors.CallQuestion{Source: at})
	return !all || c.Rank > domain.ClaimNone
}

// AskNode asks another node. An error says that it may have a better claim.
func (m *node) AskNode(ctx context.Context, addr string, q actors.CallQuestion) (c location.Claim, err error) {
	question, err := json.Marshal(q)
	if err != nil {
		return c, err
	}
	answer, err := m.http.forwarder.AskNode(ctx, addr, question)
	if err == nil {
		err = json.Unmarshal(answer, &c)
	}
	if err == nil && c.Part {
		err = errNoShard
	}
	return c, err
}

// AskNodes asks all other nodes that have work. An error says that not all have
// answered.
func (m *node) AskNodes(ctx context.Context, q actors.CallQuestion) ([]domain.NodeClaim, error) {
	nodes, all := m.otherOwners()
	out, errs := make([]domain.NodeClaim, len(nodes)), make([]error, len(nodes)+1)
	if !all {
		errs[len(nodes)] = errNoShard
	}
	var wait sync.WaitGroup
	for i, n := range nodes {
		wait.Go(func() {
			c, err := m.AskNode(ctx, n.Addr, q)
			out[i], errs[i] = domain.NodeClaim{CallClaim: c.CallClaim, Node: n.ID}, err
		})
	}
	wait.Wait()
	return out, errors.Join(errs...)
}

// otherOwners are the other nodes that have shards; all: each shard has one.
func (m *node) otherOwners() (out []lease.Node, all bool) {
	all = true
	for shard := range m.cfg.Shards {
		n, ok := m.leases.Owner(shard)
		all = all && ok
		if ok && n.ID != m.self.ID && !slices.ContainsFunc(out, func(x lease.Node) bool { return x.ID == n.ID }) {
			out = append(out, n)
		}
	}
	return out, all
}

// answerClaim answers what another node asks.
func (m *node) answerClaim(w http.ResponseWriter, r *http.Request) {
	var q actors.CallQuestion
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxClaimQuestion)).Decode(&q); err != nil {
		http.Error(w, "no question", http.StatusBadRequest)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), location.QueryTimeout)
	defer cancel()
	_ = json.NewEncoder(w).Encode(m.LocalClaim(ctx, q))
}

const maxClaimQuestion = 64 << 10

// shareSIP lets a user agent pass on what other nodes have.
func (m *node) shareSIP(c *sip.Config) {
	if m.cfg.Shards < 2 {
		return
	}
	w := location.New(m)
	c.Elsewhere, c.Placed, c.CutOff = w.Find, w.FindCached, m.holder.CutOff
	c.RelayKey, c.NodeMark = datafolder.DeriveKey(m.master, "callboard relay"), location.NodeMark(m.self)
}

// StoredClaim reads whose a number or a phone is.
func (m *node) StoredClaim(ctx context.Context, name string) (workspace string, err error) {
	err = errNoShard
	if r := m.reader.Load(); r != nil && len(m.runningShards()) == 0 {
		workspace, err = location.ReadClaim(ctx, r, name[0], name[1:])
	}
	for _, t := range m.runningShards() { // one whose shard is refused holds up no other
		if workspace, err = location.ReadClaim(ctx, t.store.Records, name[0], name[1:]); err == nil {
			break
		}
	}
	return workspace, err
}

func (m *node) OwnerOf(workspace string) (n lease.Node, ok bool) {
	shard := domain.ShardOf(workspace, m.cfg.Shards)
	n, ok = m.leases.Owner(shard)
	return n, ok && (n.ID != m.self.ID || m.takesCalls(shard)) // not yet, or no longer
}

func (m *node) Self() string { return m.self.ID }

func (m *node) LiveNodes() []lease.Node { return m.leases.Nodes() }
