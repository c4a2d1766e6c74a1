package actors

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/callboard/callboard/actors/conversation"
	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/ask"
	"github.com/callboard/callboard/domain/knowledge"
	"github.com/callboard/callboard/domain/pathway"
	"github.com/callboard/callboard/domain/validation"
	"github.com/callboard/callboard/engines/llm"
)

// Bounds of what a model is told besides the conversation.
const (
	passagesTold = 4
	passageLeast = 0.5 // score
	lookUpLimit  = 2 * time.Second
	indexLimit   = time.Second            // of it, for the indexes
	readLimit    = 500 * time.Millisecond // after it, for the texts of what was found
	slotsTold    = 8
)

// mind thinks and acts for the agent of one call or chat.
type mind struct {
	d    *Desk
	p    domain.Principal
	call domain.Call // of a chat: empty
	// texts is the number from which it writes, where it may; "": the workspace's.
	texts string
}

// mindOf is what thinks and acts in a call.
func (d *Desk) mindOf(c domain.Call) conversation.Mind {
	m := &mind{d: d, p: domain.Principal{WorkspaceID: c.WorkspaceID, Environment: c.Environment}, call: c}
	if wrote := d.node.tests.watcher(c.ID); wrote != nil {
		return &watchedMind{mind: m, wrote: wrote}
	}
	return m
}

// watchedMind is that of a call in which somebody reads along.
type watchedMind struct {
	*mind

	wrote func(domain.Segment)
}

// Wrote is conversation.Watcher.
func (m *watchedMind) Wrote(s domain.Segment) { m.wrote(s) }

// Think answers for the model of a chat.
func (d *Desk) Think(ctx context.Context, p domain.Principal, agent *domain.AgentLLM, brief string, t pathway.Think) (sentences []string, end pathway.Answered) {
	m := &mind{d: d, p: p}
	a := m.Think(ctx, conversation.Thought{Script: &domain.Script{LLM: agent}, Brief: brief, Ask: t}, func(text string, _ time.Duration) {
		sentences = append(sentences, text)
	})
	return sentences, pathway.Answered{Round: t.Round, Calls: a.Calls, Failed: a.Failed}
}

// Thinks says whether there is a model for an agent.
func (d *Desk) Thinks(_ context.Context, _ domain.Principal, l *domain.AgentLLM) bool {
	return d.node.thinks(l)
}

// callerWords bounds what a model may write that plays a caller, in tokens.
const callerWords = 200

// PlayCaller has the first model of the service that answers say what a caller
// says next. To the model the agent is who asks.
func (d *Desk) PlayCaller(ctx context.Context, _ domain.Principal, brief string, said []pathway.Message) (string, error) {
	r := llm.Request{Messages: []llm.Message{{Role: llm.System, Text: brief}}, MaxTokens: callerWords}
	if len(said) == 0 || said[0].By != pathway.ByAgent {
		r.Messages = append(r.Messages, llm.Message{Role: llm.User, Text: "(the agent says nothing yet)"})
	}
	for _, m := range said {
		role := llm.User
		if m.By == pathway.ByCaller {
			role = llm.Assistant
		}
		r.Messages = append(r.Messages, llm.Message{Role: role, Text: m.Text})
	}
	if r.Messages[len(r.Messages)-1].Role == llm.Assistant {
		r.Messages = append(r.Messages, llm.Message{Role: llm.User, Text: "(the agent says nothing)"})
	}
	got, err := d.node.models.Ask(ctx, d.node.cfg.Models.of(nil), r, nil, nil)
	if f, ok := errors.AsType[*llm.Fault](err); ok {
		return "", errors.New(f.Code + ": engine " + f.Engine + ": " + f.Message)
	}
	return got.Text, err
}

// Think asks the first engine that answers.
func (m *mind) Think(ctx context.Context, t conversation.Thought, sentence func(string, time.Duration)) conversation.Answer {
	engines := m.d.node.cfg.Models.of(t.Script.LLM)
	request, names := m.request(ctx, &t)
	var a conversation.Answer
	got, err := m.d.node.models.Ask(ctx, engines, request, sentence, func(f *llm.Fault) {
		a.Lost = append(a.Lost, conversation.Fault{Stage: "llm", Code: f.Code, Message: "engine " + f.Engine + ": " + f.Message, Recovered: true})
	})
	if err != nil {
		a.Failed, a.Message = "internal", "it could not be asked"
		if f, ok := errors.AsType[*llm.Fault](err); ok {
			a.Failed, a.Message = f.Code, "engine "+f.Engine+": "+f.Message
			a.Lost = a.Lost[:max(0, len(a.Lost)-1)] // the last one is why there is no answer
		}
		return a
	}
	for _, c := range got.Calls {
		a.Calls = append(a.Calls, pathway.Called{ID: c.ID, Name: c.Name, Arguments: c.Arguments, Tool: names[c.Name]})
	}
	return a
}

