package actors

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/callboard/callboard/actors/call"
	"github.com/callboard/callboard/actors/call/leg"
	"github.com/callboard/callboard/actors/lines"
	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/actors/numbers"
	"github.com/callboard/callboard/actors/trunk"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/dnc"
	"github.com/callboard/callboard/domain/event"
	"github.com/callboard/callboard/engines/tracing"
	"github.com/callboard/callboard/service/calls"
	"github.com/callboard/callboard/service/record"
	"github.com/callboard/callboard/sip/registrar"
)

// slotWait bounds how long an order for a call waits for its trunk, openLimit
// how long for the commit before its INVITE. For unopenFor it is looked, each
// unopenEvery, whether a commit of unknown outcome was made after all.
const (
	slotWait    = 8 * time.Second
	openLimit   = 5 * time.Second
	unopenFor   = 30 * time.Second
	unopenEvery = 250 * time.Millisecond
)

// PlaceCall checks an order, takes a line and a trunk, commits the opening of
// its attempt and hands it to the calls.
func (d *Desk) PlaceCall(ctx context.Context, p domain.Principal, o domain.NewCall) (*domain.Call, error) {
	if made, err := record.CreatedBySameRequest[domain.Call](ctx, d.store, p, domain.PrefixCall); made != nil || err != nil {
		return made, err
	}
	return d.placeBy(ctx, p, o, placing{id: record.NewID(ctx, domain.PrefixCall), permit: d.tryLine})
}

// tryLine takes a line that is free now.
func (d *Desk) tryLine(ctx context.Context, from *actor.PID) (lines.Permit, error) {
	return mailbox.Ask[lines.Permit](ctx, d.node.sys, from, lines.Try{})
}

// placing is how a call comes to its line, and what else its commit holds.
type placing struct {
	id     string                                                           // of the call
	permit func(ctx context.Context, from *actor.PID) (lines.Permit, error) // from: the lines of the call's environment
	with   func(*commit.Change, *domain.Call)                               // nil: nothing
}

// PlaceCallWith places a call under an id if a permit is free now, in one commit with
// more.
func (d *Desk) PlaceCallWith(ctx context.Context, p domain.Principal, o domain.NewCall, id string, more func(*commit.Change, *domain.Call)) (*domain.Call, error) {
	return d.placeBy(ctx, p, o, placing{id: id, permit: d.tryLine, with: more})
}

// placeBy is PlaceCall with another way to a line.
func (d *Desk) placeBy(ctx context.Context, p domain.Principal, o domain.NewCall, how placing) (*domain.Call, error) {
	w := d.node.Workspace(p.WorkspaceID)
	if w == nil {
		return nil, d.node.WorkspaceNotFound()
	}
	if err := d.takesCalls(); err != nil {
		return nil, err
	}
	c, script, who, err := d.newCall(ctx, p, w, o, how.id)
	if err != nil {
		return nil, err
	}
	t, err := d.node.workspaceActors(p.WorkspaceID)
	if err != nil {
		return nil, err
	}
	permit, err := how.permit(ctx, t.lines(c.Environment))
	if err != nil {
		return nil, err
	}
	slot, err := d.slot(ctx, t, c, &who)
	if err == nil {
		err = ctx.Err() // nobody waits for the answer any more
	}
	if err == nil {
		err = d.takesCalls() // the way to a line may have been long
	}
	if err == nil && !who.inside() {
		err = d.hoursAllow(o.CallingHours, who.to) // it may have closed since
	}
	if err != nil {
		d.node.sys.Root.Send(t.lines(c.Environment), lines.Return{Permit: permit})
		d.node.sys.Root.Send(t.trunks, trunk.Free{CallID: c.ID})
		return nil, err
	}
	if !who.inside() {
		c.From = slot.From
	}
	a := d.opening(c, slot)
	grant, err := d.mayRing(ctx, t, c, who.inside())
	if err == nil {
		err = d.open(ctx, c, a, grant, how.with)
	}
	if err != nil {
		d.node.sys.Root.Send(t.numbers, numbers.Return{CallID: c.ID})
		d.node.sys.Root.Send(t.lines(c.Environment), lines.Return{Permit: permit})
		d.node.sys.Root.Send(t.trunks, trunk.Return{CallID: c.ID, Key: slot.Key})
		return nil, err
	}
	d.node.sys.Root.Send(t.numbers, numbers.Opened{CallID: c.ID})
	answer := *c
	d.node.sys.Root.Send(t.calls, call.Start{
		Call: *c, Attempt: *a, Script: script, Permit: permit, Slot: slot, Contacts: who.contacts,
		Variables: map[string]string{}, RingTimeout: o.RingTimeout, MaxDuration: o.MaxDuration, CallerID: o.From,
		Scrub: dnc.ScrubAll(c.WorkspaceID, c.Environment),
	})
	return &answer, nil
}

