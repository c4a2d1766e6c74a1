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
	maxUploads      = 4 // running uploads of a workspace; each holds the numbers of its campaign in memory
	undoTimeout     = 15 * time.Second
	chunksPerDelete = 250 // chunks that one commit deletes
)

// uploads tracks the uploads that this process is receiving.
type uploads struct {
	mu      sync.Mutex
	running map[string]*runningUpload // by campaign id
}

// runningUpload is the state of an upload while its rows are received.
type runningUpload struct {
	mu  sync.Mutex
	row domain.Upload
}

func (r *runningUpload) setProgress(sum domain.ContactsSummary, errs []domain.ContactError) {
	errs = errs[:min(len(errs), domain.MaxContactErrors)]
	r.mu.Lock()
	r.row.Summary, r.row.Errors = sum, errs
	r.mu.Unlock()
}

// snapshot returns the record of the upload with its current counts.
func (r *runningUpload) snapshot() *domain.Upload {
	r.mu.Lock()
	defer r.mu.Unlock()
	u := r.row
	u.Errors = slices.Clone(u.Errors)
	u.UpdatedAt = record.Now()
	return &u
}

// beginUpload registers an upload to a campaign. Until its release, no other upload to the campaign can begin, and no
// phone number of the campaign's contacts can change. Errors: invalid_state, unavailable.
func (u *uploads) beginUpload(c *domain.Campaign, row domain.Upload) (*runningUpload, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.running[c.ID] != nil {
		return nil, domain.Errorf(domain.CodeInvalidState, "another upload to this campaign is running, or the number of a contact is being changed; try again")
	}
	own := 0
	for _, r := range u.running {
		if r.row.WorkspaceID == c.WorkspaceID {
			own++
		}
	}
	if own >= maxUploads {
		return nil, domain.Errorf(domain.CodeUnavailable, "%d uploads are running in this workspace; wait for one to end", own).With("retry_after", 5)
	}
	if u.running == nil {
		u.running = make(map[string]*runningUpload)
	}
	r := &runningUpload{row: row}
	u.running[c.ID] = r
	return r, nil
}

func (u *uploads) release(campaignID string) {
	u.mu.Lock()
	delete(u.running, campaignID)
	u.mu.Unlock()
}

// current returns the record of a running upload with its current counts, or nil if no such upload is running.
func (u *uploads) current(campaignID, id string) *domain.Upload {
	u.mu.Lock()
	r := u.running[campaignID]
	u.mu.Unlock()
	if r == nil || r.row.ID != id {
		return nil
	}
	return r.snapshot()
}

// AddContacts uploads contacts that come without a column mapping.
func (s *Service) AddContacts(
	ctx context.Context, p domain.Principal, campaignID string, rows iter.Seq2[domain.RawContact, error],
) (contactlist.UploadSummary, error) {
	return s.UploadContacts(ctx, p, campaignID, contactlist.ContactRows{Rows: rows})
}

// UploadContacts adds contacts to a campaign. It stores the contacts in chunks. The last commit raises the campaign's
// total, which makes all of them visible at once. An interrupted upload adds no contacts.
func (s *Service) UploadContacts(ctx context.Context, p domain.Principal, campaignID string, upload contactlist.ContactRows) (contactlist.UploadSummary, error) {
	return s.ImportContacts(ctx, p, campaignID, upload, domain.MaxContactErrors, nil)
}

// ContactVariables returns the names of the variables that the campaign's pathway declares.
func (s *Service) ContactVariables(ctx context.Context, p domain.Principal, campaignID string) ([]string, error) {
	c, err := s.campaigns.Campaign(ctx, p, campaignID)
	if err != nil {
		return nil, err
	}
	script, err := s.script(ctx, p, c.AgentID, c.PathwayID)
	if domain.CodeOf(err) != "" { // starting the campaign reports an unusable script
		return nil, nil
	}
	names := make([]string, 0, len(script.Pathway.Variables))
	for _, v := range script.Pathway.Variables {
		names = append(names, v.Name)
	}
	return names, err
}

