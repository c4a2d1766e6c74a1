package sms

import (
	"context"
	"log/slog"
	"maps"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/callboard/callboard/actors/conversation"
	"github.com/callboard/callboard/actors/mailbox"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/commit"
	"github.com/callboard/callboard/domain/dnc"
	"github.com/callboard/callboard/domain/pathway"
	"github.com/callboard/callboard/domain/sms"
	"github.com/callboard/callboard/service/record"
)

// Bounds of one reply.
const (
	replyLimit      = 90 * time.Second // language models and tools have limits of their own
	maxSteps        = 12               // requests to language models, and actions
	storeLimit      = 10 * time.Second // to store the result
	interruptedText = "the service ended while this was done: nobody knows whether it was"
)

// answerMessage answers one message.
func (svc *Service) answerMessage(ctx context.Context, key domain.Key) error {
	m, version, err := svc.MessageByKey(ctx, key)
	if err != nil || m == nil || m.Todo != domain.TodoAnswer {
		return err
	}
	p := domain.Principal{WorkspaceID: m.WorkspaceID, Environment: m.Environment}
	t, known, err := svc.openConversation(ctx, m)
	if err != nil {
		return err
	}
	a := &reply{svc: svc, p: p, message: m, messageVersion: version, talk: t, version: known}
	if m.Answering != "" && (t == nil || t.ID != m.Answering) { // the conversation was closed meanwhile: nothing is repeated
		m.ConversationID, a.talk = m.Answering, nil
		return a.done(nil)
	}
	if t != nil && !t.HasLastMessage(m.ID) && t.StatusAt(m.CreatedAt) == domain.TextingTimedOut {
		t.End(domain.TextingTimedOut, "", t.ExpiresAt)
		if err = a.keep(nil); err != nil {
			return err
		}
		a.talk = nil
	}
	if a.talk == nil {
		s, err := svc.answeringScript(ctx, p, m.To)
		if err != nil {
			return err
		}
		if s == nil {
			return a.done(nil)
		}
		now := record.Now()
		if many, err := svc.reachedMaxReplies(ctx, m, s, now); err != nil {
			return err
		} else if many {
			svc.cfg.Log.Info("a text message is not answered: its sender has had max_replies", slog.String("message_id", m.ID))
			return a.done(nil)
		}
		a.begin(s, now)
	}
	return a.answer(ctx)
}

// reply is the answer to one message in the making.
type reply struct {
	svc            *Service
	p              domain.Principal
	message        *domain.Message
	messageVersion uint64
	talk           *domain.Texting
	version        uint64 // of talk; 0: not stored yet
	turn           *domain.TextingTurn
	models, acts   int // requests and actions of the turn so far
	asked          int // requests and actions that no earlier try has stored
	err            error
	optOut         bool
}

// begin begins a conversation.
func (a *reply) begin(s *domain.Script, now time.Time) {
	m := a.message
	a.version = 0
	a.talk = &domain.Texting{
		AgentID: s.AgentID, AgentVersion: s.Version, PathwayID: s.Pathway.ID, Number: m.To, Contact: m.From, Status: domain.TextingOpen,
		LastAt: now, ExpiresAt: now.Add(timeout(s)), Variables: map[string]string{}, Script: s,
	}
	a.talk.Init("sms_conversation", a.p, mailbox.NewID(domain.PrefixConversation), now)
}

// answer replays the conversation from its beginning up to the message, and stores it with
// the reply.
func (a *reply) answer(ctx context.Context) error {
	t, now := a.talk, record.Now()
	if refused, err := a.refused(ctx); err != nil || refused != "" {
		if err == nil {
			t.End(domain.TextingFailed, refused, now)
			err = a.done(nil)
		}
		return err
	}
	if t.Replies >= t.Script.SMS.MaxReplies || len(t.Turns) > 2*t.Script.SMS.MaxReplies { // silent until it times out: two machines could write to each other forever
		t.Reason = "max_replies"
		return a.done(nil)
	}
	if !t.HasLastMessage(a.message.ID) {
		t.Turns = append(t.Turns, domain.TextingTurn{MessageID: a.message.ID, Text: a.message.Body})
	}
	values := pathway.RuntimeVariables(t.Script, t.CreatedAt)
	values["phone"], values["caller_number"], values["called_number"] = t.Contact, t.Contact, t.Number
	play := &pathway.TextSession{State: pathway.New(*t.Script, values)}
	play.Model, play.RunAction = a.model(ctx, play), a.hand(ctx)
	var dos []pathway.Command
	for i := range t.Turns {
		a.turn, a.models, a.acts = &t.Turns[i], 0, 0
		dos = nil
		if i == 0 {
			dos = play.StartSession()
		}
		dos = append(dos, a.feed(play, i == 0)...)
	}
	if a.err != nil {
		return a.err
	}
	body := a.body(dos)
	redactor, err := a.svc.cfg.Redactor(a.p.WorkspaceID)
	if err != nil {
		return err
	}
	r := play.State.Result() // unredacted values are recomputed for the next reply
	t.Outcome, t.Intent, t.Notes, t.Variables = r.Outcome, r.Intent, redactor.RedactText(r.Notes), maps.Clone(redactor.RedactMap(r.Variables))
	now = record.Now()
	t.LastAt, t.UpdatedAt = now, now
	t.ExpiresAt = now.Add(timeout(t.Script))
	switch {
	case play.State.Over():
		t.End(domain.TextingCompleted, "", now)
	case a.optOut:
		t.End(domain.TextingClosed, "opt_out", now)
	}
	return a.done(a.reply(body))
}

