package actors

import (
	"context"
	"errors"
	"iter"
	"log/slog"
	"maps"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/ask"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/service/record"
)

const (
	maxUploads = 4 // of a workspace at once: each holds the numbers of its campaign
	tidyLimit  = 15 * time.Second
	tidyAtOnce = 250 // chunks that one commit removes
	// clearEvery is the number of pieces after which an upload clears up what
	// its rows left in memory: the collector is set to let much of it gather.
	clearEvery = 640
)

// uploads are those that are being received.
type uploads struct {
	mu sync.Mutex
	by map[string]*receiving // by campaign
}

// receiving is an upload as it stands.
type receiving struct {
	mu  sync.Mutex
	row domain.Upload
}

func (r *receiving) progress(sum ask.ContactsSummary, errs []ask.ContactError) {
	errs = errs[:min(len(errs), ask.MaxContactErrors)]
	r.mu.Lock()
	r.row.Summary, r.row.Errors = sum, errs
	r.mu.Unlock()
}

// now is the upload as it stands, with the time at which it was looked at.
func (r *receiving) now() *domain.Upload {
	r.mu.Lock()
	defer r.mu.Unlock()
	u := r.row
	u.Errors = slices.Clone(u.Errors)
	u.UpdatedAt = record.Now()
	return &u
}

// hold keeps other uploads and changes of numbers away from a campaign.
func (u *uploads) hold(c *domain.Campaign, row domain.Upload) (*receiving, error) {
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
		u.by = make(map[string]*receiving)
	}
	r := &receiving{row: row}
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

// newUpload is the row of an upload to a campaign.
func newUpload(p domain.Principal, c *domain.Campaign) domain.Upload {
	u := domain.Upload{CampaignID: c.ID, Status: domain.UploadReceiving, Errors: []domain.ContactError{}, Fields: []string{}}
	record.SetMeta(&u.Meta, "upload", p, mailbox.NewID(domain.PrefixUpload), record.Now())
	return u
}

// completed is the row of an upload that has been read to its end.
func (in *intake) completed(u domain.Upload) *domain.Upload {
	at := record.Now()
	u.Status, u.UpdatedAt, u.CompletedAt = domain.UploadCompleted, at, &at
	u.Summary, u.Fields = in.sum, slices.Sorted(maps.Keys(in.fields))
	if in.columns != nil {
		u.ColumnMapping = *in.columns
	}
	if u.Errors = in.errs[:min(len(in.errs), ask.MaxContactErrors)]; u.Errors == nil {
		u.Errors = []domain.ContactError{}
	}
	return &u
}

func summaryOf(u *domain.Upload) ask.UploadSummary {
	return ask.UploadSummary{UploadID: u.ID, Summary: u.Summary, Errors: u.Errors, ColumnMapping: u.ColumnMapping}
}

// AddContacts is UploadContacts of rows that have no columns.
func (d *Desk) AddContacts(
	ctx context.Context, p domain.Principal, campaignID string, rows iter.Seq2[ask.RawContact, error],
) (ask.UploadSummary, error) {
	return d.UploadContacts(ctx, p, campaignID, ask.ContactRows{Rows: rows})
}

// UploadContacts appends to a campaign. The chunks are written ahead,
// invisible, and the campaign's own commit of its new total shows them: an
// upload that is broken off leaves nothing.
func (d *Desk) UploadContacts(ctx context.Context, p domain.Principal, campaignID string, upload ask.ContactRows) (ask.UploadSummary, error) {
	return d.addContacts(ctx, p, campaignID, upload, ask.MaxContactErrors, nil)
}

// ContactVariables are the variables that the pathway of a campaign declares.
func (d *Desk) ContactVariables(ctx context.Context, p domain.Principal, campaignID string) ([]string, error) {
	c, err := d.Campaign(ctx, p, campaignID)
	if err != nil {
		return nil, err
	}
	s, err := d.scriptOf(ctx, p, c.AgentID, c.PathwayID)
	if domain.CodeOf(err) != "" { // a script that cannot be used: the campaign says so when it starts
		return nil, nil
	}
	names := make([]string, 0, len(s.Pathway.Variables))
	for _, v := range s.Pathway.Variables {
		names = append(names, v.Name)
	}
	return names, err
}

