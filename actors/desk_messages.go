package actors

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"
	"unicode/utf8"

	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/ask"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/dnc"
	"github.com/callboard/callboard/domain/event"
	"github.com/callboard/callboard/domain/pathway"
	"github.com/callboard/callboard/domain/routing"
	"github.com/callboard/callboard/domain/sms"
	"github.com/callboard/callboard/engines/tracing"
	"github.com/callboard/callboard/service/record"
)

// SendMessage checks a message against the rules and queues it, durably. With
// a test key the built-in carrier takes it; a live one goes to a trunk or a
// gateway.
func (d *Desk) SendMessage(ctx context.Context, p domain.Principal, o ask.NewMessage) (*domain.Message, error) {
	if made, err := record.CreatedBySameRequest[domain.Message](ctx, d.store, p, domain.PrefixMessage); made != nil || err != nil {
		return made, err
	}
	return d.sendMessage(ctx, p, o, record.NewID(ctx, domain.PrefixMessage))
}

// sendMessage is SendMessage under an id, in a commit with more.
func (d *Desk) sendMessage(ctx context.Context, p domain.Principal, o ask.NewMessage, id string, more ...func(*commit.Change)) (*domain.Message, error) {
	w := d.node.Workspace(p.WorkspaceID)
	if w == nil {
		return nil, d.node.WorkspaceNotFound()
	}
	number, err := d.zones.Number(o.To, w.DefaultCountry)
	if errors.Is(err, domain.ErrPhoneForbidden) {
		return nil, &domain.Error{Code: domain.CodeDestination, Param: "to", Message: "to is an emergency number or a short code; these get no messages"}
	}
	if err != nil {
		return nil, record.FieldError("to", domain.CodeValidation, "to must be a full telephone number, best in E.164")
	}
	if err = number.Allowed(w.Calling, w.DefaultCountry, p.Environment); err != nil {
		return nil, err
	}
	body, err := filledBody(o)
	if err != nil {
		return nil, err
	}
	if err = d.mayWrite(ctx, p, number.E164); err != nil {
		return nil, err
	}
	from, err := d.sender(ctx, p, w, o.From, number.E164)
	if err != nil {
		return nil, err
	}
	if err = d.carried(ctx, p, from, number.E164); err != nil {
		return nil, err
	}
	m := &domain.Message{
		RequestTrace: tracing.OfRequest(ctx), Direction: domain.Outbound, From: from, To: number.E164, Body: body, Media: o.Media, Status: domain.MessageQueued, Context: o.Context, Todo: sendTodo(p.Environment),
	}
	m.ID, m.Metadata = id, o.Metadata
	d.newMessage(m, p)
	if err = d.mayPay(ctx, m); err != nil {
		d.node.textPaid(m, false) // an answer that came too late may have set it aside
		return nil, err
	}
	if err = record.Create(ctx, d.store, m, more...); err != nil {
		d.node.textPaid(m, false) // should it be there after all, it asks again before it goes
		return nil, err
	}
	d.messages.Wake(p.WorkspaceID)
	return m, nil
}

// mayPay refuses a live message that would cost more than the workspace may
// still spend on the day, and sets aside what it costs until it is settled.
func (d *Desk) mayPay(ctx context.Context, m *domain.Message) error {
	w := d.node.Workspace(m.WorkspaceID)
	if m.Environment != domain.Live || w == nil || w.Calling.DailySpendCap == nil {
		return nil
	}
	return d.node.mayText(ctx, w, m.Environment, m.ID, m.To, m.Segments)
}

// carried refuses a live message that no trunk and no gateway would carry. The
// trunk of its sender decides the route. Errors: no_sms_route,
// destination_not_allowed.
func (d *Desk) carried(ctx context.Context, p domain.Principal, from, to string) error {
	if p.Environment == domain.Test {
		return nil
	}
	ways, err := d.waysOf(ctx, p.WorkspaceID, p.Environment, routing.Call{From: from, To: to})
	if err == nil && len(ways) == 0 {
		return errNoSMSRoute()
	}
	return err
}

func errNoSMSRoute() error {
	return domain.Errorf(domain.CodeNoSMSRoute, "no trunk and no SMS gateway of this workspace carries such text messages; with a test key the built-in carrier takes them")
}