// refused returns why the contact must not or cannot get messages; "": no reason.
func (a *reply) refused(ctx context.Context) (string, error) {
	w := a.svc.cfg.Workspaces.Workspace(a.p.WorkspaceID)
	if w == nil {
		return "", a.svc.cfg.Workspaces.WorkspaceNotFound()
	}
	number, err := domain.ParseNumber(a.talk.Contact, w.DefaultCountry)
	if err == nil {
		err = number.CheckDestination(w.Calling, w.DefaultCountry, a.p.Environment)
	} else {
		err = domain.FieldError("to", domain.CodeDestinationNotAllowed, "there is nobody to be written to")
	}
	if err == nil {
		err = a.svc.CheckRecipient(ctx, a.p, number.E164)
	}
	if err == nil {
		err = a.svc.checkRoute(ctx, a.p, a.talk.Number, number.E164)
	}
	if err == nil || record.IsRetryable(err) {
		return "", err
	}
	return string(domain.CodeOf(err)), nil
}

// feed passes the text of the contact to the pathway. The first message begins the
// conversation: it counts as an answer only if the pathway understands it.
func (a *reply) feed(play *pathway.TextSession, first bool) []pathway.Command {
	text := a.turn.Text
	dos := unreached(play)
	if play.State.Over() {
		return dos
	}
	keyed, keys := pathway.ParseKeys(text)
	keys = keys && keyed != "" && !strings.ContainsAny(keyed, "ABCD")
	switch {
	case first && !play.WaitsForSpeech() && !play.State.Understands(text):
		return dos
	case keys:
		dos = append(dos, play.PressKeys(keyed)...)
	case play.HearsSpeech():
		dos = append(dos, play.Speak(text)...)
	default:
		dos = append(dos, play.PressKeys("")...)
	}
	return append(dos, unreached(play)...)
}

// unreached ends transfers as failed: nobody is called because of a message.
func unreached(play *pathway.TextSession) (dos []pathway.Command) {
	for range maxSteps {
		if !play.IsTransferring() {
			break
		}
		dos = append(dos, play.EndTransfer(false)...)
	}
	return dos
}

// model returns the stored answers of language models first, then requests new ones.
func (a *reply) model(ctx context.Context, play *pathway.TextSession) func(pathway.ModelRequest) ([]string, pathway.ModelAnswered) {
	return func(t pathway.ModelRequest) ([]string, pathway.ModelAnswered) {
		a.models++
		if a.models > len(a.turn.Models) {
			var got domain.TextingModelAnswer
			switch a.asked++; {
			case a.err != nil:
				return nil, pathway.ModelAnswered{Failed: "too_many"}
			case a.asked > maxSteps:
				got.Failed = "too_many" // stored, so that the next replay is the same
			default:
				got = a.think(ctx, play, t)
			}
			a.turn.Models = append(a.turn.Models, got)
		}
		known := a.turn.Models[a.models-1]
		end := pathway.ModelAnswered{Failed: known.Failed}
		for _, c := range known.Calls {
			end.Calls = append(end.Calls, pathway.ToolCall(c))
		}
		return known.Sentences, end
	}
}

func (a *reply) mind() conversation.AgentRuntime {
	return a.svc.cfg.Mind(a.p, a.asCall(), a.talk.Number)
}

// asCall returns the conversation as a call, which the agent runtime works on.
func (a *reply) asCall() domain.Call {
	return domain.Call{
		Meta:      domain.Meta{WorkspaceID: a.p.WorkspaceID, Environment: a.p.Environment},
		Direction: domain.Inbound, From: a.talk.Contact, To: a.talk.Number, AgentID: a.talk.AgentID,
	}
}

func (a *reply) think(ctx context.Context, play *pathway.TextSession, t pathway.ModelRequest) (out domain.TextingModelAnswer) {
	s := a.talk.Script
	got := a.mind().Respond(ctx, conversation.ModelRequest{Script: s, Brief: play.State.SystemPrompt(s.System, t), Step: t}, func(text string, _ time.Duration) {
		out.Sentences = append(out.Sentences, text)
	})
	for _, c := range got.Calls {
		out.Calls = append(out.Calls, domain.TextingToolCall(c))
	}
	out.Failed = got.Failed
	return out
}