// takesCalls is an error while the service is being stopped, and while an
// operator lets nobody be rung.
func (d *Desk) takesCalls() error {
	if d.node.Draining() {
		return domain.Errorf(domain.CodeUnavailable, "the service is being stopped; try again").With("retry_after", 5)
	}
	return d.node.halts.refusal()
}

// speechless names what an order wants spoken that there is not.
func (d *Desk) speechless(ctx context.Context, p domain.Principal, o *domain.NewCall) error {
	if err := record.CheckAgent(ctx, d.store, p, o.AgentID); err != nil {
		return err
	}
	if err := record.CheckPathway(ctx, d.store, p, o.PathwayID); err != nil {
		return err
	}
	return record.FieldError("agent_id", domain.CodeValidation, "there is no such agent or pathway")
}

// newCall checks an order against the rules and makes its record.
func (d *Desk) newCall(ctx context.Context, p domain.Principal, w *domain.Workspace, o domain.NewCall, id string) (*domain.Call, domain.Script, parties, error) {
	var none domain.Script
	who, err := d.parties(ctx, p, w, o)
	if err != nil {
		return nil, none, parties{}, err
	}
	script, err := d.ScriptForCall(ctx, p, &o)
	if err != nil {
		if domain.CodeOf(err) == domain.CodeNotFound {
			err = d.speechless(ctx, p, &o)
		}
		return nil, none, parties{}, err
	}
	now := record.Now()
	c := &domain.Call{
		RequestTrace: tracing.OfRequest(ctx), Direction: domain.Outbound, From: who.from, To: who.to.E164, AgentID: o.AgentID, AgentVersion: script.Version, PathwayID: script.Pathway.ID,
		Status: domain.CallQueued, Legs: []domain.Leg{}, Attempt: 1, StartedAt: &now,
		Variables: map[string]string{}, Context: o.Context, Record: o.Record,
	}
	record.SetMeta(&c.Meta, "call", p, id, now)
	c.Metadata = o.Metadata
	return c, script, who, nil
}

// parties are who calls whom. A phone of the workspace has contacts, and its
// extension stands where others have a number.
type parties struct {
	from     string
	to       domain.Number
	contacts []registrar.Contact
	media    domain.Trunk // the media settings of that phone
}

func (w parties) inside() bool { return len(w.contacts) > 0 }

