package actors

import (
	"cmp"
	"context"
	"iter"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/ask"
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
func (d *Desk) CreateDNCList(ctx context.Context, p domain.Principal, l *domain.DNCList) (*domain.DNCList, error) {
	if made, err := record.CreatedBySameRequest[domain.DNCList](ctx, d.store, p, domain.PrefixDNC); made != nil || err != nil {
		return made, err
	}
	n := 0
	if err := commit.Each(ctx, d.store, "dnc_list", p.WorkspaceID, record.EnvironmentIndex(p), func(*domain.DNCList) { n++ }); err != nil {
		return nil, record.StoreError(err)
	}
	if n >= maxLists {
		return nil, domain.Errorf(domain.CodeInvalidState, "a workspace has at most %d do-not-call lists", maxLists)
	}
	record.SetMeta(&l.Meta, "dnc_list", p, record.NewID(ctx, domain.PrefixDNC), record.Now())
	l.Default, l.Entries = false, 0
	if err := record.Create(ctx, d.store, l); err != nil {
		return nil, err
	}
	d.node.dnc.Begin(p.WorkspaceID, l.ID)
	return l, nil
}

// DNCList reads one, and counts it.
func (d *Desk) DNCList(ctx context.Context, p domain.Principal, id string) (*domain.DNCList, error) {
	l, _, err := record.Get[domain.DNCList](ctx, d.store, p, domain.PrefixDNC, id)
	if err != nil {
		return nil, err
	}
	l.Entries, err = d.node.dnc.Count(ctx, p.WorkspaceID, l.ID)
	return l, record.StoreError(err)
}

// ListDNCLists reads a page.
func (d *Desk) ListDNCLists(ctx context.Context, p domain.Principal, page ask.Page) (ask.List[*domain.DNCList], error) {
	out, err := record.List[domain.DNCList](ctx, d.store, p.WorkspaceID, record.EnvironmentIndex(p), domain.PrefixDNC, page, nil)
	for _, l := range out.Data {
		if err == nil {
			l.Entries, err = d.node.dnc.Count(ctx, p.WorkspaceID, l.ID)
		}
	}
	return out, record.StoreError(err)
}

// UpdateDNCList changes name and metadata.
func (d *Desk) UpdateDNCList(ctx context.Context, p domain.Principal, id string, change func(*domain.DNCList) error) (*domain.DNCList, error) {
	l, err := record.Update(ctx, d.store, p, domain.PrefixDNC, id, change)
	if err != nil {
		return nil, err
	}
	l.Entries, err = d.node.dnc.Count(ctx, p.WorkspaceID, l.ID)
	return l, record.StoreError(err)
}

// DeleteDNCList deletes a list that no open campaign names, numbers first: cut
// short, it can be deleted again.
func (d *Desk) DeleteDNCList(ctx context.Context, p domain.Principal, id string) error {
	l, _, err := record.Get[domain.DNCList](ctx, d.store, p, domain.PrefixDNC, id)
	if err != nil {
		return err
	}
	if l.Default {
		return domain.Errorf(domain.CodeInvalidState, "the default list cannot be deleted")
	}
	if err = d.imports.lock(l); err != nil {
		return err
	}
	defer d.imports.end(l, 0)
	used := ""
	if err = commit.Each(ctx, d.store, "campaign", p.WorkspaceID, "open", func(c *domain.Campaign) {
		if c.Compliance.DNCListID == l.ID {
			used = c.ID
		}
	}); err != nil {
		return record.StoreError(err)
	}
	if used != "" {
		return domain.Errorf(domain.CodeInvalidState, "a campaign uses this list").With("campaign_id", used)
	}
	if err = d.node.dnc.Drop(ctx, p.WorkspaceID, l.ID); err != nil {
		return record.StoreError(err)
	}
	return record.Delete[domain.DNCList](ctx, d.store, p, domain.PrefixDNC, l.ID)
}

// numberImports are the imports to do-not-call lists that a node is receiving.
type numberImports struct {
	mu      sync.Mutex
	lists   map[string]string // the workspace, by list
	numbers int               // that they have room for
}

// begin locks a list for an import. Error: invalid_state or unavailable.
func (i *numberImports) begin(l *domain.DNCList) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	own := 0
	for _, workspaceID := range i.lists {
		if workspaceID == l.WorkspaceID {
			own++
		}
	}
	if own >= maxImports {
		return domain.Errorf(domain.CodeUnavailable, "%d imports of numbers are running in this workspace; wait for one to end", own).With("retry_after", 5)
	}
	return i.take(l)
}

// lock keeps imports away from a list. Error: invalid_state.
func (i *numberImports) lock(l *domain.DNCList) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.take(l)
}