// addContacts is UploadContacts whose commit holds what also adds, which sees
// up to most of the errors.
func (d *Desk) addContacts(
	ctx context.Context, p domain.Principal, campaignID string, upload ask.ContactRows, most int, also func(*commit.Change, *intake),
) (ask.UploadSummary, error) {
	var none ask.UploadSummary
	c, err := d.Campaign(ctx, p, campaignID)
	if err != nil {
		return none, err
	}
	if c.Status.Final() {
		return none, overFor(c)
	}
	row := newUpload(p, c)
	now, err := d.uploads.hold(c, row)
	if err != nil {
		return none, err
	}
	defer d.uploads.release(c.ID)
	before := &domain.Progress{CampaignID: c.ID, WorkspaceID: c.WorkspaceID}
	if _, err = d.store.Get(ctx, before); err != nil && !errors.Is(err, domain.ErrNotFound) {
		return none, record.StoreError(err)
	}
	in, err := d.newIntake(ctx, p, c, before, row.CreatedAt)
	if err != nil {
		return none, err
	}
	if err = record.Create(ctx, d.store, &row); err != nil {
		return none, err
	}
	in.keep = func(chunks []domain.Record) error {
		_, failed := d.store.Apply(commit.Alone(ctx), commit.Change{Workspace: c.WorkspaceID, Puts: chunks})
		return record.StoreError(failed)
	}
	in.progress, in.yield, in.most, in.columns = now.progress, d.courtesy(ctx), most, upload.Columns
	if err = in.read(upload.Rows); err == nil {
		done := in.completed(row)
		if err = d.node.contactsAdded(ctx, c, in, done, also); err == nil {
			return summaryOf(done), nil
		}
	}
	d.breakOff(ctx, now.now(), err)
	return none, err
}

// courtesy is how an upload makes way: it clears up behind itself, and gives
// way to live calls.
func (d *Desk) courtesy(ctx context.Context) func() error { return courtesy(ctx, d.onCalls) }

// onCalls says whether there is a live call.
func (d *Desk) onCalls() bool { return d.node.cfg.Media != nil && d.node.cfg.Media.Live() > 0 }

func courtesy(ctx context.Context, onCalls func() bool) func() error {
	pieces, way := 0, giveWay{since: time.Now(), rest: leastRest}
	return func() error {
		if pieces++; pieces%clearEvery == 0 {
			runtime.GC()
		}
		if !onCalls() {
			way.since = time.Now()
			return ctx.Err()
		}
		return way.pause(ctx)
	}
}

// How long an upload rests beside live calls, in times of its work: four
// times, and more while the machine is late.
const (
	leastRest = 4
	mostRest  = 24
	lateBy    = 2 * time.Millisecond
)

// giveWay makes a worker rest after each piece of work. How late it is woken
// tells how busy the machine is: media and dialling wait just as long.
type giveWay struct {
	since time.Time
	rest  int
}

func (g *giveWay) pause(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	rest := min(time.Since(g.since)*time.Duration(g.rest), time.Second)
	from := time.Now()
	t := time.NewTimer(rest)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
		return ctx.Err()
	}
	g.since = time.Now()
	if g.since.Sub(from)-rest > lateBy {
		g.rest = min(2*g.rest, mostRest)
	} else {
		g.rest = max(g.rest-1, leastRest)
	}
	return nil
}

// breakOff takes back what an upload has written. Where that fails now, the
// next start does it.
func (d *Desk) breakOff(ctx context.Context, u *domain.Upload, cause error) {
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
	if err := d.takeBack(ctx, u, reason); err != nil {
		d.log.Warn("a broken upload could not be taken back yet", slog.String("upload_id", u.ID), slog.Any("error", err))
	}
}

