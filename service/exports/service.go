// Package exports is the service for exports: CSV or JSON files that it writes in the background. A file contains the
// calls, transcripts, contacts, results, events, usage or audit log of a workspace.
package exports

import (
	"context"
	"encoding/csv"
	"errors"
	"io"
	"iter"
	"log/slog"
	"strings"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/billing"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/exportrows"
	"github.com/callboard/callboard/service/record"
	"github.com/callboard/callboard/service/record/contactlist"
)

// Config holds the dependencies of a Service.
type Config struct {
	Store     commit.Store
	Blobs     blobs
	Jobs      jobs
	Campaigns campaignSource
	// Usage returns the usage of the workspace.
	Usage func(ctx context.Context, p domain.Principal, q billing.UsageQuery) (billing.Usage, error)
	// OffsetBefore returns an offset of the workspace's event log. All events created at t or later come behind it.
	OffsetBefore func(ctx context.Context, workspaceID string, t time.Time) (uint64, error)
	// Background returns a context that ends when the node stops.
	Background func() context.Context
	OnCalls    func() bool // reports whether this node has live calls
	PublicURL  string      // base of the URLs in files
	Log        *slog.Logger
}

// campaignSource reads campaigns, their contacts and their results.
type campaignSource interface {
	Campaign(ctx context.Context, p domain.Principal, id string) (*domain.Campaign, error)
	CampaignResults(ctx context.Context, p domain.Principal, campaignID string) (iter.Seq2[contactlist.ResultRow, error], error)
	ExportContacts(ctx context.Context, p domain.Principal, campaignID, status string) (contactlist.ContactsExport, error)
}

type blobs interface {
	Open(ctx context.Context, workspace, name string) (io.ReadSeekCloser, int64, error)
	Put(ctx context.Context, workspace, name string, r io.Reader) (int64, error)
	Delete(ctx context.Context, workspace, name string) error
}

type jobs interface {
	Start(ctx context.Context, name string, work func(ctx context.Context) error) bool
}

// Service creates exports and writes their files to the blob store.
type Service struct {
	store        commit.Store
	blobs        blobs
	jobs         jobs
	campaigns    campaignSource
	usage        func(ctx context.Context, p domain.Principal, q billing.UsageQuery) (billing.Usage, error)
	offsetBefore func(ctx context.Context, workspaceID string, t time.Time) (uint64, error)
	background   func() context.Context
	onCalls      func() bool
	publicURL    string
	log          *slog.Logger
	slots        chan struct{} // one element for each export that is being written
}

// New returns a Service.
func New(c Config) *Service {
	return &Service{
		store: c.Store, blobs: c.Blobs, jobs: c.Jobs, campaigns: c.Campaigns, usage: c.Usage, offsetBefore: c.OffsetBefore, background: c.Background,
		onCalls: c.OnCalls, publicURL: c.PublicURL, log: c.Log, slots: make(chan struct{}, maxRunningExports),
	}
}

const (
	maxRunningExports = 2                    // exports that are written at the same time
	maxTries          = 5                    // tries of a failing export in one process
	rowRetention      = 30 * 24 * time.Hour  // how long the row is stored after its file was deleted
	yieldEvery        = contactlist.StepRows // rows between two pauses for live calls
)

// CreateExport creates an export. A background task writes its file and starts again after a restart. Errors:
// validation_failed.
func (s *Service) CreateExport(ctx context.Context, p domain.Principal, e *domain.Export) (*domain.Export, error) {
	if earlier, err := record.CreatedBySameRequest[domain.Export](ctx, s.store, p, domain.PrefixExport); earlier != nil || err != nil {
		return earlier, err
	}
	if id := e.Filters.CampaignID; id != "" {
		if _, err := s.campaigns.Campaign(ctx, p, id); err != nil {
			if domain.CodeOf(err) == domain.CodeNotFound {
				err = domain.FieldError("filters.campaign_id", domain.CodeValidation, "there is no such campaign")
			}
			return nil, err
		}
	}
	e.Init("export", p, record.RequestResourceID(ctx, domain.PrefixExport), record.Now())
	e.Status = domain.ExportQueued
	if err := record.Create(ctx, s.store, e); err != nil {
		return nil, err
	}
	s.StartExport(e)
	return e, nil
}

// Export returns one export. Errors: not_found.
func (s *Service) Export(ctx context.Context, p domain.Principal, id string) (*domain.Export, error) {
	e, _, err := record.Get[domain.Export](ctx, s.store, p, domain.PrefixExport, id)
	return e, err
}

