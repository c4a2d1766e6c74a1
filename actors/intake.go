package actors

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/ask"
	"github.com/callboard/callboard/domain/calendar"
	"github.com/callboard/callboard/domain/pathway"
	"github.com/callboard/callboard/domain/validation"
	"github.com/callboard/callboard/service/record"
)

// Bounds of an upload.
const (
	maxContacts    = 1_000_000
	maxFields      = 200 // names in contexts that are told
	chunksPerWrite = 8
	pieceOf        = 100 // rows, taken or not, that are read at a time
)

// intake turns raw rows into chunks: it normalises numbers, drops duplicates
// and counts what it refuses. Its memory is one number per contact of the
// campaign and a few chunks, whatever the upload's size.
type intake struct {
	campaign *domain.Campaign
	wanted   []string // variables that a contact must bring to be accepted
	zones    *calendar.Zones
	seen     map[uint64]struct{}
	fields   map[string]struct{} // names in the contexts
	at       time.Time           // when the contacts count as taken in
	runs     []domain.ContactRun // of the chunk that was begun before
	base     int                 // contacts that the campaign had before
	chunk    []domain.Contact    // the unfinished chunk
	total    int                 // contacts of the campaign so far
	screened screened            // rows that do not become contacts and are shown in the results
	tails    []domain.Record     // chunks that were begun before: they are written with the totals only
	ready    []domain.Record
	keep     func(chunks []domain.Record) error
	progress func(ask.ContactsSummary, []ask.ContactError) // after each row; nil: nobody looks
	yield    func() error                                  // after each piece; nil: nobody is in the way
	refused  func(phone string) (bool, error)              // by a do-not-call list; nil: there is none
	allowed  func(domain.Number) error                     // by the workspace's destination rules; nil: every number
	sum      ask.ContactsSummary
	errs     []ask.ContactError
	columns  *domain.ColumnMapping // of a CSV file; nil: none
	most     int                   // errors that are kept
	fault    error                 // it is not known whether a number may be called
}

// newIntake begins an upload behind the total contacts that the campaign has.
func (d *Desk) newIntake(ctx context.Context, p domain.Principal, c *domain.Campaign, before *domain.Progress, at time.Time) (*intake, error) {
	in := &intake{
		campaign: c, at: at, seen: make(map[uint64]struct{}, before.Total), fields: make(map[string]struct{}),
		base: before.Total, total: before.Total, zones: calendar.NewZones(), most: ask.MaxContactErrors,
	}
	if s, err := d.scriptOf(ctx, p, c.AgentID, c.PathwayID); err == nil {
		in.wanted = pathway.MissingVariables(&s.Pathway, nil)
	}
	listed := d.scrubber(c)
	in.refused = func(phone string) (bool, error) { return listed(ctx, phone) }
	if w := d.node.Workspace(p.WorkspaceID); w != nil {
		in.allowed = func(n domain.Number) error { return n.Allowed(w.Calling, w.DefaultCountry, c.Environment) }
	}
	if err := in.screened.load(ctx, d, c, before.Screened); err != nil {
		return nil, err
	}
	edits := make(map[int]string)
	for e, err := range d.edits(ctx, c, before) {
		if err != nil {
			return nil, err
		}
		edits[e.Ordinal] = e.Contact.Phone
	}
	deleted, err := d.deletedOrdinals(ctx, c, before)
	if err != nil {
		return nil, err
	}
	for i, phone := range d.numbers(ctx, c, before.Total) {
		if i < 0 {
			return nil, phone.err
		}
		if deleted[i] {
			continue
		}
		if changed, edited := edits[i]; edited {
			phone.text = changed
		}
		in.seen[digitsKey(phone.text)] = struct{}{}
	}
	if before.Total%domain.ChunkSize == 0 {
		return in, nil
	}
	last := &domain.ContactChunk{CampaignID: c.ID, WorkspaceID: c.WorkspaceID, Index: before.Total / domain.ChunkSize}
	if _, err := d.store.Get(ctx, last); err != nil {
		return nil, record.StoreError(err)
	}
	in.chunk = append(in.chunk, last.Contacts[:before.Total%domain.ChunkSize]...)
	in.runs = last.Added
	return in, nil
}

