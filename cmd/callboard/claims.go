package main

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/callboard/callboard/actors"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/httpapi/forward"
	"github.com/callboard/callboard/persistence/lease"
	"github.com/callboard/callboard/sip"
)

// Whose a call is that no number of the store names, because its trunk writes
// numbers without their country or gives the rest of them to somebody, only the
// node knows that has the trunk: it knows the source. So all nodes that have work
// are asked (docs/adr/0087-nodes-ask-each-other-whose-a-call-is.md).

// cancelFor is how long a CANCEL finds the node of a call that was found by whom
// its credentials named: it has none.
const cancelFor = 3 * time.Minute

// sipOptions asks only whether the source is known.
const sipOptions = "OPTIONS"

// asksNodes says whether other nodes may be asked whose a request is.
func asksNodes(a sip.Whose) bool {
	return !a.Within && slices.Contains([]string{"INVITE", "MESSAGE", "CANCEL", sipOptions}, a.Method)
}

func questionOf(a sip.Whose) actors.CallQuestion {
	q := actors.CallQuestion{To: a.To, User: a.User, Source: a.Source.Addr}
	if a.Method == sipOptions {
		q.To, q.User = "", ""
	}
	return q
}

// Under these names answers are kept: of a call, of its CANCEL, and of a source
// that nobody knows.
func callName(q actors.CallQuestion) string {
	return strings.Join([]string{"c" + q.Source.String(), q.To, q.User}, "\x00")
}
func cancelName(a sip.Whose) string       { return "i" + a.CallID }
func sourceName(at netip.AddrPort) string { return "s" + at.String() }

// claimedBy is the node that has the best claim, from memory; known is false
// where that does not say.
func (w *whither) claimedBy(a sip.Whose) (node string, known bool) {
	if a.Method == "CANCEL" {
		if c, kept := w.known(cancelName(a)); kept {
			return c.node, true
		}
	}
	q := questionOf(a)
	if c, kept := w.known(callName(q)); kept {
		return c.node, true
	}
	_, nobodys := w.known(sourceName(q.Source))
	return "", nobodys
}

// claimant finds the node that has the best claim; "": this one has, or nobody.
func (w *whither) claimant(ctx context.Context, a sip.Whose) (node string, err error) {
	node, known := w.claimedBy(a)
	if known {
		return node, nil
	}
	q := questionOf(a)
	own := w.m.whose(ctx, q)
	best := own.CallClaim
	last, enough := domain.ClaimNumber, domain.ClaimRest
	if a.Method == sipOptions {
		last, enough = domain.ClaimSource, domain.ClaimSource
	}
	if best.Rank < last {
		all, unheard := w.m.askNodes(ctx, q)
		if own.Part {
			unheard = errors.Join(unheard, errNoWork)
		}
		if i := domain.BestClaim(best, all); i >= 0 {
			node, best = all[i].Node, all[i].CallClaim
		}
		if unheard != nil && best.Rank < enough {
			return "", unheard // who does not answer may have it
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if best.Rank == domain.ClaimNone { // so that strangers fill nothing by what they call
		w.keep(sourceName(q.Source), claimed{until: time.Now().Add(whitherFor)})
		return "", nil
	}
	w.keep(callName(q), claimed{node: node, until: time.Now().Add(whitherFor)})
	if q.User != "" && node != "" && a.Method == "INVITE" {
		w.keep(cancelName(a), claimed{node: node, until: time.Now().Add(cancelFor)})
	}
	return node, nil
}

// ofNode is where a node takes SIP; "": here.
func (w *whither) ofNode(id string) (netip.AddrPort, bool) {
	if id == "" {
		return netip.AddrPort{}, false
	}
	for _, n := range w.m.engine.Nodes() {
		if n.ID == id {
			return w.at(n)
		}
	}
	return netip.AddrPort{}, true
}

// claim is what a node answers.
type claim struct {
	domain.CallClaim

	Part bool `json:"part,omitempty"` // it cannot speak for all of its shards now
}

// whose is the best claim of those seats here that can say.
func (m *member) whose(ctx context.Context, q actors.CallQuestion) (c claim) {
	m.mu.Lock()
	s := m.service
	for shard := range m.cfg.Shards { // a seat that is being made knows nothing yet
		n, ok := m.engine.Owner(shard)
		c.Part = c.Part || ok && n.ID == m.self.ID && m.seats[shard] == nil
	}
	m.mu.Unlock()
	if s != nil {
		best, all := s.board.Whose(ctx, q)
		c.CallClaim, c.Part = best, c.Part || !all
	}
	return c
}

// askNodes asks all other nodes that have work. An error says that not all have
// answered.
func (m *member) askNodes(ctx context.Context, q actors.CallQuestion) ([]domain.NodeClaim, error) {
	question, err := json.Marshal(q)
	if err != nil {
		return nil, err
	}
	nodes, all := m.workers()
	out, errs := make([]domain.NodeClaim, len(nodes)), make([]error, len(nodes)+1)
	if !all {
		errs[len(nodes)] = errNoWork
	}
	var wait sync.WaitGroup
	for i, n := range nodes {
		wait.Go(func() {
			answer, err := m.passes.AskNode(ctx, n.Addr, question)
			var c claim
			switch {
			case errors.Is(err, forward.ErrUnasked): // a version of before: it is found by its numbers alone
			case err != nil:
				errs[i] = err
			default:
				errs[i] = json.Unmarshal(answer, &c)
			}
			if out[i] = (domain.NodeClaim{CallClaim: c.CallClaim, Node: n.ID}); c.Part {
				errs[i] = errNoWork
			}
		})
	}
	wait.Wait()
	return out, errors.Join(errs...)
}

// workers are the other nodes that have shards; all: each shard has one.
func (m *member) workers() (out []lease.Node, all bool) {
	all = true
	for shard := range m.cfg.Shards {
		n, ok := m.engine.Owner(shard)
		all = all && ok
		if ok && n.ID != m.self.ID && !slices.ContainsFunc(out, func(x lease.Node) bool { return x.ID == n.ID }) {
			out = append(out, n)
		}
	}
	return out, all
}

// asked answers what another node asks.
func (m *member) asked(w http.ResponseWriter, r *http.Request) {
	var q actors.CallQuestion
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, questionMost)).Decode(&q); err != nil {
		http.Error(w, "no question", http.StatusBadRequest)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), whitherWithin)
	defer cancel()
	_ = json.NewEncoder(w).Encode(m.whose(ctx, q))
}

const questionMost = 64 << 10
