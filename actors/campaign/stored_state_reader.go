package campaign

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/call"
	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/calendar"
	"github.com/callboard/callboard/domain/commit"
)

const (
	rowsAtOnce       = 1000
	liveCallsTimeout = 5 * time.Second // for the reply of the calls actor
)

// snapshot is the state of a campaign as read from the store.
type snapshot struct {
	rows     storedRows
	script   *domain.Script // pinned for the campaign; nil: the campaign has not started
	rules    calendar.Rules
	contacts *contactQueue
	attempts []*openAttempt
	live     map[string]bool // calls with an actor
}

// snapshotReader reads snapshots and contacts from the store, outside of the actor.
type snapshotReader struct {
	store     Store
	sys       *actor.ActorSystem
	calls     *actor.PID
	workspace string
	id        string
	edited    bool // contacts were edited after their upload
	script    func(context.Context, *domain.Campaign) (domain.Script, error)
}

func newReader(ctx actor.Context, cfg *Config, edited bool) snapshotReader {
	return snapshotReader{
		store: cfg.Store, sys: ctx.ActorSystem(), calls: cfg.Calls, workspace: cfg.Workspace, id: cfg.CampaignID,
		edited: edited, script: cfg.Script,
	}
}

// load reads the stored state without the contacts themselves. It reads the counters first. If an earlier actor commits
// later, the version of the counters increases, and the next commit of this actor conflicts.
func (r snapshotReader) load(ctx context.Context) (*snapshot, error) {
	s := &snapshot{live: make(map[string]bool)}
	var err error
	s.rows.progress = domain.Progress{WorkspaceID: r.workspace, CampaignID: r.id}
	if s.rows.progressVersion, err = r.store.Get(ctx, &s.rows.progress); err != nil {
		return nil, fmt.Errorf("campaign: read progress: %w", err)
	}
	s.rows.campaign.WorkspaceID, s.rows.campaign.ID = r.workspace, r.id
	if s.rows.campaignVersion, err = r.store.Get(ctx, &s.rows.campaign); err != nil {
		return nil, fmt.Errorf("campaign: read: %w", err)
	}
	if s.rules, err = calendar.New(s.rows.campaign.Schedule, s.rows.campaign.Compliance.CallingHours, calendar.NewZones()); err != nil {
		return nil, fmt.Errorf("campaign: calendar: %w", err)
	}
	s.rules = s.rules.WithClock(s.rows.campaign.Clock())
	pinned := domain.PinnedScript{WorkspaceID: r.workspace, CampaignID: r.id}
	switch _, err = r.store.Get(ctx, &pinned); {
	case err == nil:
		s.script = &pinned.Script
	case !errors.Is(err, domain.ErrNotFound):
		return nil, fmt.Errorf("campaign: read script: %w", err)
	}
	if err = r.latestScript(ctx, s); err != nil {
		return nil, err
	}
	s.contacts = newContactQueue(s.rows.progress.Total, s.rules)
	s.contacts.hours = s.rows.campaign.Compliance.CallingHours
	s.contacts.scheduleEnds = s.rows.campaign.Schedule.End != nil
	if err = r.pages(ctx, s); err != nil {
		return nil, err
	}
	if err = r.retries(ctx, s); err != nil {
		return nil, err
	}
	s.contacts.learnHistory()
	if err = r.attempts(ctx, s); err != nil {
		return nil, err
	}
	if r.calls == nil {
		return s, nil
	}
	bound, cancel := context.WithTimeout(ctx, liveCallsTimeout)
	defer cancel()
	now, err := mailbox.Ask[call.LiveCalls](bound, r.sys, r.calls, call.GetLiveCalls{})
	if err != nil {
		return nil, fmt.Errorf("campaign: query live calls: %w", err)
	}
	for _, c := range now.Calls {
		s.live[c.CallID] = true
	}
	return s, nil
}

// latestScript reads the script again if the campaign follows the latest version of its agent. If the agent was deleted, the
// script stored at the campaign's start stays.
func (r snapshotReader) latestScript(ctx context.Context, s *snapshot) error {
	if !s.rows.campaign.FollowLatest || s.script == nil || r.script == nil {
		return nil
	}
	fresh, err := r.script(ctx, &s.rows.campaign)
	switch code := domain.CodeOf(err); {
	case err == nil:
		s.script = &fresh
	case code == "" || code == domain.CodeUnavailable:
		return fmt.Errorf("campaign: read latest script: %w", err)
	}
	return nil
}

func (r snapshotReader) pages(ctx context.Context, s *snapshot) error {
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
				if from := p.Index * domain.PageSize; from < len(s.contacts.states) {
					copy(s.contacts.states[from:], p.States)
					copy(s.contacts.attempts[from:], p.Attempts)
				}
				return nil
			})
		if err != nil {
			return fmt.Errorf("campaign: read pages: %w", err)
		}
	}
	return nil
}

func (r snapshotReader) retries(ctx context.Context, s *snapshot) error {
	if s.rows.campaign.Status.Final() {
		return nil
	}
	now := time.Now()
	q := commit.Query{Kind: "result", Workspace: r.workspace, Index: "retry=" + r.id, Limit: rowsAtOnce, Oldest: true}
	return r.list(ctx, q, func() domain.Record { return &domain.ContactResult{} }, func(row domain.Record) error {
		c, ok := row.(*domain.ContactResult)
		if !ok {
			return fmt.Errorf("campaign: row of type %T", row)
		}
		if c.RetryAt != nil && c.Ordinal < len(s.contacts.states) && s.contacts.state(c.Ordinal) == domain.ContactRetryWait {
			s.contacts.addRetry(c.Ordinal, dueAt(c, now))
			if c.Duration > 0 {
				s.contacts.durations[c.Ordinal] = c.Duration
			}
		}
		return nil
	})
}

// dueAt returns when a stored retry is due. If the last attempt ended in the future, the clock was set back, and the contact
// waits for the full delay from now.
func dueAt(r *domain.ContactResult, now time.Time) time.Time {
	switch {
	case r.Outcome == "": // the attempt does not count: retry at once
		return earlier(*r.RetryAt, now)
	case r.EndedAt != nil && r.EndedAt.After(now):
		return now.Add(r.RetryAt.Sub(*r.EndedAt))
	}
	return *r.RetryAt
}

func (r snapshotReader) attempts(ctx context.Context, s *snapshot) error {
	q := commit.Query{Kind: "attempt", Workspace: r.workspace, Index: "campaign=" + r.id, Limit: rowsAtOnce, Oldest: true}
	err := r.list(ctx, q, func() domain.Record { return &domain.Attempt{} }, func(row domain.Record) error {
		a, ok := row.(*domain.Attempt)
		if !ok {
			return fmt.Errorf("campaign: row of type %T", row)
		}
		s.attempts = append(s.attempts, &openAttempt{attemptRows: &attemptRows{row: *a}})
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
			s.contacts.durations[a.row.Ordinal] = result.Duration
		case err != nil && !errors.Is(err, domain.ErrNotFound):
			return fmt.Errorf("campaign: read result: %w", err)
		}
	}
	return nil
}

func (r snapshotReader) list(ctx context.Context, q commit.Query, fresh func() domain.Record, each func(domain.Record) error) error {
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
