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

// Limits of an upload of contacts.
const (
	MaxContacts    = 1_000_000
	MaxFieldNames  = 200 // names of context variables that an upload lists
	chunksPerWrite = 8   // full chunks that are stored at a time
	StepRows       = 100 // rows between two calls of Yield
)

// Import converts uploaded rows to chunks of contacts. It normalizes numbers, drops duplicates and counts refused
// rows. It needs memory for one number per contact of the campaign and for a few chunks, whatever the upload's size.
type Import struct {
	campaign  *domain.Campaign
	required  []string // context variables that need a value
	zones     *calendar.Zones
	seen      map[uint64]struct{} // numbers of the campaign by NumberKey
	fields    map[string]struct{} // names of context variables
	addedAt   time.Time           // time of addition of the new contacts
	lastRuns  []domain.ContactRun // times of addition in the last chunk, which was not full
	Before    int                 // number of contacts before this upload
	chunk     []domain.Contact    // the last chunk, which is not full
	Total     int                 // number of contacts, with those of this upload
	Screened  ScreenedRows        // rows that do not become contacts; the results show them
	Tails     []domain.Record     // last chunks of earlier uploads with contacts added; the commit that raises the totals writes them
	ready     []domain.Record     // full chunks that are not stored yet
	Store     func(chunks []domain.Record) error
	Progress  func(domain.ContactsSummary, []domain.ContactError) // called after each row; nil: not called
	Yield     func() error                                        // called after each StepRows rows, such as a pause for live calls; nil: not called
	isListed  func(phone string) (bool, error)                    // do-not-call check; nil: no list
	Allowed   func(domain.Number) error                           // the workspace's destination rules; nil: every number
	Summary   domain.ContactsSummary
	Errors    []domain.ContactError
	Columns   *domain.ColumnMapping // columns of a CSV file; nil: none
	MaxErrors int                   // maximum length of Errors
	listError error                 // error of the do-not-call check, which ends the import
}

// Checks decide which uploaded rows become contacts.
type Checks struct {
	Required []string                                              // context variables that need a value
	Listed   func(ctx context.Context, phone string) (bool, error) // do-not-call check; nil: no list
	Allowed  func(domain.Number) error                             // the workspace's destination rules; nil: every number
}

