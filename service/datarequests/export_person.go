package datarequests

import (
	"archive/zip"
	"context"
	"errors"
	"io"
	"time"

	"github.com/callboard/callboard/actors/call/recording"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/dnc"
	"github.com/callboard/callboard/service/record"
	"github.com/callboard/callboard/service/record/contactlist"
	"github.com/callboard/callboard/service/record/decisionlist"
)

// export writes all data about the person to a ZIP file. It replaces a partial file of an earlier run.
func (j *job) export(ctx context.Context) error {
	j.row.Counts = nil
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	from, to := io.Pipe()
	written := make(chan error, 1)
	go func() {
		err := errors.New("the file of a data request could not be written")
		defer func() {
			_ = recover() // err reports the panic
			_ = to.CloseWithError(err)
			written <- err
		}()
		z := zip.NewWriter(to)
		if err = j.writeFiles(ctx, z); err == nil {
			err = z.Close()
		}
	}()
	size, err := j.service.blobs.Put(ctx, j.row.WorkspaceID, j.row.File(), from)
	_ = from.CloseWithError(errors.New("the blob store has stopped reading the file"))
	if writeErr := <-written; writeErr != nil {
		err = writeErr // the error of the rows caused that of the blob store
	}
	if err != nil {
		return err
	}
	return j.save(ctx, func(r *domain.DataRequest) {
		now := record.Now()
		until := now.Add(domain.DataRequestLifetime)
		r.Status, r.Size, r.CompletedAt, r.ExpiresAt = domain.DataCompleted, size, &now, &until
	})
}

// exportedContact is a contact of a campaign as a JSON line.
type exportedContact struct {
	CampaignID string `json:"campaign_id"`
	contactlist.Contact
}

// exportedScreened is an uploaded row that did not become a contact, as a JSON line.
type exportedScreened struct {
	CampaignID string `json:"campaign_id"`
	domain.ScreenedContact
}

// exportedEntry is an entry of a do-not-call list as a JSON line.
type exportedEntry struct {
	ListID string `json:"list_id"`
	domain.DNCEntry
}

// writeFiles writes to the ZIP file one file of JSON lines for each kind of records, and the recordings.
func (j *job) writeFiles(ctx context.Context, z *zip.Writer) error {
	var calls []*domain.Call
	for _, k := range []struct {
		RowKind
		file string
	}{
		{NewRowKind[domain.Call](), "calls"},
		{NewRowKind[domain.Message](), "messages"},
		{NewRowKind[domain.SMSConversation](), "sms_conversations"},
		{NewRowKind[domain.Appointment](), "appointments"},
	} {
		err := j.writeLines(z, k.file, func(line func(any) error) error {
			return j.eachRow(ctx, k.RowKind, func(r domain.Record) error {
				if !j.isAbout(r) {
					return nil
				}
				j.about[r.Key().ID] = true
				switch r := r.(type) {
				case *domain.Call:
					calls = append(calls, &domain.Call{Meta: r.Meta, RecordingAvailable: r.RecordingAvailable, TranscriptAvailable: r.TranscriptAvailable})
				case *domain.SMSConversation:
					return line(r.Public(time.Now()))
				}
				return line(r)
			})
		})
		if err != nil {
			return err
		}
	}
	return errors.Join(j.writeTranscripts(ctx, z, calls), j.writeContacts(ctx, z), j.writeScreened(ctx, z), j.writeDecisions(ctx, z), j.writeEvents(ctx, z), j.writeDNCEntries(ctx, z),
		j.writeRecordings(ctx, z, calls))
}

// writeLines adds a file of JSON lines to the ZIP file. The function write calls line once for each value.
func (j *job) writeLines(z *zip.Writer, name string, write func(line func(any) error) error) error {
	w, err := z.CreateHeader(&zip.FileHeader{Name: name + ".jsonl", Method: zip.Deflate, Modified: j.row.CreatedAt})
	if err != nil {
		return err
	}
	n := 0
	err = write(func(v any) error {
		n++
		return domain.WriteJSON(w, v)
	})
	j.count(name, n)
	return err
}

