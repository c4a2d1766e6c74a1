package telephony

import (
	"context"
	"net/http"
	"regexp"
	"time"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/validation"
	"github.com/callboard/callboard/httpapi/router"
	"github.com/callboard/callboard/httpapi/v1/calls"
	callsservice "github.com/callboard/callboard/service/calls"
	"github.com/callboard/callboard/service/record"
)

// Numbers are the phone numbers of a workspace.
type Numbers interface {
	// CreateNumber: already_exists where any workspace has the number; unknown
	// agent or trunk: 422 with param.
	CreateNumber(ctx context.Context, p domain.Principal, n *domain.PhoneNumber) (*domain.PhoneNumber, error)
	Number(ctx context.Context, p domain.Principal, id string) (*domain.PhoneNumber, error)
	ListNumbers(ctx context.Context, p domain.Principal, q record.PageQuery) (record.Page[*domain.PhoneNumber], error)
	UpdateNumber(ctx context.Context, p domain.Principal, id string, change func(*domain.PhoneNumber) error) (*domain.PhoneNumber, error)
	DeleteNumber(ctx context.Context, p domain.Principal, id string) error
}

// TestCalls places calls from the test carrier.
type TestCalls interface {
	// TestInboundCall has the test carrier call a number of the test environment
	// and returns the call. Errors: validation_error with param to where the number
	// is not answered.
	TestInboundCall(ctx context.Context, p domain.Principal, o callsservice.InboundTest) (*domain.Call, error)
}

// numberHandlers serves the operations of phone numbers.
type numberHandlers struct {
	*router.Router

	numbers   Numbers
	testCalls TestCalls
}

// NewNumber is a phone number as it is sent.
type NewNumber struct {
	Number     string            `json:"number" update:"-" doc:"E.164, or * for whatever else its trunk brings." example:"+12025550100"`
	AgentID    string            `json:"agent_id" doc:"Who answers."`
	TrunkID    string            `json:"trunk_id,omitempty"`
	SMSEnabled bool              `json:"sms_enabled,omitempty" doc:"Messages that name no from come from the oldest number that says so; without one, from the workspace's first."`
	Metadata   map[string]string `json:"metadata,omitempty"`
}

// apply writes the settings to a number, and checks the number. The country
// is that of numbers without a country code.
func (n *NewNumber) apply(x *domain.PhoneNumber, country string) error {
	x.AgentID, x.TrunkID, x.SMSEnabled, x.Metadata = n.AgentID, n.TrunkID, n.SMSEnabled, n.Metadata
	return validation.Number(x, country).Err()
}

// registerNumbers registers the operations of phone numbers.
func registerNumbers(r *router.Router, numbers Numbers, testCalls TestCalls) {
	s := &numberHandlers{Router: r, numbers: numbers, testCalls: testCalls}
	const tag, path = "Phone numbers", "/v1/phone-numbers"
	router.Add(s.Router, router.Operation{Method: http.MethodPost, Path: path, ID: "createNumber", Tag: tag, Status: http.StatusCreated, Summary: "Let an agent answer a number", Description: "A number is unique in the installation: 409 already_exists. Where several workspaces share it, status is pending until an operator approves; an operator's own are live."}, s.createNumber)
	router.Add(s.Router, router.Operation{Method: http.MethodGet, Path: path, ID: "listNumbers", Tag: tag, Summary: "List numbers"},
		router.HandleList(s.numbers, Numbers.ListNumbers, router.Identity))
	router.Add(s.Router, router.Operation{Method: http.MethodGet, Path: path + "/{id}", ID: "getNumber", Tag: tag, Summary: "Get a number"},
		router.HandleByID(domain.PrefixNumber, s.numbers, Numbers.Number, router.Identity))
	router.Add(s.Router, router.Operation{Method: http.MethodPatch, Path: path + "/{id}", ID: "updateNumber", Tag: tag, Summary: "Let somebody else answer a number"}, s.updateNumber)
	router.Add(s.Router, router.Operation{Method: http.MethodDelete, Path: path + "/{id}", ID: "deleteNumber", Tag: tag, Summary: "Give a number up"},
		router.HandleDeleteByID(domain.PrefixNumber, "phone_number", s.numbers, Numbers.DeleteNumber))
	router.Add(s.Router, router.Operation{
		Method: http.MethodPost, Path: "/v1/test/inbound-calls", ID: "testInboundCall", Tag: tag, Status: http.StatusCreated,
		Summary: "Let the built-in carrier call a number", Description: "With a test key only. The call runs over real SIP and RTP within the machine.",
	}, s.testInbound)
}