// NewImport returns an import that adds contacts to the existing contacts of a campaign. The time at is stored as the
// time at which the new contacts were added.
func NewImport(ctx context.Context, r *Reader, c *domain.Campaign, before *domain.Progress, at time.Time, checks Checks) (*Import, error) {
	in := &Import{
		campaign: c, addedAt: at, seen: make(map[uint64]struct{}, before.Total), fields: make(map[string]struct{}),
		Before: before.Total, Total: before.Total, zones: calendar.NewZones(), MaxErrors: domain.MaxContactErrors,
		required: checks.Required, Allowed: checks.Allowed,
	}
	if checks.Listed != nil {
		in.isListed = func(phone string) (bool, error) { return checks.Listed(ctx, phone) }
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
	in.lastRuns = last.Added
	return in, nil
}

// NumberKey returns an E.164 number as an integer. An E.164 number has at most 15 digits, so it always fits.
func NumberKey(e164 string) uint64 {
	n, err := strconv.ParseUint(strings.TrimPrefix(e164, "+"), 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// Read imports all rows. It calls Store for the full chunks and for the last chunk, unless an earlier upload began that
// chunk. Tails contains such a chunk.
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
		in.packContacts(in.Total / domain.ChunkSize)
	}
	in.packScreened()
	return in.flush()
}

func (in *Import) add(row domain.RawContact) error {
	in.Summary.Received++
	phone, bad := in.check(row)
	if in.listError != nil {
		return in.listError
	}
	if bad.Code != "" {
		bad.Line, bad.Phone = row.Line, truncatePhone(row.Phone)
		in.addError(bad)
		if phone == "" {
			return nil
		}
		in.addScreened(domain.ScreenedContact{Phone: phone, Name: domain.Contact{Context: row.Context}.Name(), Reason: domain.Reason(bad.Code), At: in.addedAt})
		return in.flushFullBatch()
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
	in.packContacts(in.Total/domain.ChunkSize - 1)
	in.chunk = make([]domain.Contact, 0, domain.ChunkSize) // most campaigns continue in a further chunk
	return in.flushFullBatch()
}

func (in *Import) addError(e domain.ContactError) {
	if len(in.Errors) < in.MaxErrors {
		in.Errors = append(in.Errors, e)
	}
}

// truncatePhone shortens an invalid number for an error message, because an upload may contain any text as a number.
func truncatePhone(phone string) string {
	const maxLength = 40
	if len(phone) <= maxLength {
		return phone
	}
	return strings.ToValidUTF8(phone[:maxLength], "") + "…"
}

// addFieldNames adds the names of a contact's context variables to in.fields, which has at most MaxFieldNames names.
func (in *Import) addFieldNames(c domain.Context) {
	for name := range c {
		if _, known := in.fields[name]; !known && len(in.fields) < MaxFieldNames {
			in.fields[strings.Clone(name)] = struct{}{}
		}
	}
}

// check normalizes the number of a row and returns the problem of the row, if it has one. If the number is valid but
// refused, check returns both the number and the problem.
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
	if err := in.checkDestination(phone); err != nil {
		in.Summary.NotAllowed++
		return phone, domain.ContactError{Code: domain.CodeDestinationNotAllowed, Message: record.Message(err)}
	}
	if missing := MissingVariables(in.required, row.Context); missing != "" {
		in.Summary.MissingVariables++
		return phone, domain.ContactError{Code: "missing_variable", Message: "the required variable " + missing + " has no value: give it in a column of this name, or in context"}
	}
	in.seen[key] = struct{}{}
	if in.isListed != nil {
		listed, err := in.isListed(phone)
		if err != nil {
			in.listError = err
		}
		if listed {
			in.Summary.DNC++
			return phone, domain.ContactError{Code: "dnc", Message: "this number is on a do-not-call list"}
		}
	}
	return phone, bad
}

// checkDestination returns an error if the workspace may not call a number.
func (in *Import) checkDestination(phone string) error {
	if in.Allowed == nil {
		return nil
	}
	number, err := in.zones.NumberFromE164(phone)
	if err != nil {
		return domain.Errorf(domain.CodeDestinationNotAllowed, "this number cannot be called: it is not a full telephone number")
	}
	return in.Allowed(number)
}

// MissingVariables returns the names of the required variables that have no value in a context, separated by commas.
func MissingVariables(required []string, c domain.Context) string {
	var missing []string
	for _, name := range required {
		if v, _ := c.Text(name); name != "phone" && strings.TrimSpace(v) == "" {
			missing = append(missing, name)
		}
	}
	return strings.Join(missing, ", ")
}

func (in *Import) packContacts(index int) {
	chunk := &domain.ContactChunk{
		CampaignID: in.campaign.ID, WorkspaceID: in.campaign.WorkspaceID, Index: index, Contacts: in.chunk,
	}
	first := in.Before - index*domain.ChunkSize
	if first > 0 {
		chunk.Added = in.lastRuns
	}
	if in.addedAt.After(in.campaign.CreatedAt) {
		chunk.Added = append(slices.Clip(chunk.Added), domain.ContactRun{First: max(first, 0), At: in.addedAt})
	}
	if first > 0 {
		in.Tails = append(in.Tails, chunk)
	} else {
		in.ready = append(in.ready, chunk)
	}
	in.chunk = nil
}

func (in *Import) flushFullBatch() error {
	if len(in.ready) < chunksPerWrite {
		return nil
	}
	return in.flush()
}

func (in *Import) flush() error {
	if len(in.ready) == 0 {
		return nil
	}
	err := in.Store(in.ready)
	in.ready = nil
	return err
}
