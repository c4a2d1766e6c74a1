package exports

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"time"

	"github.com/callboard/callboard/actors/ledger"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/billing"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/event"
	"github.com/callboard/callboard/domain/exportrows"
	"github.com/callboard/callboard/service/record"
)

// rowsPerRead is how many rows an export reads at a time.
const rowsPerRead = 200

// eventsPerRead is how many events an export reads at a time.
const eventsPerRead = 500

// writeRows writes all rows of an export to a file, oldest first. It holds only one page of rows in memory.
func (s *Service) writeRows(ctx context.Context, e *domain.Export, f *file) error {
	err := f.writeHeader(e.Type)
	p := domain.Principal{WorkspaceID: e.WorkspaceID, Environment: e.Environment}
	if err == nil {
		switch e.Type {
		case domain.ExportCalls, domain.ExportLegs, domain.ExportTranscripts:
			err = s.exportCalls(ctx, p, e, f)
		case domain.ExportResults:
			err = s.exportResults(ctx, p, e, f)
		case domain.ExportContacts:
			err = s.exportContacts(ctx, p, e, f)
		case domain.ExportEvents:
			err = s.exportEvents(ctx, e, f)
		case domain.ExportUsage:
			err = s.exportUsage(ctx, p, e, f)
		case domain.ExportAudit:
			err = s.exportAudit(ctx, e, f)
		}
	}
	if err != nil {
		return err
	}
	return f.flush()
}

// isWithin reports whether a time is within the time range of the export's filters.
func isWithin(x *domain.ExportFilters, t time.Time) bool {
	return (x.CreatedAfter == nil || t.After(*x.CreatedAfter)) && (x.CreatedBefore == nil || t.Before(*x.CreatedBefore))
}

// eachRow calls each for the records of an index, oldest first, that are within the time range of the export's filters.
func eachRow[T any, R record.Pointer[T]](ctx context.Context, store commit.Store, e *domain.Export, kind, index string, prefix domain.Prefix, each func(R) error) error {
	q := commit.Query{Kind: kind, Workspace: e.WorkspaceID, Index: index, Oldest: true, Limit: rowsPerRead}
	if e.Filters.CreatedAfter != nil {
		q.From = domain.FirstIDAt(prefix, *e.Filters.CreatedAfter)
	}
	if e.Filters.CreatedBefore != nil {
		q.To = domain.FirstIDAt(prefix, e.Filters.CreatedBefore.Add(time.Millisecond))
	}
	for {
		var batch []R
		next, err := store.List(ctx, q, func() domain.Record { return R(new(T)) }, func(rec domain.Record) error {
			if r, ok := rec.(R); ok {
				batch = append(batch, r)
			}
			return nil
		})
		if err != nil {
			return commit.StoreError(err)
		}
		for _, r := range batch {
			if err = each(r); err != nil {
				return err
			}
		}
		if q.Cursor = next; next == "" {
			return nil
		}
	}
}

// exportLeg is a call leg as a JSON line.
type exportLeg struct {
	CallID string `json:"call_id"`
	Number int    `json:"leg"`
	domain.Leg
}

func (s *Service) exportCalls(ctx context.Context, p domain.Principal, e *domain.Export, f *file) error {
	x := &e.Filters
	index := record.EnvironmentIndex(p)
	if x.CampaignID != "" {
		index = "campaign=" + x.CampaignID
	}
	return eachRow(ctx, s.store, e, "call", index, domain.PrefixCall, func(c *domain.Call) error {
		if c.Environment != e.Environment || !isWithin(x, c.CreatedAt) || x.Status != "" && string(c.Status) != x.Status {
			return nil
		}
		switch e.Type { //nolint:exhaustive // those of calls
		case domain.ExportLegs:
			for i := range c.Legs {
				if err := f.write(exportLeg{c.ID, i + 1, c.Legs[i]}, func() []string { return exportrows.LegRow(c, i+1) }); err != nil {
					return err
				}
			}
			return nil
		case domain.ExportTranscripts:
			return s.exportTranscript(ctx, c, f)
		}
		return f.write(s.withURLs(c), func() []string { return exportrows.CallRow(c) })
	})
}

// exportTranscript writes the transcript of a call: one CSV row for each segment, or one JSON line for the transcript.
func (s *Service) exportTranscript(ctx context.Context, c *domain.Call, f *file) error {
	if !c.TranscriptAvailable {
		return nil
	}
	t := &domain.Transcript{CallID: c.ID, WorkspaceID: c.WorkspaceID}
	if _, err := s.store.Get(ctx, t); err != nil {
		if errors.Is(err, domain.ErrNotFound) { // the transcript was deleted since
			return nil
		}
		return commit.StoreError(err)
	}
	if f.lines != nil {
		return f.write(t, nil)
	}
	for i := range t.Segments {
		if err := f.write(nil, func() []string { return exportrows.SegmentRow(c.ID, &t.Segments[i]) }); err != nil {
			return err
		}
	}
	return nil
}