// ListExports returns a page of exports.
func (s *Service) ListExports(ctx context.Context, p domain.Principal, q record.PageQuery) (record.Page[*domain.Export], error) {
	return record.List[domain.Export](ctx, s.store, p.WorkspaceID, record.EnvironmentIndex(p), domain.PrefixExport, q, nil)
}

// ExportFile opens the file of an export. Errors: not_found, processing, invalid_state, export_expired.
func (s *Service) ExportFile(ctx context.Context, p domain.Principal, id string) (record.Download, error) {
	e, err := s.Export(ctx, p, id)
	if err != nil {
		return record.Download{}, err
	}
	expired := domain.Errorf(domain.CodeExportExpired, "the file has expired; create another export")
	switch e.Status {
	case domain.ExportQueued, domain.ExportRunning:
		return record.Download{}, domain.Errorf(domain.CodeProcessing, "the file is not written yet")
	case domain.ExportFailed:
		return record.Download{}, domain.Errorf(domain.CodeInvalidState, "the export failed: %s", e.Reason).With("current_status", e.Status)
	case domain.ExportExpired:
		return record.Download{}, expired
	case domain.ExportCompleted:
	}
	if !time.Now().Before(*e.ExpiresAt) {
		return record.Download{}, expired
	}
	body, size, err := s.blobs.Open(ctx, e.WorkspaceID, e.File())
	if errors.Is(err, domain.ErrNotFound) { // the file is being deleted
		return record.Download{}, expired
	}
	if err != nil {
		return record.Download{}, commit.StoreError(err)
	}
	return record.Download{Size: size, Created: *e.CompletedAt, Body: body}, nil
}

// StartExport starts writing the file of an export in the background.
func (s *Service) StartExport(e *domain.Export) {
	tries := 0
	s.jobs.Start(s.background(), e.WorkspaceID+"/"+e.ID, func(ctx context.Context) error {
		select {
		case s.slots <- struct{}{}:
			defer func() { <-s.slots }()
		case <-ctx.Done():
			return ctx.Err()
		}
		err := s.run(ctx, e.WorkspaceID, e.ID, tries+1 >= maxTries)
		if !errors.Is(err, domain.ErrBlobsUnavailable) { // an unavailable blob store or database does not count as a try
			tries++
		}
		return err
	})
}

// run writes the file of an export from the beginning and replaces a partial file of an earlier run. If last is set, an
// error fails the export. Otherwise run returns the error, and the job runs again.
func (s *Service) run(ctx context.Context, workspaceID, id string, last bool) error {
	e := &domain.Export{Meta: domain.Meta{ID: id, WorkspaceID: workspaceID}}
	version, err := s.store.Get(ctx, e)
	if errors.Is(err, domain.ErrNotFound) || err == nil && e.Status != domain.ExportQueued && e.Status != domain.ExportRunning {
		return nil
	}
	if err != nil {
		return err
	}
	save := func() error {
		e.UpdatedAt = record.Now()
		_, failed := s.store.Apply(ctx, commit.Change{
			Workspace: workspaceID, Guards: []commit.Guard{{Key: e.Key(), Version: version}}, Puts: []domain.Record{e},
		})
		version++
		return failed
	}
	e.Status = domain.ExportRunning
	if err = save(); err != nil {
		return err
	}
	e.Rows, e.Size, err = s.writeBlob(ctx, e)
	at := record.Now()
	switch {
	case err == nil:
		until := at.Add(domain.ExportLifetime)
		e.Status, e.CompletedAt, e.ExpiresAt = domain.ExportCompleted, &at, &until
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, domain.ErrBlobsUnavailable):
		return err
	case last || domain.CodeOf(err) == domain.CodeNotFound:
		s.log.Error("an export failed", slog.String("export_id", e.ID), slog.Any("error", err))
		e.Status, e.CompletedAt, e.Reason, e.Rows, e.Size = domain.ExportFailed, &at, domain.CodeOf(err), 0, 0
		if e.Reason == "" {
			e.Reason = domain.CodeInternal
		}
	default:
		return err
	}
	return save()
}

