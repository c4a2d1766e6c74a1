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

// Numbers manages the phone numbers of a workspace.
type Numbers interface {
	// CreateNumber stores a phone number. It returns already_exists if any workspace has the number. An unknown agent or
	// trunk is a 422 error with param.
	CreateNumber(ctx context.Context, p domain.Principal, n *domain.PhoneNumber) (*domain.PhoneNumber, error)
	Number(ctx context.Context, p domain.Principal, id string) (*domain.PhoneNumber, error)
	ListNumbers(ctx context.Context, p domain.Principal, q record.PageQuery) (record.Page[*domain.PhoneNumber], error)
	UpdateNumber(ctx context.Context, p domain.Principal, id string, change func(*domain.PhoneNumber) error) (*domain.PhoneNumber, error)
	DeleteNumber(ctx context.Context, p domain.Principal, id string) error
}

// TestCalls places calls from the test carrier.
type TestCalls interface {
	// TestInboundCall lets the test carrier call a number of the test environment, and returns the call. A number that
	// is not in the workspace is a validation_error with param to.
	TestInboundCall(ctx context.Context, p domain.Principal, o callsservice.InboundTest) (*domain.Call, error)
}

// numberHandlers serves the operations of phone numbers.
type numberHandlers struct {
	*router.Router

	numbers   Numbers
	testCalls TestCalls
}

// NewNumber is a phone number in a request body.
type NewNumber struct {
	Number     string            `json:"number" update:"-" doc:"E.164, or * for all other numbers of its trunk." example:"+12025550100"`
	AgentID    string            `json:"agent_id" doc:"The agent that answers calls to the number."`
	TrunkID    string            `json:"trunk_id,omitempty"`
	SMSEnabled bool              `json:"sms_enabled,omitempty" doc:"Messages without from are sent from the oldest number with true, otherwise from the first number of the workspace."`
	Metadata   map[string]string `json:"metadata,omitempty"`
}

// apply copies the settings of the request body to x and validates x. country is the default country for a number
// without a country code.
func (n *NewNumber) apply(x *domain.PhoneNumber, country string) error {
	x.AgentID, x.TrunkID, x.SMSEnabled, x.Metadata = n.AgentID, n.TrunkID, n.SMSEnabled, n.Metadata
	return validation.Number(x, country).Err()
}

// registerNumbers registers the operations of phone numbers.
func registerNumbers(r *router.Router, numbers Numbers, testCalls TestCalls) {
	s := &numberHandlers{Router: r, numbers: numbers, testCalls: testCalls}
	const tag, path = "Phone numbers", "/v1/phone-numbers"
	router.Add(s.Router, router.Operation{Method: http.MethodPost, Path: path, ID: "createNumber", Tag: tag, Status: http.StatusCreated, Summary: "Create a phone number", Description: "Assigns a number to an agent. A number is unique in the installation: 409 already_exists. In an installation with several workspaces the status is pending until an operator approves the number; numbers that an operator creates are live."}, s.createNumber)
	router.Add(s.Router, router.Operation{Method: http.MethodGet, Path: path, ID: "listNumbers", Tag: tag, Summary: "List numbers"},
		router.HandleList(s.numbers, Numbers.ListNumbers, router.Identity))
	router.Add(s.Router, router.Operation{Method: http.MethodGet, Path: path + "/{id}", ID: "getNumber", Tag: tag, Summary: "Get a number"},
		router.HandleByID(domain.PrefixNumber, s.numbers, Numbers.Number, router.Identity))
	router.Add(s.Router, router.Operation{Method: http.MethodPatch, Path: path + "/{id}", ID: "updateNumber", Tag: tag, Summary: "Change a phone number"}, s.updateNumber)
	router.Add(s.Router, router.Operation{Method: http.MethodDelete, Path: path + "/{id}", ID: "deleteNumber", Tag: tag, Summary: "Delete a phone number"},
		router.HandleDeleteByID(domain.PrefixNumber, "phone_number", s.numbers, Numbers.DeleteNumber))
	router.Add(s.Router, router.Operation{
		Method: http.MethodPost, Path: "/v1/test/inbound-calls", ID: "testInboundCall", Tag: tag, Status: http.StatusCreated,
		Summary: "Let the test carrier call a number", Description: "With a test key only. The call uses real SIP and RTP within the machine.",
	}, s.testInbound)
}

// TestInbound is the request body with which a client lets the test carrier place a call.
type TestInbound struct {
	To            string `json:"to" example:"+12025550100" doc:"A number of the test environment."`
	From          string `json:"from,omitempty" default:"+15005550000" doc:"Caller ID: a number, or anonymous."`
	Name          string `json:"name,omitempty" doc:"Caller name."`
	Digits        string `json:"digits,omitempty" doc:"Keys that the caller presses, one at each pause of the agent." example:"1"`
	Says          string `json:"says,omitempty" doc:"Text that the caller speaks at the first pause of the agent."`
	HangUpSeconds int    `json:"hang_up_seconds,omitempty" minimum:"0" maximum:"180" doc:"Seconds after which the caller hangs up. 0: the caller waits for the agent to hang up, at most three minutes."`
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
		problems.Add("digits", domain.CodeValidation, "must be at most 64 of 0 to 9, A to D, * and #")
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
	created, err := s.numbers.CreateNumber(ctx, p, n)
	return router.RespondCreated(ctx, created, err)
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

// CheckRules returns the violations of rules that the JSON schema cannot express, such as the form of the number.
func (n *NewNumber) CheckRules(ctx context.Context, s router.Workspaces, p domain.Principal) error {
	w, err := s.Workspace(ctx, p)
	if err != nil {
		return err
	}
	return n.apply(&domain.PhoneNumber{Number: n.Number}, w.DefaultCountry)
}
