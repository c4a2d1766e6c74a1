package actors

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strconv"
	"strings"

	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/ask"
	"github.com/callboard/callboard/domain/calendar"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/pathway"
)

// Bounds of an upload.
const (
	maxContacts    = 1_000_000
	chunksPerWrite = 8
)

// intake turns raw rows into chunks: it normalises numbers, drops duplicates
// and counts what it refuses. Its memory is one number per contact of the
// campaign and a few chunks, whatever the upload's size.
type intake struct {
	ctx      context.Context //nolint:containedctx // one upload is one call
	campaign *domain.Campaign
	script   domain.Pathway
	zones    *calendar.Zones
	seen     map[uint64]struct{}
	chunk    []domain.Contact // the unfinished chunk
	total    int              // contacts of the campaign so far
	ready    []domain.Record
	keep     func(chunks []domain.Record) error
	sum      ask.ContactsSummary
	errs     []ask.ContactError
	id       string
}

// newIntake begins an upload behind the total contacts that the campaign has.
func (d *Desk) newIntake(ctx context.Context, p domain.Principal, c *domain.Campaign, total int) (*intake, error) {
	in := &intake{ctx: ctx, campaign: c, seen: make(map[uint64]struct{}, total), total: total, zones: calendar.NewZones(), id: mailbox.NewID(domain.PrefixUpload)}
	if s, err := d.scriptOf(ctx, p, c.AgentID, c.PathwayID); err == nil {
		in.script = s.Pathway
	}
	for chunk, err := range d.chunks(ctx, c, total) {
		if err != nil {
			return nil, err
		}
		for _, one := range chunk.Contacts {
			in.seen[digitsKey(one.Phone)] = struct{}{}
		}
		if len(chunk.Contacts) < domain.ChunkSize {
			in.chunk = append(in.chunk, chunk.Contacts...)
		}
	}
	return in, nil
}