// writeBlob streams the file of an export to the blob store while it reads the rows. It returns the number of rows and
// the size of the file in bytes.
func (s *Service) writeBlob(ctx context.Context, e *domain.Export) (rows int, size int64, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	from, to := io.Pipe()
	written := make(chan error, 1)
	go func() {
		defer func() {
			if v := recover(); v != nil {
				failed := errors.New("the rows of an export could not be written")
				_ = to.CloseWithError(failed)
				written <- failed
			}
		}()
		ended := s.writeRows(ctx, e, newFile(e, to, record.YieldToCalls(ctx, s.onCalls), &rows))
		_ = to.CloseWithError(ended) // Close never returns an error
		written <- ended
	}()
	size, err = s.blobs.Put(ctx, e.WorkspaceID, e.File(), from)
	_ = from.CloseWithError(errors.New("the blob store has stopped reading the file"))
	if writeErr := <-written; writeErr != nil {
		err = writeErr // the error of the rows caused that of the blob store
	}
	return rows, size, err
}

// file writes rows as CSV or as JSON lines.
type file struct {
	cells *csv.Writer
	lines io.Writer
	yield func() error
	rows  *int
}

func newFile(e *domain.Export, w io.Writer, yield func() error, rows *int) *file {
	f := &file{yield: yield, rows: rows}
	if e.Format == "jsonl" {
		f.lines = w
		return f
	}
	f.cells = csv.NewWriter(w)
	f.cells.UseCRLF = true
	return f
}

func (f *file) writeHeader(t domain.ExportType) error {
	if f.cells == nil {
		return nil
	}
	return f.cells.Write(exportrows.Columns(t))
}

// write writes one row to the file. It writes object as a JSON line, or the result of cells as a CSV row.
func (f *file) write(object any, cells func() []string) error {
	*f.rows++
	if *f.rows%yieldEvery == 0 {
		if err := f.yield(); err != nil {
			return err
		}
	}
	if f.lines != nil {
		return domain.WriteJSON(f.lines, object)
	}
	return f.cells.Write(cells())
}

func (f *file) flush() error {
	if f.cells == nil {
		return nil
	}
	f.cells.Flush()
	return f.cells.Error()
}

// withURLs sets the URLs of the transcript and the recording of a call.
func (s *Service) withURLs(c *domain.Call) *domain.Call {
	base := strings.TrimRight(s.publicURL, "/") + "/v1/calls/" + c.ID
	c.TranscriptURL, c.RecordingURL = "", ""
	if c.TranscriptAvailable {
		c.TranscriptURL = base + "/transcript"
	}
	if c.RecordingAvailable {
		c.RecordingURL = base + "/recording"
	}
	return c
}

// SweepExports deletes expired files of a workspace. It also deletes the records of exports whose files expired more than
// rowRetention ago. One call deletes a limited number of files and records.
func (s *Service) SweepExports(ctx context.Context, workspaceID string, now time.Time) error {
	for _, stage := range []struct {
		index string
		age   time.Duration
	}{{"kept", domain.ExportLifetime}, {"over", domain.ExportLifetime + rowRetention}} {
		var old []*domain.Export
		q := commit.Query{
			Kind: "export", Workspace: workspaceID, Index: stage.index, Oldest: true, Limit: record.SweepRows, To: domain.FirstIDAt(domain.PrefixExport, now.Add(-stage.age)),
		}
		_, err := s.store.List(ctx, q, func() domain.Record { return &domain.Export{} }, func(r domain.Record) error {
			if e, ok := r.(*domain.Export); ok && (stage.index == "over" || e.ExpiresAt != nil && now.After(*e.ExpiresAt)) {
				old = append(old, e)
			}
			return nil
		})
		if err != nil {
			return err
		}
		for _, e := range old {
			if stage.index == "kept" {
				err = s.DeleteExportFile(ctx, e)
			} else if err = s.blobs.Delete(ctx, workspaceID, e.File()); err == nil {
				_, err = s.store.Apply(ctx, commit.Change{Workspace: workspaceID, Deletes: []domain.Key{e.Key()}})
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// DeleteExportFile deletes the file of an export and then sets the export's status to expired.
func (s *Service) DeleteExportFile(ctx context.Context, e *domain.Export) error {
	if err := s.blobs.Delete(ctx, e.WorkspaceID, e.File()); err != nil {
		return err
	}
	e.Status, e.UpdatedAt = domain.ExportExpired, record.Now()
	_, err := s.store.Apply(ctx, commit.Change{Workspace: e.WorkspaceID, Puts: []domain.Record{e}})
	return err
}
