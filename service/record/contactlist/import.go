package contactlist

import (
	"context"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/calendar"
	"github.com/callboard/callboard/domain/validation"
	"github.com/callboard/callboard/service/record"
)

// Bounds of an upload.
const (
	MaxContacts    = 1_000_000
	MaxFieldNames  = 200 // names in contexts that are told
	chunksPerWrite = 8
	StepRows       = 100 // rows, taken or not, that are read at a time
)

// Import turns raw rows into chunks: it normalises numbers, drops duplicates
// and counts what it refuses. Its memory is one number per contact of the
// campaign and a few chunks, whatever the upload's size.
type Import struct {
	campaign  *domain.Campaign
	wanted    []string // variables that a contact must bring to be accepted
	zones     *calendar.Zones
	seen      map[uint64]struct{}
	fields    map[string]struct{} // names in the contexts
	at        time.Time           // when the contacts count as taken in
	runs      []domain.ContactRun // of the chunk that was begun before
	Before    int                 // contacts that the campaign had before
	chunk     []domain.Contact    // the unfinished chunk
	Total     int                 // contacts of the campaign so far
	Screened  ScreenedRows        // rows that do not become contacts and are shown in the results
	Tails     []domain.Record     // chunks that were begun before: they are written with the totals only
	ready     []domain.Record
	Keep      func(chunks []domain.Record) error
	Progress  func(domain.ContactsSummary, []domain.ContactError) // after each row; nil: nobody looks
	Yield     func() error                                        // after each piece; nil: nobody is in the way
	refused   func(phone string) (bool, error)                    // by a do-not-call list; nil: there is none
	Allowed   func(domain.Number) error                           // by the workspace's destination rules; nil: every number
	Summary   domain.ContactsSummary
	Errors    []domain.ContactError
	Columns   *domain.ColumnMapping // of a CSV file; nil: none
	MaxErrors int                   // errors that are kept
	unknown   error                 // it is not known whether a number may be called
}

// Checks decide which rows become contacts.
type Checks struct {
	Required []string                                              // variables that need a value
	Listed   func(ctx context.Context, phone string) (bool, error) // by a do-not-call list; nil: there is none
	Allowed  func(domain.Number) error                             // by the workspace's destination rules; nil: every number
}

// NewImport begins an import behind the contacts that the campaign has.
func NewImport(ctx context.Context, r *Reader, c *domain.Campaign, before *domain.Progress, at time.Time, checks Checks) (*Import, error) {
	in := &Import{
		campaign: c, at: at, seen: make(map[uint64]struct{}, before.Total), fields: make(map[string]struct{}),
		Before: before.Total, Total: before.Total, zones: calendar.NewZones(), MaxErrors: domain.MaxContactErrors,
		wanted: checks.Required, Allowed: checks.Allowed,
	}
	if checks.Listed != nil {
		in.refused = func(phone string) (bool, error) { return checks.Listed(ctx, phone) }
	}
	if err := in.Screened.Load(ctx, r, c, before.Screened); err != nil {
		return nil, err
	}
	edits := make(map[int]string)
	for e, err := range r.Edits(ctx, c, before) {
		if err != nil {
			return nil, err
		}
		edits[e.Ordinal] = e.Contact.Phone
	}
	deleted, err := r.DeletedOrdinals(ctx, c, before)
	if err != nil {
		return nil, err
	}
	for i, phone := range r.Numbers(ctx, c, before.Total) {
		if i < 0 {
			return nil, phone.Err
		}
		if deleted[i] {
			continue
		}
		if changed, edited := edits[i]; edited {
			phone.Number = changed
		}
		in.seen[NumberKey(phone.Number)] = struct{}{}
	}
	if before.Total%domain.ChunkSize == 0 {
		return in, nil
	}
	last, err := r.LastChunk(ctx, c, before.Total)
	if err != nil {
		return nil, err
	}
	in.chunk = append(in.chunk, last.Contacts[:before.Total%domain.ChunkSize]...)
	in.runs = last.Added
	return in, nil
}