// deletedOrdinals are the ordinals of the contacts that were deleted from a
// campaign. Their numbers may be added again.
func (d *Desk) deletedOrdinals(ctx context.Context, c *domain.Campaign, progress *domain.Progress) (map[int]bool, error) {
	if progress.Outcomes[domain.OutcomeCancelled] == 0 {
		return nil, nil
	}
	deleted := make(map[int]bool)
	for one, err := range d.people(ctx, c, statesOf(c.Status, domain.ContactCancelled.String())) {
		if err != nil {
			return nil, err
		}
		if one.result != nil && one.result.Reason == domain.ReasonRemoved {
			deleted[one.ordinal] = true
		}
	}
	return deleted, nil
}

// numberOrErr is a number as numbers hands it out.
type numberOrErr struct {
	text string
	err  error
}

// numbers walks the numbers of a campaign's contacts up to total, as they were
// uploaded. An error comes at the ordinal -1 and ends the walk.
func (d *Desk) numbers(ctx context.Context, c *domain.Campaign, total int) iter.Seq2[int, numberOrErr] {
	const atOnce = 8
	return func(yield func(int, numberOrErr) bool) {
		after := ""
		for at := 0; at < total; {
			var batch []*domain.ContactNumbers
			prefix := domain.Key{Kind: "chunk", Workspace: c.WorkspaceID, ID: c.ID + "/"}
			err := d.store.Under(ctx, prefix, after, atOnce, func() domain.Record { return &domain.ContactNumbers{} }, func(r domain.Record) error {
				if chunk, ok := r.(*domain.ContactNumbers); ok {
					batch = append(batch, chunk)
				}
				return nil
			})
			if err == nil && len(batch) == 0 {
				err = fmt.Errorf("actors: campaign %s has %d contacts but no chunk at %d", c.ID, total, at)
			}
			if err != nil {
				yield(-1, numberOrErr{err: record.StoreError(err)})
				return
			}
			for _, chunk := range batch {
				after = chunk.Key().ID
				for _, one := range chunk.Contacts[:min(len(chunk.Contacts), total-at)] {
					if !yield(at, numberOrErr{text: one.Phone}) {
						return
					}
					at++
				}
			}
		}
	}
}