func (i *numberImports) take(l *domain.DNCList) error {
	if _, busy := i.lists[l.ID]; busy {
		return errImporting()
	}
	if i.lists == nil {
		i.lists = make(map[string]string)
	}
	i.lists[l.ID] = l.WorkspaceID
	return nil
}

// end frees the list, and the room that its import had.
func (i *numberImports) end(l *domain.DNCList, room int) {
	i.mu.Lock()
	defer i.mu.Unlock()
	delete(i.lists, l.ID)
	i.numbers -= room
}

// grow takes room for more numbers. Error: unavailable.
func (i *numberImports) grow(by int) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.numbers+by > maxImporting {
		return domain.Errorf(domain.CodeUnavailable, "too many numbers are being imported at once; nothing was added, send the import again later").With("retry_after", 60)
	}
	i.numbers += by
	return nil
}

func errImporting() error {
	return domain.Errorf(domain.CodeInvalidState, "an import to this list is running")
}

// ImportDNC reads numbers to their end and then adds them to a list: rows that
// end with an error add none. Its memory is 8 bytes per number, at most
// maxListed and an importStep of them.
func (d *Desk) ImportDNC(ctx context.Context, p domain.Principal, id string, rows iter.Seq2[ask.RawNumber, error]) (ask.DNCImport, error) {
	none := ask.DNCImport{}
	l, _, err := record.Get[domain.DNCList](ctx, d.store, p, domain.PrefixDNC, id)
	if err != nil {
		return none, err
	}
	if err = d.imports.begin(l); err != nil {
		return none, err
	}
	in := numberImport{sum: ask.DNCImport{ListID: l.ID, Errors: []ask.ContactError{}}, country: d.country(p), running: &d.imports}
	defer func() { d.imports.end(l, cap(in.numbers)) }()
	for row, err := range rows {
		if err == nil {
			err = in.add(row)
		}
		if err != nil {
			return none, err
		}
	}
	numbers := in.unique()
	if err = d.checkListCapacity(ctx, p.WorkspaceID, l.ID, numbers); err != nil {
		return none, err
	}
	origin := dnc.Origin{Source: domain.DNCImport, At: record.Now()}
	for some := range slices.Chunk(numbers, importStep) {
		added, err := d.node.dnc.Add(ctx, p.WorkspaceID, l.ID, some, origin)
		if err != nil {
			return none, record.StoreError(err)
		}
		in.sum.Added += added
	}
	in.sum.Duplicates = in.sum.Received - in.sum.Invalid - in.sum.Added
	return in.sum, nil
}

// checkListCapacity refuses numbers that would make a list larger than maxListed.
// Errors: validation_error.
func (d *Desk) checkListCapacity(ctx context.Context, workspaceID, listID string, numbers []uint64) error {
	have, err := d.node.dnc.Count(ctx, workspaceID, listID)
	if err != nil {
		return record.StoreError(err)
	}
	if have+len(numbers) <= maxListed {
		return nil
	}
	added, err := d.node.dnc.CountNew(ctx, workspaceID, listID, numbers)
	if err == nil && have+added > maxListed {
		return errListFull()
	}
	return record.StoreError(err)
}

func errListFull() error {
	return domain.Errorf(domain.CodeValidation, "a list has at most %d numbers; nothing was added", maxListed)
}

// numberImport gathers the numbers of an import.
type numberImport struct {
	sum     ask.DNCImport
	country string
	numbers []uint64
	running *numberImports // which counts the capacity of numbers
}

func (in *numberImport) add(row ask.RawNumber) error {
	in.sum.Received++
	code, text := domain.Code("invalid_row"), row.Problem
	if text == "" {
		n, err := numberOf(row.Phone, cmp.Or(row.Country, in.country))
		if err == nil {
			return in.keep(n)
		}
		code, text = "invalid_phone", "phone is "+err.Error()
	}
	in.sum.Invalid++
	if len(in.sum.Errors) < ask.MaxContactErrors {
		in.sum.Errors = append(in.sum.Errors, ask.ContactError{Line: row.Line, Phone: row.Phone, Code: code, Message: text})
	}
	return nil
}

// keep gathers a number. Where there is no room left, duplicates make room
// first; the capacity then grows by at least one importStep in large imports,
// so that few rows cause a sort.
func (in *numberImport) keep(n uint64) error {
	if len(in.numbers) == cap(in.numbers) {
		in.numbers = in.unique()
		if len(in.numbers) > maxListed {
			return errListFull()
		}
		room := min(max(len(in.numbers), 1024), maxListed+importStep-len(in.numbers))
		more := len(in.numbers) + room - cap(in.numbers)
		if more <= 0 {
			return in.keep(n)
		}
		if err := in.running.grow(more); err != nil {
			return err
		}
		in.numbers = append(make([]uint64, 0, len(in.numbers)+room), in.numbers...)
	}
	in.numbers = append(in.numbers, n)
	return nil
}

