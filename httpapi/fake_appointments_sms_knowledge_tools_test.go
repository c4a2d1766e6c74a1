package httpapi_test

import (
	"context"
	"strings"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/booking"
	"github.com/callboard/callboard/domain/pathway"
	"github.com/callboard/callboard/service/appointments"
	"github.com/callboard/callboard/service/knowledge"
	"github.com/callboard/callboard/service/record"
	"github.com/callboard/callboard/service/sms"
	"github.com/callboard/callboard/service/webhooks"
)

// fakeAppointments holds the appointments, messages and knowledge bases of fakeServices.
type fakeAppointments struct {
	providers    fakeRecords[*domain.Provider]
	appointments fakeRecords[*domain.Appointment]
	messages     fakeRecords[*domain.Message]
	textings     fakeRecords[*domain.SMSConversation]
	knowledge    fakeRecords[*domain.KnowledgeBase]
	tools        fakeRecords[*domain.Tool]
	gateways     fakeRecords[*domain.SMSGateway]
	versions     []*domain.AgentVersion
	arguments    []any // the arguments of service calls, oldest first
}

func (f *fakeServices) setKinds() {
	f.tools.kind, f.gateways.kind, f.textings.kind = domain.PrefixTool, domain.PrefixGateway, domain.PrefixConversation
	f.providers.kind, f.appointments.kind, f.messages.kind, f.knowledge.kind = domain.PrefixProvider, domain.PrefixAppointment, domain.PrefixMessage, domain.PrefixKnowledge
}

func goodAppointment() m {
	return m{"patient": m{"name": "Ada", "phone": "(202) 555-0123"}, "provider": "Dr. Rivera", "datetime": "2030-04-01T10:00:00Z"}
}

func (f *fakeServices) recordArgument(v any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.arguments = append(f.arguments, v)
}

func (f *fakeServices) CreateProvider(_ context.Context, _ domain.Principal, x *domain.Provider) (*domain.Provider, error) {
	return f.providers.add(x), nil
}

func (f *fakeServices) Provider(_ context.Context, _ domain.Principal, id string) (*domain.Provider, error) {
	return f.providers.get(id)
}

func (f *fakeServices) ListProviders(_ context.Context, _ domain.Principal, q record.PageQuery) (record.Page[*domain.Provider], error) {
	return f.providers.list(q), nil
}

func (f *fakeServices) UpdateProvider(_ context.Context, _ domain.Principal, id string, change func(*domain.Provider) error) (*domain.Provider, error) {
	return updateRecord(&f.providers, id, change)
}

func (f *fakeServices) DeleteProvider(_ context.Context, _ domain.Principal, id string) error {
	return f.providers.remove(id)
}

func (f *fakeServices) Availability(_ context.Context, _ domain.Principal, q booking.AvailabilityQuery) (booking.Availability, error) {
	f.recordArgument(q)
	return booking.Availability{Object: "availability", Provider: q.Provider, Slots: []booking.Slot{{LocalStart: "2030-04-01T10:00:00Z"}}}, nil
}

func (f *fakeServices) Book(_ context.Context, _ domain.Principal, o booking.NewAppointment) (*domain.Appointment, error) {
	f.recordArgument(o)
	if o.Notes == "taken" {
		return nil, domain.Errorf(domain.CodeSlotUnavailable, "Somebody has it.").With("reason", "booked")
	}
	at, _ := time.Parse(time.RFC3339, o.Datetime)
	a := &domain.Appointment{Patient: o.Patient, Provider: o.Provider, Datetime: at, EndsAt: at.Add(30 * time.Minute), Status: domain.AppointmentBooked, Notes: o.Notes}
	f.appointments.add(a)
	a.AppointmentID = a.ID
	return a, nil
}

func (f *fakeServices) Appointment(_ context.Context, _ domain.Principal, id string) (*domain.Appointment, error) {
	return f.appointments.get(id)
}

func (f *fakeServices) ListAppointments(_ context.Context, _ domain.Principal, q appointments.Query) (record.Page[*domain.Appointment], error) {
	f.recordArgument(q)
	return f.appointments.list(q.PageQuery), nil
}

func (f *fakeServices) UpdateAppointment(_ context.Context, _ domain.Principal, id string, change func(*domain.Appointment) error) (*domain.Appointment, error) {
	return updateRecord(&f.appointments, id, func(a *domain.Appointment) error {
		err := change(a)
		for i := range a.Reminders {
			a.Reminders[i].Status = domain.ReminderScheduled
		}
		return err
	})
}

func (f *fakeServices) ConfirmAppointment(_ context.Context, _ domain.Principal, id string) (*domain.Appointment, error) {
	return f.appointments.get(id)
}

func (f *fakeServices) CancelAppointment(_ context.Context, _ domain.Principal, id, reason string) (*domain.Appointment, error) {
	f.recordArgument(reason)
	return f.appointments.get(id)
}

func (f *fakeServices) RescheduleAppointment(_ context.Context, _ domain.Principal, id string, to booking.Reschedule) (*domain.Appointment, error) {
	f.recordArgument(to)
	return f.appointments.get(id)
}