// parties reads who is to call whom. Inside the workspace the rules for
// destinations do not apply.
func (d *Desk) parties(ctx context.Context, p domain.Principal, w *domain.Workspace, o domain.NewCall) (parties, error) {
	phone, inside, err := d.FindRegistered(ctx, p, o.To)
	if err != nil {
		return parties{}, err
	}
	if inside {
		from, problem := d.insideCallerID(ctx, p, o.From)
		return parties{from: from, to: domain.Number{E164: phone.Phone.Extension}, contacts: phone.Contacts, media: phone.Phone.MediaTrunk()}, problem
	}
	number, err := d.zones.Number(o.To, w.DefaultCountry)
	if errors.Is(err, domain.ErrPhoneForbidden) {
		return parties{}, &domain.Error{Code: domain.CodeDestination, Param: "to", Message: "to is an emergency number or a short code; these are never called"}
	}
	if err != nil {
		return parties{}, record.FieldError("to", domain.CodeValidation, "to must be a full telephone number, best in E.164, or the extension of a phone")
	}
	if err = number.Allowed(w.Calling, w.DefaultCountry, p.Environment); err != nil {
		return parties{}, err
	}
	if err = d.hoursAllow(o.CallingHours, number); err != nil {
		return parties{}, err
	}
	if err = d.CheckNotListed(ctx, p, number.E164); err != nil {
		return parties{}, err
	}
	return parties{from: o.From, to: number}, d.mayShow(ctx, p, o.From)
}

// insideCaller is shown to a phone where the workspace has no number.
const insideCaller = "agent"

// insideCallerID is what a phone of the workspace is shown: the number asked for, the
// first of the workspace, or insideCaller.
func (d *Desk) insideCallerID(ctx context.Context, p domain.Principal, from string) (string, error) {
	own, err := d.CallerIDs(ctx, p)
	return cmp.Or(slices.Concat([]string{from}, own, []string{insideCaller})...), err
}

func (d *Desk) hoursAllow(h *domain.CallingHours, to domain.Number) error {
	if h == nil {
		return nil
	}
	window, err := d.zones.Window(*h, to)
	if err != nil {
		return err
	}
	now := time.Now()
	if window.Allows(now) {
		return nil
	}
	e := domain.Errorf(domain.CodeOutsideCallingHours, "it is outside the calling hours of this number")
	if next, ok := window.Next(now); ok {
		e = e.With("next_allowed_at", next.UTC())
	}
	return e
}

// mayShow refuses a caller ID that the workspace does not have. The test
// environment shows any number. Which trunk may show it is the routing's to say.
func (d *Desk) mayShow(ctx context.Context, p domain.Principal, from string) error {
	if from == "" || p.Environment == domain.Test {
		return nil
	}
	own, err := d.CallerIDs(ctx, p)
	if err != nil || slices.Contains(own, from) {
		return err
	}
	return record.FieldError("from", domain.CodeCallerIDNotAllowed, from+" is neither a number of the workspace nor in caller_ids of a trunk: add it there, or register it with POST /v1/phone-numbers")
}

// slot asks the trunks for a way to the number. A phone needs none.
func (d *Desk) slot(ctx context.Context, t *tree, c *domain.Call, who *parties) (trunk.Slot, error) {
	if who.inside() {
		return trunk.Slot{CallID: c.ID, Target: who.contacts[0].Target, Phone: &who.media}, nil
	}
	bound, cancel := context.WithTimeout(ctx, slotWait)
	defer cancel()
	got, err := mailbox.Ask[any](bound, d.node.sys, t.trunks, trunk.Want{
		To: c.To, From: c.From, Environment: c.Environment, CallID: c.ID, Checked: true,
	})
	if err != nil {
		return trunk.Slot{}, err
	}
	switch m := got.(type) {
	case trunk.Slot:
		return m, nil
	case trunk.NoSlot:
		if m.Err != nil {
			return trunk.Slot{}, m.Err
		}
		if m.Reason == trunk.NoTrunk || m.Reason == trunk.Exhausted {
			return trunk.Slot{}, domain.Errorf(domain.CodeNoTrunk, "no trunk takes this number; create one with POST /v1/trunks")
		}
		wait := 1
		if left := time.Until(m.Until); left > 0 {
			wait = int(left/time.Second) + 1
		}
		return trunk.Slot{}, domain.Errorf(domain.CodeUnavailable, "every trunk for this number is busy (%s); try again", m.Reason).With("retry_after", wait)
	}
	return trunk.Slot{}, domain.Errorf(domain.CodeUnavailable, "the trunks did not answer; try again")
}

