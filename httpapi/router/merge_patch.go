package router

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gofiber/fiber/v2"

	"github.com/callboard/callboard/domain"
)

// mimeMergePatch is the media type of a JSON merge patch (RFC 7396 §4).
const mimeMergePatch = "application/merge-patch+json"

// Patch is the body of a PATCH request: a JSON merge patch (RFC 7396). S is the type of the members that a client
// can set, usually the create body. Members of S with the tag update:"-" can be set on create only. The zero value
// changes nothing.
type Patch[S any] struct{ Members map[string]any }

// UnmarshalJSON decodes the members of the patch. Numbers keep their written form.
func (p *Patch[S]) UnmarshalJSON(text []byte) error {
	p.Members = nil
	return domain.DecodeJSON(text, &p.Members)
}

// Schema returns a reference to the schema of the merge patch. writeUpdateSchemas derives that schema from the schema
// of S.
func (*Patch[S]) Schema(r huma.Registry) *huma.Schema {
	t := reflect.TypeFor[S]()
	r.Schema(t, true, "")
	name := updateName(schemaName(t, ""))
	if r.Map()[name] == nil {
		r.Map()[name] = &huma.Schema{Type: huma.TypeObject}
	}
	return &huma.Schema{Ref: schemaPrefix + name}
}

func (*Patch[S]) settingsType() reflect.Type { return reflect.TypeFor[S]() }

// Has reports whether the patch contains a member, also if it sets the member to null.
func (p *Patch[S]) Has(path ...string) bool { return HasMember(p.Members, path...) }

// Decode returns the members of the patch alone, not merged into the stored resource.
func (p *Patch[S]) Decode() (n S, err error) {
	text, err := json.Marshal(MergePatch(nil, p.Members))
	if err == nil {
		err = domain.DecodeJSON(text, &n)
	}
	return n, err
}

// HasMember reports whether a merge patch contains the member at a path.
func HasMember(members map[string]any, path ...string) bool {
	for i, name := range path {
		v, has := members[name]
		if !has || i == len(path)-1 {
			return has
		}
		members, _ = v.(map[string]any)
	}
	return false
}

// PatchFunc returns a function that applies a merge patch to the stored version of a resource. The function merges
// the patch into the settable members, adds the defaults of a create body and calls set. set validates the result
// and writes it to the resource. The store calls the function with the version that it replaces, so concurrent
// patches keep each other's members.
func PatchFunc[S, R any](b *Registry, p *Patch[S], set func(*S, R) error) func(R) error {
	return func(current R) error {
		next := new(S)
		if err := b.merge(p.Members, current, next); err != nil {
			return err
		}
		return set(next, current)
	}
}

// storedPruner is a settings type in which the defaults of some members depend on other members.
type storedPruner interface {
	// PruneStored removes from stored the members whose values are such defaults. The defaults are then computed again
	// from the patched members.
	PruneStored(current any, stored, patch map[string]any)
}

func (b *Registry) merge(patch map[string]any, current, next any) error {
	text, err := json.Marshal(current)
	if err != nil {
		return err
	}
	var stored any
	if err = domain.DecodeJSON(text, &stored); err != nil {
		return err
	}
	schema := b.settings[reflect.TypeOf(next).Elem()]
	target, _ := b.settableMembers(schema, stored).(map[string]any)
	if d, ok := next.(storedPruner); ok {
		d.PruneStored(current, target, patch)
	}
	merged, _ := MergePatch(target, patch).(map[string]any)
	var problems domain.Problems
	b.applyDefaults(schema, merged, "", &problems)
	if err = problems.Err(); err != nil {
		return err
	}
	if text, err = json.Marshal(merged); err != nil {
		return err
	}
	return domain.DecodeJSON(text, next)
}

// MergePatch returns the result of applying a merge patch to target (RFC 7396 §2). It changes neither argument.
func MergePatch(target, patch any) any {
	members, isObject := patch.(map[string]any)
	if !isObject {
		return patch
	}
	into, _ := target.(map[string]any)
	merged := make(map[string]any, len(into)+len(members))
	maps.Copy(merged, into)
	for name, v := range members {
		if v == nil {
			delete(merged, name)
			continue
		}
		merged[name] = MergePatch(merged[name], v)
	}
	return merged
}

// settableMembers returns those members of a decoded JSON value that a settings schema contains, also in nested values.
func (b *Registry) settableMembers(schema *huma.Schema, v any) any {
	schema = b.resolve(schema)
	switch v := v.(type) {
	case map[string]any:
		if len(schema.Properties) == 0 {
			return v
		}
		object := make(map[string]any)
		for name, inner := range schema.Properties {
			if v[name] != nil {
				object[name] = b.settableMembers(inner, v[name])
			}
		}
		return object
	case []any:
		if schema.Items == nil {
			return v
		}
		list := make([]any, len(v))
		for i, item := range v {
			list[i] = b.settableMembers(schema.Items, item)
		}
		return list
	}
	return v
}

// applyDefaults sets missing members of v to the defaults of the schema. It adds a problem to p for each missing member
// that is required and has no default.
func (b *Registry) applyDefaults(schema *huma.Schema, v any, path string, p *domain.Problems) {
	schema = b.resolve(schema)
	switch v := v.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(schema.Properties)) {
			at := strings.TrimPrefix(path+"."+name, ".")
			inner := schema.Properties[name]
			switch {
			case v[name] != nil:
				b.applyDefaults(inner, v[name], at, p)
			case inner.Default != nil:
				v[name] = inner.Default
			case slices.Contains(schema.Required, name):
				p.Add(at, domain.CodeValidation, "is required")
			}
		}
		if each, ok := schema.AdditionalProperties.(*huma.Schema); ok && len(schema.Properties) == 0 {
			for _, name := range slices.Sorted(maps.Keys(v)) {
				b.applyDefaults(each, v[name], strings.TrimPrefix(path+"."+name, "."), p)
			}
		}
	case []any:
		if schema.Items != nil {
			for i, item := range v {
				b.applyDefaults(schema.Items, item, path+"["+strconv.Itoa(i)+"]", p)
			}
		}
	}
}

// resolve follows the references of a schema, also through an allOf with one schema, which only adds a description.
func (b *Registry) resolve(schema *huma.Schema) *huma.Schema {
	for {
		switch {
		case schema.Ref != "":
			schema = b.API.OpenAPI().Components.Schemas.SchemaFromRef(schema.Ref)
		case len(schema.AllOf) == 1:
			schema = schema.AllOf[0]
		default:
			return schema
		}
	}
}

// patchObject returns an error if the body of a PATCH is valid JSON but not an object.
func patchObject(c *fiber.Ctx, text []byte) error {
	if c.Method() != fiber.MethodPatch || !json.Valid(text) || bytes.HasPrefix(bytes.TrimSpace(text), []byte("{")) {
		return nil // the decoder reports invalid JSON
	}
	return domain.Errorf(domain.CodeInvalidRequest, "The body of a PATCH must be a JSON object with the members to change (RFC 7396).")
}