func (f *fakeServices) DeleteAppointment(_ context.Context, _ domain.Principal, id string) error {
	return f.appointments.remove(id)
}

func (f *fakeServices) CreateSMSGateway(_ context.Context, p domain.Principal, g *domain.SMSGateway) (*domain.SMSGateway, error) {
	if p.Environment == domain.Test {
		return nil, domain.Errorf(domain.CodeInvalidState, "For a live key.")
	}
	if g.Secret == "" {
		g.Secret = "whsec_made"
	}
	g.SecretHint = "…made"
	return f.gateways.add(g), nil
}

func (f *fakeServices) SMSGateway(_ context.Context, _ domain.Principal, id string) (*domain.SMSGateway, error) {
	return f.gateways.get(id)
}

func (f *fakeServices) ListSMSGateways(_ context.Context, _ domain.Principal, q record.PageQuery) (record.Page[*domain.SMSGateway], error) {
	return f.gateways.list(q), nil
}

func (f *fakeServices) UpdateSMSGateway(_ context.Context, _ domain.Principal, id string, change func(*domain.SMSGateway) error) (*domain.SMSGateway, error) {
	return updateRecord(&f.gateways, id, change)
}

func (f *fakeServices) DeleteSMSGateway(_ context.Context, _ domain.Principal, id string) error {
	return f.gateways.remove(id)
}

func (f *fakeServices) SMSGatewayEvents(_ context.Context, _ domain.Principal, id string, all []sms.GatewayEvent) ([]sms.GatewayResult, error) {
	f.recordArgument(all)
	if _, err := f.gateways.get(id); err != nil {
		return nil, err
	}
	out := []sms.GatewayResult{}
	for i, e := range all {
		t := sms.GatewayResult{Index: i, MessageID: "msg_" + ulidOf(i)}
		if e.To == "+12025550190" {
			t = sms.GatewayResult{Index: i, Code: domain.CodeValidation, Message: "Nobody's number.", Param: "to"}
		}
		out = append(out, t)
	}
	return out, nil
}

func (f *fakeServices) SendMessage(_ context.Context, _ domain.Principal, o domain.NewMessage) (*domain.Message, error) {
	f.recordArgument(o)
	switch o.To {
	case "+12025550188":
		return nil, domain.Errorf(domain.CodeNoSMSRoute, "Nothing carries it.")
	case "+12025550189":
		return nil, domain.Errorf(domain.CodeOptedOut, "No more.")
	}
	return f.messages.add(&domain.Message{Direction: domain.Outbound, Encoding: domain.GSM7, To: o.To, Body: o.Body, Status: domain.MessageQueued, Todo: domain.TodoSend}), nil
}

func (f *fakeServices) Message(_ context.Context, _ domain.Principal, id string) (*domain.Message, error) {
	return f.messages.get(id)
}

func (f *fakeServices) ListMessages(_ context.Context, _ domain.Principal, q sms.MessageQuery) (record.Page[*domain.Message], error) {
	f.recordArgument(q)
	return f.messages.list(q.PageQuery), nil
}

func (f *fakeServices) DeleteMessage(_ context.Context, _ domain.Principal, id string) error {
	return f.messages.remove(id)
}

func (f *fakeServices) TestInboundMessage(_ context.Context, _ domain.Principal, o sms.InboundMessage) (*domain.Message, error) {
	return f.messages.add(&domain.Message{Direction: domain.Inbound, Encoding: domain.GSM7, From: o.From, To: o.To, Body: o.Body, Status: domain.MessageReceived, OptOut: true}), nil
}

func (f *fakeServices) CreateKnowledge(_ context.Context, _ domain.Principal, k *domain.KnowledgeBase, sources []domain.NewKnowledgeSource) (*domain.KnowledgeBase, error) {
	f.recordArgument(sources)
	k.Status = domain.KnowledgeProcessing
	return f.knowledge.add(k), nil
}

func (f *fakeServices) KnowledgeBase(_ context.Context, _ domain.Principal, id string) (*domain.KnowledgeBase, error) {
	return f.knowledge.get(id)
}

func (f *fakeServices) ListKnowledge(_ context.Context, _ domain.Principal, q record.PageQuery) (record.Page[*domain.KnowledgeBase], error) {
	return f.knowledge.list(q), nil
}

func (f *fakeServices) UpdateKnowledge(_ context.Context, _ domain.Principal, id string, change func(*domain.KnowledgeBase) error) (*domain.KnowledgeBase, error) {
	return updateRecord(&f.knowledge, id, change)
}

func (f *fakeServices) DeleteKnowledge(_ context.Context, _ domain.Principal, id string) error {
	return f.knowledge.remove(id)
}

func (f *fakeServices) source(id string, o domain.NewKnowledgeSource) (*domain.KnowledgeSource, error) {
	if _, err := f.knowledge.get(id); err != nil {
		return nil, err
	}
	return &domain.KnowledgeSource{Meta: fakeMeta("source"), KnowledgeBaseID: id, Type: o.Type, Name: o.Name, ContentType: o.ContentType, Status: domain.KnowledgeProcessing, Raw: "nobody's business"}, nil
}

