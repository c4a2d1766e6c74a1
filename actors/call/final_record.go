package call

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/event"
	"github.com/callboard/callboard/media"
)

// The parties that can end a call, as the API names them.
const (
	byAgent   = domain.EndedByAgent
	byRemote  = domain.EndedByRemote
	byAPI     = domain.EndedByAPI
	byService = domain.EndedByService
)

// conclusion holds the values from which conclude builds a call's final record.
type conclusion struct {
	verdict   domain.Verdict
	by        string
	at        time.Time
	lasted    time.Duration // duration since the answer by the monotonic clock; 0: computed from the times
	reached   bool
	segments  []domain.Segment
	language  string
	publicURL string
	recorded  bool
	talked    bool // the call has a transcript
}

// conclude builds the final record of a call and the Ended message with it.
func conclude(c domain.Call, a *domain.Attempt, e conclusion) Ended {
	c.Status, c.Disposition = domain.StatusFor(e.verdict.Outcome), string(e.verdict.Outcome)
	c.EndedReason, c.EndedBy = e.verdict.Reason, e.by
	c.EndedAt, c.UpdatedAt = &e.at, e.at
	if c.AnsweredAt != nil {
		if e.lasted == 0 {
			e.lasted = max(0, e.at.Sub(*c.AnsweredAt))
		}
		c.DurationSeconds = int(math.Round(e.lasted.Seconds()))
	}
	if c.Outcome == nil {
		c.Outcome = &domain.CallOutcome{}
	} else {
		o := *c.Outcome
		c.Outcome = &o
	}
	c.Outcome.Result = e.verdict.Outcome
	c.Outcome.Intent = c.Intent
	c.Legs = append([]domain.Leg(nil), c.Legs...)
	for i := range c.Legs {
		if c.Legs[i].EndedAt == nil {
			c.Legs[i].EndedAt = &e.at
		}
	}
	closeTransfers(&c, e.verdict.Reason, e.at)
	if e.talked {
		c.TranscriptURL, c.TranscriptAvailable = e.publicURL+"/v1/calls/"+c.ID+"/transcript", true
	}
	if e.recorded {
		c.RecordingURL = e.publicURL + "/v1/calls/" + c.ID + "/recording"
	}
	c.Processing = e.recorded
	return Ended{
		CallID: c.ID, AttemptID: a.ID, Call: c, Verdict: e.verdict, Reached: e.reached, Segments: e.segments, Language: e.language,
		WithoutTrunk: !usesTrunk(&c, a), Tariff: a.Tariff,
	}
}

// usesTrunk reports whether any leg of a call used a trunk, as opposed to a phone of the workspace.
func usesTrunk(c *domain.Call, a *domain.Attempt) bool {
	return slices.ContainsFunc(c.Legs, func(l domain.Leg) bool { return l.TrunkID != "" }) ||
		slices.ContainsFunc(a.Legs, func(l domain.AttemptLeg) bool { return l.TrunkID != "" })
}

func qualityOf(s media.Stats) *domain.Quality {
	var parts []domain.QualityInterval
	for _, p := range s.Course {
		parts = append(parts, domain.QualityInterval{
			AtMs: p.At.Milliseconds(), ForMs: p.For.Milliseconds(), MOS: rounded(p.MOS, 100), JitterMs: rounded(p.JitterMs, 10), LossPercent: rounded(p.LossPercent, 100), RoundTripMs: rounded(p.RoundTripMs, 10),
		})
	}
	return &domain.Quality{
		Stretches: parts,
		Codec:     s.Codec, MOS: s.MOS, JitterMs: s.JitterMs, LossPercent: s.LossPercent, RoundTripMs: s.RoundTripMs,
		PacketsSent: s.PacketsSent, PacketsReceived: s.PacketsReceived, PacketsRefused: s.PacketsRefused,
	}
}

// rounded rounds v to a multiple of 1/parts.
func rounded(v, parts float64) float64 { return math.Round(v*parts) / parts }

// EndChange returns the commit of a call's end. The commit stores the final call record, its transcript and SIP trace,
// deletes the row of the call attempt, and adds the ledger row and the events. An owner that may receive the same Ended
// twice has to detect the repetition.
func EndChange(e Ended, now time.Time) commit.Change {
	c := e.Call
	attempt := domain.Attempt{ID: e.AttemptID, WorkspaceID: c.WorkspaceID}
	change := commit.Change{
		Workspace: c.WorkspaceID,
		Puts:      []domain.Record{&c},
		Deletes:   []domain.Key{attempt.Key()},
		Events:    []event.Draft{draft(&c, event.CallEnded, event.NewCallEndedData(&c), now)},
	}
	if c.TranscriptAvailable {
		data := event.TranscriptData{CallRef: event.NewCallRef(&c), TranscriptURL: c.TranscriptURL, Segments: len(e.Segments)}
		change.Puts = append(change.Puts, transcriptOf(&e))
		change.Events = append(change.Events, draft(&c, event.CallTranscriptReady, data, now))
		if e.Analysis != nil {
			change.Puts = append(change.Puts, e.Analysis)
		}
	}
	if e.Trace != nil {
		change.Puts = append(change.Puts, e.Trace)
	}
	if isBilled(&e) || isCounted(&e) {
		row := ledgerRow(&e, now)
		change.Guards = append(change.Guards, commit.Absent(row.Key()))
		change.Puts = append(change.Puts, row)
		change.Adds = append(change.Adds, row.Usage())
	}
	return change
}

