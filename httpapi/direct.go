package httpapi

import (
	"context"
	"encoding/json"
	"net/http"
	"reflect"

	"github.com/gofiber/fiber/v2"

	"github.com/callboard/callboard/domain"
	"github.com/callboard/callboard/httpapi/wire"
)

// direct does what a request asks for whose body is surely good; false: that is
// for the long way to say, and nothing was done.
type direct func(c *fiber.Ctx, text []byte) bool

// isDirect says whether all that a route is told is a JSON body, and all that
// it answers too.
func isDirect[I, O any](op operation) bool {
	in := reflect.TypeFor[I]()
	_, plain := any(new(O)).(bodied)
	return plain && op.method == http.MethodPost && !op.unchecked && op.later == nil &&
		in.Kind() == reflect.Struct && in.NumField() == 1 && in.Field(0).Name == "Body" && in.Field(0).Type.Kind() == reflect.Struct &&
		!wire.FillsWithin(in.Field(0).Type, make(map[reflect.Type]bool))
}

// directly serves such a route.
func directly[I, O any](s *Server, op operation, body *wire.Shape, do func(context.Context, domain.Principal, *I) (*O, error)) direct {
	status := op.status
	if status == 0 {
		status = http.StatusOK
	}
	return func(c *fiber.Ctx, text []byte) bool {
		in := new(I)
		if !takesJSON(c) || !body.Fits(text) ||
			json.Unmarshal(text, reflect.ValueOf(in).Elem().Field(0).Addr().Interface()) != nil {
			return false
		}
		out, err := do(c.UserContext(), tripOf(c.Context()).visit.principal, in)
		if err == nil {
			err = told(c, status, out)
		}
		if err != nil {
			_ = s.refuse(c, err) // into memory: cannot fail
		}
		return true
	}
}

func told(c *fiber.Ctx, status int, out any) error {
	b, ok := out.(bodied)
	if !ok {
		return fiber.ErrInternalServerError // never: isDirect has seen to it
	}
	c.Status(status)
	return tellBody(c, b.body())
}

// takesJSON says whether it is plain that a client takes JSON.
func takesJSON(c *fiber.Ctx) bool {
	switch string(c.Request().Header.Peek(fiber.HeaderAccept)) {
	case "", "*/*", fiber.MIMEApplicationJSON:
		return true
	}
	return false
}