func (j *job) writeTranscripts(ctx context.Context, z *zip.Writer, calls []*domain.Call) error {
	return j.writeLines(z, "transcripts", func(line func(any) error) error {
		for _, c := range calls {
			t := &domain.Transcript{CallID: c.ID, WorkspaceID: c.WorkspaceID}
			_, err := j.service.store.Get(ctx, t)
			if errors.Is(err, domain.ErrNotFound) {
				continue
			}
			if err == nil {
				err = line(t)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

func (j *job) writeContacts(ctx context.Context, z *zip.Writer) error {
	return j.writeLines(z, "contacts", func(line func(any) error) error {
		return j.eachContact(ctx, func(match personContact) error {
			if !match.hasNumber {
				return nil
			}
			entry, err := j.service.list.Find(ctx, match.campaign, domain.ContactID(match.campaign.ID, match.ordinal))
			if err != nil {
				return err
			}
			return line(exportedContact{match.campaign.ID, entry.APIContact(match.campaign)})
		})
	})
}

func (j *job) writeScreened(ctx context.Context, z *zip.Writer) error {
	return j.writeLines(z, "screened_contacts", func(line func(any) error) error {
		return j.eachRow(ctx, NewRowKind[domain.ScreenedChunk](), func(r domain.Record) error {
			chunk, ok := r.(*domain.ScreenedChunk)
			if !ok {
				return nil
			}
			for _, contact := range chunk.Contacts {
				if !j.number.Equals(contact.Phone) {
					continue
				}
				if err := line(exportedScreened{chunk.CampaignID, contact}); err != nil {
					return err
				}
			}
			return nil
		})
	})
}

func (j *job) writeDecisions(ctx context.Context, z *zip.Writer) error {
	phone := j.number.E164()
	return j.writeLines(z, "decisions", func(line func(any) error) error {
		for _, c := range j.campaigns {
			for row, more := 1, true; more; {
				rows, err := j.service.decisions.PagesOfNumber(ctx, c, phone, row)
				if err != nil {
					return err
				}
				for _, page := range rows {
					row = page.Seq + 1
					if err = writeDecisionLines(c, page, phone, line); err != nil {
						return err
					}
				}
				more = len(rows) == domain.DecisionRowsPerRead
			}
		}
		return nil
	})
}

// writeDecisionLines writes the decisions of a decision log page that are about a phone number.
func writeDecisionLines(c *domain.Campaign, row *domain.DecisionPage, phone string, line func(any) error) error {
	for i := range row.Decisions {
		if row.Decisions[i].Phone != phone {
			continue
		}
		if err := line(decisionlist.DecisionOf(c, row, i)); err != nil {
			return err
		}
	}
	return nil
}

func (j *job) writeEvents(ctx context.Context, z *zip.Writer) error {
	return j.writeLines(z, "events", func(line func(any) error) error {
		for after := uint64(0); ; {
			if err := j.yield(); err != nil {
				return err
			}
			batch, err := j.service.store.Events(ctx, j.row.WorkspaceID, after, eventsPerRead)
			if err != nil || len(batch) == 0 {
				return err
			}
			for i := range batch {
				e := &batch[i]
				if after = e.Offset; e.Environment != j.row.Environment || !j.about[e.Subject] && !j.number.IsInValue(e) {
					continue
				}
				if err = line(e); err != nil {
					return err
				}
			}
		}
	})
}

func (j *job) writeDNCEntries(ctx context.Context, z *zip.Writer) error {
	return j.writeLines(z, "dnc_entries", func(line func(any) error) error {
		n, err := dnc.PackNumber(j.number.E164())
		if err != nil {
			return nil //nolint:nilerr // a do-not-call list cannot contain this number
		}
		var ids []string
		if err = commit.ForEachRow(ctx, j.service.store, "dnc_list", j.row.WorkspaceID, "env="+string(j.row.Environment), func(l *domain.DNCList) { ids = append(ids, l.ID) }); err != nil {
			return err
		}
		for _, id := range ids {
			hit, err := j.service.lists.FindStoredMatch(ctx, j.row.WorkspaceID, dnc.ScrubRules{Default: id}, n)
			if err == nil && hit != nil {
				err = line(exportedEntry{id, hit.Origin.Entry(j.number.E164())})
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// writeRecordings adds the recordings of the calls to the ZIP file. It stores them uncompressed, because compression
// does not make audio smaller.
func (j *job) writeRecordings(ctx context.Context, z *zip.Writer, calls []*domain.Call) error {
	for _, c := range calls {
		if !c.RecordingAvailable {
			continue
		}
		body, _, err := j.service.blobs.Open(ctx, c.WorkspaceID, recording.BlobName(c.ID))
		if errors.Is(err, domain.ErrNotFound) { // the recording was deleted since
			continue
		}
		if err != nil {
			return err
		}
		w, err := z.CreateHeader(&zip.FileHeader{Name: "recordings/" + recording.BlobName(c.ID), Method: zip.Store, Modified: c.CreatedAt})
		if err == nil {
			_, err = io.Copy(w, body)
		}
		_ = body.Close()
		if err != nil {
			return err
		}
		j.count("recordings", 1)
		if err = j.yield(); err != nil {
			return err
		}
	}
	return nil
}