// request is what the model is told; names are the tools of the workspace by
// the names that the model has for them.
func (m *mind) request(ctx context.Context, t *conversation.Thought) (llm.Request, map[string]string) {
	brief := t.Brief + "\n\nIt is " + m.now(t.Script).Format("Monday, 2 January 2006, 15:04 MST") + "."
	if passages, from := m.lookUp(ctx, t.Ask); passages != "" {
		brief += "\n\nPassages of documents that may answer the caller's last words; say nothing about documents that none of them tells:\n" + passages
		if t.Read != nil {
			t.Read(from)
		}
	}
	r := llm.Request{Messages: messagesOf(brief, t.Ask.History)}
	if l := t.Script.LLM; l != nil {
		r.Temperature, r.MaxTokens = l.Temperature, l.MaxTokens
	}
	names := make(map[string]string)
	for _, o := range t.Ask.Offers {
		if o.Kind != pathway.OfferTool {
			r.Tools = append(r.Tools, llm.Tool{Name: o.Name, Description: o.Description, Parameters: o.Parameters})
		}
	}
	for _, o := range t.Ask.Offers {
		if o.Kind != pathway.OfferTool {
			continue
		}
		tool, err := m.d.Tool(ctx, m.p, o.To)
		if err != nil {
			continue // it is not there any more: nobody can call it
		}
		name := tool.Name
		if slices.ContainsFunc(r.Tools, func(x llm.Tool) bool { return x.Name == name }) {
			name = "tool_" + name[:min(len(name), 59)]
		}
		names[name] = tool.ID
		r.Tools = append(r.Tools, llm.Tool{Name: name, Description: tool.Description, Parameters: tool.Parameters})
	}
	return r, names
}

func (m *mind) now(s *domain.Script) time.Time {
	zone, err := time.LoadLocation(s.Timezone)
	if err != nil {
		zone = time.UTC
	}
	return time.Now().In(zone)
}

// messagesOf puts a history into the shape of the wire: each call of a model is
// answered, and the caller has said something.
func messagesOf(brief string, history []pathway.Message) []llm.Message {
	out := []llm.Message{{Role: llm.System, Text: brief}}
	heard := false
	for i, h := range history {
		heard = heard || h.By == pathway.ByCaller
		switch h.By {
		case pathway.ByTool:
			continue // stands behind its question
		case pathway.ByCaller:
			out = append(out, llm.Message{Role: llm.User, Text: h.Text})
			continue
		}
		x := llm.Message{Role: llm.Assistant, Text: h.Text}
		for _, c := range h.Calls {
			x.Calls = append(x.Calls, llm.Call{ID: c.ID, Name: c.Name, Arguments: c.Arguments})
		}
		out = append(out, x)
		for _, c := range h.Calls {
			out = append(out, llm.Message{Role: llm.ToolRole, ID: c.ID, Text: resultOf(history[i+1:], c.ID)})
		}
	}
	if !heard {
		out = append(out, llm.Message{Role: llm.User, Text: "(The caller is on the line and has said nothing yet.)"})
	}
	return out
}

func resultOf(history []pathway.Message, id string) string {
	for _, h := range history {
		if h.By == pathway.ByAgent && len(h.Calls) > 0 {
			break // ids are the model's own, and may come again
		}
		if h.By == pathway.ByTool && h.ID == id {
			return h.Text
		}
	}
	return "error: it was not done"
}

