package actors

import (
	"context"
	"encoding/csv"
	"errors"
	"io"
	"log/slog"
	"strings"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/ask"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/exportrows"
	"github.com/callboard/callboard/service/record"
	"github.com/callboard/callboard/service/record/contactlist"
)

const (
	exportsAtOnce = 2
	exportTries   = 5                    // in one process, of one that fails
	exportFor     = 30 * 24 * time.Hour  // that the row is kept behind its file
	exportYield   = contactlist.StepRows // rows after which an export gives way to live calls
)

// CreateExport orders a file; it is made by this process or by the next.
func (d *Desk) CreateExport(ctx context.Context, p domain.Principal, e *domain.Export) (*domain.Export, error) {
	if made, err := record.CreatedBySameRequest[domain.Export](ctx, d.store, p, domain.PrefixExport); made != nil || err != nil {
		return made, err
	}
	if id := e.Filters.CampaignID; id != "" {
		if _, err := d.Campaign(ctx, p, id); err != nil {
			if domain.CodeOf(err) == domain.CodeNotFound {
				err = record.FieldError("filters.campaign_id", domain.CodeValidation, "there is no such campaign")
			}
			return nil, err
		}
	}
	record.SetMeta(&e.Meta, "export", p, record.NewID(ctx, domain.PrefixExport), record.Now())
	e.Status = domain.ExportQueued
	if err := record.Create(ctx, d.store, e); err != nil {
		return nil, err
	}
	d.makeFile(e)
	return e, nil
}

// Export reads one.
func (d *Desk) Export(ctx context.Context, p domain.Principal, id string) (*domain.Export, error) {
	e, _, err := record.Get[domain.Export](ctx, d.store, p, domain.PrefixExport, id)
	return e, err
}

// ListExports reads a page.
func (d *Desk) ListExports(ctx context.Context, p domain.Principal, q ask.Page) (ask.List[*domain.Export], error) {
	return record.List[domain.Export](ctx, d.store, p.WorkspaceID, record.EnvironmentIndex(p), domain.PrefixExport, q, nil)
}

// ExportFile opens the file of an export.
func (d *Desk) ExportFile(ctx context.Context, p domain.Principal, id string) (ask.Recording, error) {
	e, err := d.Export(ctx, p, id)
	if err != nil {
		return ask.Recording{}, err
	}
	gone := domain.Errorf(ask.CodeExportExpired, "the file has been deleted; order another export")
	switch e.Status {
	case domain.ExportQueued, domain.ExportRunning:
		return ask.Recording{}, domain.Errorf(domain.CodeProcessing, "the file is still to come")
	case domain.ExportFailed:
		return ask.Recording{}, domain.Errorf(domain.CodeInvalidState, "the export failed: %s", e.Reason).With("current_status", e.Status)
	case domain.ExportExpired:
		return ask.Recording{}, gone
	case domain.ExportCompleted:
	}
	if !time.Now().Before(*e.ExpiresAt) {
		return ask.Recording{}, gone
	}
	body, size, err := d.node.cfg.Blobs.Open(ctx, e.WorkspaceID, e.File())
	if errors.Is(err, domain.ErrNotFound) { // it is being deleted
		return ask.Recording{}, gone
	}
	if err != nil {
		return ask.Recording{}, record.StoreError(err)
	}
	return ask.Recording{Size: size, Created: *e.CompletedAt, Body: body}, nil
}

// makeFile begins an export's work beside the requests.
func (d *Desk) makeFile(e *domain.Export) {
	tried := 0
	d.jobs.Begin(d.node.Context(), e.WorkspaceID+"/"+e.ID, func(ctx context.Context) error {
		select {
		case d.exporting <- struct{}{}:
			defer func() { <-d.exporting }()
		case <-ctx.Done():
			return ctx.Err()
		}
		err := d.runExport(ctx, e.WorkspaceID, e.ID, tried+1 >= exportTries)
		if !errors.Is(err, domain.ErrAway) { // what is away comes back
			tried++
		}
		return err
	})
}

