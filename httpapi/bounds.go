package httpapi

import (
	"reflect"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/domain/rules"
	"github.com/callboard/callboard/httpapi/token"
)

// constraints add to the schemas of the document what the Go types do not say:
// the bounds of request members, which are those of the rules, and the values
// of enumerated types. The validation of requests reads the same schemas.
type constraints struct {
	registry huma.Registry
	bounds   map[string]rules.Bound
	bounded  map[string]bool // schemas of requests that have their bounds
	listed   map[string]bool // schemas that have the values of their enums
}

func newConstraints(registry huma.Registry) *constraints {
	return &constraints{registry: registry, bounds: requestBounds(), bounded: make(map[string]bool), listed: make(map[string]bool)}
}

// requestBounds are the bounds of the rules and those of the HTTP API itself.
func requestBounds() map[string]rules.Bound {
	all := rules.Bounds()
	least, most := token.Shortest.Seconds(), token.Longest.Seconds()
	all["NewToken.user_id"] = rules.Bound{Length: maxUserID}
	all["NewToken.expires_in"] = rules.Bound{Min: &least, Max: &most}
	return all
}

// apply completes the schemas of an operation.
func (c *constraints) apply(op *huma.Operation) {
	c.listValues()
	if op.RequestBody == nil {
		return
	}
	for _, media := range op.RequestBody.Content {
		if media.Schema != nil {
			c.bind("", media.Schema)
			media.Schema.PrecomputeMessages()
		}
	}
}

// bind sets the bounds of a schema, of the name, and of all schemas in it.
func (c *constraints) bind(name string, s *huma.Schema) {
	if s == nil {
		return
	}
	if s.Ref != "" {
		name = s.Ref[strings.LastIndexByte(s.Ref, '/')+1:]
		if target := c.registry.SchemaFromRef(s.Ref); !c.bounded[name] && target != nil {
			c.bounded[name] = true
			c.bind(name, target)
			target.PrecomputeMessages()
		}
		return
	}
	for member, p := range s.Properties {
		if b, ok := c.boundOf(name, member); ok {
			setBound(p, b)
		}
		c.bind(name, p)
	}
	c.bind(name, s.Items)
	if values, ok := s.AdditionalProperties.(*huma.Schema); ok {
		c.bind(name, values)
	}
	for _, list := range [][]*huma.Schema{s.AllOf, s.AnyOf, s.OneOf} {
		for _, part := range list {
			c.bind(name, part)
		}
	}
}

func (c *constraints) boundOf(schema, member string) (rules.Bound, bool) {
	b, ok := c.bounds[schema+"."+member]
	if !ok {
		b, ok = c.bounds["*."+member]
	}
	return b, ok
}

// setBound sets a bound where the schema has none of its own.
func setBound(s *huma.Schema, b rules.Bound) {
	switch s.Type {
	case huma.TypeString:
		if b.Length > 0 && s.MaxLength == nil && len(s.Enum) == 0 && s.Format == "" && s.Pattern == "" {
			s.MaxLength = &b.Length
		}
	case huma.TypeArray:
		if b.Items > 0 && s.MaxItems == nil {
			s.MaxItems = &b.Items
		}
		setBound(s.Items, rules.Bound{Length: b.Length})
	case huma.TypeObject:
		values, isMap := s.AdditionalProperties.(*huma.Schema)
		if !isMap {
			return
		}
		if b.Items > 0 && s.MaxProperties == nil {
			s.MaxProperties = &b.Items
		}
		setBound(values, rules.Bound{Length: b.Length, Items: b.Each})
		values.PrecomputeMessages()
	case huma.TypeInteger, huma.TypeNumber:
		if s.Minimum == nil && s.ExclusiveMinimum == nil {
			s.Minimum = b.Min
		}
		if s.Maximum == nil && s.ExclusiveMaximum == nil {
			s.Maximum = b.Max
		}
	case "": // of several schemas
		for _, list := range [][]*huma.Schema{s.AllOf, s.AnyOf, s.OneOf} {
			for _, part := range list {
				setBound(part, b)
			}
		}
	}
}

// enumerated is a type with a closed list of values.
type enumerated interface{ Values() []string }

// valuesByName are the values of members whose Go type is a plain string.
func valuesByName() map[string][]string {
	return map[string][]string{
		"*.disposition": domain.Outcome("").Values(), "Call.ended_by": domain.CallEnders(), "Transfer.by": domain.CallEnders(),
		"*.answered_by": domain.AnswererClasses(), "*.pause_reason": domain.PauseReasons(), "*.completion_reason": domain.CompletionReasons(),
		"Contact.status": domain.ContactStates(),
	}
}

// listValues gives the members of enumerated types their values, in schemas
// that have none yet.
func (c *constraints) listValues() {
	named := valuesByName()
	for name, schema := range c.registry.Map() {
		if c.listed[name] {
			continue
		}
		c.listed[name] = true
		t := c.registry.TypeFromRef("#/components/schemas/" + name)
		for t != nil && t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
		if t == nil || t.Kind() != reflect.Struct {
			continue
		}
		for f := range fields(t) {
			member, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			p := schema.Properties[member]
			if p == nil {
				continue
			}
			values, ok := named[name+"."+member]
			if !ok {
				values, ok = named["*."+member]
			}
			switch {
			case ok:
				enumerate(p, values)
			case f.Type == reflect.TypeFor[domain.Reason]():
				if member == "ended_reason" {
					reasons(p)
				}
			default:
				enumerate(p, valuesOf(f.Type))
			}
		}
		schema.PrecomputeMessages()
	}
}

// valuesOf are the values of a type, or of the elements of a list; nil: of none.
func valuesOf(t reflect.Type) []string {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	if t.Kind() != reflect.String {
		return nil
	}
	if e, ok := reflect.TypeAssert[enumerated](reflect.Zero(t)); ok {
		return e.Values()
	}
	return nil
}

func enumerate(s *huma.Schema, values []string) {
	if s.Type == huma.TypeArray {
		s = s.Items
	}
	if s.Type != huma.TypeString || len(s.Enum) > 0 || len(values) == 0 {
		return
	}
	for _, v := range values {
		s.Enum = append(s.Enum, v)
	}
}

// reasons describes a domain.Reason: a known word, or the final SIP status of an
// answer that has none.
func reasons(s *huma.Schema) {
	known := &huma.Schema{Type: huma.TypeString}
	enumerate(known, domain.Reason("").Values())
	s.AnyOf = []*huma.Schema{known, {Type: huma.TypeString, Pattern: `^sip_[1-6]\d\d$`}}
}
