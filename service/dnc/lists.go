package dnc

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/dnc"
	"github.com/callboard/callboard/service/record"
)

// Limits of do-not-call lists.
const (
	maxLists   = 100
	maxListed  = 10_000_000 // numbers of one list
	importStep = 1 << 20    // numbers that one pass over a list adds
	// maxImporting is the maximum number of phone numbers that all running imports of a node hold in memory, at 8 bytes each.
	maxImporting = 4 * maxListed
	maxImports   = 4 // running imports of a workspace
)

// CreateDNCList creates an empty list.
func (s *Service) CreateDNCList(ctx context.Context, p domain.Principal, l *domain.DNCList) (*domain.DNCList, error) {
	if earlier, err := record.CreatedBySameRequest[domain.DNCList](ctx, s.store, p, domain.PrefixDNC); earlier != nil || err != nil {
		return earlier, err
	}
	n := 0
	if err := commit.ForEachRow(ctx, s.store, "dnc_list", p.WorkspaceID, record.EnvironmentIndex(p), func(*domain.DNCList) { n++ }); err != nil {
		return nil, commit.StoreError(err)
	}
	if n >= maxLists {
		return nil, domain.Errorf(domain.CodeInvalidState, "the workspace has %d do-not-call lists, which is the maximum; delete one first", maxLists)
	}
	l.Init("dnc_list", p, record.RequestResourceID(ctx, domain.PrefixDNC), record.Now())
	l.Default, l.Entries = false, 0
	if err := record.Create(ctx, s.store, l); err != nil {
		return nil, err
	}
	s.register.AddEmptyList(p.WorkspaceID, l.ID)
	return l, nil
}

// DNCList returns one list with its number of entries. Errors: not_found.
func (s *Service) DNCList(ctx context.Context, p domain.Principal, id string) (*domain.DNCList, error) {
	l, _, err := record.Get[domain.DNCList](ctx, s.store, p, domain.PrefixDNC, id)
	if err != nil {
		return nil, err
	}
	l.Entries, err = s.register.CountEntries(ctx, p.WorkspaceID, l.ID)
	return l, commit.StoreError(err)
}

// ListDNCLists returns a page of lists, each with its number of entries.
func (s *Service) ListDNCLists(ctx context.Context, p domain.Principal, page record.PageQuery) (record.Page[*domain.DNCList], error) {
	out, err := record.List[domain.DNCList](ctx, s.store, p.WorkspaceID, record.EnvironmentIndex(p), domain.PrefixDNC, page, nil)
	for _, l := range out.Data {
		if err == nil {
			l.Entries, err = s.register.CountEntries(ctx, p.WorkspaceID, l.ID)
		}
	}
	return out, commit.StoreError(err)
}

// UpdateDNCList changes the name and the metadata of a list.
func (s *Service) UpdateDNCList(ctx context.Context, p domain.Principal, id string, change func(*domain.DNCList) error) (*domain.DNCList, error) {
	l, err := record.Update(ctx, s.store, p, domain.PrefixDNC, id, change)
	if err != nil {
		return nil, err
	}
	l.Entries, err = s.register.CountEntries(ctx, p.WorkspaceID, l.ID)
	return l, commit.StoreError(err)
}

// DeleteDNCList deletes a list that no open campaign uses. It deletes the entries before the list, so that an
// interrupted deletion can be repeated. Errors: not_found, invalid_state.
func (s *Service) DeleteDNCList(ctx context.Context, p domain.Principal, id string) error {
	l, _, err := record.Get[domain.DNCList](ctx, s.store, p, domain.PrefixDNC, id)
	if err != nil {
		return err
	}
	if l.Default {
		return domain.Errorf(domain.CodeInvalidState, "the default list cannot be deleted")
	}
	if err = s.imports.lock(l); err != nil {
		return err
	}
	defer s.imports.end(l, 0)
	usedBy := ""
	if err = commit.ForEachRow(ctx, s.store, "campaign", p.WorkspaceID, "open", func(c *domain.Campaign) {
		if c.Compliance.DNCListID == l.ID {
			usedBy = c.ID
		}
	}); err != nil {
		return commit.StoreError(err)
	}
	if usedBy != "" {
		return domain.Errorf(domain.CodeInvalidState, "a campaign uses this list").With("campaign_id", usedBy)
	}
	if err = s.register.DeleteEntries(ctx, p.WorkspaceID, l.ID); err != nil {
		return commit.StoreError(err)
	}
	return record.Delete[domain.DNCList](ctx, s.store, p, domain.PrefixDNC, l.ID)
}

