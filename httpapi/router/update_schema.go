package router

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gofiber/fiber/v2"
)

const (
	schemaPrefix      = "#/components/schemas/"
	updateSuffix      = "Update"
	updateDescription = "A JSON merge patch (RFC 7396). Missing members keep their values, objects are merged, lists are replaced. null removes a member or resets it to its default."
)

// updateName returns the name of the merge patch schema for a create schema: AgentUpdate for NewAgent.
func updateName(schema string) string {
	return strings.TrimSuffix(strings.TrimPrefix(schema, "New"), updateSuffix) + updateSuffix
}

// recordPatchType records the settings type of a route whose body is a Patch.
func (b *Registry) recordPatchType(in reflect.Type) {
	body, ok := in.FieldByName("Body")
	if !ok {
		return
	}
	if p, isPatch := reflect.TypeAssert[interface{ settingsType() reflect.Type }](reflect.New(body.Type)); isPatch {
		b.settings[p.settingsType()] = nil
	}
}

// writeUpdateSchemas adds the schemas of all PATCH bodies to the document. It must run after the descriptions and limits
// of the create schemas are set, because it derives the schemas from them.
func (b *Registry) writeUpdateSchemas() {
	w := &updateSchemas{schemas: b.API.OpenAPI().Components.Schemas.Map(), done: make(map[string]bool)}
	for _, t := range slices.SortedFunc(maps.Keys(b.settings), func(x, y reflect.Type) int { return strings.Compare(x.String(), y.String()) }) {
		name := schemaName(t, "")
		b.settings[t] = withoutCreateOnly(t, w.schemas[name])
		w.write(updateName(name), b.settings[t])
		root := w.schemas[updateName(name)]
		root.Nullable, root.Description = false, updateDescription
	}
	for _, item := range b.API.OpenAPI().Paths {
		if op := item.Patch; op != nil && op.RequestBody != nil {
			op.RequestBody.Content[mimeMergePatch] = op.RequestBody.Content[fiber.MIMEApplicationJSON]
		}
	}
	w.finish()
}

// withoutCreateOnly returns a copy of a settings schema without the members that can be set only when the resource is
// created.
func withoutCreateOnly(t reflect.Type, schema *huma.Schema) *huma.Schema {
	c := *schema
	c.Properties, c.Required = maps.Clone(schema.Properties), slices.Clone(schema.Required)
	for f := range walkFields(t) {
		if f.Tag.Get("update") == "-" {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			delete(c.Properties, name)
			c.Required = slices.DeleteFunc(c.Required, func(required string) bool { return required == name })
		}
	}
	return &c
}

// updateSchemas derives the schemas of merge patches from the schemas of create bodies.
type updateSchemas struct {
	schemas map[string]*huma.Schema
	done    map[string]bool
	enums   []*huma.Schema // enums that also get the value null
}

// write adds the merge patch schema for an object schema to the document.
func (w *updateSchemas) write(name string, of *huma.Schema) {
	if w.done[name] {
		return
	}
	w.done[name] = true
	schema := w.patchRequest(of)
	schema.Nullable = true
	w.schemas[name] = schema
}

// patchRequest returns the merge patch schema for a schema. Its objects have no required members and no defaults, and
// optional members may be null.
func (w *updateSchemas) patchRequest(s *huma.Schema) *huma.Schema {
	if name, isRef := strings.CutPrefix(s.Ref, schemaPrefix); isRef {
		of := w.schemas[name]
		if of.Type != huma.TypeObject || len(of.Properties) == 0 {
			return s
		}
		w.write(updateName(name), of)
		return &huma.Schema{Ref: schemaPrefix + updateName(name), Description: s.Description}
	}
	c := *s
	c.Default, c.Required, c.DependentRequired, c.MinProperties = nil, nil, nil, nil
	for _, list := range []*[]*huma.Schema{&c.AllOf, &c.AnyOf, &c.OneOf} {
		*list = slices.Clone(*list)
		for i, one := range *list {
			(*list)[i] = w.patchRequest(one)
		}
	}
	if s.Properties != nil {
		c.Properties = make(map[string]*huma.Schema, len(s.Properties))
		for name, p := range s.Properties {
			c.Properties[name] = w.member(p, slices.Contains(s.Required, name) && p.Default == nil)
		}
	}
	if each, ok := s.AdditionalProperties.(*huma.Schema); ok {
		c.AdditionalProperties = w.member(each, false)
	}
	return &c
}

// member returns the merge patch schema for a member. It allows null unless the member is required in the create
// body.
func (w *updateSchemas) member(s *huma.Schema, required bool) *huma.Schema {
	m := w.patchRequest(s)
	if required || m.Ref != "" || m.Type == "" {
		return m
	}
	if m.Nullable = true; len(m.Enum) > 0 {
		w.enums = append(w.enums, m)
	}
	return m
}

// finish prepares the new schemas for the validation by huma.
func (w *updateSchemas) finish() {
	for name := range w.done {
		s := w.schemas[name]
		s.PrecomputeMessages()
		for _, p := range s.Properties {
			if each, ok := p.AdditionalProperties.(*huma.Schema); ok {
				each.PrecomputeMessages()
			}
		}
	}
	for _, s := range w.enums { // null is added after PrecomputeMessages, so that error messages do not list it
		s.Enum = append(slices.Clone(s.Enum), nil)
	}
}