// hand returns the stored results of actions first, then executes new ones. The begin of
// an action is stored first: an interrupted action is not repeated.
func (a *reply) hand(ctx context.Context) func(pathway.ActionRequest) pathway.ActionEnded {
	return func(x pathway.ActionRequest) pathway.ActionEnded {
		out := pathway.ActionEnded{Round: x.Round, ID: x.ID}
		a.acts++
		if a.acts > len(a.turn.Acts) {
			switch a.asked++; {
			case a.err != nil:
				return out
			case a.asked > maxSteps:
				a.turn.Acts = append(a.turn.Acts, domain.TextingAction{Over: true})
			default:
				a.act(ctx, x)
			}
		}
		if a.err != nil {
			return out
		}
		known := a.turn.Acts[a.acts-1]
		if out.OK, out.Result = known.OK, known.Result; !known.Over {
			out.Result = interruptedText
		}
		return out
	}
}

func (a *reply) act(ctx context.Context, x pathway.ActionRequest) {
	a.turn.Acts = append(a.turn.Acts, domain.TextingAction{})
	if a.err = a.keep(a.claim); a.err != nil {
		return
	}
	if a.message.Answering == "" {
		a.message.Answering = a.talk.ID
		a.messageVersion++
	}
	got := a.mind().CallTool(ctx, a.talk.Script, x)
	a.turn.Acts[len(a.turn.Acts)-1] = domain.TextingAction{Over: true, OK: got.OK, Result: pathway.TruncateResult(got.Text)}
	a.err = a.keep(nil)
}

// claim stores on the message, once, in which conversation actions are executed for it.
func (a *reply) claim(c *commit.Change) {
	if a.message.Answering != "" {
		return
	}
	m := *a.message
	m.Answering = a.talk.ID
	c.Guards = append(c.Guards, commit.Guard{Key: m.Key(), Version: a.messageVersion})
	c.Puts = append(c.Puts, &m)
}

// body returns what the agent says, as one message.
func (a *reply) body(dos []pathway.Command) string {
	var said []string
	for _, do := range dos {
		switch do := do.(type) {
		case pathway.Say:
			if text := strings.TrimSpace(do.Text); text != "" {
				said = append(said, text)
			}
		case pathway.OptOut:
			a.optOut = true
		}
	}
	body := strings.Join(said, "\n")
	if utf8.RuneCountInString(body) > sms.MaxBody {
		body = string([]rune(body)[:sms.MaxBody-1]) + "…"
	}
	return body
}

// reply returns the message that answers; nil: nothing was said.
func (a *reply) reply(body string) *domain.Message {
	if body == "" {
		return nil
	}
	a.talk.Replies++
	m := &domain.Message{
		Direction: domain.Outbound, From: a.talk.Number, To: a.talk.Contact, Body: body, Status: domain.MessageQueued, ReplyTo: a.message.ID,
		Notice: a.optOut, ConversationID: a.talk.ID, Todo: firstStep(a.p.Environment),
	}
	a.svc.setMessageMeta(m, a.p)
	return m
}

// done stores the conversation, the answered message and the reply in one commit.
func (a *reply) done(reply *domain.Message) error {
	m := a.message
	m.Todo, m.Answering, m.UpdatedAt = "", "", record.Now()
	if a.talk != nil {
		m.ConversationID = a.talk.ID
	}
	if a.optOut {
		m.Todo = domain.TodoOptOut
	}
	err := a.keep(func(c *commit.Change) {
		c.Guards = append(c.Guards, commit.Guard{Key: m.Key(), Version: a.messageVersion})
		c.Puts = append(c.Puts, m)
		if reply != nil {
			c.Guards = append(c.Guards, commit.Absent(reply.Key()))
			c.Puts = append(c.Puts, reply)
		}
	})
	if err != nil {
		return err
	}
	if number, err := dnc.PackNumber(m.From); err == nil && a.optOut { // not before the commit: a retry must be allowed to answer
		a.svc.cfg.DNC.AddPendingOptOut(m.WorkspaceID, domain.DefaultDNCID(m.WorkspaceID, m.Environment), number)
	}
	a.svc.cfg.Outbox.Committed(m.WorkspaceID)
	a.svc.messages.Wake(m.WorkspaceID)
	return nil
}

// keep stores the conversation with what more adds. It has a limit of its own, so that
// the result of a slow reply is stored as well. After the end of the service nothing is
// stored.
func (a *reply) keep(more func(*commit.Change)) error {
	life := a.svc.cfg.Background.Context()
	if err := life.Err(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(life, storeLimit)
	defer cancel()
	c := commit.Change{Workspace: a.p.WorkspaceID}
	if t := a.talk; t != nil {
		c.Guards, c.Puts = []commit.Guard{{Key: t.Key(), Version: a.version}}, []domain.Record{t.Clone()}
	}
	if more != nil {
		more(&c)
	}
	if _, err := a.svc.store.Apply(ctx, c); err != nil {
		return err
	}
	a.version++
	return nil
}