// runExport writes the file from its beginning: what a process that ended left
// of it was never shown.
func (d *Desk) runExport(ctx context.Context, workspaceID, id string, last bool) error {
	e := &domain.Export{Meta: domain.Meta{ID: id, WorkspaceID: workspaceID}}
	version, err := d.store.Get(ctx, e)
	if errors.Is(err, domain.ErrNotFound) || err == nil && e.Status != domain.ExportQueued && e.Status != domain.ExportRunning {
		return nil
	}
	if err != nil {
		return err
	}
	keep := func() error {
		e.UpdatedAt = record.Now()
		_, failed := d.store.Apply(ctx, commit.Change{
			Workspace: workspaceID, Guards: []commit.Guard{{Key: e.Key(), Version: version}}, Puts: []domain.Record{e},
		})
		version++
		return failed
	}
	e.Status = domain.ExportRunning
	if err = keep(); err != nil {
		return err
	}
	e.Rows, e.Size, err = d.writeExport(ctx, e)
	at := record.Now()
	switch {
	case err == nil:
		until := at.Add(domain.ExportLife)
		e.Status, e.CompletedAt, e.ExpiresAt = domain.ExportCompleted, &at, &until
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, domain.ErrAway):
		return err
	case last || domain.CodeOf(err) == domain.CodeNotFound:
		d.log.Error("an export failed", slog.String("export_id", e.ID), slog.Any("error", err))
		e.Status, e.CompletedAt, e.Reason, e.Rows, e.Size = domain.ExportFailed, &at, domain.CodeOf(err), 0, 0
		if e.Reason == "" {
			e.Reason = domain.CodeInternal
		}
	default:
		return err
	}
	return keep()
}

// writeExport puts the file among the blobs while its rows are read.
func (d *Desk) writeExport(ctx context.Context, e *domain.Export) (rows int, size int64, err error) {
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
		ended := d.exportRows(ctx, e, newFile(e, to, record.YieldToCalls(ctx, d.onCalls), &rows))
		_ = to.CloseWithError(ended) // never fails
		written <- ended
	}()
	size, err = d.node.cfg.Blobs.Put(ctx, e.WorkspaceID, e.File(), from)
	_ = from.CloseWithError(errors.New("nobody reads the export any more"))
	if wrote := <-written; wrote != nil {
		err = wrote // the cause of the other
	}
	return rows, size, err
}

// exportFile writes rows as CSV or as lines of JSON.
type exportFile struct {
	cells *csv.Writer
	lines io.Writer
	yield func() error
	rows  *int
}

func newFile(e *domain.Export, w io.Writer, yield func() error, rows *int) *exportFile {
	f := &exportFile{yield: yield, rows: rows}
	if e.Format == "jsonl" {
		f.lines = w
		return f
	}
	f.cells = csv.NewWriter(w)
	f.cells.UseCRLF = true
	return f
}

func (f *exportFile) begin(t domain.ExportType) error {
	if f.cells == nil {
		return nil
	}
	return f.cells.Write(exportrows.Columns(t))
}

// put writes a row as it looks in the format.
func (f *exportFile) put(whole any, cells func() []string) error {
	*f.rows++
	if *f.rows%exportYield == 0 {
		if err := f.yield(); err != nil {
			return err
		}
	}
	if f.lines != nil {
		return domain.WriteJSON(f.lines, whole)
	}
	return f.cells.Write(cells())
}

func (f *exportFile) end() error {
	if f.cells == nil {
		return nil
	}
	f.cells.Flush()
	return f.cells.Error()
}

// shownCall is a call as files hold it: with the addresses of what can be
// downloaded.
func (d *Desk) shownCall(c *domain.Call) *domain.Call {
	base := strings.TrimRight(d.node.cfg.PublicURL, "/") + "/v1/calls/" + c.ID
	c.TranscriptURL, c.RecordingURL = "", ""
	if c.TranscriptAvailable {
		c.TranscriptURL = base + "/transcript"
	}
	if c.RecordingAvailable {
		c.RecordingURL = base + "/recording"
	}
	return c
}

// sweepExports deletes files past their time, and rows long after; a bounded
// number per visit. The file goes before the row says so.
func (d *Desk) sweepExports(ctx context.Context, workspaceID string, now time.Time) error {
	for _, stage := range []struct {
		index string
		age   time.Duration
	}{{"kept", domain.ExportLife}, {"over", domain.ExportLife + exportFor}} {
		var old []*domain.Export
		q := commit.Query{
			Kind: "export", Workspace: workspaceID, Index: stage.index, Oldest: true, Limit: record.SweepRows, To: record.IDAt(domain.PrefixExport, now.Add(-stage.age)),
		}
		_, err := d.store.List(ctx, q, func() domain.Record { return &domain.Export{} }, func(r domain.Record) error {
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
				err = d.DropExportFile(ctx, e)
			} else if err = d.node.cfg.Blobs.Delete(ctx, workspaceID, e.File()); err == nil {
				_, err = d.store.Apply(ctx, commit.Change{Workspace: workspaceID, Deletes: []domain.Key{e.Key()}})
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// DropExportFile deletes the file of an export, and then says so in its row.
func (d *Desk) DropExportFile(ctx context.Context, e *domain.Export) error {
	if err := d.node.cfg.Blobs.Delete(ctx, e.WorkspaceID, e.File()); err != nil {
		return err
	}
	e.Status, e.UpdatedAt = domain.ExportExpired, record.Now()
	_, err := d.store.Apply(ctx, commit.Change{Workspace: e.WorkspaceID, Puts: []domain.Record{e}})
	return err
}