// opening is the attempt row of a single call: durable before the INVITE.
func (d *Desk) opening(c *domain.Call, slot trunk.Slot) *domain.Attempt {
	now := record.Now()
	return &domain.Attempt{
		ID: c.ID, WorkspaceID: c.WorkspaceID, Environment: c.Environment, CallID: c.ID, Number: 1,
		Direction: c.Direction, Boot: d.node.boot, OpenedAt: now, Tariff: d.node.tariff(c.WorkspaceID),
		Legs: []domain.AttemptLeg{leg.FirstRow(d.node.cfg.SIP, c.ID, &slot, c.To, c.From)},
	}
}

// open commits the opening of a single call. Whoever ordered it may hang up in
// between: the commit goes on. Where its outcome is not known the call is not
// placed, and what may have been stored of it is ended.
func (d *Desk) open(ctx context.Context, c *domain.Call, a *domain.Attempt, grant numbers.Granted, with func(*commit.Change, *domain.Call)) error {
	unit := domain.Unit(c.WorkspaceID)
	if c.AgentID != "" {
		unit = domain.Unit(c.AgentID)
	}
	bound, cancel := context.WithTimeout(context.WithoutCancel(ctx), openLimit)
	defer cancel()
	change := commit.Change{
		Workspace: c.WorkspaceID, Guards: append(grant.Guards, commit.Absent(a.Key())), Puts: append(grant.Puts, c, a),
		Events: []event.Draft{record.WithTrace(record.NewEvent(&c.Meta, event.CallStarted, c.ID, unit, event.CallOf(c)), c.RequestTrace)},
	}
	if with != nil {
		with(&change, c)
	}
	_, err := d.store.Apply(bound, change)
	d.node.Committed(c.WorkspaceID)
	if err != nil && !errors.Is(err, domain.ErrConflict) && !errors.Is(err, domain.ErrFenced) {
		d.node.RunInBackground(func() { d.unopen(*c, *a) })
	}
	return record.StoreError(err)
}

// unopen ends what a commit of unknown outcome may have opened. What it does
// not reach before the process ends is interrupted at the next start.
func (d *Desk) unopen(c domain.Call, a domain.Attempt) {
	wait := time.NewTicker(unopenEvery)
	defer wait.Stop()
	for end := time.Now().Add(unopenFor); time.Now().Before(end) && !d.node.Draining(); <-wait.C {
		if done := d.unopenOnce(&c, &a); done {
			d.node.Committed(c.WorkspaceID)
			return
		}
	}
}

func (d *Desk) unopenOnce(c *domain.Call, a *domain.Attempt) (done bool) {
	ctx, cancel := context.WithTimeout(context.Background(), openLimit)
	defer cancel()
	row := &domain.Attempt{ID: a.ID, WorkspaceID: a.WorkspaceID}
	version, err := d.store.Get(ctx, row)
	if err != nil {
		return false // it may still come
	}
	change := call.EndChange(call.NotStarted(*c, *a, record.Now()), record.Now())
	change.Guards = append(change.Guards, commit.Guard{Key: row.Key(), Version: version})
	_, err = d.store.Apply(ctx, change)
	return err == nil
}

// Call reads one call.
func (d *Desk) Call(ctx context.Context, p domain.Principal, id string) (*domain.Call, error) {
	c, _, err := record.Get[domain.Call](ctx, d.store, p, domain.PrefixCall, id)
	return c, err
}

