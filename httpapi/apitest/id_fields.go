package apitest

import (
	"maps"
	"regexp"
	"slices"

	"github.com/callboard/callboard/httpapi/openapi"
)

// idByName matches the names, and idByWord the descriptions, of fields that hold a resource id.
var (
	idByName = regexp.MustCompile(`(^|_)ids?$`)
	idByWord = regexp.MustCompile(`\bids?\b`)
)

// IDFields returns the sorted paths of the fields in an operation's JSON body that may hold an id, for example
// items[].agent_id.
func (c *Contract) IDFields(o *openapi.Operation) []string {
	found := make(map[string]bool)
	var walk func(s *openapi.Schema, at, name, about string, deep int)
	walk = func(s *openapi.Schema, at, name, description string, deep int) {
		if description == "" && s.Ref == "" {
			description = s.Description
		}
		s, _ = c.Resolve(s)
		if deep > 2*maxDepth {
			return
		}
		for _, either := range slices.Concat(s.AllOf, s.AnyOf, s.OneOf) {
			walk(either, at, name, description, deep+1)
		}
		for field, of := range s.Properties {
			below := field
			if at != "" {
				below = at + "." + field
			}
			walk(of, below, field, of.Description, deep+1)
		}
		if s.Items != nil {
			walk(s.Items, at+"[]", name, description, deep+1)
		}
		if s.Additional != nil && s.Additional.Schema != nil {
			walk(s.Additional.Schema, at+"{}", "", "", deep+1)
		}
		if s.Type() == "string" && len(s.Enum) == 0 && (idByName.MatchString(name) || idByWord.MatchString(description)) {
			found[at] = true
		}
	}
	if s := o.Bodies["application/json"]; s != nil {
		walk(s, "", "", "", 0)
	}
	return slices.Sorted(maps.Keys(found))
}
