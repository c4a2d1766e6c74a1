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

// Bounds of lists.
const (
	maxLists   = 100
	maxListed  = 10_000_000 // numbers of one list
	importStep = 1 << 20    // numbers that one walk through a list adds
	// maxImporting bounds the numbers that all imports of a node hold in memory,
	// 8 bytes each.
	maxImporting = 4 * maxListed
	maxImports   = 4 // of a workspace at once
)

// CreateDNCList keeps a new list.
func (s *Service) CreateDNCList(ctx context.Context, p domain.Principal, l *domain.DNCList) (*domain.DNCList, error) {
	if made, err := record.CreatedBySameRequest[domain.DNCList](ctx, s.store, p, domain.PrefixDNC); made != nil || err != nil {
		return made, err
	}
	n := 0
	if err := commit.ForEachRow(ctx, s.store, "dnc_list", p.WorkspaceID, record.EnvironmentIndex(p), func(*domain.DNCList) { n++ }); err != nil {
		return nil, commit.StoreError(err)
	}
	if n >= maxLists {
		return nil, domain.Errorf(domain.CodeInvalidState, "a workspace has at most %d do-not-call lists", maxLists)
	}
	l.Init("dnc_list", p, record.RequestResourceID(ctx, domain.PrefixDNC), record.Now())
	l.Default, l.Entries = false, 0
	if err := record.Create(ctx, s.store, l); err != nil {
		return nil, err
	}
	s.register.AddEmptyList(p.WorkspaceID, l.ID)
	return l, nil
}

// DNCList reads one, and counts it.
func (s *Service) DNCList(ctx context.Context, p domain.Principal, id string) (*domain.DNCList, error) {
	l, _, err := record.Get[domain.DNCList](ctx, s.store, p, domain.PrefixDNC, id)
	if err != nil {
		return nil, err
	}
	l.Entries, err = s.register.CountEntries(ctx, p.WorkspaceID, l.ID)
	return l, commit.StoreError(err)
}

// ListDNCLists reads a page.
func (s *Service) ListDNCLists(ctx context.Context, p domain.Principal, page record.PageQuery) (record.Page[*domain.DNCList], error) {
	out, err := record.List[domain.DNCList](ctx, s.store, p.WorkspaceID, record.EnvironmentIndex(p), domain.PrefixDNC, page, nil)
	for _, l := range out.Data {
		if err == nil {
			l.Entries, err = s.register.CountEntries(ctx, p.WorkspaceID, l.ID)
		}
	}
	return out, commit.StoreError(err)
}

// UpdateDNCList changes name and metadata.
func (s *Service) UpdateDNCList(ctx context.Context, p domain.Principal, id string, change func(*domain.DNCList) error) (*domain.DNCList, error) {
	l, err := record.Update(ctx, s.store, p, domain.PrefixDNC, id, change)
	if err != nil {
		return nil, err
	}
	l.Entries, err = s.register.CountEntries(ctx, p.WorkspaceID, l.ID)
	return l, commit.StoreError(err)
}

// DeleteDNCList deletes a list that no open campaign names, numbers first: cut
// short, it can be deleted again.
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
	used := ""
	if err = commit.ForEachRow(ctx, s.store, "campaign", p.WorkspaceID, "open", func(c *domain.Campaign) {
		if c.Compliance.DNCListID == l.ID {
			used = c.ID
		}
	}); err != nil {
		return commit.StoreError(err)
	}
	if used != "" {
		return domain.Errorf(domain.CodeInvalidState, "a campaign uses this list").With("campaign_id", used)
	}
	if err = s.register.DeleteEntries(ctx, p.WorkspaceID, l.ID); err != nil {
		return commit.StoreError(err)
	}
	return record.Delete[domain.DNCList](ctx, s.store, p, domain.PrefixDNC, l.ID)
}

// ListDNCEntries reads a page of a list, in its own order. The rows stand by
// number and not by time: a page of a span looks through a thirty-second of
// the list at most, and the next one goes on there.
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
			return out, domain.FieldError("cursor", domain.CodeInvalidCursor, "cursor is not one that a page before returned")
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

// DeleteDNCEntry takes a number off a list.
func (s *Service) DeleteDNCEntry(ctx context.Context, p domain.Principal, id, phone string) (e164 string, err error) {
	l, _, err := record.Get[domain.DNCList](ctx, s.store, p, domain.PrefixDNC, id)
	if err != nil {
		return "", err
	}
	e164, n, err := parsePathNumber(phone, s.Country(p))
	if err != nil {
		return "", domain.NotFound("number on this list")
	}
	removed, err := s.register.RemoveNumber(ctx, p.WorkspaceID, l.ID, n)
	if err == nil && !removed {
		err = domain.NotFound("number on this list")
	}
	return e164, commit.StoreError(err)
}

// CheckDNC says on which lists a number stands.
func (s *Service) CheckDNC(ctx context.Context, p domain.Principal, phone string) (DNCCheck, error) {
	out := DNCCheck{Lists: []DNCFound{}}
	e164, n, err := dnc.ParseNumber(phone, s.Country(p))
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
