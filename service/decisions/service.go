// Package decisions reads and verifies the logs of what campaigns decided.
package decisions

import (
	"context"
	"errors"
	"iter"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/dnc"
	"github.com/callboard/callboard/service/record"
	"github.com/callboard/callboard/service/record/contactlist"
	"github.com/callboard/callboard/service/record/decisionlist"
)

// Config holds the dependencies of a Service.
type Config struct {
	Store     commit.Store
	Campaigns campaigns
	// Country returns the default country of the principal's workspace.
	Country func(p domain.Principal) string
	// ChainKey returns the key that chains the log of a workspace.
	ChainKey func(workspaceID string) []byte
}

type campaigns interface {
	Campaign(ctx context.Context, p domain.Principal, id string) (*domain.Campaign, error)
}

// Service reads and verifies the decision logs of campaigns.
type Service struct {
	store     commit.Store
	list      contactlist.Reader
	campaigns campaigns
	country   func(p domain.Principal) string
	chainKey  func(workspaceID string) []byte
}

// New returns a service.
func New(c Config) *Service {
	return &Service{store: c.Store, list: contactlist.New(c.Store), campaigns: c.Campaigns, country: c.Country, chainKey: c.ChainKey}
}

// ListDecisions reads a page of a campaign's log. The cursor is the place to
// go on from: a row, and a decision in it.
func (s *Service) ListDecisions(ctx context.Context, p domain.Principal, campaignID, phone string, page record.PageQuery) (record.Page[decisionlist.Decision], error) {
	out := record.Page[decisionlist.Decision]{Data: []decisionlist.Decision{}}
	c, err := s.campaigns.Campaign(ctx, p, campaignID)
	if err != nil {
		return out, err
	}
	row, from, err := decisionPlace(page.Cursor)
	if err != nil {
		return out, err
	}
	if phone != "" {
		if phone, _, err = dnc.ParseNumber(phone, s.country(p)); err != nil {
			return out, domain.FieldError("phone", domain.CodeValidation, "phone must be a full telephone number, best in E.164")
		}
	}
	if since, err := s.firstRowAfter(ctx, c, page.CreatedAfter); err != nil {
		return out, err
	} else if since > row {
		row, from = since, 0
	}
	for {
		rows, err := s.readPages(ctx, c, phone, row)
		if err != nil {
			return out, err
		}
		for _, r := range rows {
			if r.Seq != row {
				from = 0
			}
			if pageOfDecisions(&out, c, r, from, phone, page) {
				return out, nil
			}
		}
		if len(rows) < domain.DecisionRowsPerRead {
			break
		}
		row, from = rows[len(rows)-1].Seq+1, 0
	}
	if phone == "" {
		return out, nil
	}
	return out, s.addEndOfCampaign(ctx, c, phone, &out, page)
}

// firstRowAfter is the first row of a log that may tell of what was decided after
// a time. Rows stand in the order in which they were written: it is found by
// bisection.
func (s *Service) firstRowAfter(ctx context.Context, c *domain.Campaign, t time.Time) (row int, err error) {
	if t.IsZero() {
		return 1, nil
	}
	progress, err := s.list.Progress(ctx, c)
	if err != nil {
		return 0, err
	}
	start, err := s.readStart(ctx, c)
	if err != nil {
		return 0, err
	}
	row = 1 + start.Seq + sort.Search(max(0, progress.DecisionPages-start.Seq), func(i int) bool {
		r := &domain.DecisionPage{WorkspaceID: c.WorkspaceID, CampaignID: c.ID, Seq: start.Seq + i + 1}
		if err != nil {
			return true
		}
		if _, err = s.store.Get(ctx, r); err != nil || len(r.Decisions) == 0 {
			return err != nil
		}
		return r.Decisions[len(r.Decisions)-1].At.After(t)
	})
	return row, commit.StoreError(err)
}

// readStart says how many rows of a log were deleted by retention.
func (s *Service) readStart(ctx context.Context, c *domain.Campaign) (*domain.DecisionLogStart, error) {
	start := &domain.DecisionLogStart{WorkspaceID: c.WorkspaceID, CampaignID: c.ID}
	if _, err := s.store.Get(ctx, start); err != nil && !errors.Is(err, domain.ErrNotFound) {
		return nil, commit.StoreError(err)
	}
	return start, nil
}