func (f *fakeServices) AddSource(_ context.Context, _ domain.Principal, id string, o domain.NewKnowledgeSource) (*domain.KnowledgeSource, error) {
	f.recordArgument(o)
	return f.source(id, o)
}

func (f *fakeServices) Source(_ context.Context, _ domain.Principal, id, _ string) (*domain.KnowledgeSource, error) {
	return f.source(id, domain.NewKnowledgeSource{Type: domain.SourceText})
}

func (f *fakeServices) ListSources(_ context.Context, _ domain.Principal, id string, _ record.PageQuery) (record.Page[*domain.KnowledgeSource], error) {
	s, err := f.source(id, domain.NewKnowledgeSource{Type: domain.SourceText})
	return record.Page[*domain.KnowledgeSource]{Data: []*domain.KnowledgeSource{s}}, err
}

func (f *fakeServices) DeleteSource(_ context.Context, _ domain.Principal, id, _ string) error {
	_, err := f.knowledge.get(id)
	return err
}

func (f *fakeServices) SearchKnowledge(_ context.Context, _ domain.Principal, id, query string, most int) (knowledge.KnowledgeFound, error) {
	_, err := f.knowledge.get(id)
	return knowledge.KnowledgeFound{
		Object: "knowledge_search", KnowledgeBaseID: id, Query: query, Data: []knowledge.KnowledgeHit{{Text: strings.Repeat("x", most), Score: 1}},
	}, err
}

func (f *fakeServices) ReplayWebhook(_ context.Context, _ domain.Principal, id string, o webhooks.ReplayOrder) (webhooks.Replay, error) {
	f.recordArgument(o)
	_, err := f.webhooks.get(id)
	return webhooks.Replay{Accepted: o.EventIDs, NotFound: []string{}}, err
}

func (f *fakeServices) CreateTool(_ context.Context, _ domain.Principal, t *domain.Tool) (*domain.Tool, error) {
	return f.tools.add(t), nil
}

func (f *fakeServices) Tool(_ context.Context, _ domain.Principal, id string) (*domain.Tool, error) {
	return f.tools.get(id)
}

func (f *fakeServices) ListTools(_ context.Context, _ domain.Principal, q record.PageQuery) (record.Page[*domain.Tool], error) {
	return f.tools.list(q), nil
}

func (f *fakeServices) UpdateTool(_ context.Context, _ domain.Principal, id string, change func(*domain.Tool) error) (*domain.Tool, error) {
	return updateRecord(&f.tools, id, change)
}

func (f *fakeServices) DeleteTool(_ context.Context, _ domain.Principal, id string) error {
	return f.tools.remove(id)
}

func (f *fakeServices) CheckPathway(context.Context, domain.Principal, *domain.Pathway) error {
	return nil
}

// HasModel reports whether the test has set a language model.
func (f *fakeServices) HasModel(context.Context, domain.Principal, *domain.AgentLLM) bool {
	return f.model != nil
}

func (f *fakeServices) AskModel(_ context.Context, _ domain.Principal, _ *domain.AgentLLM, brief string, t pathway.ModelRequest) ([]string, pathway.ModelAnswered) {
	return f.model(brief, t)
}

func (f *fakeServices) PlayCaller(_ context.Context, _ domain.Principal, brief string, said []pathway.Message) (string, error) {
	return f.caller(brief, said)
}

func (f *fakeServices) publish(a *domain.Agent) *domain.AgentVersion {
	at := a.UpdatedAt
	a.Version, a.PublishedAt, a.Unpublished, a.References = a.Version+1, &at, nil, a.ReferencedIDs()
	v := &domain.AgentVersion{Agent: *a}
	v.Object = "agent_version"
	f.mu.Lock()
	defer f.mu.Unlock()
	f.versions = append(f.versions, v)
	return v
}

func (f *fakeServices) PublishAgent(_ context.Context, _ domain.Principal, id string) (*domain.AgentVersion, error) {
	a, err := f.agents.get(id)
	if err != nil {
		return nil, err
	}
	return f.publish(a), nil
}

func (f *fakeServices) SignOnInbound(_ context.Context, _ domain.Principal, id string) (string, error) {
	_, err := f.agents.get(id)
	return "whsec_" + id, err
}

func (f *fakeServices) AgentVersion(_ context.Context, _ domain.Principal, id string, number int) (*domain.AgentVersion, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, v := range f.versions {
		if v.ID == id && v.Version == number {
			return v, nil
		}
	}
	return nil, domain.Errorf(domain.CodeNotFound, "There is no such version.")
}

func (f *fakeServices) ListAgentVersions(_ context.Context, _ domain.Principal, id string, q record.PageQuery) (record.Page[*domain.AgentVersion], error) {
	var l record.Page[*domain.AgentVersion]
	if _, err := f.agents.get(id); err != nil {
		return l, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, v := range f.versions {
		if v.ID == id && len(l.Data) < q.Limit {
			l.Data = append(l.Data, v)
		}
	}
	return l, nil
}
