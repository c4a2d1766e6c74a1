package persistence

import (
	"context"
	"encoding/base64"
	"fmt"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/event"
)

// listBatchRows is the maximum number of rows that scanRows reads in one request.
const listBatchRows = 256

// cursorVersion is the first byte of a page cursor, before the base64 encoding.
const cursorVersion = 1

func cursorOf(place string) string {
	return base64.RawURLEncoding.EncodeToString(append([]byte{cursorVersion}, place...))
}

func placeOf(cursor string) (string, error) {
	if cursor == "" {
		return "", nil
	}
	b, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil || len(b) < 2 || b[0] != cursorVersion {
		return "", &domain.Error{Code: domain.CodeValidation, Param: "cursor", Message: "cursor is not one that a page before returned"}
	}
	return string(b[1:]), nil
}

// List reads a page of records and calls each for every record, in order. fresh returns an empty record to decode into.
// next is the cursor of the following page, or "" after the last page. The cost of a page does not depend on its
// position. A Limit outside 1 … MaxPage means MaxPage.
func (s *Store) List(
	ctx context.Context, q commit.Query, fresh func() domain.Record, each func(domain.Record) error,
) (next string, err error) {
	if q.Index == "" {
		return "", fmt.Errorf("%w: list of %s without an index", ErrMalformed, q.Kind)
	}
	after, err := placeOf(q.Cursor)
	if err != nil {
		return "", err
	}
	left := q.Limit
	if left < 1 || left > MaxPage {
		left = MaxPage
	}
	r := Range{
		Table: table(q.Kind, q.Workspace), List: q.Index, From: q.From, To: q.To, After: after, Reverse: !q.Oldest,
	}
	more, err := s.scanRows(ctx, domain.Key{Kind: q.Kind, Workspace: q.Workspace}, &r, left, fresh, each)
	if err != nil || !more {
		return "", err
	}
	return cursorOf(r.After), nil
}

// Under calls each for up to limit records whose id begins with prefix.ID and is greater than after, in the order of ids.
func (s *Store) Under(
	ctx context.Context, prefix domain.Key, after string, limit int,
	fresh func() domain.Record, each func(domain.Record) error,
) error {
	r := Range{Table: table(prefix.Kind, prefix.Workspace), Prefix: prefix.ID, After: after}
	_, err := s.scanRows(ctx, prefix, &r, limit, fresh, each)
	return err
}

// scanRows reads up to limit rows of the table of k's kind, after r.After, and advances r.After. more: further rows
// follow.
func (s *Store) scanRows(
	ctx context.Context, k domain.Key, r *Range, limit int, fresh func() domain.Record, each func(domain.Record) error,
) (more bool, err error) {
	for more = true; more && limit > 0; {
		r.Limit = min(limit, listBatchRows)
		page, err := s.driver.Scan(ctx, *r)
		if err != nil {
			return false, fmt.Errorf("persistence: scan %s %s: %w", r.Table, r.List, err)
		}
		for _, row := range page.Rows {
			into := fresh()
			k.ID = row.ID
			if err = s.decodeRow(ctx, k, row.Value, into); err != nil {
				return false, err
			}
			if err = each(into); err != nil {
				return false, err
			}
			r.After = row.Position
			limit--
		}
		more = page.More && len(page.Rows) > 0
	}
	return more, nil
}

// Events returns at most limit committed events of a workspace with an offset above after, in order. It returns at least
// one event if there is any.
func (s *Store) Events(ctx context.Context, workspace string, after uint64, limit int) ([]event.Event, error) {
	entries, err := s.driver.Events(ctx, workspace, after, limit)
	if err != nil {
		return nil, fmt.Errorf("persistence: events of %q: %w", workspace, err)
	}
	events := make([]event.Event, 0, len(entries))
	for _, entry := range entries {
		e, err := s.codec.decodeEvent(entry.Payload)
		if err != nil {
			return nil, fmt.Errorf("persistence: event %d of %q: %w", entry.Offset, workspace, err)
		}
		e.WorkspaceID, e.Subject, e.Sequence, e.Offset = workspace, entry.Subject, entry.Sequence, entry.Offset
		events = append(events, e)
	}
	return events, nil
}

// LastOffset returns the offset of a workspace's last event, or 0 if there is none.
func (s *Store) LastOffset(ctx context.Context, workspace string) (uint64, error) {
	last, err := s.driver.LastOffset(ctx, workspace)
	if err != nil {
		return 0, fmt.Errorf("persistence: events of %q: %w", workspace, err)
	}
	return last, nil
}