// sendTodo is what is to be done with a message that is queued.
func sendTodo(env domain.Environment) domain.MessageTodo {
	if env == domain.Test {
		return domain.TodoSend
	}
	return domain.TodoCarry
}

func (d *Desk) newMessage(m *domain.Message, p domain.Principal) {
	if m.ID == "" {
		m.ID = mailbox.NewID(domain.PrefixMessage)
	}
	record.SetMeta(&m.Meta, "message", p, m.ID, record.Now())
	m.MessageID = m.ID
	m.Segments, m.Encoding = sms.Segments(m.Body)
}

// filledBody puts the context into the text. What is left must fit still.
func filledBody(o ask.NewMessage) (string, error) {
	values := make(map[string]string, len(o.Context))
	for name := range o.Context {
		if v, ok := o.Context.Text(name); ok {
			values[name] = v
		}
	}
	body, left := pathway.Fill(o.Body, values)
	var problems domain.Problems
	for _, name := range left {
		problems.Add("context."+name, domain.CodeValidation, "is required: body uses it and has no fallback")
	}
	if n := utf8.RuneCountInString(body); n > sms.MaxBody {
		problems.Add("body", domain.CodeValidation, "has %d letters once the context is filled in; %d at most", n, sms.MaxBody)
	}
	return body, problems.Err()
}

// mayWrite refuses a number that opted out, or is on the default list.
func (d *Desk) mayWrite(ctx context.Context, p domain.Principal, e164 string) error {
	hit, err := d.node.dnc.Check(ctx, p.WorkspaceID, dnc.ScrubAll(p.WorkspaceID, p.Environment), e164)
	switch {
	case err != nil:
		return record.StoreError(err)
	case hit == nil:
		return nil
	case hit.Origin.Source == domain.DNCOptOut:
		return domain.Errorf(domain.CodeOptedOut, "this number has asked for no more messages and calls")
	}
	return dnc.Blocked()
}

// sender is the number that a message comes from: the one asked for, or else one
// of the route that the message takes, where a number for messages comes first.
func (d *Desk) sender(ctx context.Context, p domain.Principal, w *domain.Workspace, from, to string) (string, error) {
	switch {
	case from == "" && p.Environment == domain.Test:
		return d.testSender(ctx, p)
	case from == "":
		return d.senderOfRoute(ctx, p, to)
	}
	e164, err := domain.E164(from, w.DefaultCountry)
	if err != nil {
		return "", record.FieldError("from", domain.CodeValidation, "from must be a full telephone number, best in E.164")
	}
	if own, err := d.numberNamed(ctx, p.WorkspaceID, p.Environment, e164); err != nil {
		return "", err
	} else if own != nil && !own.SMSEnabled && p.Environment == domain.Live {
		return "", record.FieldError("from", domain.CodeValidation, "from is a number that sends no messages: set its sms_enabled")
	}
	return e164, d.mayShow(ctx, p, e164)
}

// senderOfRoute is the number that the best route to a number shows.
func (d *Desk) senderOfRoute(ctx context.Context, p domain.Principal, to string) (string, error) {
	all, _, err := d.carriers(ctx, p.WorkspaceID, p.Environment)
	if err != nil {
		return "", err
	}
	if len(all) == 0 {
		return "", errNoSMSRoute()
	}
	call := routing.Call{To: to, Environment: p.Environment}
	best, refused := routing.Trunks(all, call)
	if len(best) == 0 {
		return "", cmp.Or(refused, errNoSMSRoute())
	}
	t := all[best[0]]
	number, err := d.textNumber(ctx, p, func(number string) bool { return slices.Contains(t.CallerIDs, number) })
	if err != nil || number != "" {
		return number, err
	}
	return routing.CallerID(t, call)
}

// testSender is the sender of the test environment: a number for messages, any
// other number of the workspace, or one of the test carrier.
func (d *Desk) testSender(ctx context.Context, p domain.Principal) (string, error) {
	number, err := d.textNumber(ctx, p, func(string) bool { return true })
	if err != nil || number != "" {
		return number, err
	}
	own, err := d.CallerIDs(ctx, p)
	if err != nil || len(own) == 0 {
		return domain.MagicPrefix + "0100", err
	}
	return own[0], nil
}

