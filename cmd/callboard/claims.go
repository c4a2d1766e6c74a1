package main

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/callboard/callboard/actors"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/persistence/lease"
	"github.com/callboard/callboard/sip"
)

// Whose a call is that no number of the store names, because its trunk writes
// numbers without their country or gives the rest of them to somebody, only the
// node knows that has the trunk: it knows the source. So all nodes that have work
// are asked (docs/adr/0087-nodes-ask-each-other-whose-a-call-is.md).

// cancelFor is how long a CANCEL finds the node of a call that was found by whom
// its credentials named, or by a header: it has none.
const cancelFor = 3 * time.Minute

// sipOptions asks only whether the source is known.
const sipOptions = "OPTIONS"

// asksNodes says whether other nodes may be asked whose a request is.
func asksNodes(a sip.Whose) bool {
	return !a.Within && slices.Contains([]string{"INVITE", "MESSAGE", "CANCEL", sipOptions}, a.Method)
}

func questionOf(a sip.Whose) actors.CallQuestion {
	q := actors.CallQuestion{To: a.To, User: a.User, Source: a.Source.Addr, MatchFields: a.MatchFields}
	if a.Method == sipOptions {
		q.To, q.User, q.MatchFields = "", "", nil
	}
	return q
}

// Under these names answers are kept: of a call, of its CANCEL, and of a source
// that nobody knows.
func callName(q actors.CallQuestion, byHeader bool) string {
	return withHeader(strings.Join([]string{"c" + q.Source.String(), q.To, q.User}, "\x00"), q.MatchFields, byHeader)
}
func cancelName(a sip.Whose) string       { return "i" + a.CallID }
func sourceName(at netip.AddrPort) string { return "s" + at.String() }

// disputeName is where it is kept whether a number's claim in the store counts for
// a call; workspace "": it does not.
func disputeName(a sip.Whose, name string, byHeader bool) string {
	return withHeader(strings.Join([]string{"d" + a.Source.Addr.String(), name, a.User}, "\x00"), a.MatchFields, byHeader)
}

// withHeader is the name of an answer that counts for calls with these headers
// only, as where a trunk takes calls by a header (domain.TrunkMatch).
func withHeader(name string, fields map[string]string, byHeader bool) string {
	if !byHeader {
		return name
	}
	var b strings.Builder
	b.WriteString(name)
	for _, field := range slices.Sorted(maps.Keys(fields)) {
		b.WriteString("\x00" + field + "\x00" + fields[field])
	}
	return b.String()
}

// knownDispute is what is known of a number's claim against the trunks here.
func (w *whither) knownDispute(a sip.Whose, name string) (c claimed, known bool) {
	if c, known = w.known(disputeName(a, name, false)); known {
		return c, true
	}
	return w.known(disputeName(a, name, true))
}

// disputable says whether a number's claim has to be held against the trunks here.
// One that leads to another node goes unasked where no trunk here leads to the
// source.
func (w *whither) disputable(a sip.Whose, name, workspace string) bool {
	if name[0] != 'n' || !asksNodes(a) {
		return false
	}
	n, ok := w.in.ownerOf(workspace)
	return ok && (n.ID == w.in.me() || w.in.leads(a.Source.Addr))
}

// settle is the workspace again if its claim to the number counts, else "": all
// nodes are asked then. Anybody may claim a number that comes over the trunk of
// another one for its rest, so where that trunk is here it goes to the number only
// where its own node says that it has a trunk there, too.
func (w *whither) settle(ctx context.Context, a sip.Whose, name, workspace string) string {
	q := questionOf(a)
	n, ok := w.in.ownerOf(workspace)
	own, counts := w.in.whose(ctx, q), true
	byHeader := own.ByHeader
	switch {
	case !ok || own.Part && own.Rank < domain.ClaimRest:
		return workspace
	case n.ID == w.in.me():
		counts = own.Rank >= domain.ClaimUnprovedNumber
	case own.Rank < domain.ClaimRest:
	case own.Rank == domain.ClaimNumber:
		counts = false
	case !mayAsk(a):
		return workspace
	default:
		its, err := w.in.askNode(ctx, n.Addr, q)
		byHeader = byHeader || its.ByHeader
		if err == nil { // one that does not answer is found by the number alone
			counts = domain.BestClaim(own.CallClaim, []domain.NodeClaim{{CallClaim: its.CallClaim, Node: n.ID}}) >= 0
		}
	}
	if !counts {
		workspace = ""
	}
	w.keep(disputeName(a, name, byHeader), claimed{workspace: workspace})
	return workspace
}

