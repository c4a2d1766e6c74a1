package router

import (
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gofiber/fiber/v2"

	"github.com/callboard/callboard/domain"
)

// versionPrefix begins the path of every API route. Other routes accept unknown query parameters, as OAuth 2.0
// (RFC 6749 §3.1), health checks and pages need.
const versionPrefix = "/v1/"

// queryParameters holds the sorted names of the query parameters that the OpenAPI document lists for each route.
type queryParameters map[string][]string

// addOperation records the query parameters of an operation of the API.
func (q queryParameters) addOperation(op *huma.Operation) {
	if !strings.HasPrefix(op.Path, versionPrefix) {
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

// check returns an error if a request has a query parameter that its route does not have. A misspelled filter would
// otherwise match every record.
func (q queryParameters) check(c *fiber.Ctx, route string) error {
	if len(c.Request().URI().QueryString()) == 0 {
		return nil
	}
	names, known := q[route]
	if !known {
		return nil
	}
	var problems domain.Problems
	for key := range c.Context().QueryArgs().All() {
		if !hasName(names, key) && len(problems) < maxDetails {
			takes := "the route has none"
			if len(names) > 0 {
				takes = "the route has " + strings.Join(names, ", ")
			}
			problems.Add(Truncate(string(key), 60), codeUnknownParameter, "is not a query parameter of %s: %s", route, takes)
		}
	}
	return problems.Err()
}

func hasName(names []string, key []byte) bool {
	return len(key) == 0 || slices.Contains(names, string(key))
}