// textNumber is the first live number of the workspace that sends messages and
// that may be used; "": there is none.
func (d *Desk) textNumber(ctx context.Context, p domain.Principal, may func(number string) bool) (string, error) {
	numbers, err := d.liveNumbers(ctx, p.WorkspaceID, p.Environment)
	for _, n := range numbers {
		if n.SMSEnabled && may(n.Number) {
			return n.Number, err
		}
	}
	return "", err
}

// Message reads one.
func (d *Desk) Message(ctx context.Context, p domain.Principal, id string) (*domain.Message, error) {
	m, _, err := record.Get[domain.Message](ctx, d.store, p, domain.PrefixMessage, id)
	return m, err
}

// ListMessages reads a page of the narrowest list that a query names.
func (d *Desk) ListMessages(ctx context.Context, p domain.Principal, q ask.MessageQuery) (ask.List[*domain.Message], error) {
	index, e := record.EnvironmentIndex(p), string(p.Environment)
	if q.Direction != "" {
		index = "direction=" + e + "/" + string(q.Direction)
	}
	if q.Status != "" {
		index = "status=" + e + "/" + string(q.Status)
	}
	if q.From != "" {
		index = "from=" + e + "/" + q.From
	}
	if q.To != "" {
		index = "to=" + e + "/" + q.To
	}
	if q.Conversation != "" {
		index = "conversation=" + q.Conversation
	}
	return record.List(ctx, d.store, p.WorkspaceID, index, domain.PrefixMessage, q.Page, func(m *domain.Message) bool {
		return m.Environment == p.Environment && (q.Conversation == "" || m.ConversationID == q.Conversation) && (q.Status == "" || m.Status == q.Status) && (q.Direction == "" || m.Direction == q.Direction) &&
			(q.To == "" || m.To == q.To) && (q.From == "" || m.From == q.From)
	})
}

// DeleteMessage removes a message. The events that told of it stay as long as
// the workspace does.
func (d *Desk) DeleteMessage(ctx context.Context, p domain.Principal, id string) error {
	return record.Delete(ctx, d.store, p, domain.PrefixMessage, id, func(_ *commit.Change, m *domain.Message) error {
		if m.Todo != "" {
			return domain.Errorf(domain.CodeInvalidState, "a message that is on its way cannot be deleted").With("current_status", m.Status)
		}
		return nil
	})
}

// TestInboundMessage lets the built-in carrier send a message.
func (d *Desk) TestInboundMessage(ctx context.Context, p domain.Principal, o ask.InboundMessage) (*domain.Message, error) {
	if p.Environment != domain.Test {
		return nil, domain.Errorf(domain.CodeInvalidState, "the built-in carrier sends messages with a test key only")
	}
	if made, err := record.CreatedBySameRequest[domain.Message](ctx, d.store, p, domain.PrefixMessage); made != nil || err != nil {
		return made, err
	}
	m := &domain.Message{
		Meta: domain.Meta{ID: record.NewID(ctx, domain.PrefixMessage), WorkspaceID: p.WorkspaceID, Environment: p.Environment},
		From: o.From, To: o.To, Body: o.Body, Media: o.Media,
	}
	_, err := d.takeIn(ctx, m, nil)
	return m, err
}

// takeIn keeps a message that came in, with what follows from it. seen, if it
// is told, makes sure that it is taken once: known says that it was before.
func (d *Desk) takeIn(ctx context.Context, m *domain.Message, seen *domain.TextSeen) (known bool, err error) {
	end, err := d.revising.Lock(ctx, "sms "+m.WorkspaceID+m.From) // an opt-out is answered once
	if err != nil {
		return false, err
	}
	defer end()
	fresh := *m
	for range record.MaxTries { // its opt-out may end a conversation that is being answered
		*m = fresh
		if known, err = d.takeOnce(ctx, m, seen); !errors.Is(err, domain.ErrConflict) {
			return known, record.StoreError(err)
		}
	}
	return false, record.StoreError(err)
}

func (d *Desk) takeOnce(ctx context.Context, m *domain.Message, seen *domain.TextSeen) (known bool, err error) {
	c := commit.Change{Workspace: m.WorkspaceID}
	if seen != nil {
		if _, err = d.store.Get(ctx, seen); err == nil {
			return true, nil
		} else if !errors.Is(err, domain.ErrNotFound) {
			return false, err
		}
		c.Guards = append(c.Guards, commit.Absent(seen.Key()))
		c.Puts = append(c.Puts, seen)
	}
	if err = d.received(ctx, &c, m); err != nil {
		return false, err
	}
	if seen != nil {
		seen.MessageID = m.ID
	}
	if _, err = d.store.Apply(ctx, c); err != nil {
		return false, err
	}
	d.node.Committed(m.WorkspaceID)
	d.messages.Wake(m.WorkspaceID)
	d.texting.Wake(m.WorkspaceID)
	return false, nil
}

