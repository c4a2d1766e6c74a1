package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humafiber"
	"github.com/gofiber/fiber/v2"

	"github.com/callboard/callboard/domain"
)

// ruleChecker is a request body with rules that its schema cannot express. The
// response to a body that does not match its schema also lists the violations of
// these rules, so that a client sees all problems at once.
type ruleChecker interface {
	// checkRules returns the violations as *domain.Error, without any effect.
	checkRules(ctx context.Context, s *Server, p domain.Principal) error
}

// maxRuleBody bounds the bodies, in bytes, whose rules are checked although they
// do not match their schema: the schema bounds the lists that the rules compare.
const maxRuleBody = 64 << 10

// recordRuleBody records the body type of a route where it is a ruleChecker.
func (b *blueprint) recordRuleBody(route string, input reflect.Type) {
	if f, ok := input.FieldByName("Body"); ok && reflect.PointerTo(f.Type).Implements(reflect.TypeFor[ruleChecker]()) {
		b.ruleBodies[route] = f.Type
	}
}

// ruleProblems are the violations of a body's rules, without those of fields in
// known, the problems with its schema. Members that the body lacks are left out:
// whether such a member is required may depend on members that are still missing.
// The result is empty where the body cannot be decoded or has more than maxRuleBody
// bytes.
func ruleProblems(hc huma.Context, known []domain.Detail) []domain.Detail {
	r, ok := hc.(*read)
	if !ok || len(r.text) > maxRuleBody {
		return nil
	}
	op := r.Operation()
	ctx := r.Context()
	s := tripOf(humafiber.UnwrapV2(r.humaContext).Context()).visit.server
	t, ok := s.ruleBodies[op.Method+" "+op.Path]
	if !ok {
		return nil
	}
	var members any
	if domain.DecodeJSON(r.text, &members) != nil {
		return nil
	}
	schema := op.RequestBody.Content[fiber.MIMEApplicationJSON].Schema
	object, _ := members.(map[string]any)
	given := maps.Clone(object)                  // applyDefaults adds members
	members = s.settableMembers(schema, members) // without unknown members
	var missing domain.Problems                  // in known already
	s.applyDefaults(schema, members, "", &missing)
	text, err := json.Marshal(members)
	if err != nil {
		return nil
	}
	body, ok := reflect.TypeAssert[ruleChecker](reflect.New(t))
	if !ok || domain.DecodeJSON(text, body) != nil {
		return nil
	}
	e, ok := errors.AsType[*domain.Error](body.checkRules(ctx, s, visitOf(ctx).principal))
	if !ok || statusOf(e.Code) != http.StatusUnprocessableEntity {
		return nil
	}
	details := e.Details
	if len(details) == 0 && e.Param != "" {
		details = []domain.Detail{{Param: e.Param, Code: e.Code, Message: e.Message}}
	}
	return slices.DeleteFunc(slices.Clone(details), func(d domain.Detail) bool {
		name, _, _ := strings.Cut(d.Param, ".")
		name, _, _ = strings.Cut(name, "[")
		_, isGiven := given[name]
		return !isGiven || slices.ContainsFunc(known, func(k domain.Detail) bool { return sameOrNested(k.Param, d.Param) })
	})
}

// sameOrNested says whether two paths are equal, or one is within the other.
func sameOrNested(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	rest, ok := strings.CutPrefix(b, a)
	return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

func (n *NewAgent) checkRules(context.Context, *Server, domain.Principal) error {
	return n.apply(&domain.Agent{})
}

func (n *NewAlertRule) checkRules(context.Context, *Server, domain.Principal) error {
	return n.apply(&domain.AlertRule{})
}

func (n *NewDNCList) checkRules(context.Context, *Server, domain.Principal) error {
	return n.apply(&domain.DNCList{})
}

func (n *NewSMSGateway) checkRules(context.Context, *Server, domain.Principal) error {
	return n.apply(&domain.SMSGateway{})
}

func (n *NewPathway) checkRules(context.Context, *Server, domain.Principal) error {
	return n.apply(&domain.Pathway{})
}

func (n *NewPhone) checkRules(context.Context, *Server, domain.Principal) error {
	return n.apply(&domain.Phone{})
}

func (n *NewProvider) checkRules(context.Context, *Server, domain.Principal) error {
	return n.apply(&domain.Provider{})
}

func (n *NewTool) checkRules(context.Context, *Server, domain.Principal) error {
	return n.apply(&domain.Tool{})
}

func (n *NewTrunk) checkRules(context.Context, *Server, domain.Principal) error {
	return n.apply(&domain.Trunk{})
}

func (n *NewWorkspace) checkRules(context.Context, *Server, domain.Principal) error {
	return n.apply(&domain.Workspace{})
}

func (n *NewUser) checkRules(_ context.Context, _ *Server, p domain.Principal) error {
	u := &domain.User{}
	u.Environment = p.Environment
	return n.apply(u)
}

func (n *NewKey) checkRules(_ context.Context, _ *Server, p domain.Principal) error {
	_, err := n.key(p)
	return err
}

func (n *NewClient) checkRules(context.Context, *Server, domain.Principal) error {
	_, err := n.client()
	return err
}

func (n *NewWebhook) checkRules(_ context.Context, _ *Server, p domain.Principal) error {
	_, err := n.webhook(p)
	return err
}

func (n *NewExport) checkRules(context.Context, *Server, domain.Principal) error {
	_, err := n.export()
	return err
}

func (n *NewNumber) checkRules(ctx context.Context, s *Server, p domain.Principal) error {
	w, err := s.ports.Workspaces.Workspace(ctx, p)
	if err != nil {
		return err
	}
	return n.apply(&domain.PhoneNumber{Number: n.Number}, w.DefaultCountry)
}

func (n *NewAppointment) checkRules(ctx context.Context, s *Server, p domain.Principal) error {
	w, err := s.ports.Workspaces.Workspace(ctx, p)
	if err != nil {
		return err
	}
	_, err = n.order(w.DefaultCountry)
	return err
}

func (n *NewCampaign) checkRules(ctx context.Context, s *Server, p domain.Principal) error {
	_, _, err := s.checked(ctx, p, n)
	return err
}

func (b *NewCallRequest) checkRules(ctx context.Context, s *Server, p domain.Principal) error {
	house, err := s.house(ctx, p)
	if err != nil {
		return err
	}
	var problems domain.Problems
	b.order(house, &problems)
	return problems.Err()
}