// ImportContacts adds contacts like UploadContacts. The function more can add changes to the last commit. It gets up to
// maxErrors errors of refused rows.
func (s *Service) ImportContacts(
	ctx context.Context, p domain.Principal, campaignID string, upload contactlist.ContactRows, maxErrors int, more func(*commit.Change, *contactlist.Import),
) (contactlist.UploadSummary, error) {
	var empty contactlist.UploadSummary
	c, err := s.campaigns.Campaign(ctx, p, campaignID)
	if err != nil {
		return empty, err
	}
	if c.Status.Final() {
		return empty, contactlist.CampaignOverError(c)
	}
	row := contactlist.NewUpload(p, c)
	running, err := s.uploads.beginUpload(c, row)
	if err != nil {
		return empty, err
	}
	defer s.uploads.release(c.ID)
	before := &domain.Progress{CampaignID: c.ID, WorkspaceID: c.WorkspaceID}
	if _, err = s.store.Get(ctx, before); err != nil && !errors.Is(err, domain.ErrNotFound) {
		return empty, commit.StoreError(err)
	}
	in, err := s.NewImport(ctx, p, c, before, row.CreatedAt)
	if err != nil {
		return empty, err
	}
	if err = record.Create(ctx, s.store, &row); err != nil {
		return empty, err
	}
	in.Store = func(chunks []domain.Record) error {
		_, failed := s.store.Apply(commit.WithoutAudit(ctx), commit.Change{Workspace: c.WorkspaceID, Puts: chunks})
		return commit.StoreError(failed)
	}
	in.Progress, in.Yield, in.MaxErrors, in.Columns = running.setProgress, record.YieldToCalls(ctx, s.onCalls), maxErrors, upload.Columns
	if err = in.Read(upload.Rows); err == nil {
		done := in.CompleteUpload(row)
		if err = s.showContacts(ctx, c, in, done, more); err == nil {
			return contactlist.NewUploadSummary(done), nil
		}
	}
	s.abortUpload(ctx, running.snapshot(), err)
	return empty, err
}

// LockUploads blocks uploads to a campaign and changes of its contacts' numbers until unlock is called. Errors:
// invalid_state while an upload runs, unavailable.
func (s *Service) LockUploads(c *domain.Campaign) (unlock func(), err error) {
	if _, err = s.uploads.beginUpload(c, domain.Upload{Meta: domain.Meta{WorkspaceID: c.WorkspaceID}}); err != nil {
		return nil, err
	}
	return func() { s.uploads.release(c.ID) }, nil
}

// abortUpload undoes a failed upload by deleting its chunks. If that fails, UndoInterruptedUploads repeats it after the
// next start.
func (s *Service) abortUpload(ctx context.Context, u *domain.Upload, cause error) {
	reason := string(domain.CodeOf(cause))
	switch {
	case reason != "":
	case errors.Is(cause, context.Canceled), errors.Is(cause, context.DeadlineExceeded):
		reason = "cancelled"
	default:
		reason = string(domain.CodeInternal)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoTimeout)
	defer cancel()
	if err := s.undoUpload(ctx, u, reason); err != nil {
		s.log.Warn("the contacts of a failed upload could not be deleted; the next start tries again", slog.String("upload_id", u.ID), slog.Any("error", err))
	}
}

// undoUpload sets the status of an upload to failed and deletes its chunks, which are behind the campaign's total. If
// the upload's last commit has succeeded although its result was unknown, undoUpload changes nothing.
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
	if err = s.deleteScreenedChunks(ctx, u, progress.Screened, &change); err != nil {
		return err
	}
	// The last commit changes the upload's status. So an interrupted deletion is repeated after the next start.
	for len(change.Deletes) > chunksPerDelete {
		batch := commit.Change{Workspace: u.WorkspaceID, Guards: change.Guards, Deletes: change.Deletes[:chunksPerDelete]}
		if _, err = s.store.Apply(ctx, batch); err != nil {
			return ignoreConflict(err)
		}
		change.Deletes = change.Deletes[chunksPerDelete:]
	}
	_, err = s.store.Apply(ctx, change)
	return ignoreConflict(err)
}