// takeBack marks an upload as failed and removes the chunks that it has
// written ahead: those behind the total of its campaign. One that was completed
// after all stays.
func (d *Desk) takeBack(ctx context.Context, u *domain.Upload, reason string) error {
	stored := &domain.Upload{Meta: domain.Meta{ID: u.ID, WorkspaceID: u.WorkspaceID}}
	version, err := d.store.Get(ctx, stored)
	if err != nil {
		return err
	}
	if stored.Status != domain.UploadReceiving {
		return nil
	}
	progress := &domain.Progress{CampaignID: u.CampaignID, WorkspaceID: u.WorkspaceID}
	if _, err = d.store.Get(ctx, progress); err != nil && !errors.Is(err, domain.ErrNotFound) {
		return err
	}
	u.Status, u.Reason, u.UpdatedAt = domain.UploadFailed, reason, record.Now()
	change := commit.Change{Workspace: u.WorkspaceID, Guards: []commit.Guard{{Key: u.Key(), Version: version}}, Puts: []domain.Record{u}}
	first := (progress.Total + domain.ChunkSize - 1) / domain.ChunkSize
	for i := first; i < maxContacts/domain.ChunkSize; i++ {
		change.Deletes = append(change.Deletes, (&domain.ContactChunk{CampaignID: u.CampaignID, WorkspaceID: u.WorkspaceID, Index: i}).Key())
	}
	if err = d.screenedBehind(ctx, u, progress.Screened, &change); err != nil {
		return err
	}
	// The row changes last: what dies in between is taken back again.
	for len(change.Deletes) > tidyAtOnce {
		some := commit.Change{Workspace: u.WorkspaceID, Guards: change.Guards, Deletes: change.Deletes[:tidyAtOnce]}
		if _, err = d.store.Apply(ctx, some); err != nil {
			return conflictIsDone(err)
		}
		change.Deletes = change.Deletes[tidyAtOnce:]
	}
	_, err = d.store.Apply(ctx, change)
	return conflictIsDone(err)
}

// screenedBehind adds to a change the deletion of the screened chunks that an upload
// has written ahead.
func (d *Desk) screenedBehind(ctx context.Context, u *domain.Upload, screened int, change *commit.Change) error {
	after := ""
	if chunks := (screened + domain.ChunkSize - 1) / domain.ChunkSize; chunks > 0 {
		after = (&domain.ScreenedChunk{CampaignID: u.CampaignID, Index: chunks - 1}).Key().ID
	}
	prefix := domain.Key{Kind: "screened", Workspace: u.WorkspaceID, ID: u.CampaignID + "/"}
	return d.store.Under(ctx, prefix, after, maxContacts/domain.ChunkSize, func() domain.Record { return &domain.ScreenedChunk{} }, func(r domain.Record) error {
		change.Deletes = append(change.Deletes, r.Key())
		return nil
	})
}

// conflictIsDone: the upload was completed by a commit that had been thought
// lost, and stays.
func conflictIsDone(err error) error {
	if errors.Is(err, domain.ErrConflict) {
		return nil
	}
	return err
}

// sweepUploads takes back what an earlier process was receiving when it ended.
func (d *Desk) sweepUploads(ctx context.Context, workspaceID string) error {
	var open []*domain.Upload
	if err := commit.Each(ctx, d.store, "upload", workspaceID, "open", func(u *domain.Upload) { open = append(open, u) }); err != nil {
		return err
	}
	for _, u := range open {
		if err := d.takeBack(ctx, u, domain.UploadInterrupted); err != nil {
			return err
		}
		d.log.Info("an upload that was broken off was taken back", slog.String("upload_id", u.ID), slog.String("campaign_id", u.CampaignID))
	}
	return nil
}

// Upload reads one upload of a campaign, as it stands while it is received.
func (d *Desk) Upload(ctx context.Context, p domain.Principal, campaignID, id string) (*domain.Upload, error) {
	c, err := d.Campaign(ctx, p, campaignID)
	if err != nil {
		return nil, err
	}
	u, _, err := record.Get[domain.Upload](ctx, d.store, p, domain.PrefixUpload, id)
	if err != nil {
		return nil, err
	}
	if u.CampaignID != c.ID {
		return nil, record.NotFound("upload")
	}
	return d.standing(u), nil
}

// ListUploads reads a page of a campaign's uploads, the newest first.
func (d *Desk) ListUploads(ctx context.Context, p domain.Principal, campaignID string, page ask.Page) (ask.List[*domain.Upload], error) {
	c, err := d.Campaign(ctx, p, campaignID)
	if err != nil {
		return ask.List[*domain.Upload]{}, err
	}
	l, err := record.List[domain.Upload](ctx, d.store, p.WorkspaceID, "campaign="+c.ID, domain.PrefixUpload, page, nil)
	for i, u := range l.Data {
		l.Data[i] = d.standing(u)
	}
	return l, err
}

func (d *Desk) standing(u *domain.Upload) *domain.Upload {
	if u.Status == domain.UploadReceiving {
		if now := d.uploads.live(u.CampaignID, u.ID); now != nil {
			return now
		}
	}
	return u
}
