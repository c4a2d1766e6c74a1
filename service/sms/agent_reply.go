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

// Limits of one agent reply to an SMS message.
const (
	replyTimeout      = 90 * time.Second // for one reply; language models and tools have shorter limits
	maxReplySteps     = 12               // maximum number of LLM requests and tool calls
	replyStoreTimeout = 10 * time.Second // for storing the result
	interruptedText   = "the service stopped during this action; its result is unknown"
)

// replyToMessage lets the agent of the called number reply to one inbound message, and stores the reply.
func (svc *Service) replyToMessage(ctx context.Context, key domain.Key) error {
	m, version, err := svc.MessageByKey(ctx, key)
	if err != nil || m == nil || m.Todo != domain.TodoAnswer {
		return err
	}
	p := domain.Principal{WorkspaceID: m.WorkspaceID, Environment: m.Environment}
	t, conversationVersion, err := svc.openConversation(ctx, m)
	if err != nil {
		return err
	}
	a := &reply{svc: svc, principal: p, message: m, messageVersion: version, conversation: t, version: conversationVersion}
	if m.Answering != "" && (t == nil || t.ID != m.Answering) { // the conversation was closed since; its actions are not repeated
		m.ConversationID, a.conversation = m.Answering, nil
		return a.done(nil)
	}
	if t != nil && !t.HasLastMessage(m.ID) && t.StatusAt(m.CreatedAt) == domain.SMSConversationTimedOut {
		t.End(domain.SMSConversationTimedOut, "", t.ExpiresAt)
		if err = a.save(nil); err != nil {
			return err
		}
		a.conversation = nil
	}
	if a.conversation == nil {
		s, err := svc.answeringScript(ctx, p, m.To)
		if err != nil {
			return err
		}
		if s == nil {
			return a.done(nil)
		}
		now := record.Now()
		if reached, err := svc.reachedMaxReplies(ctx, m, s, now); err != nil {
			return err
		} else if reached {
			svc.cfg.Log.Info("an SMS message gets no reply: its sender reached max_replies", slog.String("message_id", m.ID))
			return a.done(nil)
		}
		a.startConversation(s, now)
	}
	return a.answer(ctx)
}

// reply is the working state of one agent reply to an SMS message.
type reply struct {
	svc                    *Service
	principal              domain.Principal
	message                *domain.Message
	messageVersion         uint64
	conversation           *domain.SMSConversation
	version                uint64 // stored version of conversation; 0: conversation is not stored yet
	turn                   *domain.SMSConversationTurn
	llmRequests, toolCalls int // LLM requests and tool calls of the turn so far
	requested              int // LLM requests and tool calls without a stored result
	err                    error
	optOut                 bool
}

// startConversation creates a new conversation for the message in memory. It is stored with the reply.
func (a *reply) startConversation(s *domain.Script, now time.Time) {
	m := a.message
	a.version = 0
	a.conversation = &domain.SMSConversation{
		AgentID: s.AgentID, AgentVersion: s.Version, PathwayID: s.Pathway.ID, Number: m.To, Contact: m.From, Status: domain.SMSConversationOpen,
		LastAt: now, ExpiresAt: now.Add(conversationTimeout(s)), Variables: map[string]string{}, Script: s,
	}
	a.conversation.Init("sms_conversation", a.principal, mailbox.NewID(domain.PrefixConversation), now)
}

// answer replays the conversation from its beginning up to the message, in order to compute the reply. Then it stores
// the conversation with the reply.
func (a *reply) answer(ctx context.Context) error {
	t, now := a.conversation, record.Now()
	if refused, err := a.refusalCode(ctx); err != nil || refused != "" {
		if err == nil {
			t.End(domain.SMSConversationFailed, refused, now)
			err = a.done(nil)
		}
		return err
	}
	if t.Replies >= t.Script.SMS.MaxReplies || len(t.Turns) > 2*t.Script.SMS.MaxReplies { // no reply until the conversation times out: two machines could reply to each other forever
		t.Reason = "max_replies"
		return a.done(nil)
	}
	if !t.HasLastMessage(a.message.ID) {
		t.Turns = append(t.Turns, domain.SMSConversationTurn{MessageID: a.message.ID, Text: a.message.Body})
	}
	values := pathway.RuntimeVariables(t.Script, t.CreatedAt)
	values["phone"], values["caller_number"], values["called_number"] = t.Contact, t.Contact, t.Number
	play := &pathway.TextSession{State: pathway.New(*t.Script, values)}
	play.Model, play.RunAction = a.llmAnswers(ctx, play), a.toolResults(ctx)
	var effects []pathway.Command
	for i := range t.Turns {
		a.turn, a.llmRequests, a.toolCalls = &t.Turns[i], 0, 0
		effects = nil
		if i == 0 {
			effects = play.StartSession()
		}
		effects = append(effects, a.feed(play, i == 0)...)
	}
	if a.err != nil {
		return a.err
	}
	body := a.body(effects)
	redactor, err := a.svc.cfg.Redactor(a.principal.WorkspaceID)
	if err != nil {
		return err
	}
	r := play.State.Result() // only redacted values are stored; the next reply recomputes the original values
	t.Outcome, t.Intent, t.Notes, t.Variables = r.Outcome, r.Intent, redactor.RedactText(r.Notes), maps.Clone(redactor.RedactMap(r.Variables))
	now = record.Now()
	t.LastAt, t.UpdatedAt = now, now
	t.ExpiresAt = now.Add(conversationTimeout(t.Script))
	switch {
	case play.State.Over():
		t.End(domain.SMSConversationCompleted, "", now)
	case a.optOut:
		t.End(domain.SMSConversationClosed, "opt_out", now)
	}
	return a.done(a.newReply(body))
}