// lookUp finds what the knowledge bases of a node tell about the caller's last
// words. A search that takes too long leaves the model without.
func (m *mind) lookUp(ctx context.Context, t pathway.Think) (text string, from []domain.Passage) {
	words := ""
	for _, h := range slices.Backward(t.History) {
		if h.By == pathway.ByCaller {
			words = h.Text
			break
		}
	}
	if len(t.Bases) == 0 || words == "" || strings.HasPrefix(words, "(") {
		return "", nil
	}
	life := ctx
	ctx, cancel := context.WithTimeout(ctx, lookUpLimit)
	defer cancel()
	search := knowledge.NewSearch[*shelf](words) // one of all bases: scores of several would be of several scales
	bases, all := m.shelvesOf(ctx, t.Bases)
	meaning := m.d.meaning(ctx, bases, words)
	for _, s := range all {
		search.Look(s, s.index, meaning)
	}
	bound, end := context.WithTimeout(life, readLimit)
	defer end()
	found, err := m.d.best(bound, search, passagesTold)
	if err != nil {
		m.d.log.Warn("knowledge could not be read", slog.Any("error", err))
	}
	var b strings.Builder
	for i, x := range found {
		if x.score < passageLeast {
			break
		}
		fmt.Fprintf(&b, "[%d] %s", i+1, x.source.Name)
		if x.Heading != "" {
			b.WriteString(" › " + x.Heading)
		}
		b.WriteString(":\n" + x.Text + "\n")
		p := domain.Passage{KnowledgeBaseID: x.KnowledgeBaseID, SourceID: x.SourceID, Name: x.source.Name, URL: x.source.URL, Heading: x.Heading}
		if !slices.Contains(from, p) {
			from = append(from, p)
		}
	}
	return b.String(), from
}

// shelvesOf are the indexes of bases that are there in time; one that is not
// keeps the others from nothing.
func (m *mind) shelvesOf(ctx context.Context, ids []string) (bases []*domain.KnowledgeBase, all []*shelf) {
	ctx, cancel := context.WithTimeout(ctx, indexLimit)
	defer cancel()
	found, shelves, errs := make([]baseOf, len(ids)), make([]*shelf, len(ids)), make([]error, len(ids))
	var wait sync.WaitGroup
	for i, id := range ids {
		wait.Go(func() {
			if found[i], errs[i] = m.d.base(ctx, m.p, id); errs[i] == nil {
				shelves[i], errs[i] = m.d.shelfOf(ctx, found[i])
			}
		})
	}
	wait.Wait()
	for i, id := range ids {
		if errs[i] != nil {
			m.d.log.Warn("a knowledge base could not be searched", slog.String("knowledge_base_id", id), slog.Any("error", errs[i]))
			continue
		}
		bases, all = append(bases, found[i].KnowledgeBase), append(all, shelves[i])
	}
	return bases, all
}

// Agent is what another agent of the workspace speaks.
func (m *mind) Agent(ctx context.Context, id string) (domain.Script, error) {
	return m.d.scriptOf(ctx, m.p, id, "")
}

// Act does what a node or its model wants done.
func (m *mind) Act(ctx context.Context, s *domain.Script, a pathway.Act) conversation.Result {
	var text string
	var err error
	switch a.Type { //nolint:exhaustive // the others do nothing outside
	case domain.NodeTool:
		text, err = m.useTool(ctx, a)
	case domain.NodeSMS:
		text, err = m.text(ctx, a)
	case domain.NodeAppointment:
		text, err = m.appointment(ctx, a)
	default:
		err = errors.New("nothing here can do that")
	}
	if err != nil {
		return conversation.Result{Text: inWords(err)}
	}
	return conversation.Result{OK: true, Text: text}
}

// inWords is an error as a model and an event may have it.
func inWords(err error) string {
	if e, ok := errors.AsType[*domain.Error](err); ok {
		return string(e.Code) + ": " + e.Message
	}
	return err.Error()
}

func (m *mind) useTool(ctx context.Context, a pathway.Act) (string, error) {
	tool, err := m.d.Tool(ctx, m.p, a.Target)
	if err != nil {
		return "", errors.New("the tool is not there any more")
	}
	given := validation.Typed(tool.Parameters, a.Arguments)
	if len(a.Given) > 0 {
		if given = nil; domain.DecodeLenient(a.Given, &given) != nil {
			return "", errors.New("the arguments are no JSON object")
		}
	}
	n := m.d.node
	if m.call.ID != "" {
		ctx = trace.ContextWithSpanContext(ctx, n.cfg.TraceContexts.Call(m.call.ID, m.call.TraceParent))
	}
	return n.toolbox.Call(ctx, tool, given)
}