// unique are the numbers so far, each once.
func (in *numberImport) unique() []uint64 {
	slices.Sort(in.numbers)
	return slices.Compact(in.numbers)
}

// numberOf is a number as the lists keep it.
func numberOf(phone, country string) (uint64, error) {
	e164, err := domain.E164(phone, country)
	if err != nil {
		return 0, err
	}
	n, err := dnc.Number(e164)
	if err != nil {
		return 0, dnc.ErrNumber
	}
	return n, nil
}

// ListDNCEntries reads a page of a list, in its own order. The rows stand by
// number and not by time: a page of a span looks through a thirty-second of
// the list at most, and the next one goes on there.
func (d *Desk) ListDNCEntries(ctx context.Context, p domain.Principal, id string, page ask.Page) (ask.List[domain.DNCEntry], error) {
	out := ask.List[domain.DNCEntry]{Data: []domain.DNCEntry{}}
	l, _, err := record.Get[domain.DNCList](ctx, d.store, p, domain.PrefixDNC, id)
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
			return out, record.FieldError("cursor", ask.CodeInvalidCursor, "cursor is not one that a page before returned")
		}
	}
	var keep func(time.Time) bool
	if span := page.Created(); span != (ask.Span{}) {
		keep = span.Holds
	}
	entries, bucket, after, err := d.node.dnc.Entries(ctx, p.WorkspaceID, l.ID, bucket, after, page.Limit, keep)
	if err != nil {
		return out, record.StoreError(err)
	}
	out.Data = append(out.Data, entries...)
	if after > 0 {
		out.Next = strconv.Itoa(bucket) + "-" + strconv.FormatUint(after, 10)
	}
	return out, nil
}

// DeleteDNCEntry takes a number off a list.
func (d *Desk) DeleteDNCEntry(ctx context.Context, p domain.Principal, id, phone string) (e164 string, err error) {
	l, _, err := record.Get[domain.DNCList](ctx, d.store, p, domain.PrefixDNC, id)
	if err != nil {
		return "", err
	}
	e164, n, err := d.numberAt(p, phone)
	if err != nil {
		return "", record.NotFound("number on this list")
	}
	removed, err := d.node.dnc.Remove(ctx, p.WorkspaceID, l.ID, n)
	if err == nil && !removed {
		err = record.NotFound("number on this list")
	}
	return e164, record.StoreError(err)
}

// CheckDNC says on which lists a number stands.
func (d *Desk) CheckDNC(ctx context.Context, p domain.Principal, phone string) (ask.DNCCheck, error) {
	out := ask.DNCCheck{Lists: []ask.DNCFound{}}
	e164, n, err := d.numberIn(p, phone)
	if err != nil {
		return out, record.FieldError("phone", domain.CodeValidation, "phone must be a full telephone number, best in E.164")
	}
	out.Phone = e164
	var all []*domain.DNCList
	if err = commit.Each(ctx, d.store, "dnc_list", p.WorkspaceID, record.EnvironmentIndex(p), func(l *domain.DNCList) { all = append(all, l) }); err != nil {
		return out, record.StoreError(err)
	}
	for _, l := range all {
		hit, err := d.node.dnc.Look(ctx, p.WorkspaceID, dnc.Scrub{Default: l.ID}, n)
		if err != nil {
			return out, record.StoreError(err)
		}
		if hit != nil {
			out.Listed = true
			out.Lists = append(out.Lists, ask.DNCFound{ListID: l.ID, Name: l.Name, Default: l.Default, DNCEntry: hit.Origin.Entry(e164)})
		}
	}
	return out, nil
}

// numberIn reads a number as somebody writes it in a query, where a plus that
// is not escaped arrives as a space.
func (d *Desk) numberIn(p domain.Principal, text string) (e164 string, n uint64, err error) {
	if rest, lost := strings.CutPrefix(text, " "); lost {
		text = "+" + strings.TrimSpace(rest)
	}
	if e164, err = domain.E164(text, d.country(p)); err != nil && !strings.HasPrefix(text, "+") {
		e164, err = domain.E164("+"+text, "")
	}
	if err != nil {
		return "", 0, err
	}
	n, err = dnc.Number(e164)
	return e164, n, err
}

// numberAt reads a number in a path: E.164, of which the plus may be left out.
// What is written otherwise is read as it is dialled in the workspace's country.
func (d *Desk) numberAt(p domain.Principal, text string) (e164 string, n uint64, err error) {
	text = strings.TrimSpace(text)
	if strings.Trim(text, "0123456789") == "" {
		if e164, err = domain.E164("+"+text, ""); err == nil {
			text = e164
		}
	}
	return d.numberIn(p, text)
}

// country is how numbers without a plus are read.
func (d *Desk) country(p domain.Principal) string {
	if w := d.node.Workspace(p.WorkspaceID); w != nil {
		return w.DefaultCountry
	}
	return ""
}
