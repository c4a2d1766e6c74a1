package contacts

import (
	"context"
	"errors"
	"iter"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/pathway"
	"github.com/callboard/callboard/service/record"
	"github.com/callboard/callboard/service/record/contactlist"
)

const (
	maxUploads = 4 // of a workspace at once: each holds the numbers of its campaign
	tidyLimit  = 15 * time.Second
	tidyAtOnce = 250 // chunks that one commit removes
)

// uploads are those that are being received.
type uploads struct {
	mu sync.Mutex
	by map[string]*runningUpload // by campaign
}

// runningUpload is an upload as it stands.
type runningUpload struct {
	mu  sync.Mutex
	row domain.Upload
}

func (r *runningUpload) progress(sum domain.ContactsSummary, errs []domain.ContactError) {
	errs = errs[:min(len(errs), domain.MaxContactErrors)]
	r.mu.Lock()
	r.row.Summary, r.row.Errors = sum, errs
	r.mu.Unlock()
}

// now is the upload as it stands, with the time at which it was looked at.
func (r *runningUpload) now() *domain.Upload {
	r.mu.Lock()
	defer r.mu.Unlock()
	u := r.row
	u.Errors = slices.Clone(u.Errors)
	u.UpdatedAt = record.Now()
	return &u
}

// hold keeps other uploads and changes of numbers away from a campaign.
func (u *uploads) hold(c *domain.Campaign, row domain.Upload) (*runningUpload, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.by[c.ID] != nil {
		return nil, domain.Errorf(domain.CodeInvalidState, "another upload to this campaign is running, or a number of it is being changed")
	}
	own := 0
	for _, r := range u.by {
		if r.row.WorkspaceID == c.WorkspaceID {
			own++
		}
	}
	if own >= maxUploads {
		return nil, domain.Errorf(domain.CodeUnavailable, "%d uploads are running in this workspace; wait for one to end", own).With("retry_after", 5)
	}
	if u.by == nil {
		u.by = make(map[string]*runningUpload)
	}
	r := &runningUpload{row: row}
	u.by[c.ID] = r
	return r, nil
}

func (u *uploads) release(campaignID string) {
	u.mu.Lock()
	delete(u.by, campaignID)
	u.mu.Unlock()
}

// live is the upload of an id as it stands, nil where it is not being received.
func (u *uploads) live(campaignID, id string) *domain.Upload {
	u.mu.Lock()
	r := u.by[campaignID]
	u.mu.Unlock()
	if r == nil || r.row.ID != id {
		return nil
	}
	return r.now()
}

// AddContacts is UploadContacts of rows that have no columns.
func (s *Service) AddContacts(
	ctx context.Context, p domain.Principal, campaignID string, rows iter.Seq2[domain.RawContact, error],
) (contactlist.UploadSummary, error) {
	return s.UploadContacts(ctx, p, campaignID, contactlist.ContactRows{Rows: rows})
}

// UploadContacts appends to a campaign. The chunks are written ahead,
// invisible, and the campaign's own commit of its new total shows them: an
// upload that is broken off leaves nothing.
func (s *Service) UploadContacts(ctx context.Context, p domain.Principal, campaignID string, upload contactlist.ContactRows) (contactlist.UploadSummary, error) {
	return s.ImportContacts(ctx, p, campaignID, upload, domain.MaxContactErrors, nil)
}

// ContactVariables are the variables that the pathway of a campaign declares.
func (s *Service) ContactVariables(ctx context.Context, p domain.Principal, campaignID string) ([]string, error) {
	c, err := s.campaigns.Campaign(ctx, p, campaignID)
	if err != nil {
		return nil, err
	}
	script, err := s.script(ctx, p, c.AgentID, c.PathwayID)
	if domain.CodeOf(err) != "" { // a script that cannot be used: the campaign says so when it starts
		return nil, nil
	}
	names := make([]string, 0, len(script.Pathway.Variables))
	for _, v := range script.Pathway.Variables {
		names = append(names, v.Name)
	}
	return names, err
}

// ImportContacts is UploadContacts whose commit holds what also adds, which sees
// up to most of the errors.
func (s *Service) ImportContacts(
	ctx context.Context, p domain.Principal, campaignID string, upload contactlist.ContactRows, most int, also func(*commit.Change, *contactlist.Import),
) (contactlist.UploadSummary, error) {
	var none contactlist.UploadSummary
	c, err := s.campaigns.Campaign(ctx, p, campaignID)
	if err != nil {
		return none, err
	}
	if c.Status.Final() {
		return none, contactlist.CampaignOver(c)
	}
	row := contactlist.NewUpload(p, c)
	now, err := s.uploads.hold(c, row)
	if err != nil {
		return none, err
	}
	defer s.uploads.release(c.ID)
	before := &domain.Progress{CampaignID: c.ID, WorkspaceID: c.WorkspaceID}
	if _, err = s.store.Get(ctx, before); err != nil && !errors.Is(err, domain.ErrNotFound) {
		return none, commit.StoreError(err)
	}
	in, err := s.NewImport(ctx, p, c, before, row.CreatedAt)
	if err != nil {
		return none, err
	}
	if err = record.Create(ctx, s.store, &row); err != nil {
		return none, err
	}
	in.Keep = func(chunks []domain.Record) error {
		_, failed := s.store.Apply(commit.Alone(ctx), commit.Change{Workspace: c.WorkspaceID, Puts: chunks})
		return commit.StoreError(failed)
	}
	in.Progress, in.Yield, in.MaxErrors, in.Columns = now.progress, record.YieldToCalls(ctx, s.onCalls), most, upload.Columns
	if err = in.Read(upload.Rows); err == nil {
		done := in.CompleteUpload(row)
		if err = s.showContacts(ctx, c, in, done, also); err == nil {
			return contactlist.NewUploadSummary(done), nil
		}
	}
	s.abortUpload(ctx, now.now(), err)
	return none, err
}