// text sends a message to the far end of the call.
func (m *mind) text(ctx context.Context, a pathway.Act) (string, error) {
	body := a.Text
	if len(a.Given) > 0 {
		var given struct {
			Body string `json:"body"`
		}
		if err := domain.DecodeLenient(a.Given, &given); err != nil || strings.TrimSpace(given.Body) == "" {
			return "", errors.New("body is required: the words of the message")
		}
		body = given.Body
	}
	sent, err := m.d.SendMessage(ctx, m.p, ask.NewMessage{From: m.texts, To: m.farEnd(), Body: body})
	if refused, ok := errors.AsType[*domain.Error](err); ok && refused.Param == "from" && m.texts != "" { // it only answers: its sms_enabled is not set
		sent, err = m.d.SendMessage(ctx, m.p, ask.NewMessage{To: m.farEnd(), Body: body})
	}
	if err != nil {
		return "", err
	}
	return asJSON(map[string]any{"message_id": sent.ID, "status": sent.Status})
}

func (m *mind) farEnd() string {
	if m.call.Direction == domain.Inbound {
		return m.call.From
	}
	return m.call.To
}

func asJSON(v any) (string, error) {
	b, err := json.Marshal(v)
	return string(b), err
}

// visit is what is to be done with an appointment.
type visit struct {
	Action        string `json:"action"`
	Provider      string `json:"provider"`
	Datetime      string `json:"datetime"`
	AppointmentID string `json:"appointment_id"`
	Name          string `json:"name"`
	Type          string `json:"type"`
	Notes         string `json:"notes"`
}

func (m *mind) appointment(ctx context.Context, a pathway.Act) (string, error) {
	w := visit{
		Action: a.Target, Provider: a.Arguments["provider"], Datetime: a.Arguments["datetime"], AppointmentID: a.Arguments["appointment_id"],
		Name: a.Arguments["name"], Type: a.Arguments["type"], Notes: a.Arguments["notes"],
	}
	if len(a.Given) > 0 && domain.DecodeLenient(a.Given, &w) != nil {
		return "", errors.New("the arguments are texts")
	}
	switch w.Action {
	case "availability":
		return m.freeTimes(ctx, w)
	case "book":
		made, err := m.d.Book(ctx, m.p, ask.NewAppointment{
			Patient: domain.Patient{Name: w.Name, Phone: m.farEnd()}, Provider: w.Provider, Datetime: w.Datetime, Type: w.Type, Notes: w.Notes, CallID: m.call.ID,
		})
		return appointmentText(w.Action, made, err)
	}
	if w.AppointmentID == "" {
		return "", errors.New("appointment_id is required: which one")
	}
	if err := m.theirs(ctx, w.AppointmentID); err != nil {
		return "", err
	}
	var changed *domain.Appointment
	var err error
	switch w.Action {
	case "confirm":
		changed, err = m.d.ConfirmAppointment(ctx, m.p, w.AppointmentID)
	case "cancel":
		changed, err = m.d.CancelAppointment(ctx, m.p, w.AppointmentID, w.Notes)
	case "reschedule":
		changed, err = m.d.RescheduleAppointment(ctx, m.p, w.AppointmentID, ask.Reschedule{Datetime: w.Datetime})
	default:
		return "", errors.New("action is none of availability, book, confirm, cancel and reschedule")
	}
	return appointmentText(w.Action, changed, err)
}

// theirs is an error where an appointment is not the caller's: what somebody
// says on the telephone changes nobody else's.
func (m *mind) theirs(ctx context.Context, id string) error {
	a, err := m.d.Appointment(ctx, m.p, id)
	if err != nil {
		return err
	}
	if a.Patient.Phone != m.farEnd() && (a.CallID == "" || a.CallID != m.call.ID) {
		return errors.New("there is no such appointment of this caller")
	}
	return nil
}

// appointmentText is what was done with an appointment: a booking.Act, and more
// for the model.
func appointmentText(action string, a *domain.Appointment, err error) (string, error) {
	if err != nil {
		return "", err
	}
	return asJSON(map[string]any{
		"action": action, "appointment_id": a.ID, "status": a.Status, "provider": a.Provider, "datetime": a.Datetime,
		"local_datetime": a.LocalDatetime, "timezone": a.Timezone, "minutes": a.DurationMinutes,
	})
}

// freeTimes are the next ones of a provider.
func (m *mind) freeTimes(ctx context.Context, w visit) (string, error) {
	q := ask.AvailabilityQuery{Provider: w.Provider, Limit: slotsTold}
	if day, _, ok := strings.Cut(w.Datetime+"T", "T"); ok && day != "" {
		q.From = day
	}
	free, err := m.d.Availability(ctx, m.p, q)
	if err != nil {
		return "", err
	}
	times := make([]string, 0, slotsTold)
	for _, s := range free.Slots {
		times = append(times, s.LocalStart)
	}
	return asJSON(map[string]any{"free": times})
}