// chunks walks a campaign's contacts up to total.
func (d *Desk) chunks(ctx context.Context, c *domain.Campaign, total int) iter.Seq2[*domain.ContactChunk, error] {
	return func(yield func(*domain.ContactChunk, error) bool) {
		after := ""
		for start := 0; start < total; {
			var batch []*domain.ContactChunk
			prefix := domain.Key{Kind: "chunk", Workspace: c.WorkspaceID, ID: c.ID + "/"}
			err := d.store.Under(ctx, prefix, after, 4, func() domain.Record { return &domain.ContactChunk{} }, func(r domain.Record) error {
				if chunk, ok := r.(*domain.ContactChunk); ok {
					batch = append(batch, chunk)
				}
				return nil
			})
			if err == nil && len(batch) == 0 {
				err = fmt.Errorf("actors: campaign %s has %d contacts but no chunk at %d", c.ID, total, start)
			}
			if err != nil {
				yield(nil, storeErr(err))
				return
			}
			for _, chunk := range batch {
				after = chunk.Key().ID
				chunk.Contacts = chunk.Contacts[:min(len(chunk.Contacts), total-start)]
				start += len(chunk.Contacts)
				if !yield(chunk, nil) || start >= total {
					return
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
	}
	if len(in.chunk) > 0 {
		in.pack(in.total / domain.ChunkSize)
	}
	return in.flush()
}

func (in *intake) add(row ask.RawContact) error {
	in.sum.Received++
	phone, bad := in.check(row)
	if bad.Code != "" {
		bad.Line, bad.Phone = row.Line, row.Phone
		if len(in.errs) < ask.MaxContactErrors {
			in.errs = append(in.errs, bad)
		}
		return nil
	}
	if in.total == maxContacts {
		return domain.Errorf(domain.CodeValidation, "a campaign has at most %d contacts", maxContacts)
	}
	in.sum.Accepted++
	in.chunk = append(in.chunk, domain.Contact{Phone: phone, Context: row.Context, Timezone: row.Timezone, Country: row.Country})
	in.total++
	if len(in.chunk) == domain.ChunkSize {
		in.pack(in.total/domain.ChunkSize - 1)
		if len(in.ready) >= chunksPerWrite {
			return in.flush()
		}
	}
	return nil
}

// check normalises a row's number and says what is wrong with the row.
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
		return "", ask.ContactError{Code: "invalid_phone", Message: "phone is " + err.Error()}
	}
	if row.Timezone != "" {
		if in.zones.Load(row.Timezone) == nil {
			in.sum.Invalid++
			return "", ask.ContactError{Code: "invalid_timezone", Message: "timezone is not a name of the time-zone database"}
		}
	}
	key := digitsKey(phone)
	if _, twice := in.seen[key]; twice {
		in.sum.Duplicates++
		return "", ask.ContactError{Code: "duplicate", Message: "this number is in the campaign already"}
	}
	in.seen[key] = struct{}{}
	in.countMissing(row)
	return phone, bad
}

func (in *intake) countMissing(row ask.RawContact) {
	if len(in.script.Variables) == 0 {
		return
	}
	values := make(map[string]string, len(row.Context))
	for name := range row.Context {
		values[name], _ = row.Context.Text(name)
	}
	values["phone"] = row.Phone
	if missing := pathway.MissingVariables(&in.script, values); len(missing) > 0 {
		in.sum.MissingVariables++
		if len(in.errs) < ask.MaxContactErrors {
			in.errs = append(in.errs, ask.ContactError{
				Line: row.Line, Phone: row.Phone, Code: "missing_variable",
				Message: "the pathway's variable " + strings.Join(missing, ", ") + " has no value; the contact was accepted",
			})
		}
	}
}

func (in *intake) pack(index int) {
	in.ready = append(in.ready, &domain.ContactChunk{
		CampaignID: in.campaign.ID, WorkspaceID: in.campaign.WorkspaceID, Index: index, Contacts: in.chunk,
	})
	in.chunk = make([]domain.Contact, 0, domain.ChunkSize)
}

func (in *intake) flush() error {
	if len(in.ready) == 0 {
		return nil
	}
	err := in.keep(in.ready)
	in.ready = nil
	return err
}

func (in *intake) summary() ask.UploadSummary {
	s := ask.UploadSummary{UploadID: in.id, Summary: in.sum, Errors: in.errs}
	if s.Errors == nil {
		s.Errors = []ask.ContactError{}
	}
	return s
}

func overFor(c *domain.Campaign) error {
	return domain.Errorf(domain.CodeInvalidState, "contacts cannot be added to a campaign that is over").With("current_status", c.Status)
}

// AddContacts appends to a campaign. The chunks are written ahead, invisible,
// and the campaign's own commit of its new total shows them: a killed upload
// leaves nothing.
func (d *Desk) AddContacts(
	ctx context.Context, p domain.Principal, campaignID string, rows iter.Seq2[ask.RawContact, error],
) (ask.UploadSummary, error) {
	c, err := d.Campaign(ctx, p, campaignID)
	if err != nil {
		return ask.UploadSummary{}, err
	}
	if c.Status.Final() {
		return ask.UploadSummary{}, overFor(c)
	}
	if _, busy := d.uploads.LoadOrStore(c.ID, struct{}{}); busy {
		return ask.UploadSummary{}, domain.Errorf(domain.CodeInvalidState, "another upload to this campaign is running")
	}
	defer d.uploads.Delete(c.ID)
	progress := &domain.Progress{CampaignID: c.ID, WorkspaceID: c.WorkspaceID}
	if _, err = d.store.Get(ctx, progress); err != nil && !errors.Is(err, domain.ErrNotFound) {
		return ask.UploadSummary{}, storeErr(err)
	}
	in, err := d.newIntake(ctx, p, c, progress.Total)
	if err != nil {
		return ask.UploadSummary{}, err
	}
	in.keep = func(chunks []domain.Record) error {
		_, err := d.store.Apply(ctx, commit.Change{Workspace: c.WorkspaceID, Puts: chunks})
		return storeErr(err)
	}
	if err := in.read(rows); err != nil {
		return ask.UploadSummary{}, err
	}
	if in.sum.Accepted > 0 {
		if err := d.node.contactsAdded(ctx, c, in.total); err != nil {
			return ask.UploadSummary{}, err
		}
	}
	return in.summary(), nil
}