// LockUploads keeps uploads and changes of numbers away from a campaign until
// unlock is called. Errors: invalid_state while an upload runs, unavailable.
func (s *Service) LockUploads(c *domain.Campaign) (unlock func(), err error) {
	if _, err = s.uploads.hold(c, domain.Upload{Meta: domain.Meta{WorkspaceID: c.WorkspaceID}}); err != nil {
		return nil, err
	}
	return func() { s.uploads.release(c.ID) }, nil
}

// abortUpload takes back what an upload has written. Where that fails now, the
// next start does it.
func (s *Service) abortUpload(ctx context.Context, u *domain.Upload, cause error) {
	reason := string(domain.CodeOf(cause))
	switch {
	case reason != "":
	case errors.Is(cause, context.Canceled), errors.Is(cause, context.DeadlineExceeded):
		reason = "cancelled"
	default:
		reason = string(domain.CodeInternal)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), tidyLimit)
	defer cancel()
	if err := s.undoUpload(ctx, u, reason); err != nil {
		s.log.Warn("a broken upload could not be taken back yet", slog.String("upload_id", u.ID), slog.Any("error", err))
	}
}

// undoUpload marks an upload as failed and removes the chunks that it has
// written ahead: those behind the total of its campaign. One that was completed
// after all stays.
func (s *Service) undoUpload(ctx context.Context, u *domain.Upload, reason string) error {
	stored := &domain.Upload{Meta: domain.Meta{ID: u.ID, WorkspaceID: u.WorkspaceID}}
	version, err := s.store.Get(ctx, stored)
	if err != nil {
		return err
	}
	if stored.Status != domain.UploadReceiving {
		return nil
	}
	progress := &domain.Progress{CampaignID: u.CampaignID, WorkspaceID: u.WorkspaceID}
	if _, err = s.store.Get(ctx, progress); err != nil && !errors.Is(err, domain.ErrNotFound) {
		return err
	}
	u.Status, u.Reason, u.UpdatedAt = domain.UploadFailed, reason, record.Now()
	change := commit.Change{Workspace: u.WorkspaceID, Guards: []commit.Guard{{Key: u.Key(), Version: version}}, Puts: []domain.Record{u}}
	first := (progress.Total + domain.ChunkSize - 1) / domain.ChunkSize
	for i := first; i < contactlist.MaxContacts/domain.ChunkSize; i++ {
		change.Deletes = append(change.Deletes, (&domain.ContactChunk{CampaignID: u.CampaignID, WorkspaceID: u.WorkspaceID, Index: i}).Key())
	}
	if err = s.screenedBehind(ctx, u, progress.Screened, &change); err != nil {
		return err
	}
	// The row changes last: what dies in between is taken back again.
	for len(change.Deletes) > tidyAtOnce {
		some := commit.Change{Workspace: u.WorkspaceID, Guards: change.Guards, Deletes: change.Deletes[:tidyAtOnce]}
		if _, err = s.store.Apply(ctx, some); err != nil {
			return ignoreConflict(err)
		}
		change.Deletes = change.Deletes[tidyAtOnce:]
	}
	_, err = s.store.Apply(ctx, change)
	return ignoreConflict(err)
}

// screenedBehind adds to a change the deletion of the screened chunks that an upload
// has written ahead.
func (s *Service) screenedBehind(ctx context.Context, u *domain.Upload, screened int, change *commit.Change) error {
	after := ""
	if chunks := (screened + domain.ChunkSize - 1) / domain.ChunkSize; chunks > 0 {
		after = (&domain.ScreenedChunk{CampaignID: u.CampaignID, Index: chunks - 1}).Key().ID
	}
	prefix := domain.Key{Kind: "screened", Workspace: u.WorkspaceID, ID: u.CampaignID + "/"}
	return s.store.Under(ctx, prefix, after, contactlist.MaxContacts/domain.ChunkSize, func() domain.Record { return &domain.ScreenedChunk{} }, func(r domain.Record) error {
		change.Deletes = append(change.Deletes, r.Key())
		return nil
	})
}

// ignoreConflict returns nil for a conflict: a commit of unknown outcome has completed the upload.
func ignoreConflict(err error) error {
	if errors.Is(err, domain.ErrConflict) {
		return nil
	}
	return err
}