// digitsKey packs an E.164 number, at most 15 digits, into a word.
func digitsKey(e164 string) uint64 {
	n, err := strconv.ParseUint(strings.TrimPrefix(e164, "+"), 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// read takes rows to their end.
func (in *intake) read(rows iter.Seq2[ask.RawContact, error]) error {
	if rows == nil {
		return nil
	}
	for row, err := range rows {
		if err != nil {
			return err
		}
		if err := in.add(row); err != nil {
			return err
		}
		if in.progress != nil {
			in.progress(in.sum, in.errs)
		}
		if in.yield == nil || in.sum.Received%pieceOf != 0 {
			continue
		}
		if err := in.yield(); err != nil {
			return err
		}
	}
	if len(in.chunk) > 0 && in.total > in.base {
		in.pack(in.total / domain.ChunkSize)
	}
	in.packScreened()
	return in.flush()
}

func (in *intake) add(row ask.RawContact) error {
	in.sum.Received++
	phone, bad := in.check(row)
	if in.fault != nil {
		return in.fault
	}
	if bad.Code != "" {
		bad.Line, bad.Phone = row.Line, shortened(row.Phone)
		in.tell(bad)
		if phone == "" {
			return nil
		}
		in.screen(domain.ScreenedContact{Phone: phone, Name: domain.Contact{Context: row.Context}.Name(), Reason: domain.Reason(bad.Code), At: in.at})
		return in.flushMany()
	}
	if in.total == maxContacts {
		return domain.Errorf(domain.CodeValidation, "a campaign has at most %d contacts", maxContacts)
	}
	in.sum.Accepted++
	in.note(row.Context)
	in.chunk = append(in.chunk, domain.Contact{Phone: phone, Context: row.Context, Timezone: row.Timezone, Country: row.Country})
	in.total++
	if len(in.chunk) < domain.ChunkSize {
		return nil
	}
	in.pack(in.total/domain.ChunkSize - 1)
	in.chunk = make([]domain.Contact, 0, domain.ChunkSize) // more will follow: few campaigns end here
	return in.flushMany()
}

func (in *intake) tell(e ask.ContactError) {
	if len(in.errs) < in.most {
		in.errs = append(in.errs, e)
	}
}

// shortened is what an error repeats of a number: it may be anything.
func shortened(phone string) string {
	const most = 40
	if len(phone) <= most {
		return phone
	}
	return strings.ToValidUTF8(phone[:most], "") + "…"
}

// note remembers the names in a context.
func (in *intake) note(c domain.Context) {
	for name := range c {
		if _, known := in.fields[name]; !known && len(in.fields) < maxFields {
			in.fields[strings.Clone(name)] = struct{}{}
		}
	}
}

// check normalises a row's number and says what is wrong with the row. The number
// of a screened row is returned beside the error.
func (in *intake) check(row ask.RawContact) (phone string, bad ask.ContactError) {
	if row.Problem != "" {
		in.sum.Invalid++
		return "", ask.ContactError{Code: "invalid_row", Message: row.Problem}
	}
	country := row.Country
	if country == "" {
		country = in.campaign.DefaultCountry
	}
	phone, err := domain.E164(row.Phone, country)
	if err != nil {
		in.sum.Invalid++
		return "", ask.ContactError{Code: "invalid_phone", Message: "phone is " + whyBad(row.Phone, err)}
	}
	if row.Timezone != "" {
		if problem := validation.ZoneProblem(row.Timezone, in.zones.Load(row.Timezone) != nil); problem != "" {
			in.sum.Invalid++
			return "", ask.ContactError{Code: "invalid_timezone", Message: "timezone " + problem}
		}
	}
	key := digitsKey(phone)
	if _, twice := in.seen[key]; twice {
		in.sum.Duplicates++
		return "", ask.ContactError{Code: "duplicate", Message: "this number is in the campaign already"}
	}
	if err := in.destination(phone); err != nil {
		in.sum.NotAllowed++
		return phone, ask.ContactError{Code: domain.CodeDestination, Message: messageOf(err)}
	}
	if missing := missingVariables(in.wanted, row.Context); missing != "" {
		in.sum.MissingVariables++
		return phone, ask.ContactError{Code: "missing_variable", Message: "the required variable " + missing + " has no value: give it in a column of this name, or in context"}
	}
	in.seen[key] = struct{}{}
	if in.refused != nil {
		listed, err := in.refused(phone)
		if err != nil {
			in.fault = err
		}
		if listed {
			in.sum.DNC++
			return phone, ask.ContactError{Code: "dnc", Message: "this number is on a do-not-call list"}
		}
	}
	return phone, bad
}

// destination says why the workspace may not call a number.
func (in *intake) destination(phone string) error {
	if in.allowed == nil {
		return nil
	}
	number, err := in.zones.Number(phone)
	if err != nil {
		return domain.Errorf(domain.CodeDestination, "this number cannot be called: it is not a full telephone number")
	}
	return in.allowed(number)
}

// whyBad says why a text is no telephone number, in the words of the
// spreadsheet that spoilt it where it was one.
func whyBad(text string, err error) string {
	switch domain.SpoiltNumber(text) {
	case domain.SpoiltScientific:
		return "in scientific notation, so that its last digits are lost: format the column as text before it is filled in"
	case domain.SpoiltApostrophe:
		return "led by an apostrophe: a spreadsheet keeps a number as text that way; send it without"
	case domain.SpoiltFormula:
		return "a formula of a spreadsheet: send the number alone"
	case domain.SpoiltNot:
	}
	return err.Error()
}

// missingVariables names the required variables that have no value in a context,
// separated by commas.
func missingVariables(required []string, c domain.Context) string {
	var missing []string
	for _, name := range required {
		if v, _ := c.Text(name); name != "phone" && strings.TrimSpace(v) == "" {
			missing = append(missing, name)
		}
	}
	return strings.Join(missing, ", ")
}

func (in *intake) pack(index int) {
	chunk := &domain.ContactChunk{
		CampaignID: in.campaign.ID, WorkspaceID: in.campaign.WorkspaceID, Index: index, Contacts: in.chunk,
	}
	first := in.base - index*domain.ChunkSize
	if first > 0 {
		chunk.Added = in.runs
	}
	if in.at.After(in.campaign.CreatedAt) {
		chunk.Added = append(slices.Clip(chunk.Added), domain.ContactRun{First: max(first, 0), At: in.at})
	}
	if first > 0 {
		in.tails = append(in.tails, chunk)
	} else {
		in.ready = append(in.ready, chunk)
	}
	in.chunk = nil
}

func (in *intake) flushMany() error {
	if len(in.ready) < chunksPerWrite {
		return nil
	}
	return in.flush()
}

func (in *intake) flush() error {
	if len(in.ready) == 0 {
		return nil
	}
	err := in.keep(in.ready)
	in.ready = nil
	return err
}

func overFor(c *domain.Campaign) error {
	return domain.Errorf(domain.CodeInvalidState, "contacts cannot be added to a campaign that is over").With("current_status", c.Status)
}
