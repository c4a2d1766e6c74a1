package router

import (
	"cmp"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gofiber/fiber/v2"
)

// BodySchema returns the schema of the JSON body of an operation, nil if it has none. path has the syntax of the OpenAPI
// document.
func (b *Registry) BodySchema(method, path string) *huma.Schema {
	item := b.API.OpenAPI().Paths[path]
	if item == nil {
		return nil
	}
	op := map[string]*huma.Operation{fiber.MethodPost: item.Post, fiber.MethodPatch: item.Patch, fiber.MethodPut: item.Put}[method]
	if op == nil || op.RequestBody == nil || op.RequestBody.Content[fiber.MIMEApplicationJSON] == nil {
		return nil
	}
	return op.RequestBody.Content[fiber.MIMEApplicationJSON].Schema
}

// Members returns a schema without references, and the names of its members in the order in which its type declares them.
func (b *Registry) Members(schema *huma.Schema) (resolved *huma.Schema, names []string) {
	declared := map[string]int{}
	resolved = schema
	for resolved.Ref != "" || len(resolved.AllOf) == 1 {
		if resolved.Ref == "" {
			resolved = resolved.AllOf[0]
			continue
		}
		schemas := b.API.OpenAPI().Components.Schemas
		t := schemas.TypeFromRef(resolved.Ref)
		if name, isUpdate := strings.CutSuffix(strings.TrimPrefix(resolved.Ref, schemaPrefix), updateSuffix); t == nil && isUpdate { // made from the schema of the creation
			if t = schemas.TypeFromRef(schemaPrefix + "New" + name); t == nil {
				t = schemas.TypeFromRef(schemaPrefix + name)
			}
		}
		if t != nil {
			for f := range walkFields(t) {
				declared[memberName(f)] = len(declared) + 1
			}
		}
		resolved = schemas.SchemaFromRef(resolved.Ref)
	}
	names = slices.Collect(maps.Keys(resolved.Properties))
	slices.SortFunc(names, func(x, y string) int { return cmp.Or(cmp.Compare(declared[x], declared[y]), cmp.Compare(x, y)) })
	return resolved, names
}

// memberName returns the name that a field of a type has in JSON.
func memberName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name
}