// refusalCode returns the error code if the contact must not or cannot get messages; "" if messages are allowed.
func (a *reply) refusalCode(ctx context.Context) (string, error) {
	w := a.svc.cfg.Workspaces.Workspace(a.principal.WorkspaceID)
	if w == nil {
		return "", a.svc.cfg.Workspaces.WorkspaceNotFound()
	}
	number, err := domain.ParseNumber(a.conversation.Contact, w.DefaultCountry)
	if err == nil {
		err = number.CheckDestination(w.Calling, w.DefaultCountry, a.principal.Environment)
	} else {
		err = domain.FieldError("to", domain.CodeDestinationNotAllowed, "the contact has no telephone number")
	}
	if err == nil {
		err = a.svc.CheckRecipient(ctx, a.principal, number.E164)
	}
	if err == nil {
		err = a.svc.checkRoute(ctx, a.principal, a.conversation.Number, number.E164)
	}
	if err == nil || record.IsRetryable(err) {
		return "", err
	}
	return string(domain.CodeOf(err)), nil
}

// feed passes the text of the contact to the pathway. The first message starts the conversation. The pathway handles
// its text only if it waits for speech or understands the text.
func (a *reply) feed(play *pathway.TextSession, first bool) []pathway.Command {
	text := a.turn.Text
	effects := failTransfers(play)
	if play.State.Over() {
		return effects
	}
	keyed, keys := pathway.ParseKeys(text)
	keys = keys && keyed != "" && !strings.ContainsAny(keyed, "ABCD")
	switch {
	case first && !play.WaitsForSpeech() && !play.State.Understands(text):
		return effects
	case keys:
		effects = append(effects, play.PressKeys(keyed)...)
	case play.HearsSpeech():
		effects = append(effects, play.Speak(text)...)
	default:
		effects = append(effects, play.PressKeys("")...)
	}
	return append(effects, failTransfers(play)...)
}

// failTransfers reports each call transfer of the pathway as failed, because an SMS conversation starts no calls.
func failTransfers(play *pathway.TextSession) (effects []pathway.Command) {
	for range maxReplySteps {
		if !play.IsTransferring() {
			break
		}
		effects = append(effects, play.EndTransfer(false)...)
	}
	return effects
}

// llmAnswers returns the function that answers the LLM requests of the pathway. It uses the results that are stored
// with the conversation, and calls the LLM only for requests without a stored result.
func (a *reply) llmAnswers(ctx context.Context, play *pathway.TextSession) func(pathway.ModelRequest) ([]string, pathway.ModelAnswered) {
	return func(t pathway.ModelRequest) ([]string, pathway.ModelAnswered) {
		a.llmRequests++
		if a.llmRequests > len(a.turn.Models) {
			var result domain.SMSConversationModelAnswer
			switch a.requested++; {
			case a.err != nil:
				return nil, pathway.ModelAnswered{Failed: "too_many"}
			case a.requested > maxReplySteps:
				result.Failed = "too_many" // stored, so that the next replay has the same result
			default:
				result = a.think(ctx, play, t)
			}
			a.turn.Models = append(a.turn.Models, result)
		}
		stored := a.turn.Models[a.llmRequests-1]
		end := pathway.ModelAnswered{Failed: stored.Failed}
		for _, c := range stored.Calls {
			end.Calls = append(end.Calls, pathway.ToolCall(c))
		}
		return stored.Sentences, end
	}
}

func (a *reply) agentRuntime() conversation.AgentRuntime {
	return a.svc.cfg.AgentRuntime(a.principal, a.asCall(), a.conversation.Number)
}

// asCall returns the conversation as a call, because the agent runtime works with calls.
func (a *reply) asCall() domain.Call {
	return domain.Call{
		Meta:      domain.Meta{WorkspaceID: a.principal.WorkspaceID, Environment: a.principal.Environment},
		Direction: domain.Inbound, From: a.conversation.Contact, To: a.conversation.Number, AgentID: a.conversation.AgentID,
	}
}

func (a *reply) think(ctx context.Context, play *pathway.TextSession, t pathway.ModelRequest) (out domain.SMSConversationModelAnswer) {
	s := a.conversation.Script
	got := a.agentRuntime().Respond(ctx, conversation.ModelRequest{Script: s, Brief: play.State.SystemPrompt(s.System, t), Step: t}, func(text string, _ time.Duration) {
		out.Sentences = append(out.Sentences, text)
	})
	for _, c := range got.Calls {
		out.Calls = append(out.Calls, domain.SMSConversationToolCall(c))
	}
	out.Failed = got.Failed
	return out
}

