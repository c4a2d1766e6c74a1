package router

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

// ruleChecker is a request body with rules that its JSON schema cannot express. If a body violates its schema, the
// response also lists the violated rules, so that a client sees all problems at once.
type ruleChecker interface {
	// CheckRules returns the violated rules as a *domain.Error, nil if there are none. It changes nothing.
	CheckRules(ctx context.Context, w Workspaces, p domain.Principal) error
}

// maxRuleBody is the maximum size in bytes of a body whose rules are checked although it violates its schema. Lists in
// such a body may be longer than the schema allows.
const maxRuleBody = 64 << 10

// recordRuleBody records the body type of a route in b.ruleBodies if the type is a ruleChecker.
func (b *Registry) recordRuleBody(route string, input reflect.Type) {
	if f, ok := input.FieldByName("Body"); ok && reflect.PointerTo(f.Type).Implements(reflect.TypeFor[ruleChecker]()) {
		b.ruleBodies[route] = f.Type
	}
}

// ruleProblems returns the violations of a body's rules, except those of fields that reported already contains. It
// skips rules about missing members, because another missing member may decide whether they are required. The result
// is empty if the body cannot be decoded or is longer than maxRuleBody.
func ruleProblems(hc huma.Context, reported []domain.Detail) []domain.Detail {
	r, ok := hc.(*readContext)
	if !ok || len(r.text) > maxRuleBody {
		return nil
	}
	op := r.Operation()
	ctx := r.Context()
	s := ExchangeOf(humafiber.UnwrapV2(r.humaContext).Context()).Request.Router
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
	members = s.settableMembers(schema, members) // without members that clients cannot set
	var missing domain.Problems                  // discarded, because reported has these problems
	s.applyDefaults(schema, members, "", &missing)
	text, err := json.Marshal(members)
	if err != nil {
		return nil
	}
	body, ok := reflect.TypeAssert[ruleChecker](reflect.New(t))
	if !ok || domain.DecodeJSON(text, body) != nil {
		return nil
	}
	e, ok := errors.AsType[*domain.Error](body.CheckRules(ctx, s, RequestOf(ctx).Principal))
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
		return !isGiven || slices.ContainsFunc(reported, func(k domain.Detail) bool { return sameOrNested(k.Param, d.Param) })
	})
}

// sameOrNested reports whether two parameter paths are equal or one of them names a value inside the other.
func sameOrNested(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	rest, ok := strings.CutPrefix(b, a)
	return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
}
