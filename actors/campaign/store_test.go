package campaign_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/event"
)

var errStore = errors.New("the store does not answer")

// memory is a store that survives whoever uses it. It checks the books of the
// campaign at every commit.
type memory struct {
	slow atomic.Bool // lists take a second
	t    *testing.T

	mu       sync.Mutex
	rows     map[domain.Key]row
	kinds    map[string]map[domain.Key]bool
	billed   map[domain.Key]int // seconds, by row of the ledger
	retries  int                // results that are due some time
	events   []event.Event
	commits  int
	latency  time.Duration
	stall    map[string]chan struct{}           // kinds whose rows are read once these are closed
	down     bool                               // nothing works
	full     bool                               // commits find no room, but for reserved ones
	judge    func(n int, c commit.Change) fault // what goes wrong with the nth commit
	mistakes []string
}

type fault uint8

const (
	none       fault = iota
	lost             // an error, and nothing was written
	unheard          // an error, but it was written
	conflicted       // refused
	fenced           // refused, for good
)

type row struct {
	version uint64
	body    []byte
	indexes []string
	sort    string
}

func newMemory(t *testing.T) *memory {
	t.Helper()
	return &memory{t: t, rows: make(map[domain.Key]row), billed: make(map[domain.Key]int), kinds: make(map[string]map[domain.Key]bool)}
}

// as is the store as one process sees it, until that is killed.
type as struct {
	*memory
	dead func() bool
}

func (m *memory) seed(records ...domain.Record) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, r := range records {
		m.put(r)
	}
}

func (m *memory) put(r domain.Record) {
	body, err := json.Marshal(r)
	if err != nil {
		panic(err)
	}
	k := r.Key()
	if m.kinds[k.Kind] == nil {
		m.kinds[k.Kind] = make(map[domain.Key]bool)
	}
	m.kinds[k.Kind][k] = true
	if k.Kind == "result" {
		m.retries += len(r.Indexes()) - len(m.rows[k].indexes)
	}
	m.rows[k] = row{m.rows[k].version + 1, body, r.Indexes(), r.Sort()}
}

// marks are those of how far campaigns were, by per cent.
func (m *memory) marks() []domain.ProgressMark {
	m.mu.Lock()
	defer m.mu.Unlock()
	var all []domain.ProgressMark
	for k := range m.kinds["progress_mark"] {
		var mark domain.ProgressMark
		if err := json.Unmarshal(m.rows[k].body, &mark); err != nil {
			panic(err)
		}
		all = append(all, mark)
	}
	slices.SortFunc(all, func(a, b domain.ProgressMark) int { return a.Percent - b.Percent })
	return all
}

// add raises a tally.
func (m *memory) add(t domain.CounterRecord) {
	sum, ok := t.(*domain.Usage)
	if !ok {
		panic(fmt.Sprintf("a tally of type %T", t))
	}
	have := *sum
	if r, known := m.rows[t.Key()]; known {
		_ = json.Unmarshal(r.body, &have)
		have.Add(sum)
	}
	m.put(&have)
}

