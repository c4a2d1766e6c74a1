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

// memoryStore is an in-memory store that outlives the simulated processes. It checks the campaign's counters at every commit.
type memoryStore struct {
	slowLists atomic.Bool // lists take a second
	t         *testing.T

	mu           sync.Mutex
	rows         map[domain.Key]row
	kinds        map[string]map[domain.Key]bool
	billed       map[domain.Key]int // billed seconds, by ledger row
	retries      int                // results with a retry
	events       []event.Event
	commits      int
	latency      time.Duration
	blockedKinds map[string]chan struct{}                 // kinds whose rows are read once the channel is closed
	down         bool                                     // all operations fail
	full         bool                                     // only reserved commits find space
	injectFault  func(n int, c commit.Change) commitFault // returns the fault of the nth commit
	errors       []string
}

type commitFault uint8

const (
	none           commitFault = iota
	commitLost                 // an error, and nothing is written
	replyLost                  // an error, but the change is written
	commitConflict             // a conflict
	commitFenced               // fenced: another node owns the shard
)

type row struct {
	version uint64
	body    []byte
	indexes []string
	sort    string
}

func newMemoryStore(t *testing.T) *memoryStore {
	t.Helper()
	return &memoryStore{t: t, rows: make(map[domain.Key]row), billed: make(map[domain.Key]int), kinds: make(map[string]map[domain.Key]bool)}
}

// processStore is the access of one simulated process to the store. After the process is killed, all operations fail.
type processStore struct {
	*memoryStore
	dead func() bool
}

func (m *memoryStore) storeRecords(records ...domain.Record) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, r := range records {
		m.put(r)
	}
}

func (m *memoryStore) put(r domain.Record) {
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

// progressMarks returns the stored progress marks, sorted by percentage.
func (m *memoryStore) progressMarks() []domain.ProgressMark {
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

// addUsage increases a usage counter.
func (m *memoryStore) addUsage(t domain.CounterRecord) {
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

func (s processStore) Apply(ctx context.Context, c commit.Change) ([]event.Event, error) {
	m := s.memoryStore
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
	if m.injectFault != nil {
		f = m.injectFault(m.commits, c)
	}
	switch f {
	case commitLost:
		return nil, errStore
	case commitConflict:
		return nil, domain.ErrConflict
	case commitFenced:
		return nil, domain.ErrFenced
	case none, replyLost:
	}
	for _, g := range c.Guards {
		if m.rows[g.Key].version != g.Version {
			return nil, fmt.Errorf("%v: %w", g.Key, domain.ErrConflict)
		}
	}
	seen := make(map[domain.Key]bool)
	for _, r := range c.Puts {
		if seen[r.Key()] {
			m.errors = append(m.errors, fmt.Sprintf("%v is put twice in one commit", r.Key()))
		}
		seen[r.Key()] = true
		m.put(r)
	}
	for _, t := range c.Adds {
		m.addUsage(t)
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
	m.checkCounters()
	if f == replyLost {
		return nil, errStore
	}
	return nil, nil
}

func (s processStore) Get(_ context.Context, into domain.Record) (uint64, error) {
	s.mu.Lock()
	stalled := s.blockedKinds[into.Key().Kind]
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

func (m *memoryStore) get(into domain.Record) (uint64, error) {
	r, ok := m.rows[into.Key()]
	if !ok {
		return 0, domain.ErrNotFound
	}
	return r.version, json.Unmarshal(r.body, into)
}

func (s processStore) List(_ context.Context, q commit.Query, fresh func() domain.Record, each func(domain.Record) error) (string, error) {
	if s.slowLists.Load() {
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

func (s processStore) Under(_ context.Context, prefix domain.Key, after string, limit int, fresh func() domain.Record, each func(domain.Record) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.dead() || s.down {
		return errStore
	}
	return s.scan(prefix.Kind, fresh, each, func(k domain.Key, _ row) bool {
		return k.Kind == prefix.Kind && k.Workspace == prefix.Workspace && strings.HasPrefix(k.ID, prefix.ID) && k.ID > after
	}, limit)
}

func (m *memoryStore) scan(kind string, fresh func() domain.Record, each func(domain.Record) error, take func(domain.Key, row) bool, limit int) error {
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

// checkCounters compares the stored counters with the stored contact states and attempts. A restart would read both.
func (m *memoryStore) checkCounters() {
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
		if got != want && len(m.errors) < 10 {
			m.errors = append(m.errors, fmt.Sprintf("commit %d: %s: %d in the counters, %d in the pages", m.commits, what, got, want))
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
	m.checkBilling(note)
	for s := domain.ContactCompleted; s <= domain.ContactFailed; s++ {
		note(s.String(), p.Outcomes[domain.Outcome(s.String())], states[s])
	}
}

// checkBilling compares the usage counters with the billed calls in the ledger.
func (m *memoryStore) checkBilling(note func(what string, got, want int)) {
	counted, owed := 0, 0
	seconds, talked := 0, 0
	for k := range m.kinds["usage"] {
		var u domain.Usage
		_ = json.Unmarshal(m.rows[k].body, &u)
		counted += u.Attempts()
		seconds += u.OutboundSeconds()
	}
	for k := range m.kinds["ledger"] { // ledger rows are immutable, so each is read once
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

// eventsOf returns the events of the given types.
func (m *memoryStore) eventsOf(types ...event.Type) []event.Event {
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

// decisionPages returns the stored pages of the decision log.
func (m *memoryStore) decisionPages() []domain.DecisionPage {
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

func (m *memoryStore) progress() domain.Progress {
	m.mu.Lock()
	defer m.mu.Unlock()
	p := domain.Progress{WorkspaceID: workspace, CampaignID: campaignID}
	_, _ = m.get(&p)
	return p
}

func (m *memoryStore) withLock(f func(m *memoryStore)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f(m)
}