// received adds a message that came in to a commit, with its event and the one
// notice that answers an opt-out. From here on nobody is rung or written to who
// opted out, whether or not the store answers.
func (d *Desk) received(ctx context.Context, c *commit.Change, m *domain.Message) error {
	t := d.node.tree(m.WorkspaceID)
	if t == nil { // it has not begun here, or ends: nobody knows what must not be kept
		return domain.Errorf(domain.CodeUnavailable, "the workspace is not ready to take messages; try again").With("retry_after", 1)
	}
	p := domain.Principal{WorkspaceID: m.WorkspaceID, Environment: m.Environment}
	m.Direction, m.Status = domain.Inbound, domain.MessageReceived
	d.newMessage(m, p)
	number, err := dnc.Number(m.From)
	if m.OptOut = err == nil && sms.OptOut(m.Body); m.OptOut {
		if err = d.heardStop(ctx, c, m, number); err != nil {
			return err
		}
	}
	m.Body = t.redactor().Text(m.Body) // behind the look for an opt-out
	if err = d.toAnswer(ctx, c, p, m); err != nil {
		return err
	}
	c.Puts = append(c.Puts, m)
	c.Events = append(c.Events, record.NewEvent(&m.Meta, event.SMSReceived, m.ID, domain.Unit(m.WorkspaceID), event.ReceivedOf(m)))
	return nil
}

// heardStop lets an opt-out be kept and answered, unless it is already or is
// about to be.
func (d *Desk) heardStop(ctx context.Context, c *commit.Change, m *domain.Message, number uint64) error {
	scrub := dnc.Scrub{Default: domain.DefaultDNCID(m.WorkspaceID, m.Environment), OptOutsOnly: true}
	d.node.dnc.OptOut(m.WorkspaceID, scrub.Default, number)
	claim := stopHeard(m)
	_, err := d.store.Get(ctx, claim) // before the list is looked at: it goes when the number stands there
	if err != nil && !errors.Is(err, domain.ErrNotFound) {
		return record.StoreError(err)
	}
	heard := err == nil || slices.ContainsFunc(c.Puts, func(r domain.Record) bool { return r.Key() == claim.Key() })
	hit, err := d.node.dnc.Stored(ctx, m.WorkspaceID, scrub, number)
	switch {
	case err != nil:
		return record.StoreError(err)
	case hit != nil:
		d.node.dnc.Opted(m.WorkspaceID, scrub.Default, number)
		return nil
	case heard:
		return nil
	}
	m.Todo = domain.TodoOptOut
	notice := &domain.Message{
		Direction: domain.Outbound, From: m.To, To: m.From, Body: sms.Notice, Status: domain.MessageQueued, Notice: true, ReplyTo: m.ID, Todo: sendTodo(m.Environment),
	}
	d.newMessage(notice, domain.Principal{WorkspaceID: m.WorkspaceID, Environment: m.Environment})
	c.Guards = append(c.Guards, commit.Absent(claim.Key()))
	c.Puts = append(c.Puts, claim, notice)
	return nil
}

// stopRow stands from an opt-out until its number is on the list, so that
// whoever says it twice meanwhile is answered once.
type stopRow struct {
	WorkspaceID string             `json:"workspace_id"`
	Environment domain.Environment `json:"environment"`
	Number      string             `json:"number"`
}

func stopHeard(m *domain.Message) *stopRow {
	return &stopRow{WorkspaceID: m.WorkspaceID, Environment: m.Environment, Number: m.From}
}

// Key names the row, by a digest of the number: errors of the store name rows.
func (s *stopRow) Key() domain.Key {
	sum := sha256.Sum256([]byte(s.Number))
	return domain.Key{Kind: "sms_stop", Workspace: s.WorkspaceID, ID: string(s.Environment) + "/" + hex.EncodeToString(sum[:])}
}

// Indexes: none.
func (s *stopRow) Indexes() []string { return nil }

// Sort is of no use.
func (s *stopRow) Sort() string { return "" }
