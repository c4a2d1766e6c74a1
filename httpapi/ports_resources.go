package httpapi

import (
	"context"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/ask"
)

// Bookings are providers and the appointments that they have.
type Bookings interface {
	// CreateProvider: already_exists with param name where another one has it.
	CreateProvider(ctx context.Context, p domain.Principal, x *domain.Provider) (*domain.Provider, error)
	Provider(ctx context.Context, p domain.Principal, id string) (*domain.Provider, error)
	ListProviders(ctx context.Context, p domain.Principal, q ask.Page) (ask.List[*domain.Provider], error)
	// UpdateProvider leaves the appointments that there are where they are.
	UpdateProvider(ctx context.Context, p domain.Principal, id string, change func(*domain.Provider) error) (*domain.Provider, error)
	// DeleteProvider: invalid_state while an open appointment lies ahead.
	DeleteProvider(ctx context.Context, p domain.Principal, id string) error
	Availability(ctx context.Context, p domain.Principal, q ask.AvailabilityQuery) (ask.Availability, error)

	// Book gives a time to somebody. slot_unavailable, with a reason (booked or
	// closed) and next_available, where it cannot be had; however many ask at
	// once, one gets it.
	Book(ctx context.Context, p domain.Principal, o ask.NewAppointment) (*domain.Appointment, error)
	Appointment(ctx context.Context, p domain.Principal, id string) (*domain.Appointment, error)
	ListAppointments(ctx context.Context, p domain.Principal, q ask.AppointmentQuery) (ask.List[*domain.Appointment], error)
	// UpdateAppointment changes what leaves its time alone, and whether it took
	// place.
	UpdateAppointment(ctx context.Context, p domain.Principal, id string, change func(*domain.Appointment) error) (*domain.Appointment, error)
	// The three verbs answer the appointment, also when repeated in their target
	// state; otherwise invalid_state with current_status, allowed_from.
	ConfirmAppointment(ctx context.Context, p domain.Principal, id string) (*domain.Appointment, error)
	CancelAppointment(ctx context.Context, p domain.Principal, id, reason string) (*domain.Appointment, error)
	RescheduleAppointment(ctx context.Context, p domain.Principal, id string, to ask.Reschedule) (*domain.Appointment, error)
	// DeleteAppointment removes it; what events told of it stays.
	DeleteAppointment(ctx context.Context, p domain.Principal, id string) error
}

// Windows keep what is used of the rate limits beyond the end of the process.
type Windows interface {
	// RateWindows are empty for a workspace of which nothing was kept.
	RateWindows(ctx context.Context, workspaceID string) (domain.RateWindows, error)
	KeepRateWindows(ctx context.Context, w *domain.RateWindows) error
}

// Messages are text messages.
type Messages interface {
	// SendMessage answers the message as queued. Errors: destination_not_allowed,
	// recipient_opted_out, dnc_blocked, spend_cap_reached, and no_sms_route where nothing carries
	// messages.
	SendMessage(ctx context.Context, p domain.Principal, o ask.NewMessage) (*domain.Message, error)
	Message(ctx context.Context, p domain.Principal, id string) (*domain.Message, error)
	ListMessages(ctx context.Context, p domain.Principal, q ask.MessageQuery) (ask.List[*domain.Message], error)
	// DeleteMessage: invalid_state while it is on its way.
	DeleteMessage(ctx context.Context, p domain.Principal, id string) error
	// TestInboundMessage lets the built-in carrier send one to the workspace and
	// answers it as received.
	TestInboundMessage(ctx context.Context, p domain.Principal, o ask.InboundMessage) (*domain.Message, error)
}

// SMSGateways carry text messages over HTTP.
type SMSGateways interface {
	// CreateSMSGateway makes the secret where it is empty. invalid_state with a
	// test key; a URL outside Egress: 422 invalid_url.
	CreateSMSGateway(ctx context.Context, p domain.Principal, g *domain.SMSGateway) (*domain.SMSGateway, error)
	SMSGateway(ctx context.Context, p domain.Principal, id string) (*domain.SMSGateway, error)
	ListSMSGateways(ctx context.Context, p domain.Principal, q ask.Page) (ask.List[*domain.SMSGateway], error)
	// UpdateSMSGateway: an emptied secret is made anew.
	UpdateSMSGateway(ctx context.Context, p domain.Principal, id string, change func(*domain.SMSGateway) error) (*domain.SMSGateway, error)
	DeleteSMSGateway(ctx context.Context, p domain.Principal, id string) error
	// SMSGatewayEvents answers for each event what became of it, in their order.
	// After an error some may have been taken; all may be told again.
	SMSGatewayEvents(ctx context.Context, p domain.Principal, id string, all []ask.GatewayEvent) ([]ask.GatewayTaken, error)
}

// Tools are what agents may do besides speaking.
type Tools interface {
	// CreateTool: already_exists with param name where another one has it; a URL
	// outside Egress: 422 invalid_url.
	CreateTool(ctx context.Context, p domain.Principal, t *domain.Tool) (*domain.Tool, error)
	Tool(ctx context.Context, p domain.Principal, id string) (*domain.Tool, error)
	ListTools(ctx context.Context, p domain.Principal, q ask.Page) (ask.List[*domain.Tool], error)
	UpdateTool(ctx context.Context, p domain.Principal, id string, change func(*domain.Tool) error) (*domain.Tool, error)
	// DeleteTool: invalid_state with used_by while an agent or a pathway names it.
	DeleteTool(ctx context.Context, p domain.Principal, id string) error
}

// Knowledge is what agents look things up in.
type Knowledge interface {
	// CreateKnowledge keeps a base with its first sources; they are read after
	// the answer. A URL outside Egress: 422 invalid_url.
	CreateKnowledge(ctx context.Context, p domain.Principal, k *domain.KnowledgeBase, sources []ask.NewSource) (*domain.KnowledgeBase, error)
	KnowledgeBase(ctx context.Context, p domain.Principal, id string) (*domain.KnowledgeBase, error)
	ListKnowledge(ctx context.Context, p domain.Principal, q ask.Page) (ask.List[*domain.KnowledgeBase], error)
	UpdateKnowledge(ctx context.Context, p domain.Principal, id string, change func(*domain.KnowledgeBase) error) (*domain.KnowledgeBase, error)
	DeleteKnowledge(ctx context.Context, p domain.Principal, id string) error
	AddSource(ctx context.Context, p domain.Principal, id string, s ask.NewSource) (*domain.KnowledgeSource, error)
	Source(ctx context.Context, p domain.Principal, id, sourceID string) (*domain.KnowledgeSource, error)
	ListSources(ctx context.Context, p domain.Principal, id string, q ask.Page) (ask.List[*domain.KnowledgeSource], error)
	DeleteSource(ctx context.Context, p domain.Principal, id, sourceID string) error
	// SearchKnowledge looks words up in the sources that are ready.
	SearchKnowledge(ctx context.Context, p domain.Principal, id, query string, most int) (ask.KnowledgeFound, error)
}
