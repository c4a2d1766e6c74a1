package campaign

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/call"
	"github.com/callboard/callboard/actors/dnc"
	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/calendar"
	"github.com/callboard/callboard/domain/commit"
	lists "github.com/callboard/callboard/domain/dnc"
)

const rowsAtOnce = 1000

// snapshot is a campaign as the store has it.
type snapshot struct {
	campaign domain.Campaign
	cVersion uint64
	progress domain.Progress
	pVersion uint64
	script   *domain.Script
	rules    calendar.Rules
	people   *people
	attempts []*attempt
	live     map[string]bool // calls that have actors
}

// reader loads snapshots and bodies, beside the actor.
type reader struct {
	store     Store
	sys       *actor.ActorSystem
	calls     *actor.PID
	workspace string
	id        string
	edited    bool // contacts were changed since their upload
	script    func(context.Context, *domain.Campaign) (domain.Script, error)
}

// load reads everything but the bodies. The counters come first: whatever a
// commit of a predecessor changes later raises their version, and our next
// commit then finds out.
func (r reader) load(ctx context.Context) (*snapshot, error) {
	s := &snapshot{live: make(map[string]bool)}
	var err error
	s.progress = domain.Progress{WorkspaceID: r.workspace, CampaignID: r.id}
	if s.pVersion, err = r.store.Get(ctx, &s.progress); err != nil {
		return nil, fmt.Errorf("campaign: read progress: %w", err)
	}
	s.campaign.WorkspaceID, s.campaign.ID = r.workspace, r.id
	if s.cVersion, err = r.store.Get(ctx, &s.campaign); err != nil {
		return nil, fmt.Errorf("campaign: read: %w", err)
	}
	if s.rules, err = calendar.New(s.campaign.Schedule, s.campaign.Compliance.CallingHours, calendar.NewZones()); err != nil {
		return nil, fmt.Errorf("campaign: calendar: %w", err)
	}
	s.rules = s.rules.By(s.campaign.Clock())
	pinned := domain.PinnedScript{WorkspaceID: r.workspace, CampaignID: r.id}
	switch _, err = r.store.Get(ctx, &pinned); {
	case err == nil:
		s.script = &pinned.Script
	case !errors.Is(err, domain.ErrNotFound):
		return nil, fmt.Errorf("campaign: read script: %w", err)
	}
	if err = r.latest(ctx, s); err != nil {
		return nil, err
	}
	s.people = newPeople(s.progress.Total, s.rules)
	s.people.ends = s.campaign.Schedule.End != nil
	if err = r.pages(ctx, s); err != nil {
		return nil, err
	}
	if err = r.retries(ctx, s); err != nil {
		return nil, err
	}
	s.people.recall()
	if err = r.attempts(ctx, s); err != nil {
		return nil, err
	}
	if r.calls == nil {
		return s, nil
	}
	bound, cancel := context.WithTimeout(ctx, censusLimit)
	defer cancel()
	now, err := mailbox.Ask[call.LiveNow](bound, r.sys, r.calls, call.Live{})
	if err != nil {
		return nil, fmt.Errorf("campaign: ask for live calls: %w", err)
	}
	for _, c := range now.Calls {
		s.live[c.CallID] = true
	}
	return s, nil
}

// latest reads the script anew where the campaign follows it; where that is
// gone, calls speak the last one.
func (r reader) latest(ctx context.Context, s *snapshot) error {
	if !s.campaign.FollowLatest || s.script == nil || r.script == nil {
		return nil
	}
	fresh, err := r.script(ctx, &s.campaign)
	switch code := domain.CodeOf(err); {
	case err == nil:
		s.script = &fresh
	case code == "" || code == domain.CodeUnavailable:
		return fmt.Errorf("campaign: read latest script: %w", err)
	}
	return nil
}

func (r reader) pages(ctx context.Context, s *snapshot) error {
	prefix := domain.Key{Kind: "page", Workspace: r.workspace, ID: r.id + "/"}
	for after, n := "", rowsAtOnce; n == rowsAtOnce; {
		n = 0
		err := r.store.Under(ctx, prefix, after, rowsAtOnce,
			func() domain.Record { return &domain.ContactPage{} },
			func(row domain.Record) error {
				p, ok := row.(*domain.ContactPage)
				if !ok {
					return fmt.Errorf("campaign: row of type %T", row)
				}
				n++
				after = p.Key().ID
				if from := p.Index * domain.PageSize; from < len(s.people.states) {
					copy(s.people.states[from:], p.States)
					copy(s.people.attempts[from:], p.Attempts)
				}
				return nil
			})
		if err != nil {
			return fmt.Errorf("campaign: read pages: %w", err)
		}
	}
	return nil
}

func (r reader) retries(ctx context.Context, s *snapshot) error {
	if s.campaign.Status.Final() {
		return nil
	}
	now := time.Now()
	q := commit.Query{Kind: "result", Workspace: r.workspace, Index: "retry=" + r.id, Limit: rowsAtOnce, Oldest: true}
	return r.list(ctx, q, func() domain.Record { return &domain.ContactResult{} }, func(row domain.Record) error {
		c, ok := row.(*domain.ContactResult)
		if !ok {
			return fmt.Errorf("campaign: row of type %T", row)
		}
		if c.RetryAt != nil && c.Ordinal < len(s.people.states) && s.people.state(c.Ordinal) == domain.ContactRetryWait {
			s.people.retry(c.Ordinal, dueAt(c, now))
			if c.Duration > 0 {
				s.people.durations[c.Ordinal] = c.Duration
			}
		}
		return nil
	})
}