// UndoInterruptedUploads takes back what an earlier process was receiving when it ended.
func (s *Service) UndoInterruptedUploads(ctx context.Context, workspaceID string) error {
	var open []*domain.Upload
	if err := commit.Each(ctx, s.store, "upload", workspaceID, "open", func(u *domain.Upload) { open = append(open, u) }); err != nil {
		return err
	}
	for _, u := range open {
		if err := s.undoUpload(ctx, u, domain.UploadInterrupted); err != nil {
			return err
		}
		s.log.Info("an upload that was broken off was taken back", slog.String("upload_id", u.ID), slog.String("campaign_id", u.CampaignID))
	}
	return nil
}

// Upload reads one upload of a campaign, as it stands while it is received.
func (s *Service) Upload(ctx context.Context, p domain.Principal, campaignID, id string) (*domain.Upload, error) {
	c, err := s.campaigns.Campaign(ctx, p, campaignID)
	if err != nil {
		return nil, err
	}
	u, _, err := record.Get[domain.Upload](ctx, s.store, p, domain.PrefixUpload, id)
	if err != nil {
		return nil, err
	}
	if u.CampaignID != c.ID {
		return nil, domain.NotFound("upload")
	}
	return s.current(u), nil
}

// ListUploads reads a page of a campaign's uploads, the newest first.
func (s *Service) ListUploads(ctx context.Context, p domain.Principal, campaignID string, page record.PageQuery) (record.Page[*domain.Upload], error) {
	c, err := s.campaigns.Campaign(ctx, p, campaignID)
	if err != nil {
		return record.Page[*domain.Upload]{}, err
	}
	l, err := record.List[domain.Upload](ctx, s.store, p.WorkspaceID, "campaign="+c.ID, domain.PrefixUpload, page, nil)
	for i, u := range l.Data {
		l.Data[i] = s.current(u)
	}
	return l, err
}

func (s *Service) current(u *domain.Upload) *domain.Upload {
	if u.Status == domain.UploadReceiving {
		if now := s.uploads.live(u.CampaignID, u.ID); now != nil {
			return now
		}
	}
	return u
}

// NewImport begins an import to a campaign with the checks of its workspace.
func (s *Service) NewImport(ctx context.Context, p domain.Principal, c *domain.Campaign, before *domain.Progress, at time.Time) (*contactlist.Import, error) {
	checks := contactlist.Checks{Listed: s.dnc.Scrubber(c)}
	if script, err := s.script(ctx, p, c.AgentID, c.PathwayID); err == nil {
		checks.Required = pathway.MissingVariables(&script.Pathway, nil)
	}
	if w := s.workspaces.Workspace(p.WorkspaceID); w != nil {
		checks.Allowed = func(n domain.Number) error { return n.Allowed(w.Calling, w.DefaultCountry, c.Environment) }
	}
	return contactlist.NewImport(ctx, s.list, c, before, at, checks)
}

// showContacts shows the contacts that were written ahead: the campaign's
// counters are changed under their guard, against its own commits, together
// with the row of the upload.
func (s *Service) showContacts(ctx context.Context, c *domain.Campaign, in *contactlist.Import, done *domain.Upload, also func(*commit.Change, *contactlist.Import)) error {
	received := &domain.Upload{Meta: domain.Meta{ID: done.ID, WorkspaceID: done.WorkspaceID}}
	uploaded, err := s.store.Get(ctx, received)
	if err != nil {
		return commit.StoreError(err)
	}
	for range 20 * record.MaxTries {
		now := &domain.Campaign{Meta: domain.Meta{ID: c.ID, WorkspaceID: c.WorkspaceID}}
		of, err := s.store.Get(ctx, now)
		if err != nil {
			return commit.StoreError(err)
		}
		if now.Status.Final() { // it ended while the upload ran
			return contactlist.CampaignOver(now)
		}
		progress := &domain.Progress{CampaignID: c.ID, WorkspaceID: c.WorkspaceID}
		version, err := s.store.Get(ctx, progress)
		if err != nil {
			return commit.StoreError(err)
		}
		change := commit.Change{
			Workspace: c.WorkspaceID, Puts: []domain.Record{done},
			Guards: []commit.Guard{{Key: now.Key(), Version: of}, {Key: done.Key(), Version: uploaded}},
		}
		grown := in.Total > in.Before || in.Screened.Total > in.Screened.Before
		if grown {
			progress.Total, progress.Screened = in.Total, in.Screened.Total
			change.Puts = append(change.Puts, progress)
			change.Guards = append(change.Guards, commit.Guard{Key: progress.Key(), Version: version})
		}
		change.Puts = append(change.Puts, in.Tails...)
		if also != nil {
			also(&change, in)
		}
		_, err = s.store.Apply(ctx, change)
		if errors.Is(err, domain.ErrConflict) {
			continue
		}
		if err != nil {
			return commit.StoreError(err)
		}
		if grown {
			s.actors.AwaitContacts(ctx, c, in.Total)
		}
		return nil
	}
	return commit.StoreError(domain.ErrConflict)
}
