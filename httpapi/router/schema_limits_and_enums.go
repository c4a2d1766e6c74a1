package router

import (
	"reflect"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/callboard/callboard/domain"
)

// constraints adds limits and enums to the schemas of the OpenAPI document: the limits of request body members and
// the values of enumerated types. Requests are validated by the same schemas.
type constraints struct {
	registry huma.Registry
	limits   map[string]memberLimit
	limited  map[string]bool // schemas whose limits are set
	listed   map[string]bool // schemas whose enums are set
}

func newConstraints(registry huma.Registry) *constraints {
	return &constraints{registry: registry, limits: memberLimits(), limited: make(map[string]bool), listed: make(map[string]bool)}
}

// apply adds limits and enums to the schemas of an operation's request body, and enums to all other schemas.
func (c *constraints) apply(op *huma.Operation) {
	c.SetEnums()
	if op.RequestBody == nil {
		return
	}
	for _, media := range op.RequestBody.Content {
		if media.Schema != nil {
			c.setLimits("", media.Schema)
			media.Schema.PrecomputeMessages()
		}
	}
}

// setLimits sets the limits of the members of a schema and of all nested schemas.
func (c *constraints) setLimits(name string, s *huma.Schema) {
	if s == nil {
		return
	}
	if s.Ref != "" {
		name = s.Ref[strings.LastIndexByte(s.Ref, '/')+1:]
		if target := c.registry.SchemaFromRef(s.Ref); !c.limited[name] && target != nil {
			c.limited[name] = true
			c.setLimits(name, target)
			target.PrecomputeMessages()
		}
		return
	}
	for member, p := range s.Properties {
		if l, ok := c.limitOf(name, member); ok {
			setLimit(p, l)
		}
		c.setLimits(name, p)
	}
	c.setLimits(name, s.Items)
	if values, ok := s.AdditionalProperties.(*huma.Schema); ok {
		c.setLimits(name, values)
	}
	for _, list := range [][]*huma.Schema{s.AllOf, s.AnyOf, s.OneOf} {
		for _, part := range list {
			c.setLimits(name, part)
		}
	}
}

// limitOf returns the limit of a member of a schema.
func (c *constraints) limitOf(schema, member string) (memberLimit, bool) {
	l, ok := c.limits[schema+"."+member]
	if !ok {
		l, ok = c.limits["*."+member]
	}
	return l, ok
}

// setLimit sets a limit on a schema, unless the schema already has one.
func setLimit(s *huma.Schema, l memberLimit) {
	switch s.Type {
	case huma.TypeString:
		if l.Length > 0 && s.MaxLength == nil && len(s.Enum) == 0 && s.Format == "" && s.Pattern == "" {
			s.MaxLength = &l.Length
		}
	case huma.TypeArray:
		if l.Items > 0 && s.MaxItems == nil {
			s.MaxItems = &l.Items
		}
		setLimit(s.Items, memberLimit{Length: l.Length})
	case huma.TypeObject:
		values, isMap := s.AdditionalProperties.(*huma.Schema)
		if !isMap {
			return
		}
		if l.Items > 0 && s.MaxProperties == nil {
			s.MaxProperties = &l.Items
		}
		setLimit(values, memberLimit{Length: l.Length, Items: l.Each})
		values.PrecomputeMessages()
	case huma.TypeInteger, huma.TypeNumber:
		if s.Minimum == nil && s.ExclusiveMinimum == nil {
			s.Minimum = l.Min
		}
		if s.Maximum == nil && s.ExclusiveMaximum == nil {
			s.Maximum = l.Max
		}
	case "": // the schema combines other schemas
		for _, list := range [][]*huma.Schema{s.AllOf, s.AnyOf, s.OneOf} {
			for _, part := range list {
				setLimit(part, l)
			}
		}
	}
}

// enumerated is implemented by string types with a fixed list of values.
type enumerated interface{ Values() []string }

// enumValuesByMember returns the allowed values of members whose Go type is string. The keys are "Schema.member", or
// "*.member" for a member with the same values in all schemas.
func enumValuesByMember() map[string][]string {
	return map[string][]string{
		"*.disposition": domain.Outcome("").Values(), "Call.ended_by": domain.EndedByValues(), "Transfer.by": domain.EndedByValues(),
		"*.answered_by": domain.AnsweredByValues(), "*.pause_reason": domain.PauseReasons(), "*.completion_reason": domain.CompletionReasons(),
		"Contact.status": domain.ContactStates(),
	}
}

// SetEnums sets the enum in the schema of each member that has a fixed list of values.
func (c *constraints) SetEnums() {
	named := enumValuesByMember()
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
		for f := range walkFields(t) {
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
				setEnum(p, values)
			case f.Type == reflect.TypeFor[domain.Reason]():
				if member == "ended_reason" {
					describeReason(p)
				}
			default:
				setEnum(p, enumValues(f.Type))
			}
		}
		schema.PrecomputeMessages()
	}
}

// enumValues returns the values of an enumerated type, also for a pointer to it or a list of it. It returns nil for
// other types.
func enumValues(t reflect.Type) []string {
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

func setEnum(s *huma.Schema, values []string) {
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

// describeReason sets the schema of domain.Reason: one of the known reasons, or "sip_" and a final SIP status code.
func describeReason(s *huma.Schema) {
	known := &huma.Schema{Type: huma.TypeString}
	setEnum(known, domain.Reason("").Values())
	s.AnyOf = []*huma.Schema{known, {Type: huma.TypeString, Pattern: `^sip_[1-6]\d\d$`}}
}

// ContactStates returns the values of the query parameter that filters contacts by status.
func ContactStates() []any {
	var words []any
	for state := domain.ContactPending; state <= domain.ContactInCall; state++ {
		words = append(words, state.String())
	}
	return words
}
