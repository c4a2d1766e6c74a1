package apitest

import (
	"maps"
	"regexp"
	"slices"

	"github.com/callboard/callboard/httpapi/openapi"
)

// A field that holds an id says so by its name, or in what the document says of
// it.
var (
	idByName = regexp.MustCompile(`(^|_)ids?$`)
	idByWord = regexp.MustCompile(`\bids?\b`)
)

// Names are the texts in an operation's JSON body that may be the id of
// something, in order: items[].agent_id, tools[].
func (c *Contract) Names(o *openapi.Operation) []string {
	found := make(map[string]bool)
	var walk func(s *openapi.Schema, at, name, told string, deep int)
	walk = func(s *openapi.Schema, at, name, told string, deep int) {
		if told == "" && s.Ref == "" {
			told = s.Description
		}
		s, _ = c.Resolve(s)
		if deep > 2*mostDeep {
			return
		}
		for _, either := range slices.Concat(s.AllOf, s.AnyOf, s.OneOf) {
			walk(either, at, name, told, deep+1)
		}
		for field, of := range s.Properties {
			below := field
			if at != "" {
				below = at + "." + field
			}
			walk(of, below, field, of.Description, deep+1)
		}
		if s.Items != nil {
			walk(s.Items, at+"[]", name, told, deep+1)
		}
		if s.Others != nil && s.Others.Schema != nil {
			walk(s.Others.Schema, at+"{}", "", "", deep+1)
		}
		if s.Type() == "string" && len(s.Enum) == 0 && (idByName.MatchString(name) || idByWord.MatchString(told)) {
			found[at] = true
		}
	}
	if s := o.Bodies["application/json"]; s != nil {
		walk(s, "", "", "", 0)
	}
	return slices.Sorted(maps.Keys(found))
}