// exportResult is the result of a contact as a JSON line.
type exportResult struct {
	Phone       string        `json:"phone"`
	Name        string        `json:"name"`
	Outcome     string        `json:"outcome"`
	Duration    int           `json:"duration"`
	Confirmed   bool          `json:"confirmed"`
	Notes       string        `json:"notes"`
	CompletedAt *time.Time    `json:"completed_at"`
	Reason      domain.Reason `json:"reason"`
}

func (s *Service) exportResults(ctx context.Context, p domain.Principal, e *domain.Export, f *file) error {
	rows, err := s.campaigns.CampaignResults(ctx, p, e.Filters.CampaignID)
	if err != nil {
		return err
	}
	for r, err := range rows {
		if err == nil {
			err = f.write(exportResult(r), func() []string {
				return []string{
					exportrows.NumberCell(r.Phone), exportrows.EscapeFormula(r.Name), exportrows.EscapeFormula(r.Outcome), strconv.Itoa(r.Duration), strconv.FormatBool(r.Confirmed),
					exportrows.EscapeFormula(r.Notes), exportrows.TimeCell(r.CompletedAt), exportrows.EscapeFormula(string(r.Reason)),
				}
			})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *Service) exportContacts(ctx context.Context, p domain.Principal, e *domain.Export, f *file) error {
	all, err := s.campaigns.ExportContacts(ctx, p, e.Filters.CampaignID, e.Filters.Status)
	if err != nil {
		return err
	}
	for c, err := range all.Rows {
		if err == nil {
			err = f.write(&c, func() []string {
				text, _ := json.Marshal(c.Context) // cannot fail: the context was decoded from JSON
				return []string{
					exportrows.NumberCell(c.Phone), exportrows.EscapeFormula(c.Timezone), exportrows.EscapeFormula(c.Country), c.Status, exportrows.EscapeFormula(string(c.Outcome)),
					exportrows.EscapeFormula(string(c.Reason)), strconv.Itoa(c.Attempts), c.LastCallID, exportrows.TimeCell(c.NextAttemptAt), exportrows.TimeCell(c.CompletedAt), c.ID, string(text),
				}
			})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *Service) exportEvents(ctx context.Context, export *domain.Export, f *file) error {
	after := uint64(0)
	if t := export.Filters.CreatedAfter; t != nil {
		var err error
		if after, err = s.offsetBefore(ctx, export.WorkspaceID, t.Add(-event.MaxDisorder)); err != nil {
			return commit.StoreError(err)
		}
	}
	for {
		batch, err := s.store.Events(ctx, export.WorkspaceID, after, eventsPerRead)
		if err != nil || len(batch) == 0 {
			return commit.StoreError(err)
		}
		for i := range batch {
			e := &batch[i]
			after = e.Offset
			if b := export.Filters.CreatedBefore; b != nil && e.CreatedAt.After(b.Add(event.MaxDisorder)) {
				return nil
			}
			if e.Environment != export.Environment || !event.MatchesTypes(export.Filters.Types, e.Type) || !isWithin(&export.Filters, e.CreatedAt) {
				continue
			}
			err = f.write(e, func() []string {
				return []string{
					e.ID, string(e.Type), exportrows.TimeCell(&e.CreatedAt), exportrows.EscapeFormula(e.Subject), strconv.FormatUint(e.Sequence, 10), e.SvcID, string(e.Data),
				}
			})
			if err != nil {
				return err
			}
		}
	}
}

func (s *Service) exportUsage(ctx context.Context, p domain.Principal, e *domain.Export, f *file) error {
	now := time.Now().UTC()
	q := billing.UsageQuery{From: ledger.FirstOfMonth(now), To: now}
	if t := e.Filters.CreatedAfter; t != nil {
		q.From = t.UTC()
	}
	if t := e.Filters.CreatedBefore; t != nil {
		q.To = t.UTC()
	}
	used, err := s.usage(ctx, p, q)
	if err != nil {
		return err
	}
	for i := range used.Days {
		u := &used.Days[i]
		err = f.write(u, func() []string {
			return []string{
				u.Day, strconv.Itoa(u.Attempts), strconv.Itoa(u.Included), strconv.Itoa(u.Overage), u.Amount.Amount, u.Amount.Currency,
				strconv.FormatFloat(u.Minutes, 'f', -1, 64), strconv.Itoa(u.OutboundSeconds), strconv.Itoa(u.InboundCalls), strconv.Itoa(u.InboundSeconds), strconv.Itoa(u.SMS),
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *Service) exportAudit(ctx context.Context, e *domain.Export, f *file) error {
	return eachRow(ctx, s.store, e, "audit", "all", domain.PrefixAudit, func(a *domain.AuditEntry) error {
		if !isWithin(&e.Filters, a.CreatedAt) || e.Environment == domain.Test && a.Environment != domain.Test {
			return nil
		}
		return f.write(a, func() []string { return exportrows.AuditRow(a) })
	})
}