// TestInbound is a call of the built-in carrier as it is ordered.
type TestInbound struct {
	To            string `json:"to" example:"+12025550100" doc:"A number of the test environment."`
	From          string `json:"from,omitempty" default:"+15005550000" doc:"A number, or anonymous."`
	Name          string `json:"name,omitempty" doc:"Shown beside the number."`
	Digits        string `json:"digits,omitempty" doc:"Keys that the caller presses, one by one, as the agent pauses." example:"1"`
	Says          string `json:"says,omitempty" doc:"What the caller says once the agent pauses."`
	HangUpSeconds int    `json:"hang_up_seconds,omitempty" minimum:"0" maximum:"180" doc:"After so long the caller hangs up. 0: when the agent does, after three minutes at most."`
}

var dtmfDigits = regexp.MustCompile(`^[0-9A-D*#]{0,64}$`)

func (s *numberHandlers) testInbound(ctx context.Context, p domain.Principal, in *struct{ Body TestInbound }) (*router.Response[*domain.Call], error) {
	b := &in.Body
	w, err := s.Workspace(ctx, p)
	if err != nil {
		return nil, err
	}
	o := callsservice.InboundTest{From: b.From, Name: b.Name, Digits: b.Digits, Says: b.Says, HangUp: time.Duration(b.HangUpSeconds) * time.Second}
	var problems domain.Problems
	if o.To = b.To; b.To == "" {
		problems.Add("to", domain.CodeValidation, "is required")
	} else {
		o.To = validation.Phone(&problems, "to", b.To, w.DefaultCountry)
	}
	switch o.From {
	case "":
		o.From = domain.TestCarrierPrefix + "0000"
	case domain.Anonymous:
	default:
		o.From = validation.Phone(&problems, "from", b.From, w.DefaultCountry)
	}
	validation.Text(&problems, "name", b.Name, false, validation.MaxTestName)
	validation.Text(&problems, "says", b.Says, false, validation.MaxTestSays)
	if !dtmfDigits.MatchString(b.Digits) {
		problems.Add("digits", domain.CodeValidation, "may hold 0 to 9, A to D, * and #, 64 at most")
	}
	if err = problems.Err(); err != nil {
		return nil, err
	}
	call, err := s.testCalls.TestInboundCall(ctx, p, o)
	return calls.RespondCall(s.Router, call, err)
}

func (s *numberHandlers) createNumber(ctx context.Context, p domain.Principal, in *struct{ Body NewNumber }) (*router.Response[*domain.PhoneNumber], error) {
	w, err := s.Workspace(ctx, p)
	if err != nil {
		return nil, err
	}
	n := &domain.PhoneNumber{Number: in.Body.Number}
	if err = in.Body.apply(n, w.DefaultCountry); err != nil {
		return nil, err
	}
	made, err := s.numbers.CreateNumber(ctx, p, n)
	return router.RespondCreated(ctx, made, err)
}

func (s *numberHandlers) updateNumber(ctx context.Context, p domain.Principal, in *struct {
	router.IDParam
	Body router.Patch[NewNumber]
},
) (*router.Response[*domain.PhoneNumber], error) {
	id, err := router.PathID(domain.PrefixNumber, in.ID)
	if err != nil {
		return nil, err
	}
	return router.Respond(s.numbers.UpdateNumber(ctx, p, id, router.PatchFunc(s.Registry, &in.Body, func(n *NewNumber, x *domain.PhoneNumber) error { return n.apply(x, "") })))
}

// CheckRules checks what the schema cannot express.
func (n *NewNumber) CheckRules(ctx context.Context, s router.Workspaces, p domain.Principal) error {
	w, err := s.Workspace(ctx, p)
	if err != nil {
		return err
	}
	return n.apply(&domain.PhoneNumber{Number: n.Number}, w.DefaultCountry)
}