// deleteScreenedChunks adds to a change the deletion of an upload's chunks of screened-out rows, which are behind the
// campaign's total.
func (s *Service) deleteScreenedChunks(ctx context.Context, u *domain.Upload, screened int, change *commit.Change) error {
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

// ignoreConflict returns nil for a conflict and other errors unchanged. A conflict means that the upload's last commit
// has succeeded although its result was unknown.
func ignoreConflict(err error) error {
	if errors.Is(err, domain.ErrConflict) {
		return nil
	}
	return err
}

// UndoInterruptedUploads deletes the contacts of uploads that were running when an earlier process ended.
func (s *Service) UndoInterruptedUploads(ctx context.Context, workspaceID string) error {
	var open []*domain.Upload
	if err := commit.ForEachRow(ctx, s.store, "upload", workspaceID, "open", func(u *domain.Upload) { open = append(open, u) }); err != nil {
		return err
	}
	for _, u := range open {
		if err := s.undoUpload(ctx, u, domain.UploadInterrupted); err != nil {
			return err
		}
		s.log.Info("deleted the contacts of an interrupted upload", slog.String("upload_id", u.ID), slog.String("campaign_id", u.CampaignID))
	}
	return nil
}

// Upload returns one upload of a campaign. A running upload has its current counts. Errors: not_found.
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

// ListUploads returns a page of a campaign's uploads, the newest first.
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
		if now := s.uploads.current(u.CampaignID, u.ID); now != nil {
			return now
		}
	}
	return u
}

// NewImport returns an import of contacts to a campaign. It applies the workspace's checks to each uploaded contact.
func (s *Service) NewImport(ctx context.Context, p domain.Principal, c *domain.Campaign, before *domain.Progress, at time.Time) (*contactlist.Import, error) {
	checks := contactlist.Checks{Listed: s.dnc.Scrubber(c)}
	if script, err := s.script(ctx, p, c.AgentID, c.PathwayID); err == nil {
		checks.Required = pathway.MissingVariables(&script.Pathway, nil)
	}
	if w := s.workspaces.Workspace(p.WorkspaceID); w != nil {
		checks.Allowed = func(n domain.Number) error { return n.CheckDestination(w.Calling, w.DefaultCountry, c.Environment) }
	}
	return contactlist.NewImport(ctx, s.list, c, before, at, checks)
}

// showContacts makes the stored contacts of an upload visible. One commit raises the campaign's total and completes the
// upload. Its guards make it fail if the campaign's actor has changed the campaign meanwhile.
func (s *Service) showContacts(ctx context.Context, c *domain.Campaign, in *contactlist.Import, done *domain.Upload, more func(*commit.Change, *contactlist.Import)) error {
	received := &domain.Upload{Meta: domain.Meta{ID: done.ID, WorkspaceID: done.WorkspaceID}}
	uploadVersion, err := s.store.Get(ctx, received)
	if err != nil {
		return commit.StoreError(err)
	}
	for range 20 * record.MaxTries {
		now := &domain.Campaign{Meta: domain.Meta{ID: c.ID, WorkspaceID: c.WorkspaceID}}
		campaignVersion, err := s.store.Get(ctx, now)
		if err != nil {
			return commit.StoreError(err)
		}
		if now.Status.Final() { // the campaign ended during the upload
			return contactlist.CampaignOverError(now)
		}
		progress := &domain.Progress{CampaignID: c.ID, WorkspaceID: c.WorkspaceID}
		version, err := s.store.Get(ctx, progress)
		if err != nil {
			return commit.StoreError(err)
		}
		change := commit.Change{
			Workspace: c.WorkspaceID, Puts: []domain.Record{done},
			Guards: []commit.Guard{{Key: now.Key(), Version: campaignVersion}, {Key: done.Key(), Version: uploadVersion}},
		}
		hasNewRows := in.Total > in.Before || in.Screened.Total > in.Screened.Before
		if hasNewRows {
			progress.Total, progress.Screened = in.Total, in.Screened.Total
			change.Puts = append(change.Puts, progress)
			change.Guards = append(change.Guards, commit.Guard{Key: progress.Key(), Version: version})
		}
		change.Puts = append(change.Puts, in.Tails...)
		if more != nil {
			more(&change, in)
		}
		_, err = s.store.Apply(ctx, change)
		if errors.Is(err, domain.ErrConflict) {
			continue
		}
		if err != nil {
			return commit.StoreError(err)
		}
		if hasNewRows {
			s.actors.AwaitContacts(ctx, c, in.Total)
		}
		return nil
	}
	return commit.StoreError(domain.ErrConflict)
}