// toolResults returns the function that carries out the tool calls of the pathway. It uses the results that are
// stored with the conversation, and executes only calls without a stored result. The start of an execution is stored
// first, so that an interrupted tool call is not repeated.
func (a *reply) toolResults(ctx context.Context) func(pathway.ActionRequest) pathway.ActionEnded {
	return func(x pathway.ActionRequest) pathway.ActionEnded {
		out := pathway.ActionEnded{Round: x.Round, ID: x.ID}
		a.toolCalls++
		if a.toolCalls > len(a.turn.Acts) {
			switch a.requested++; {
			case a.err != nil:
				return out
			case a.requested > maxReplySteps:
				a.turn.Acts = append(a.turn.Acts, domain.SMSConversationAction{Over: true})
			default:
				a.act(ctx, x)
			}
		}
		if a.err != nil {
			return out
		}
		stored := a.turn.Acts[a.toolCalls-1]
		if out.OK, out.Result = stored.OK, stored.Result; !stored.Over {
			out.Result = interruptedText
		}
		return out
	}
}

func (a *reply) act(ctx context.Context, x pathway.ActionRequest) {
	a.turn.Acts = append(a.turn.Acts, domain.SMSConversationAction{})
	if a.err = a.save(a.claim); a.err != nil {
		return
	}
	if a.message.Answering == "" {
		a.message.Answering = a.conversation.ID
		a.messageVersion++
	}
	got := a.agentRuntime().CallTool(ctx, a.conversation.Script, x)
	a.turn.Acts[len(a.turn.Acts)-1] = domain.SMSConversationAction{Over: true, OK: got.OK, Result: pathway.TruncateResult(got.Text)}
	a.err = a.save(nil)
}

// claim adds the message to a commit, with the id of the conversation that replies to it. It is called before the first
// tool call runs.
func (a *reply) claim(c *commit.Change) {
	if a.message.Answering != "" {
		return
	}
	m := *a.message
	m.Answering = a.conversation.ID
	c.Guards = append(c.Guards, commit.Guard{Key: m.Key(), Version: a.messageVersion})
	c.Puts = append(c.Puts, &m)
}

// body joins the sentences of the agent into one message text and cuts it at the maximum length.
func (a *reply) body(effects []pathway.Command) string {
	var sentences []string
	for _, effect := range effects {
		switch effect := effect.(type) {
		case pathway.Say:
			if text := strings.TrimSpace(effect.Text); text != "" {
				sentences = append(sentences, text)
			}
		case pathway.OptOut:
			a.optOut = true
		}
	}
	body := strings.Join(sentences, "\n")
	if utf8.RuneCountInString(body) > sms.MaxBody {
		body = string([]rune(body)[:sms.MaxBody-1]) + "…"
	}
	return body
}

// newReply returns the agent's reply as a queued message; nil if body is "".
func (a *reply) newReply(body string) *domain.Message {
	if body == "" {
		return nil
	}
	a.conversation.Replies++
	m := &domain.Message{
		Direction: domain.Outbound, From: a.conversation.Number, To: a.conversation.Contact, Body: body, Status: domain.MessageQueued, ReplyTo: a.message.ID,
		Notice: a.optOut, ConversationID: a.conversation.ID, Todo: firstPendingStep(a.principal.Environment),
	}
	a.svc.setMessageMeta(m, a.principal)
	return m
}

// done stores the conversation, the answered message and the reply in one commit.
func (a *reply) done(reply *domain.Message) error {
	m := a.message
	m.Todo, m.Answering, m.UpdatedAt = "", "", record.Now()
	if a.conversation != nil {
		m.ConversationID = a.conversation.ID
	}
	if a.optOut {
		m.Todo = domain.TodoOptOut
	}
	err := a.save(func(c *commit.Change) {
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
	if number, err := dnc.PackNumber(m.From); err == nil && a.optOut { // after the commit, because a pending opt-out would prevent the reply of a retry
		a.svc.cfg.DNC.AddPendingOptOut(m.WorkspaceID, domain.DefaultDNCID(m.WorkspaceID, m.Environment), number)
	}
	a.svc.cfg.Outbox.Committed(m.WorkspaceID)
	a.svc.messages.Wake(m.WorkspaceID)
	return nil
}

// save commits the conversation; more adds further changes to the commit. save has its own time limit, so that the
// result of a slow reply is stored too. When the node is stopping, save stores nothing.
func (a *reply) save(more func(*commit.Change)) error {
	nodeCtx := a.svc.cfg.Background.Context()
	if err := nodeCtx.Err(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(nodeCtx, replyStoreTimeout)
	defer cancel()
	c := commit.Change{Workspace: a.principal.WorkspaceID}
	if t := a.conversation; t != nil {
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