// ListCalls reads a page.
func (d *Desk) ListCalls(ctx context.Context, p domain.Principal, q calls.Query) (record.Page[*domain.Call], error) {
	if q.CampaignID != "" {
		if _, err := d.Campaign(ctx, p, q.CampaignID); err != nil {
			return record.Page[*domain.Call]{}, err
		}
	}
	look := search{words: q.Said, left: searchMost}
	if q.Said != nil {
		if _, busy := d.searches.LoadOrStore(p.WorkspaceID, true); busy {
			return record.Page[*domain.Call]{}, domain.Errorf(domain.CodeRateLimit, "another search in transcripts is running in this workspace; try again").With("limit", 1).With("retry_after", 1)
		}
		defer d.searches.Delete(p.WorkspaceID)
	}
	out, err := record.ListLimited(ctx, d.store, p.WorkspaceID, callIndex(p, q), domain.PrefixCall, q.PageQuery, func(c *domain.Call) bool {
		return c.Environment == p.Environment && (q.CampaignID == "" || c.CampaignID == q.CampaignID) &&
			(q.Status == "" || q.Status == "active" && !c.Final() || string(c.Status) == q.Status) &&
			(q.ContactID == "" || c.ContactID == q.ContactID) && (q.AgentID == "" || c.AgentID == q.AgentID) &&
			(q.Direction == "" || c.Direction == q.Direction) && (q.Said == nil || d.said(ctx, c, &look))
	}, func() int { return look.left })
	if err == nil {
		err = look.err
	}
	return out, err
}

// searchMost is how many transcripts one page of a search reads.
const searchMost = 300

// search looks for words in transcripts.
type search struct {
	words domain.Spoken
	left  int   // transcripts that may be read still
	err   error // the first of the store: the search is over
}

// said says whether words were said in a call. A damaged transcript is passed
// over: it would end every search for good.
func (d *Desk) said(ctx context.Context, c *domain.Call, look *search) bool {
	if !c.TranscriptAvailable || look.err != nil {
		return false
	}
	look.left--
	t := &domain.Transcript{CallID: c.ID, WorkspaceID: c.WorkspaceID}
	_, err := d.store.Get(ctx, t)
	switch {
	case err == nil:
		return look.words.In(t)
	case errors.Is(err, domain.ErrNotFound):
	case errors.Is(err, domain.ErrDamaged):
		d.log.Error("a transcript is damaged; searches pass it over", slog.String("workspace_id", c.WorkspaceID), slog.String("call_id", c.ID))
	default:
		look.err, look.left = record.StoreError(err), 0
	}
	return false
}

// callIndex is the list of calls with the fewest that a query does not ask for.
func callIndex(p domain.Principal, q calls.Query) string {
	switch {
	case q.ContactID != "":
		return "contact=" + q.ContactID
	case q.Status == "active":
		return "active=" + string(p.Environment)
	case q.CampaignID != "":
		return "campaign=" + q.CampaignID
	case q.AgentID != "":
		return "agent=" + q.AgentID
	case q.Status != "":
		return "status=" + string(p.Environment) + "/" + q.Status
	}
	return record.EnvironmentIndex(p)
}

// HangupCall ends a live call.
func (d *Desk) HangupCall(ctx context.Context, p domain.Principal, id string) (*domain.Call, error) {
	c, err := d.Call(ctx, p, id)
	if err != nil {
		return nil, err
	}
	if c.Final() {
		return nil, domain.Errorf(domain.CodeInvalidState, "the call is over").With("current_status", c.Status)
	}
	t, err := d.node.workspaceActors(p.WorkspaceID)
	if err != nil {
		return nil, err
	}
	if _, err := mailbox.Ask[call.HungUp](ctx, d.node.sys, t.calls, call.Hangup{CallID: c.ID}); err != nil {
		return nil, err
	}
	return d.Call(ctx, p, id)
}

// Transcript reads what was said.
func (d *Desk) Transcript(ctx context.Context, p domain.Principal, callID string) (*domain.Transcript, error) {
	c, err := d.Call(ctx, p, callID)
	if err != nil {
		return nil, err
	}
	if !c.TranscriptAvailable {
		return nil, record.NotAvailable(c, "transcript")
	}
	t := &domain.Transcript{CallID: c.ID, WorkspaceID: c.WorkspaceID}
	if _, err := d.store.Get(ctx, t); err != nil {
		if errors.Is(err, domain.ErrNotFound) {
			return nil, record.NotFound("transcript")
		}
		return nil, record.StoreError(err)
	}
	return t, nil
}