// addEndOfCampaign adds to what the log says of a number what the end of the campaign
// decided about all who were left, if this one was among them.
func (s *Service) addEndOfCampaign(ctx context.Context, c *domain.Campaign, phone string, out *record.Page[decisionlist.Decision], page record.PageQuery) error {
	if !c.Status.Final() {
		return nil
	}
	rows, err := s.PagesOfNumber(ctx, c, "", 1)
	if err != nil || !slices.ContainsFunc(rows, func(r *domain.DecisionPage) bool { return tellsOfMany(r, page.Created()) }) {
		return err // before all numbers are looked through
	}
	ordinal, known, err := s.lastOrdinal(ctx, c, phone, out.Data)
	if !known || err != nil {
		return err
	}
	states := &domain.ContactPage{WorkspaceID: c.WorkspaceID, CampaignID: c.ID, Index: ordinal / domain.PageSize}
	if _, err = s.store.Get(ctx, states); err != nil && !errors.Is(err, domain.ErrNotFound) { // of whom nothing is stored yet nothing has happened to
		return commit.StoreError(err)
	}
	if i := ordinal % domain.PageSize; i < len(states.States) {
		if s := domain.ContactState(states.States[i]); s != domain.ContactRetryWait && s != domain.ContactPending {
			return nil // it came to an end of its own
		}
	}
	for _, r := range rows {
		for i := range r.Decisions {
			switch {
			case r.Decisions[i].Contacts == 0, !page.Created().Contains(r.Decisions[i].At):
			case len(out.Data) == page.Limit:
				out.Next = strconv.Itoa(r.Seq) + "-" + strconv.Itoa(i)
				return nil
			default:
				out.Data = append(out.Data, decisionlist.DecisionOf(c, r, i))
			}
		}
	}
	return nil
}

// tellsOfMany says whether a row holds, within a span, what was decided about
// all who were left.
func tellsOfMany(r *domain.DecisionPage, span record.TimeRange) bool {
	return slices.ContainsFunc(r.Decisions, func(one domain.Decision) bool { return one.Contacts > 0 && span.Contains(one.At) })
}

// lastOrdinal is the contact of a number, unless the last that was decided about
// it was more than an attempt.
func (s *Service) lastOrdinal(ctx context.Context, c *domain.Campaign, phone string, decided []decisionlist.Decision) (ordinal int, known bool, err error) {
	if len(decided) == 0 {
		return s.ordinalOf(ctx, c, phone)
	}
	last := decided[len(decided)-1]
	ordinal, known = domain.ContactOrdinal(c.ID, last.ContactID)
	return ordinal, known && last.Decision == domain.DecidedDial, nil
}

// ordinalOf finds the contact of a number. It looks through the numbers of all
// contacts, about a microsecond each: whoever was ever decided about is found
// without.
func (s *Service) ordinalOf(ctx context.Context, c *domain.Campaign, phone string) (ordinal int, known bool, err error) {
	progress, err := s.list.Progress(ctx, c)
	if err != nil {
		return 0, false, err
	}
	edited := make(map[int]bool)
	for e, err := range s.list.Edits(ctx, c, progress) {
		if err != nil {
			return 0, false, err
		}
		if e.Contact.Phone == phone {
			return e.Ordinal, true, nil
		}
		edited[e.Ordinal] = true
	}
	for ordinal, one := range s.list.Numbers(ctx, c, progress.Total) {
		if one.Err != nil {
			return 0, false, one.Err
		}
		if one.Number == phone && !edited[ordinal] {
			return ordinal, true, nil
		}
	}
	return 0, false, nil
}

// pageOfDecisions adds what a row says to a page; full: the page goes on there,
// or nothing of its span follows.
func pageOfDecisions(out *record.Page[decisionlist.Decision], c *domain.Campaign, r *domain.DecisionPage, from int, phone string, page record.PageQuery) (full bool) {
	span := page.Created()
	for i := from; i < len(r.Decisions); i++ {
		if !span.Before.IsZero() && !r.Decisions[i].At.Before(span.Before) {
			return true
		}
		if phone != "" && r.Decisions[i].Phone != phone || !span.Contains(r.Decisions[i].At) {
			continue
		}
		if len(out.Data) == page.Limit {
			out.Next = strconv.Itoa(r.Seq) + "-" + strconv.Itoa(i)
			return true
		}
		out.Data = append(out.Data, decisionlist.DecisionOf(c, r, i))
	}
	return false
}

func decisionPlace(cursor string) (row, from int, err error) {
	if cursor == "" {
		return 1, 0, nil
	}
	left, right, ok := strings.Cut(cursor, "-")
	row, errRow := strconv.Atoi(left)
	from, errFrom := strconv.Atoi(right)
	if !ok || errRow != nil || errFrom != nil || row < 1 || from < 0 {
		return 0, 0, domain.FieldError("cursor", domain.CodeInvalidCursor, "cursor is not one that a page before returned")
	}
	return row, from, nil
}

