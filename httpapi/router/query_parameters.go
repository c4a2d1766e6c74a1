package router

import (
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gofiber/fiber/v2"

	"github.com/callboard/callboard/domain"
)

// underVersion begins the path of every route of the API proper. What stands
// beside it (OAuth 2.0, whose servers ignore what they do not know, RFC 6749
// §3.1; probes, pages and their files) takes whatever is hung onto it.
const underVersion = "/v1/"

// queries are the query parameters that each route's document tells of, sorted.
type queries map[string][]string

// addOperation learns those of a route.
func (q queries) addOperation(op *huma.Operation) {
	if !strings.HasPrefix(op.Path, underVersion) {
		return
	}
	names := []string{}
	for _, p := range op.Parameters {
		if p.In == "query" {
			names = append(names, p.Name)
		}
	}
	slices.Sort(names)
	q[op.Method+" "+op.Path] = names
}

// check refuses a request with a query parameter that its route does not know:
// a filter with a slip in its name would pass everything. Nearly every request
// has none at all, and none is made to look.
func (q queries) check(c *fiber.Ctx, route string) error {
	if len(c.Request().URI().QueryString()) == 0 {
		return nil
	}
	names, told := q[route]
	if !told {
		return nil
	}
	var problems domain.Problems
	for key := range c.Context().QueryArgs().All() {
		if !hasName(names, key) && len(problems) < maxDetails {
			takes := "it takes none"
			if len(names) > 0 {
				takes = "it takes " + strings.Join(names, ", ")
			}
			problems.Add(Truncate(string(key), 60), codeUnknownParameter, "is no query parameter of %s: %s", route, takes)
		}
	}
	return problems.Err()
}

func hasName(names []string, key []byte) bool {
	return len(key) == 0 || slices.Contains(names, string(key))
}