// claimedBy is the node that has the best claim, from memory; known is false
// where that does not say.
func (w *whither) claimedBy(a sip.Whose) (c claimed, known bool) {
	q := questionOf(a)
	for _, byHeader := range []bool{false, true} {
		if c, known = w.known(callName(q, byHeader)); known {
			return c, true
		}
	}
	return w.known(sourceName(q.Source))
}

// claimant finds the node that has the best claim; "": this one has, or nobody.
// With an error it says whether the claim that is known is weak.
func (w *whither) claimant(ctx context.Context, a sip.Whose) (c claimed, err error) {
	c, known := w.claimedBy(a)
	if known {
		return c, nil
	}
	q := questionOf(a)
	own := w.in.whose(ctx, q)
	best, byHeader := own.CallClaim, own.ByHeader
	last, enough := domain.ClaimNumber, domain.ClaimRest
	if a.Method == sipOptions {
		last, enough = domain.ClaimSource, domain.ClaimSource
	}
	var unheard error
	if best.Rank < last {
		var all []domain.NodeClaim
		if unheard = errEnough; mayAsk(a) {
			all, unheard = w.in.askNodes(ctx, q)
		}
		if own.Part {
			unheard = errors.Join(unheard, errNoWork)
		}
		byHeader = byHeader || slices.ContainsFunc(all, func(o domain.NodeClaim) bool { return o.ByHeader })
		if i := domain.BestClaim(best, all); i >= 0 {
			c.node, best = all[i].Node, all[i].CallClaim
		}
	}
	c.weak = best.Rank < domain.ClaimUnproved
	switch {
	case unheard != nil && best.Rank < enough:
		return c, unheard // who does not answer may have it
	case errors.Is(unheard, errEnough): // the next one may ask
		return c, nil
	case best.Rank == domain.ClaimNone: // so that strangers fill nothing by what they call
		w.keep(sourceName(q.Source), c)
		return c, nil
	}
	w.keep(callName(q, byHeader), c)
	if (q.User != "" || byHeader) && c.node != "" && a.Method == "INVITE" {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.hints.put(cancelName(a), c, time.Now())
	}
	return c, nil
}

// errEnough: nodes were asked for the source as often as they may.
var errEnough = errors.New("no other node is asked for this source now")

// mayAsk says whether other nodes may be asked whose a request is, once.
func mayAsk(a sip.Whose) bool { return a.Ask == nil || a.Ask() }

// ofNode is where a node takes SIP; "": here.
func (w *whither) ofNode(id string) (netip.AddrPort, bool) {
	if id == "" {
		return netip.AddrPort{}, false
	}
	for _, n := range w.in.living() {
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

// leads says whether a trunk of the seats here leads to an address.
func (m *member) leads(at netip.AddrPort) bool {
	m.mu.Lock()
	s := m.service
	m.mu.Unlock()
	if s == nil {
		return false
	}
	c, all := s.board.Whose(context.Background(), actors.CallQuestion{Source: at})
	return !all || c.Rank > domain.ClaimNone
}

// askNode asks another node. An error says that it may have a better claim.
func (m *member) askNode(ctx context.Context, addr string, q actors.CallQuestion) (c claim, err error) {
	question, err := json.Marshal(q)
	if err != nil {
		return c, err
	}
	answer, err := m.passes.AskNode(ctx, addr, question)
	if err == nil {
		err = json.Unmarshal(answer, &c)
	}
	if err == nil && c.Part {
		err = errNoWork
	}
	return c, err
}

// askNodes asks all other nodes that have work. An error says that not all have
// answered.
func (m *member) askNodes(ctx context.Context, q actors.CallQuestion) ([]domain.NodeClaim, error) {
	nodes, all := m.workers()
	out, errs := make([]domain.NodeClaim, len(nodes)), make([]error, len(nodes)+1)
	if !all {
		errs[len(nodes)] = errNoWork
	}
	var wait sync.WaitGroup
	for i, n := range nodes {
		wait.Go(func() {
			c, err := m.askNode(ctx, n.Addr, q)
			out[i], errs[i] = domain.NodeClaim{CallClaim: c.CallClaim, Node: n.ID}, err
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