// dueAt is when a stored retry is due. An attempt that ended in the future shows
// that the clock was set back since: its contact waits as long as it would have.
func dueAt(r *domain.ContactResult, now time.Time) time.Time {
	switch {
	case r.Outcome == "": // the attempt was not spent: at once
		return earlier(*r.RetryAt, now)
	case r.EndedAt != nil && r.EndedAt.After(now):
		return now.Add(r.RetryAt.Sub(*r.EndedAt))
	}
	return *r.RetryAt
}

func (r reader) attempts(ctx context.Context, s *snapshot) error {
	q := commit.Query{Kind: "attempt", Workspace: r.workspace, Index: "campaign=" + r.id, Limit: rowsAtOnce, Oldest: true}
	err := r.list(ctx, q, func() domain.Record { return &domain.Attempt{} }, func(row domain.Record) error {
		a, ok := row.(*domain.Attempt)
		if !ok {
			return fmt.Errorf("campaign: row of type %T", row)
		}
		s.attempts = append(s.attempts, &attempt{made: &made{row: *a}})
		return nil
	})
	if err != nil {
		return err
	}
	for _, a := range s.attempts {
		a.call.WorkspaceID, a.call.ID = r.workspace, a.row.CallID
		if _, err := r.store.Get(ctx, &a.call); err != nil {
			return fmt.Errorf("campaign: read call of an attempt: %w", err)
		}
		if a.row.Number < 2 {
			continue
		}
		result := domain.ContactResult{WorkspaceID: r.workspace, CampaignID: r.id, Ordinal: a.row.Ordinal}
		switch _, err := r.store.Get(ctx, &result); {
		case err == nil && result.Duration > 0:
			s.people.durations[a.row.Ordinal] = result.Duration
		case err != nil && !errors.Is(err, domain.ErrNotFound):
			return fmt.Errorf("campaign: read result: %w", err)
		}
	}
	return nil
}

func (r reader) list(ctx context.Context, q commit.Query, fresh func() domain.Record, each func(domain.Record) error) error {
	for {
		next, err := r.store.List(ctx, q, fresh, each)
		if err != nil {
			return fmt.Errorf("campaign: list %s: %w", q.Index, err)
		}
		if next == "" {
			return nil
		}
		q.Cursor = next
	}
}

// bodies reads chunks and works out what the numbers say, which is too slow
// for the actor itself.
func (r reader) bodies(ctx context.Context, indexes []int, judge judge) (map[int]*chunk, error) {
	read := make(map[int]*chunk, len(indexes))
	for _, i := range indexes {
		row := domain.ContactChunk{WorkspaceID: r.workspace, CampaignID: r.id, Index: i}
		if _, err := r.store.Get(ctx, &row); err != nil {
			return nil, fmt.Errorf("campaign: read contacts: %w", err)
		}
		if r.edited {
			if err := r.edits(ctx, &row); err != nil {
				return nil, err
			}
		}
		c := judge.chunk(row.Contacts)
		var err error
		if c.hits, err = r.listed(ctx, judge, row.Contacts); err != nil {
			return nil, fmt.Errorf("campaign: look into lists: %w", err)
		}
		read[i] = c
	}
	return read, nil
}

// edits puts what was changed since the upload over a chunk.
func (r reader) edits(ctx context.Context, chunk *domain.ContactChunk) error {
	first := chunk.Index * domain.ChunkSize
	after := ""
	if first > 0 {
		after = (&domain.ContactEdit{CampaignID: r.id, Ordinal: first - 1}).Key().ID
	}
	prefix := domain.Key{Kind: "edit", Workspace: r.workspace, ID: r.id + "/"}
	err := r.store.Under(ctx, prefix, after, len(chunk.Contacts),
		func() domain.Record { return &domain.ContactEdit{} },
		func(row domain.Record) error {
			e, ok := row.(*domain.ContactEdit)
			if !ok {
				return fmt.Errorf("campaign: row of type %T", row)
			}
			if i := e.Ordinal - first; i < len(chunk.Contacts) {
				chunk.Contacts[i] = e.Contact
			}
			return nil
		})
	if err != nil {
		return fmt.Errorf("campaign: read edits: %w", err)
	}
	return nil
}

// judge says what follows from a number alone.
type judge struct {
	rules   calendar.Rules
	zones   *calendar.Zones
	calling domain.DestinationRules
	country string
	env     domain.Environment
	anyone  bool // no destination rules but the general ones
	lists   *dnc.Register
	scrub   lists.Scrub
}

func (j judge) chunk(contacts []domain.Contact) *chunk {
	c := &chunk{
		contacts: contacts, zones: make([]string, len(contacts)), invalid: make([]bool, len(contacts)), countries: make([]string, len(contacts)),
		windows: map[string]calendar.Window{"": j.rules.For(nil)},
	}
	for i, who := range contacts {
		number, err := j.zones.Number(who.Phone)
		c.countries[i] = number.Country
		_, forbidden := domain.DialForbidden(who.Phone, j.country)
		c.invalid[i] = err != nil || forbidden || !j.anyone && number.Allowed(j.calling, j.country, j.env) != nil
		if !j.rules.Local() {
			continue
		}
		key, zones := j.zonesOf(who, number, err == nil)
		if _, known := c.windows[key]; !known {
			c.windows[key] = j.rules.For(zones)
		}
		c.zones[i] = key
	}
	return c
}

// zonesOf are the zones of a contact: its own, else those of its number.
func (j judge) zonesOf(who domain.Contact, number domain.Number, known bool) (string, []*time.Location) {
	if who.Timezone != "" || !known {
		return j.zones.Of(who)
	}
	return j.zones.OfNumber(number)
}

// attempt is one that is open: it is in the store until its end is.
type attempt struct {
	*made
	zone   *zone     // nil: not known
	lostAt time.Time // nobody knows of its call: then it counts as never placed
}