// NumberKey packs an E.164 number, at most 15 digits, into a word.
func NumberKey(e164 string) uint64 {
	n, err := strconv.ParseUint(strings.TrimPrefix(e164, "+"), 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// Read takes rows to their end.
func (in *Import) Read(rows iter.Seq2[domain.RawContact, error]) error {
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
		if in.Progress != nil {
			in.Progress(in.Summary, in.Errors)
		}
		if in.Yield == nil || in.Summary.Received%StepRows != 0 {
			continue
		}
		if err := in.Yield(); err != nil {
			return err
		}
	}
	if len(in.chunk) > 0 && in.Total > in.Before {
		in.pack(in.Total / domain.ChunkSize)
	}
	in.packScreened()
	return in.flush()
}

func (in *Import) add(row domain.RawContact) error {
	in.Summary.Received++
	phone, bad := in.check(row)
	if in.unknown != nil {
		return in.unknown
	}
	if bad.Code != "" {
		bad.Line, bad.Phone = row.Line, truncatePhone(row.Phone)
		in.addError(bad)
		if phone == "" {
			return nil
		}
		in.addScreened(domain.ScreenedContact{Phone: phone, Name: domain.Contact{Context: row.Context}.Name(), Reason: domain.Reason(bad.Code), At: in.at})
		return in.flushMany()
	}
	if in.Total == MaxContacts {
		return domain.Errorf(domain.CodeValidation, "a campaign has at most %d contacts", MaxContacts)
	}
	in.Summary.Accepted++
	in.addFieldNames(row.Context)
	in.chunk = append(in.chunk, domain.Contact{Phone: phone, Context: row.Context, Timezone: row.Timezone, Country: row.Country})
	in.Total++
	if len(in.chunk) < domain.ChunkSize {
		return nil
	}
	in.pack(in.Total/domain.ChunkSize - 1)
	in.chunk = make([]domain.Contact, 0, domain.ChunkSize) // more will follow: few campaigns end here
	return in.flushMany()
}

func (in *Import) addError(e domain.ContactError) {
	if len(in.Errors) < in.MaxErrors {
		in.Errors = append(in.Errors, e)
	}
}

// truncatePhone is what an error repeats of a number: it may be anything.
func truncatePhone(phone string) string {
	const most = 40
	if len(phone) <= most {
		return phone
	}
	return strings.ToValidUTF8(phone[:most], "") + "…"
}

// addFieldNames remembers the names in a context.
func (in *Import) addFieldNames(c domain.Context) {
	for name := range c {
		if _, known := in.fields[name]; !known && len(in.fields) < MaxFieldNames {
			in.fields[strings.Clone(name)] = struct{}{}
		}
	}
}

// check normalises a row's number and says what is wrong with the row. The number
// of a screened row is returned beside the error.
func (in *Import) check(row domain.RawContact) (phone string, bad domain.ContactError) {
	if row.Problem != "" {
		in.Summary.Invalid++
		return "", domain.ContactError{Code: "invalid_row", Message: row.Problem}
	}
	country := row.Country
	if country == "" {
		country = in.campaign.DefaultCountry
	}
	phone, err := domain.E164(row.Phone, country)
	if err != nil {
		in.Summary.Invalid++
		return "", domain.ContactError{Code: "invalid_phone", Message: "phone is " + domain.PhoneProblem(row.Phone, err)}
	}
	if row.Timezone != "" {
		if problem := validation.ZoneProblem(row.Timezone, in.zones.Load(row.Timezone) != nil); problem != "" {
			in.Summary.Invalid++
			return "", domain.ContactError{Code: "invalid_timezone", Message: "timezone " + problem}
		}
	}
	key := NumberKey(phone)
	if _, twice := in.seen[key]; twice {
		in.Summary.Duplicates++
		return "", domain.ContactError{Code: "duplicate", Message: "this number is in the campaign already"}
	}
	if err := in.destination(phone); err != nil {
		in.Summary.NotAllowed++
		return phone, domain.ContactError{Code: domain.CodeDestination, Message: record.Message(err)}
	}
	if missing := MissingVariables(in.wanted, row.Context); missing != "" {
		in.Summary.MissingVariables++
		return phone, domain.ContactError{Code: "missing_variable", Message: "the required variable " + missing + " has no value: give it in a column of this name, or in context"}
	}
	in.seen[key] = struct{}{}
	if in.refused != nil {
		listed, err := in.refused(phone)
		if err != nil {
			in.unknown = err
		}
		if listed {
			in.Summary.DNC++
			return phone, domain.ContactError{Code: "dnc", Message: "this number is on a do-not-call list"}
		}
	}
	return phone, bad
}

// destination says why the workspace may not call a number.
func (in *Import) destination(phone string) error {
	if in.Allowed == nil {
		return nil
	}
	number, err := in.zones.Number(phone)
	if err != nil {
		return domain.Errorf(domain.CodeDestination, "this number cannot be called: it is not a full telephone number")
	}
	return in.Allowed(number)
}

// MissingVariables names the required variables that have no value in a context,
// separated by commas.
func MissingVariables(required []string, c domain.Context) string {
	var missing []string
	for _, name := range required {
		if v, _ := c.Text(name); name != "phone" && strings.TrimSpace(v) == "" {
			missing = append(missing, name)
		}
	}
	return strings.Join(missing, ", ")
}

func (in *Import) pack(index int) {
	chunk := &domain.ContactChunk{
		CampaignID: in.campaign.ID, WorkspaceID: in.campaign.WorkspaceID, Index: index, Contacts: in.chunk,
	}
	first := in.Before - index*domain.ChunkSize
	if first > 0 {
		chunk.Added = in.runs
	}
	if in.at.After(in.campaign.CreatedAt) {
		chunk.Added = append(slices.Clip(chunk.Added), domain.ContactRun{First: max(first, 0), At: in.at})
	}
	if first > 0 {
		in.Tails = append(in.Tails, chunk)
	} else {
		in.ready = append(in.ready, chunk)
	}
	in.chunk = nil
}

func (in *Import) flushMany() error {
	if len(in.ready) < chunksPerWrite {
		return nil
	}
	return in.flush()
}

func (in *Import) flush() error {
	if len(in.ready) == 0 {
		return nil
	}
	err := in.Keep(in.ready)
	in.ready = nil
	return err
}