// readPages reads rows of a log from one on; with a number only those
// that tell of it.
func (s *Service) readPages(ctx context.Context, c *domain.Campaign, phone string, row int) ([]*domain.DecisionPage, error) {
	var rows []*domain.DecisionPage
	fresh := func() domain.Record { return &domain.DecisionPage{} }
	take := func(r domain.Record) error {
		if page, ok := r.(*domain.DecisionPage); ok {
			rows = append(rows, page)
		}
		return nil
	}
	if phone != "" {
		return s.PagesOfNumber(ctx, c, phone, row)
	}
	at := &domain.DecisionPage{WorkspaceID: c.WorkspaceID, CampaignID: c.ID, Seq: row - 1}
	prefix := domain.Key{Kind: at.Key().Kind, Workspace: c.WorkspaceID, ID: c.ID + "/"}
	return rows, commit.StoreError(s.store.Under(ctx, prefix, at.Key().ID, domain.DecisionRowsPerRead, fresh, take))
}

// PagesOfNumber reads rows that tell of a number; "": of those who are not named.
func (s *Service) PagesOfNumber(ctx context.Context, c *domain.Campaign, phone string, row int) ([]*domain.DecisionPage, error) {
	var rows []*domain.DecisionPage
	at := &domain.DecisionPage{WorkspaceID: c.WorkspaceID, CampaignID: c.ID, Seq: row}
	_, err := s.store.List(ctx, commit.Query{
		Kind: at.Key().Kind, Workspace: c.WorkspaceID, Index: domain.DecisionIndex(c.ID, phone), From: at.Sort(), Limit: domain.DecisionRowsPerRead, Oldest: true,
	}, func() domain.Record { return &domain.DecisionPage{} }, func(r domain.Record) error {
		if page, ok := r.(*domain.DecisionPage); ok {
			rows = append(rows, page)
		}
		return nil
	})
	return rows, commit.StoreError(err)
}

// Decisions walks the log of a campaign.
func (s *Service) Decisions(ctx context.Context, p domain.Principal, campaignID string) (iter.Seq2[decisionlist.Decision, error], error) {
	c, err := s.campaigns.Campaign(ctx, p, campaignID)
	if err != nil {
		return nil, err
	}
	return func(yield func(decisionlist.Decision, error) bool) {
		for row := 1; ; {
			rows, err := s.readPages(ctx, c, "", row)
			if err != nil {
				yield(decisionlist.Decision{}, err)
				return
			}
			for _, r := range rows {
				for i := range r.Decisions {
					if !yield(decisionlist.DecisionOf(c, r, i), nil) {
						return
					}
				}
			}
			if len(rows) < domain.DecisionRowsPerRead {
				return
			}
			row = rows[len(rows)-1].Seq + 1
		}
	}, nil
}

// VerifyDecisions follows the chain of a log from its first row to what the
// campaign's counters hold. What is written meanwhile is not looked at.
func (s *Service) VerifyDecisions(ctx context.Context, p domain.Principal, campaignID string) (DecisionsVerified, error) {
	none := DecisionsVerified{}
	c, err := s.campaigns.Campaign(ctx, p, campaignID)
	if err != nil {
		return none, err
	}
	progress := &domain.Progress{CampaignID: c.ID, WorkspaceID: c.WorkspaceID}
	if _, err = s.store.Get(ctx, progress); err != nil && !errors.Is(err, domain.ErrNotFound) {
		return none, commit.StoreError(err)
	}
	chain := domain.DecisionChain{Key: s.chainKey(c.WorkspaceID)}
	start, err := s.readStart(ctx, c)
	if err != nil {
		return none, err
	}
	if start.Seq > 0 {
		chain.StartAfter(start)
	}
	for holds := chain.Broken == 0; holds && chain.Pages < progress.DecisionPages; {
		rows, err := s.readPages(ctx, c, "", chain.Pages+1)
		if err != nil {
			return none, err
		}
		for _, r := range rows {
			if holds = holds && chain.Pages < progress.DecisionPages && chain.VerifyPage(r); !holds {
				break
			}
		}
		if len(rows) < domain.DecisionRowsPerRead {
			break
		}
	}
	chain.VerifyEnd(progress.DecisionPages, progress.DecisionHead)
	v := DecisionsVerified{
		CampaignID: c.ID, Valid: chain.Broken == 0, Rows: chain.Pages - chain.Deleted, Decisions: chain.Decisions, Head: chain.Head, Reason: chain.Reason,
		DeletedRows: chain.Deleted, Erased: chain.Erased,
	}
	if chain.Broken > 0 {
		v.BrokenRow = &chain.Broken
	}
	return v, nil
}