func (s as) Apply(ctx context.Context, c commit.Change) ([]event.Event, error) {
	m := s.memory
	m.mu.Lock()
	latency := m.latency
	m.mu.Unlock()
	if latency > 0 {
		select {
		case <-time.After(latency):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if s.dead() || m.down {
		return nil, errStore
	}
	m.commits++
	if m.full && !c.UsesReservedSpace {
		return nil, fmt.Errorf("commit: %w", domain.ErrStoreFull)
	}
	f := none
	if m.judge != nil {
		f = m.judge(m.commits, c)
	}
	switch f {
	case lost:
		return nil, errStore
	case conflicted:
		return nil, domain.ErrConflict
	case fenced:
		return nil, domain.ErrFenced
	case none, unheard:
	}
	for _, g := range c.Guards {
		if m.rows[g.Key].version != g.Version {
			return nil, fmt.Errorf("%v: %w", g.Key, domain.ErrConflict)
		}
	}
	seen := make(map[domain.Key]bool)
	for _, r := range c.Puts {
		if seen[r.Key()] {
			m.mistakes = append(m.mistakes, fmt.Sprintf("%v is put twice in one commit", r.Key()))
		}
		seen[r.Key()] = true
		m.put(r)
	}
	for _, t := range c.Adds {
		m.add(t)
	}
	for _, k := range c.Deletes {
		delete(m.rows, k)
		delete(m.kinds[k.Kind], k)
	}
	for _, d := range c.Events {
		data, err := domain.EncodeJSON(d.Data)
		if err != nil {
			panic(err)
		}
		m.events = append(m.events, event.Event{ID: d.ID, Type: d.Type, CreatedAt: d.CreatedAt, Subject: d.Subject, Data: data, SvcID: d.SvcID})
	}
	m.audit()
	if f == unheard {
		return nil, errStore
	}
	return nil, nil
}

func (s as) Get(_ context.Context, into domain.Record) (uint64, error) {
	s.mu.Lock()
	stalled := s.stall[into.Key().Kind]
	s.mu.Unlock()
	if stalled != nil {
		<-stalled
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.dead() || s.down {
		return 0, errStore
	}
	return s.get(into)
}

func (m *memory) get(into domain.Record) (uint64, error) {
	r, ok := m.rows[into.Key()]
	if !ok {
		return 0, domain.ErrNotFound
	}
	return r.version, json.Unmarshal(r.body, into)
}

func (s as) List(_ context.Context, q commit.Query, fresh func() domain.Record, each func(domain.Record) error) (string, error) {
	if s.slow.Load() {
		time.Sleep(time.Second)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.dead() || s.down {
		return "", errStore
	}
	return "", s.scan(q.Kind, fresh, each, func(k domain.Key, r row) bool {
		return k.Kind == q.Kind && k.Workspace == q.Workspace && slices.Contains(r.indexes, q.Index)
	}, 1<<30)
}

func (s as) Under(_ context.Context, prefix domain.Key, after string, limit int, fresh func() domain.Record, each func(domain.Record) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.dead() || s.down {
		return errStore
	}
	return s.scan(prefix.Kind, fresh, each, func(k domain.Key, _ row) bool {
		return k.Kind == prefix.Kind && k.Workspace == prefix.Workspace && strings.HasPrefix(k.ID, prefix.ID) && k.ID > after
	}, limit)
}

func (m *memory) scan(kind string, fresh func() domain.Record, each func(domain.Record) error, take func(domain.Key, row) bool, limit int) error {
	var keys []domain.Key
	for k := range m.kinds[kind] {
		if take(k, m.rows[k]) {
			keys = append(keys, k)
		}
	}
	slices.SortFunc(keys, func(a, b domain.Key) int { return strings.Compare(a.ID, b.ID) })
	for _, k := range keys[:min(limit, len(keys))] {
		r := fresh()
		if err := json.Unmarshal(m.rows[k].body, r); err != nil {
			return err
		}
		if err := each(r); err != nil {
			return err
		}
	}
	return nil
}

// audit compares the counters with the pages and the attempts, as they would
// be found after a crash right now.
func (m *memory) audit() {
	var p domain.Progress
	states := make(map[domain.ContactState]int)
	attempted, attempts := 0, len(m.kinds["attempt"])
	for k := range m.kinds["progress"] {
		_ = json.Unmarshal(m.rows[k].body, &p)
	}
	for k := range m.kinds["page"] {
		var page domain.ContactPage
		_ = json.Unmarshal(m.rows[k].body, &page)
		for i, s := range page.States {
			states[domain.ContactState(s)]++
			if page.Attempts[i] > 0 {
				attempted++
			}
		}
	}
	note := func(what string, got, want int) {
		if got != want && len(m.mistakes) < 10 {
			m.mistakes = append(m.mistakes, fmt.Sprintf("commit %d: %s: %d in the counters, %d in the pages", m.commits, what, got, want))
		}
	}
	note("in progress", p.InProgress, states[domain.ContactOpen])
	note("open attempts", attempts, states[domain.ContactOpen])
	note("attempted", p.Attempted, attempted)
	note("skipped", p.Skipped.Total(), states[domain.ContactSkipped])
	left := states[domain.ContactPending] + states[domain.ContactRetryWait]
	if ended := p.Expired + p.Outcomes[domain.OutcomeCancelled] - states[domain.ContactCancelled]; ended == 0 {
		note("remaining", p.Remaining(), left)
		note("waiting for a retry", p.RetryWaiting, states[domain.ContactRetryWait])
		note("retries due", p.RetryWaiting, m.retries)
	} else {
		note("left behind", ended, left)
		note("remaining", p.Remaining(), 0)
	}
	m.reckon(note)
	for s := domain.ContactCompleted; s <= domain.ContactFailed; s++ {
		note(s.String(), p.Outcomes[domain.Outcome(s.String())], states[s])
	}
}

// reckon compares what was counted with the ledger.
func (m *memory) reckon(note func(what string, got, want int)) {
	counted, owed := 0, 0
	seconds, talked := 0, 0
	for k := range m.kinds["usage"] {
		var u domain.Usage
		_ = json.Unmarshal(m.rows[k].body, &u)
		counted += u.Attempts()
		seconds += u.OutboundSeconds()
	}
	for k := range m.kinds["ledger"] { // written once: each is read once
		if _, known := m.billed[k]; !known {
			var l domain.LedgerRow
			_ = json.Unmarshal(m.rows[k].body, &l)
			m.billed[k] = l.Seconds
		}
		owed++
		talked += m.billed[k]
	}
	note("billed attempts", counted, owed)
	note("billed seconds", seconds, talked)
}

// told are the events of a type.
func (m *memory) told(types ...event.Type) []event.Event {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []event.Event
	for _, e := range m.events {
		if slices.Contains(types, e.Type) {
			out = append(out, e)
		}
	}
	return out
}

// decided is the log of decisions.
func (m *memory) decided() []domain.DecisionPage {
	m.mu.Lock()
	defer m.mu.Unlock()
	var pages []domain.DecisionPage
	for k := range m.kinds["decision"] {
		var page domain.DecisionPage
		_ = json.Unmarshal(m.rows[k].body, &page)
		pages = append(pages, page)
	}
	slices.SortFunc(pages, func(a, b domain.DecisionPage) int { return a.Seq - b.Seq })
	return pages
}

func (m *memory) progress() domain.Progress {
	m.mu.Lock()
	defer m.mu.Unlock()
	p := domain.Progress{WorkspaceID: workspace, CampaignID: campaignID}
	_, _ = m.get(&p)
	return p
}

func (m *memory) set(f func(m *memory)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f(m)
}