func ledgerRow(e *Ended, now time.Time) *domain.LedgerRow {
	c := &e.Call
	opened := c.CreatedAt
	if c.StartedAt != nil {
		opened = *c.StartedAt
	}
	row := &domain.LedgerRow{
		AttemptID: e.AttemptID, WorkspaceID: c.WorkspaceID, Environment: c.Environment, CallID: c.ID, CampaignID: c.CampaignID,
		Direction: c.Direction, Tariff: e.Tariff, OpenedAt: opened, ClosedAt: now, Seconds: c.DurationSeconds,
	}
	if c.Cost != nil {
		row.Priced = true
		row.CostMicros, _ = domain.ParseAmount(c.Cost.Amount) // cannot fail: this service wrote the amount
	}
	return row
}

// transcriptOf builds the stored transcript from the segments of an ended call.
func transcriptOf(e *Ended) *domain.Transcript {
	t := &domain.Transcript{
		CallID: e.CallID, WorkspaceID: e.Call.WorkspaceID, Status: "ready", Language: e.Language, Segments: e.Segments,
	}
	if t.Segments == nil {
		t.Segments = []domain.Segment{}
	}
	lines := make([]string, 0, len(t.Segments))
	for _, s := range t.Segments {
		lines = append(lines, s.Speaker+": "+s.Text)
	}
	t.Text = strings.Join(lines, "\n")
	return t
}

// isBilled reports whether an attempt is billed: outbound in the live environment, with an INVITE that reached a
// carrier. Throttled, unsent and interrupted attempts are free.
func isBilled(e *Ended) bool {
	return e.Reached && !e.WithoutTrunk && e.Verdict.SpendsAttempt() && e.Verdict.Reason != domain.ReasonInterrupted &&
		e.Call.Environment == domain.Live && e.Call.Direction == domain.Outbound
}

// isCounted reports whether the minutes of an inbound call are counted: it came from a carrier and was answered. Inbound
// calls are free.
func isCounted(e *Ended) bool {
	return !e.WithoutTrunk && e.Call.AnsweredAt != nil && e.Verdict.Reason != domain.ReasonInterrupted &&
		e.Call.Environment == domain.Live && e.Call.Direction == domain.Inbound
}

func interrupted() domain.Verdict {
	return domain.Verdict{Outcome: domain.OutcomeFailed, Reason: domain.ReasonInterrupted, RetryOn: "interrupted"}
}

// EndAsInterrupted returns the end of a call that an earlier process left open.
func EndAsInterrupted(c domain.Call, a domain.Attempt, now time.Time) Ended {
	e := conclude(c, &a, conclusion{
		verdict: interrupted(), by: byService, at: now,
	})
	if left := a.StoredTrace(); left != nil {
		e.Trace = left.Pack()
	}
	return e
}

// EndAsNotStarted returns the end of a call that was committed but never placed.
func EndAsNotStarted(c domain.Call, a domain.Attempt, now time.Time) Ended {
	return conclude(c, &a, conclusion{verdict: notSent(), by: byService, at: now})
}

func notSent() domain.Verdict {
	return domain.Verdict{Outcome: domain.OutcomeFailed, Reason: domain.ReasonNotSent}
}

// draft returns an event about a call, for use in a commit.
func draft(c *domain.Call, t event.Type, data any, now time.Time) event.Draft {
	return event.CallDraft(mailbox.NewID(domain.PrefixEvent), c, t, data, now)
}

// closeTransfers marks the open transfers of an ended call as failed.
func closeTransfers(c *domain.Call, why domain.Reason, at time.Time) {
	c.Transfers = slices.Clone(c.Transfers)
	for i := range c.Transfers {
		if t := &c.Transfers[i]; t.EndedAt == nil {
			t.Status, t.Reason, t.EndedAt = domain.TransferFailed, string(why), &at
		}
	}
}

// makeFinalRecord closes the media session and builds the final record. The record of an unanswered call has no pathway
// result.
func (c *call) makeFinalRecord(ctx actor.Context) {
	if c.stage != ending {
		return
	}
	c.stage = flushing
	stats, had := c.resources.Close()
	talked := c.call.AnsweredAt != nil && !c.resumption.failed
	if had && talked {
		c.call.Quality = qualityOf(stats)
		c.call.MediaIssue = cmp.Or(c.call.MediaIssue, stats.AudioIssue)
		c.legRecord(c.leg).Codec = stats.Codec
	}
	e := conclude(c.call, &c.attempt, conclusion{
		verdict: c.result.verdict, by: c.result.by, at: c.result.at, lasted: c.result.talked, reached: c.reached, segments: c.agent.segments, language: c.script.Language,
		publicURL: c.cfg.PublicURL, recorded: talked && had && stats.Recorded, talked: talked,
	})
	if c.script.Analysis.IsEnabled() && talked && callerSpoke(c.agent.segments) {
		e.Analysis = &domain.AnalysisDue{CallID: c.call.ID, WorkspaceID: c.call.WorkspaceID, LLM: c.script.LLM, Wanted: *c.script.Analysis}
	}
	e.Trace = c.takeTrace(c.cfg.Traces, &e.Call)
	c.reportCost(ctx, &e)
	c.result.ended, c.call = &e, e.Call
	c.resources.setEnded(&e)
	c.checkFlushed(ctx)
}
