// Package decisions is the service for the decision logs of campaigns, which record why each contact was called, skipped
// or cancelled. It lists the logs and verifies their hash chains.
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
	// ChainKey returns the key of a workspace for the hash chains of its decision logs.
	ChainKey func(workspaceID string) []byte
}

type campaigns interface {
	Campaign(ctx context.Context, p domain.Principal, id string) (*domain.Campaign, error)
}

// Service lists and verifies the decision logs of campaigns.
type Service struct {
	store     commit.Store
	list      contactlist.Reader
	campaigns campaigns
	country   func(p domain.Principal) string
	chainKey  func(workspaceID string) []byte
}

// New returns a Service.
func New(c Config) *Service {
	return &Service{store: c.Store, list: contactlist.New(c.Store), campaigns: c.Campaigns, country: c.Country, chainKey: c.ChainKey}
}

// ListDecisions returns a page of a campaign's decision log. If phone is not empty, it returns only decisions about this
// number. The cursor consists of the log row and the decision in that row at which the next page starts.
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
	if first, err := s.firstRowAfter(ctx, c, page.CreatedAfter); err != nil {
		return out, err
	} else if first > row {
		row, from = first, 0
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
			if addDecisions(&out, c, r, from, phone, page) {
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

// firstRowAfter returns the number of the first log row that may contain decisions made after a time. The rows are in
// the order of time, so it uses a binary search.
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

// readStart returns the record of a log's start, which says how many rows the retention task has deleted.
func (s *Service) readStart(ctx context.Context, c *domain.Campaign) (*domain.DecisionLogStart, error) {
	start := &domain.DecisionLogStart{WorkspaceID: c.WorkspaceID, CampaignID: c.ID}
	if _, err := s.store.Get(ctx, start); err != nil && !errors.Is(err, domain.ErrNotFound) {
		return nil, commit.StoreError(err)
	}
	return start, nil
}

// addEndOfCampaign adds to a page the decision that ended the campaign for all remaining contacts, if the contact with
// this number was one of them.
func (s *Service) addEndOfCampaign(ctx context.Context, c *domain.Campaign, phone string, out *record.Page[decisionlist.Decision], page record.PageQuery) error {
	if !c.Status.Final() {
		return nil
	}
	rows, err := s.PagesOfNumber(ctx, c, "", 1)
	if err != nil || !slices.ContainsFunc(rows, func(r *domain.DecisionPage) bool { return decidesRemaining(r, page.Created()) }) {
		return err // checked first, because the search for the contact reads all numbers
	}
	ordinal, known, err := s.lastDecidedPosition(ctx, c, phone, out.Data)
	if !known || err != nil {
		return err
	}
	states := &domain.ContactPage{WorkspaceID: c.WorkspaceID, CampaignID: c.ID, Index: ordinal / domain.PageSize}
	if _, err = s.store.Get(ctx, states); err != nil && !errors.Is(err, domain.ErrNotFound) { // a contact without a state page is pending
		return commit.StoreError(err)
	}
	if i := ordinal % domain.PageSize; i < len(states.States) {
		if s := domain.ContactState(states.States[i]); s != domain.ContactRetryWait && s != domain.ContactPending {
			return nil // the contact had reached a final state before
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

// decidesRemaining reports whether a log row contains a decision about all remaining contacts that was made within a
// time range.
func decidesRemaining(r *domain.DecisionPage, created record.TimeRange) bool {
	return slices.ContainsFunc(r.Decisions, func(d domain.Decision) bool { return d.Contacts > 0 && created.Contains(d.At) })
}

// lastDecidedPosition returns the position of the contact with a phone number in its campaign. known is false if the last
// decision about the contact was not to dial it, because then the contact was not among the remaining ones.
func (s *Service) lastDecidedPosition(ctx context.Context, c *domain.Campaign, phone string, decided []decisionlist.Decision) (ordinal int, known bool, err error) {
	if len(decided) == 0 {
		return s.contactPosition(ctx, c, phone)
	}
	last := decided[len(decided)-1]
	ordinal, known = domain.ContactOrdinal(c.ID, last.ContactID)
	return ordinal, known && last.Decision == domain.DecidedDial, nil
}

// contactPosition finds the position of the contact with a phone number in its campaign. It reads the numbers of all contacts,
// which takes about one microsecond each. Contacts with a decision are found without this search.
func (s *Service) contactPosition(ctx context.Context, c *domain.Campaign, phone string) (ordinal int, known bool, err error) {
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

// addDecisions adds the decisions of a log row to a page, beginning with decision from. full is true if the page is
// full, or if the decision is later than the requested time range.
func addDecisions(out *record.Page[decisionlist.Decision], c *domain.Campaign, r *domain.DecisionPage, from int, phone string, page record.PageQuery) (full bool) {
	created := page.Created()
	for i := from; i < len(r.Decisions); i++ {
		if !created.Before.IsZero() && !r.Decisions[i].At.Before(created.Before) {
			return true
		}
		if phone != "" && r.Decisions[i].Phone != phone || !created.Contains(r.Decisions[i].At) {
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
		return 0, 0, domain.FieldError("cursor", domain.CodeInvalidCursor, "cursor is not a cursor of this list")
	}
	return row, from, nil
}

// readPages reads log rows, beginning with row number row. If phone is not empty, it reads only rows with decisions
// about this number.
func (s *Service) readPages(ctx context.Context, c *domain.Campaign, phone string, row int) ([]*domain.DecisionPage, error) {
	var rows []*domain.DecisionPage
	newPage := func() domain.Record { return &domain.DecisionPage{} }
	collect := func(r domain.Record) error {
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
	return rows, commit.StoreError(s.store.Under(ctx, prefix, at.Key().ID, domain.DecisionRowsPerRead, newPage, collect))
}

// PagesOfNumber reads log rows with decisions about a phone number, beginning with row number row. If phone is empty, it
// reads the rows with decisions about all remaining contacts.
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

// Decisions yields all decisions of a campaign's decision log, oldest first.
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

// VerifyDecisions verifies the hash chain of a decision log, up to the last row that the campaign's counters name when
// it starts. It does not check rows that are written during the verification.
func (s *Service) VerifyDecisions(ctx context.Context, p domain.Principal, campaignID string) (DecisionsVerified, error) {
	empty := DecisionsVerified{}
	c, err := s.campaigns.Campaign(ctx, p, campaignID)
	if err != nil {
		return empty, err
	}
	progress := &domain.Progress{CampaignID: c.ID, WorkspaceID: c.WorkspaceID}
	if _, err = s.store.Get(ctx, progress); err != nil && !errors.Is(err, domain.ErrNotFound) {
		return empty, commit.StoreError(err)
	}
	chain := domain.DecisionChain{Key: s.chainKey(c.WorkspaceID)}
	start, err := s.readStart(ctx, c)
	if err != nil {
		return empty, err
	}
	if start.Seq > 0 {
		chain.StartAfter(start)
	}
	for isValid := chain.Broken == 0; isValid && chain.Pages < progress.DecisionPages; {
		rows, err := s.readPages(ctx, c, "", chain.Pages+1)
		if err != nil {
			return empty, err
		}
		for _, r := range rows {
			if isValid = isValid && chain.Pages < progress.DecisionPages && chain.VerifyPage(r); !isValid {
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