// ListDNCEntries returns a page of a list's entries, sorted by number. If the query has a time range, one page reads at
// most 1/32 of the list, because the entries are not sorted by time. The next page continues from there.
func (s *Service) ListDNCEntries(ctx context.Context, p domain.Principal, id string, page record.PageQuery) (record.Page[domain.DNCEntry], error) {
	out := record.Page[domain.DNCEntry]{Data: []domain.DNCEntry{}}
	l, _, err := record.Get[domain.DNCList](ctx, s.store, p, domain.PrefixDNC, id)
	if err != nil {
		return out, err
	}
	bucket, after := 0, uint64(0)
	if page.Cursor != "" {
		left, right, ok := strings.Cut(page.Cursor, "-")
		var errLeft, errRight error
		bucket, errLeft = strconv.Atoi(left)
		after, errRight = strconv.ParseUint(right, 10, 64)
		if !ok || errLeft != nil || errRight != nil || bucket < 0 || bucket >= dnc.Buckets {
			return out, domain.FieldError("cursor", domain.CodeInvalidCursor, "cursor is not a cursor of this list")
		}
	}
	var keep func(time.Time) bool
	if span := page.Created(); span != (record.TimeRange{}) {
		keep = span.Contains
	}
	entries, bucket, after, err := s.register.ListEntries(ctx, p.WorkspaceID, l.ID, bucket, after, page.Limit, keep)
	if err != nil {
		return out, commit.StoreError(err)
	}
	out.Data = append(out.Data, entries...)
	if after > 0 {
		out.Next = strconv.Itoa(bucket) + "-" + strconv.FormatUint(after, 10)
	}
	return out, nil
}

// DeleteDNCEntry removes a number from a list and returns the number in E.164. Errors: not_found.
func (s *Service) DeleteDNCEntry(ctx context.Context, p domain.Principal, id, phone string) (e164 string, err error) {
	l, _, err := record.Get[domain.DNCList](ctx, s.store, p, domain.PrefixDNC, id)
	if err != nil {
		return "", err
	}
	e164, n, err := parsePathNumber(phone, s.DefaultCountry(p))
	if err != nil {
		return "", domain.NotFound("number on this list")
	}
	removed, err := s.register.RemoveNumber(ctx, p.WorkspaceID, l.ID, n)
	if err == nil && !removed {
		err = domain.NotFound("number on this list")
	}
	return e164, commit.StoreError(err)
}

// CheckDNC returns the do-not-call lists of the workspace that contain a number.
func (s *Service) CheckDNC(ctx context.Context, p domain.Principal, phone string) (DNCCheck, error) {
	out := DNCCheck{Lists: []DNCFound{}}
	e164, n, err := dnc.ParseNumber(phone, s.DefaultCountry(p))
	if err != nil {
		return out, domain.FieldError("phone", domain.CodeValidation, "phone must be a full telephone number, best in E.164")
	}
	out.Phone = e164
	var all []*domain.DNCList
	if err = commit.ForEachRow(ctx, s.store, "dnc_list", p.WorkspaceID, record.EnvironmentIndex(p), func(l *domain.DNCList) { all = append(all, l) }); err != nil {
		return out, commit.StoreError(err)
	}
	for _, l := range all {
		hit, err := s.register.FindMatch(ctx, p.WorkspaceID, dnc.ScrubRules{Default: l.ID}, n)
		if err != nil {
			return out, commit.StoreError(err)
		}
		if hit != nil {
			out.Listed = true
			out.Lists = append(out.Lists, DNCFound{ListID: l.ID, Name: l.Name, Default: l.Default, DNCEntry: hit.Origin.Entry(e164)})
		}
	}
	return out, nil
}
